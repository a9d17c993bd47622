//! Words as shells quote them in what they print, and as they are quoted for them.

/// Takes words off a text, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// What is not yet read.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Takes what is given off, if the text goes on with it.
    pub(super) fn take(&mut self, expected: &[u8]) -> bool {
        let taken = self.rest().starts_with(expected);
        if taken {
            self.at += expected.len();
        }
        taken
    }

    /// Takes everything up to one of these bytes (or the end) off, as it stands.
    pub(super) fn until(&mut self, stops: &[u8]) -> &'a [u8] {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| stops.contains(byte))
            .unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Takes a word off that ends at an unquoted blank or line feed: its value, and how it was written.
    /// `None` if a quote does not end.
    pub(super) fn word(&mut self) -> Option<(Vec<u8>, &'a [u8])> {
        let from = self.at;
        let mut value = Vec::new();
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' => break,
                b'\'' => {
                    self.at += 1;
                    value.extend_from_slice(self.until(b"'"));
                    self.end(b'\'')?;
                }
                b'"' => {
                    self.at += 1;
                    self.double(&mut value)?;
                }
                b'\\' => {
                    value.push(*self.text.get(self.at + 1)?);
                    self.at += 2;
                }
                b'$' if self.text.get(self.at + 1) == Some(&b'\'') => {
                    self.at += 2;
                    self.escaped(&mut value)?;
                }
                other => {
                    value.push(other);
                    self.at += 1;
                }
            }
        }
        Some((value, &self.text[from..self.at]))
    }

    fn end(&mut self, quote: u8) -> Option<()> {
        (self.text.get(self.at) == Some(&quote)).then(|| self.at += 1)
    }

    fn double(&mut self, value: &mut Vec<u8>) -> Option<()> {
        loop {
            value.extend_from_slice(self.until(b"\"\\"));
            if self.text.get(self.at) == Some(&b'\\') {
                let next = *self.text.get(self.at + 1)?;
                if !b"\"\\$`".contains(&next) {
                    value.push(b'\\');
                }
                value.push(next);
                self.at += 2;
            } else {
                return self.end(b'"');
            }
        }
    }

    /// What stands in `$'…'`.
    fn escaped(&mut self, value: &mut Vec<u8>) -> Option<()> {
        loop {
            value.extend_from_slice(self.until(b"'\\"));
            if self.text.get(self.at) != Some(&b'\\') {
                return self.end(b'\'');
            }
            let letter = *self.text.get(self.at + 1)?;
            self.at += 2;
            match letter {
                b'a' => value.push(7),
                b'b' => value.push(8),
                b't' => value.push(b'\t'),
                b'n' => value.push(b'\n'),
                b'v' => value.push(11),
                b'f' => value.push(12),
                b'r' => value.push(b'\r'),
                b'e' | b'E' => value.push(27),
                b'0'..=b'7' => {
                    self.at -= 1;
                    // No more than a byte is printed so.
                    value.push(u8::try_from(self.number(8, 3)?).ok()?);
                }
                b'x' => value.push(u8::try_from(self.number(16, 2)?).ok()?),
                b'u' => self.character(value, 4)?,
                b'U' => self.character(value, 8)?,
                other => value.push(other),
            }
        }
    }

    fn character(&mut self, value: &mut Vec<u8>, digits: usize) -> Option<()> {
        let character = char::from_u32(self.number(16, digits)?)?;
        value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Some(())
    }

    fn number(&mut self, radix: u32, digits: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..digits {
            let Some(digit) = self
                .text
                .get(self.at)
                .and_then(|&byte| char::from(byte).to_digit(radix))
            else {
                break;
            };
            number = Some(number.unwrap_or(0) * radix + digit);
            self.at += 1;
        }
        number
    }
}

/// A word that every POSIX shell reads as these bytes.
pub(super) fn quote(value: &[u8]) -> Vec<u8> {
    let mut quoted = Vec::with_capacity(value.len() + 2);
    quoted.push(b'\'');
    for &byte in value {
        if byte == b'\'' {
            quoted.extend_from_slice(b"'\\''");
        } else {
            quoted.push(byte);
        }
    }
    quoted.push(b'\'');
    quoted
}

/// Whether these bytes can name a variable or a function.
pub(super) fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|first| !first.is_ascii_digit())
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(text: &[u8]) -> Option<Vec<u8>> {
        Words::new(text).word().map(|(value, _)| value)
    }

    #[test]
    fn a_word_is_read_however_it_is_quoted() {
        for (written, value) in [
            (&b"plain rest"[..], &b"plain"[..]),
            (b"'it'\"'\"'s \"x\"\nnl'\nrest", b"it's \"x\"\nnl"),
            (b"'it'\\''s'", b"it's"),
            (b"$'it\\047s\\n\\377\\t\\u00fc' x", b"it's\n\xff\t\xc3\xbc"),
            (b"\"a\\\"b\\n\"", b"a\"b\\n"),
            (b"", b""),
        ] {
            assert_eq!(
                word(written).as_deref(),
                Some(value),
                "{}",
                written.escape_ascii()
            );
        }
    }

    #[test]
    fn a_quote_without_an_end_is_no_word() {
        for written in [
            &b"'a"[..],
            b"\"a",
            b"a\\",
            b"$'a",
            b"$'a\\",
            b"\"a\\",
            b"$'\\777'",
            b"$'\\xzz'",
        ] {
            assert_eq!(word(written), None, "{}", written.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_read_again(value: Vec<u8>) {
            prop_assert_eq!(word(&quote(&value)), Some(value));
        }

        #[test]
        fn any_bytes_are_a_word_or_none(text: Vec<u8>) {
            let mut words = Words::new(&text);
            let _ = words.word();
            prop_assert!(words.rest().len() <= text.len());
        }
    }
}
