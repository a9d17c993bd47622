//! How deep a JSON text nests.

use crate::limits::MAX_JSON_DEPTH;

/// True when arrays and objects nest deeper than [`MAX_JSON_DEPTH`].
///
/// Raw values are skipped without recursion, so the reader of the envelope would take any depth; the types
/// behind it would not, and then one message would be good or bad depending on who looks at it.
pub(super) fn is_too_deep(text: &str) -> bool {
    // Counting is many times faster than scanning, and settles it for all but the largest messages.
    let openings = text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count();
    openings > MAX_JSON_DEPTH && depth(text) > MAX_JSON_DEPTH
}

/// The deepest nesting; of a text that is no JSON, some number.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_nest() {
        assert_eq!(depth(r#"{"a":["[[[","\"{{"]}"#), 2);
        assert_eq!(depth("[[],[],[[]]]"), 3);
        assert_eq!(depth("]]]["), 1);
    }

    #[test]
    fn the_bound_is_exact() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!is_too_deep(&nested(MAX_JSON_DEPTH)));
        assert!(is_too_deep(&nested(MAX_JSON_DEPTH + 1)));
        assert!(!is_too_deep(&"[],".repeat(MAX_JSON_DEPTH * 4)));
    }

    #[test]
    fn params_of_the_deepest_message_can_be_read() {
        let inner = MAX_JSON_DEPTH - 1;
        let params = format!("{}{}", "[".repeat(inner), "]".repeat(inner));
        assert!(serde_json::from_str::<serde_json::Value>(&params).is_ok());
    }
}
