//! Values as fish shows them, and as it reads them.

/// What an escaped value stands for. Everything that is not escaped stands for itself.
/// `None` for an escape that fish does not write.
pub(super) fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            value.push(*byte);
            continue;
        }
        let [letter, after @ ..] = rest else { return None };
        rest = after;
        match letter {
            b'n' => value.push(b'\n'),
            b't' => value.push(b'\t'),
            b'r' => value.push(b'\r'),
            b'e' => value.push(27),
            b'b' => value.push(8),
            b'a' => value.push(7),
            b'f' => value.push(12),
            b'v' => value.push(11),
            b'x' | b'X' => value.push(u8::try_from(number(&mut rest, 2)?).ok()?),
            b'u' => character(&mut rest, 4, &mut value)?,
            b'U' => character(&mut rest, 8, &mut value)?,
            b'c' => {
                let [letter, after @ ..] = rest else { return None };
                rest = after;
                value.push(letter.to_ascii_uppercase() & 0x1f);
            }
            other => value.push(*other),
        }
    }
    Some(value)
}

fn number(rest: &mut &[u8], digits: usize) -> Option<u32> {
    let mut number = None;
    for _ in 0..digits {
        let Some(digit) = rest.first().and_then(|byte| char::from(*byte).to_digit(16)) else {
            break;
        };
        number = Some(number.unwrap_or(0) * 16 + digit);
        *rest = &rest[1..];
    }
    number
}

fn character(rest: &mut &[u8], digits: usize, value: &mut Vec<u8>) -> Option<()> {
    let character = char::from_u32(number(rest, digits)?)?;
    value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(())
}

/// A word that fish reads as these bytes.
pub(super) fn quote(value: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            if matches!(character, '\'' | '\\') {
                quoted.push(b'\\');
            }
            // fish keeps bytes that are no character in this range, and so cannot keep these characters apart.
            if ('\u{f600}'..='\u{f6ff}').contains(&character) {
                bytes(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut quoted);
            } else {
                quoted.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        bytes(chunk.invalid(), &mut quoted);
    }
    quoted.push(b'\'');
    quoted
}

/// Bytes by number, outside the quotes.
fn bytes(bytes: &[u8], quoted: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    quoted.push(b'\'');
    for byte in bytes {
        quoted.extend_from_slice(format!("\\X{byte:02x}").as_bytes());
    }
    quoted.push(b'\'');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fish_shows_is_read() {
        for (shown, value) in [
            (&b"a\\nb|c \\\\ 'q"[..], &b"a\nb|c \\ 'q"[..]),
            (b"\\Xff\\Xfe", b"\xff\xfe"),
            (b"\\cA\\e\\x7f\\u00fc", b"\x01\x1b\x7f\xc3\xbc"),
            (b"it\\'s\\ x", b"it's x"),
            (b"", b""),
        ] {
            assert_eq!(
                unescape(shown).as_deref(),
                Some(value),
                "{}",
                shown.escape_ascii()
            );
        }
        for shown in [&b"\\"[..], b"\\xzz", b"\\c", b"\\ud800"] {
            assert_eq!(unescape(shown), None, "{}", shown.escape_ascii());
        }
    }

    #[test]
    fn quotes_end_around_bytes_that_are_no_character() {
        assert_eq!(quote(b"it's \\ \xff!"), b"'it\\'s \\\\ '\\Xff'!'");
    }

    proptest! {
        #[test]
        fn any_bytes_are_unescaped_or_refused(text: Vec<u8>) {
            let _ = unescape(&text);
        }

        #[test]
        fn what_is_quoted_is_unescaped_to_itself(value: Vec<u8>) {
            // Quotes that are not escaped are fish's own, not the value's.
            let quoted = quote(&value);
            let mut inner = Vec::new();
            let mut escaped = false;
            for byte in quoted {
                if byte == b'\'' && !escaped {
                    continue;
                }
                escaped = byte == b'\\' && !escaped;
                inner.push(byte);
            }
            prop_assert_eq!(unescape(&inner), Some(value));
        }
    }
}
