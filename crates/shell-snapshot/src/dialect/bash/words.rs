//! Reads what bash prints to be read again: `declare -p`, `alias -p`, `trap -p`.

/// A word: as it stands, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// The bytes bash would read.
    pub(super) raw: &'a [u8],
    /// The same without its quoting; for an array `NAME=(…)`, everything from the parenthesis on as it stands.
    pub(super) value: Vec<u8>,
}

/// The statements of a text, one a line except where quotes or parentheses span lines. `None` if a quote or a
/// parenthesis is not closed.
pub(super) fn statements(text: &[u8]) -> Option<Vec<Vec<Word<'_>>>> {
    let mut reader = Reader { text, at: 0 };
    let mut statements = Vec::new();
    while reader.at < text.len() {
        let words = reader.statement()?;
        if !words.is_empty() {
            statements.push(words);
        }
    }
    Some(statements)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn statement(&mut self) -> Option<Vec<Word<'a>>> {
        let mut words = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.at += 1;
                    break;
                }
                b' ' | b'\t' => self.at += 1,
                _ => words.push(self.word()?),
            }
        }
        Some(words)
    }

    fn word(&mut self) -> Option<Word<'a>> {
        let from = self.at;
        let mut value = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' => break,
                b'(' => {
                    let array = self.at;
                    self.at += 1;
                    self.array()?;
                    value.extend(&self.text[array..self.at]);
                }
                _ => self.piece(&mut value)?,
            }
        }
        Some(Word {
            raw: &self.text[from..self.at],
            value,
        })
    }

    /// To the parenthesis that closes an array: quotes count, other parentheses nest.
    fn array(&mut self) -> Option<()> {
        let mut depth = 1;
        let mut ignored = Vec::new();
        while depth > 0 {
            match self.peek()? {
                b'(' => {
                    depth += 1;
                    self.at += 1;
                }
                b')' => {
                    depth -= 1;
                    self.at += 1;
                }
                _ => self.piece(&mut ignored)?,
            }
        }
        Some(())
    }

    /// One character or one quoted part.
    fn piece(&mut self, value: &mut Vec<u8>) -> Option<()> {
        match self.next()? {
            b'\\' => value.push(self.next()?),
            b'\'' => loop {
                match self.next()? {
                    b'\'' => break,
                    byte => value.push(byte),
                }
            },
            b'"' => self.double_quoted(value)?,
            b'$' if self.peek() == Some(b'\'') => {
                self.at += 1;
                self.ansi_quoted(value)?;
            }
            byte => value.push(byte),
        }
        Some(())
    }

    fn double_quoted(&mut self, value: &mut Vec<u8>) -> Option<()> {
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => match self.next()? {
                    byte @ (b'$' | b'`' | b'"' | b'\\') => value.push(byte),
                    b'\n' => {}
                    byte => value.extend([b'\\', byte]),
                },
                byte => value.push(byte),
            }
        }
    }

    /// `$'…'`, of which bash prints the escapes for control characters, quotes and, in octal, any byte.
    fn ansi_quoted(&mut self, value: &mut Vec<u8>) -> Option<()> {
        loop {
            match self.next()? {
                b'\'' => return Some(()),
                b'\\' => match self.next()? {
                    b'a' => value.push(0x07),
                    b'b' => value.push(0x08),
                    b'e' | b'E' => value.push(0x1b),
                    b'f' => value.push(0x0c),
                    b'n' => value.push(b'\n'),
                    b'r' => value.push(b'\r'),
                    b't' => value.push(b'\t'),
                    b'v' => value.push(0x0b),
                    digit @ b'0'..=b'7' => value.push(self.octal(digit)),
                    byte => value.push(byte),
                },
                byte => value.push(byte),
            }
        }
    }

    fn octal(&mut self, first: u8) -> u8 {
        let mut number = u32::from(first - b'0');
        for _ in 0..2 {
            let Some(digit @ b'0'..=b'7') = self.peek() else {
                break;
            };
            self.at += 1;
            number = number * 8 + u32::from(digit - b'0');
        }
        // As bash does: the low eight bits.
        (number & 0xff) as u8
    }
}

/// Quotes for the shell, whatever it is.
pub(super) fn quoted(value: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in value {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            byte => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Option<Vec<Vec<String>>> {
        Some(
            statements(text.as_bytes())?
                .into_iter()
                .map(|words| {
                    words
                        .into_iter()
                        .map(|word| String::from_utf8_lossy(&word.value).into_owned())
                        .collect()
                })
                .collect(),
        )
    }

    #[test]
    fn quoting_is_undone() {
        assert_eq!(
            values(concat!(
                r#"declare -x A="a \"b\" \$x \\ \z `""#,
                "\n",
                r"alias -- -='it'\''s'",
                "\n",
                r"declare -- B=$'\n\t\E[1m\303\251\'\\'",
                "\n",
                "trap -- 'one\ntwo' SIGINT\n"
            )),
            Some(vec![
                vec!["declare".into(), "-x".into(), r#"A=a "b" $x \ \z `"#.into()],
                vec!["alias".into(), "--".into(), "-=it's".into()],
                vec!["declare".into(), "--".into(), "B=\n\t\u{1b}[1mé'\\".into()],
                vec!["trap".into(), "--".into(), "one\ntwo".into(), "SIGINT".into()],
            ])
        );
    }

    #[test]
    fn an_array_is_one_word() {
        let text = b"declare -a A=([0]=\"a b\" [1]=$'x)\\ny')\ndeclare -A M=([\"(\"]=\"1\" )\n";
        let read = statements(text).unwrap();
        assert_eq!(read[0][2].raw, b"A=([0]=\"a b\" [1]=$'x)\\ny')");
        assert_eq!(read[1][2].value, b"M=([\"(\"]=\"1\" )");
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for text in ["a 'b", "a \"b", "a $'b\\'", "a=(b", "a \\"] {
            assert_eq!(statements(text.as_bytes()), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_was_quoted_is_read_back(value: Vec<u8>) {
            let text = quoted(&value);
            let read = statements(&text).unwrap();
            proptest::prop_assert_eq!(&read[0][0].value, &value);
        }

        #[test]
        fn any_bytes_are_read_or_refused(text: Vec<u8>) {
            let _ = statements(&text);
        }
    }
}
