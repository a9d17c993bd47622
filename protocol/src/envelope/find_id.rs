//! The `id` of a message of which only the beginning is there.

use serde_json::value::RawValue;

/// Finds the request id in the first bytes of a message that is too long to be read.
///
/// Looks at the members of the top-level object only: an `id` inside `params`, or inside a string, is not it.
/// `None` where there is none, where it is cut off by the end of `prefix`, or where it is no string or number.
#[must_use]
pub fn find_id(prefix: &[u8]) -> Option<&RawValue> {
    let mut scanner = Scanner {
        rest: prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix),
    };
    scanner.expect(b'{')?;
    loop {
        let key = scanner.string()?;
        scanner.expect(b':')?;
        let value = scanner.value()?;
        if is_id(key) {
            let text = std::str::from_utf8(value).ok()?;
            let is_readable = matches!(text.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'));
            return serde_json::from_str(text).ok().filter(|_| is_readable);
        }
        scanner.expect(b',')?;
    }
}

/// Whether a key, quotes included, is `id`, however it is spelled.
fn is_id(key: &[u8]) -> bool {
    key == br#""id""#
        || (key.contains(&b'\\') && serde_json::from_slice::<String>(key).is_ok_and(|key| key == "id"))
}

/// Walks over JSON tokens without judging what is inside them.
struct Scanner<'a> {
    rest: &'a [u8],
}

impl<'a> Scanner<'a> {
    fn skip_white_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Takes one byte, white space before it skipped.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_white_space();
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// A whole string, its quotes included.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.skip_white_space();
        let length = string_length(self.rest)?;
        self.take(length)
    }

    /// A whole value. A number or literal is whole only if something follows that ends it.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.skip_white_space();
        let length = match self.rest.first()? {
            b'"' => string_length(self.rest)?,
            b'{' | b'[' => nested_length(self.rest)?,
            _ => self.rest.iter().position(|byte| {
                matches!(byte, b',' | b'}' | b']' | b':' | b'"') || byte.is_ascii_whitespace()
            })?,
        };
        self.take(length)
    }
}

/// Length of the string at the start of `bytes`, quotes included; `None` if there is none or it does not end.
fn string_length(bytes: &[u8]) -> Option<usize> {
    if bytes.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Length of the object or array at the start of `bytes`; `None` if it does not end.
fn nested_length(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => at += string_length(&bytes[at..])?,
            byte => {
                at += 1;
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth = depth.checked_sub(1)?;
                        if depth == 0 {
                            return Some(at);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(prefix: &str) -> Option<&str> {
        find_id(prefix.as_bytes()).map(RawValue::get)
    }

    #[test]
    fn ids_that_can_be_read() {
        for (prefix, id) in [
            (r#"{"id":1,"method":"m","params":{"chunk":"AAAA"#, "1"),
            (r#" { "method" : "m" , "id" : "a\"b" , "params""#, r#""a\"b""#),
            ("\u{feff}{\"id\":-1.50e3}", "-1.50e3"),
            (r#"{"\u0069d":7,"x"#, "7"),
            (r#"{"params":{"id":1,"a":[{"id":2}]},"id":3,"#, "3"),
            (r#"{"x":"\"id\":4","id":5 "#, "5"),
            (r#"{"x":null,"y":true,"z":-1.5,"id":"6""#, r#""6""#),
        ] {
            assert_eq!(found(prefix), Some(id), "{prefix}");
        }
    }

    #[test]
    fn ids_that_are_not_there() {
        for prefix in [
            "",
            "{",
            "{}",
            "nonsense",
            r#"[{"id":1},"#,
            r#"{"id":12"#,
            r#"{"id":"cut"#,
            r#"{"id":null,"#,
            r#"{"id":true,"#,
            r#"{"id":{"id":1},"#,
            r#"{"id":01,"#,
            r#"{"params":{"id":1,"#,
            r#"{"params":{"id":1},"method":"m"}"#,
            r#"{"x":"\"id\":1,"#,
            r#"{"ID":1,"#,
            r#"{"x":1]"id":1,"#,
        ] {
            assert_eq!(found(prefix), None, "{prefix}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_hide_it() {
        assert_eq!(
            find_id(b"{\"x\":\"\xff\xfe\",\"id\":9,\"y\":\"\xc3").map(RawValue::get),
            Some("9")
        );
    }

    proptest! {
        #[test]
        fn never_panics(prefix in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = find_id(&prefix);
        }

        /// A cut anywhere finds the whole id or none: never a part of it.
        #[test]
        fn a_cut_finds_the_whole_id_or_none(id in any::<i64>(), before in "\\PC{0,12}", cut in 0_usize..200) {
            let line = serde_json::json!({"a": before, "b": {"id": "nested"}, "id": id, "z": [1]}).to_string();
            let (id, cut) = (id.to_string(), cut.min(line.len()));
            if let Some(found) = find_id(&line.as_bytes()[..cut]) {
                prop_assert_eq!(found.get(), &id);
            }
            prop_assert_eq!(find_id(line.as_bytes()).map(RawValue::get), Some(id.as_str()));
        }
    }
}
