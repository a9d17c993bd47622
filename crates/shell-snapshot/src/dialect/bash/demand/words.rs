//! Words, and how they are quoted.

use super::context::{Proof, Unproven, is_name_part, is_name_start};
use super::scan::Scanner;

/// A word of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Word<'a> {
    /// As it stands in the text.
    pub(super) raw: &'a [u8],
    /// Without quotes; what it says if it is literal.
    pub(super) text: Vec<u8>,
    /// Something in it is expanded, be it a pattern or a brace.
    pub(super) is_expanded: bool,
    /// It may become more or fewer than one word.
    pub(super) is_split: bool,
    /// Part of it is quoted.
    pub(super) is_quoted: bool,
}

impl<'a> Word<'a> {
    /// A word that an alias puts in.
    pub(super) fn of_alias(text: &'a [u8]) -> Self {
        Self {
            raw: text,
            text: text.to_vec(),
            ..Self::default()
        }
    }

    /// What it says, whatever variables and files there are.
    pub(super) fn literal(&self) -> Option<&[u8]> {
        (!self.is_expanded).then_some(&self.text[..])
    }

    /// Whether it literally says this.
    pub(super) fn is(&self, text: &[u8]) -> bool {
        self.literal() == Some(text)
    }

    /// Whether the shell may take it for a reserved word or an alias.
    pub(super) fn plain(&self) -> Option<&'a [u8]> {
        (!self.is_quoted).then_some(self.raw)
    }

    /// What is assigned to, if it stands where assignments are: `NAME=…` or `NAME+=…`.
    pub(super) fn assigned(&self) -> Option<&'a [u8]> {
        let end = self.raw.iter().position(|byte| !is_name_part(*byte))?;
        let rest = &self.raw[end..];
        let is_assignment = rest.starts_with(b"=") || rest.starts_with(b"+=");
        (is_assignment && is_name_start(self.raw[0])).then(|| &self.raw[..end])
    }

    /// Whether what it assigns may be in parentheses, as the values of arrays are.
    pub(super) fn may_be_compound(&self) -> bool {
        let value = |text: &[u8]| memchr::memchr(b'=', text).map_or(0, |at| at + 1);
        match self.literal() {
            Some(text) => text[value(text)..].starts_with(b"("),
            None => {
                let raw = &self.raw[value(self.raw)..];
                let raw = raw.strip_prefix(b"\"").unwrap_or(raw);
                !raw.first()
                    .is_some_and(|first| first.is_ascii_alphanumeric() || b"/._-:".contains(first))
            }
        }
    }

    /// A number, and one word: `$?`, `$#` and `$$` are, and nothing else that is expanded.
    pub(super) fn is_number(&self) -> bool {
        match self.literal() {
            Some(text) => {
                let digits = text.strip_prefix(b"-").unwrap_or(text);
                !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
            }
            None => matches!(
                self.raw,
                b"$?" | b"$#" | b"$$" | b"\"$?\"" | b"\"$#\"" | b"\"$$\""
            ),
        }
    }

    /// Its first byte whatever is expanded behind it.
    pub(super) fn first(&self) -> Option<u8> {
        let raw = self.raw.strip_prefix(b"\"").unwrap_or(self.raw);
        match (self.literal(), raw.first()) {
            (Some(text), _) => text.first().copied(),
            (None, Some(first)) if first.is_ascii_alphanumeric() || b"%./:=".contains(first) => Some(*first),
            (None, _) => None,
        }
    }
}

impl<'a> Scanner<'a> {
    /// The next word, which is not the name of a command.
    pub(super) fn word(&mut self) -> Proof<Word<'a>> {
        let word = self.bare_word()?;
        self.check_alias_elsewhere(&word)?;
        Ok(word)
    }

    /// The next word, without a look at aliases.
    pub(super) fn bare_word(&mut self) -> Proof<Word<'a>> {
        let from = self.at;
        let mut word = Word::default();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => break,
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    self.substitution()?;
                    (word.is_expanded, word.is_split) = (true, true);
                }
                b'<' | b'>' => break,
                b'\\' => {
                    let next = self.peek_at(1).filter(|next| *next != b'\n');
                    word.text
                        .push(next.ok_or(Unproven("continues a line inside a word"))?);
                    word.is_quoted = true;
                    self.at += 2;
                }
                b'\'' => {
                    self.at += 1;
                    let quoted = self.single_quoted()?;
                    word.text.extend(quoted);
                    word.is_quoted = true;
                }
                b'"' => {
                    self.at += 1;
                    word.is_quoted = true;
                    self.double_quoted(&mut word)?;
                }
                b'$' => self.dollar(&mut word, false)?,
                b'`' => {
                    self.backquoted(false)?;
                    (word.is_expanded, word.is_split) = (true, true);
                }
                _ => {
                    // Patterns, braces and tildes. What is not ASCII may be a blank somewhere.
                    if matches!(byte, b'*' | b'?' | b'[' | b'{' | b'~') || !byte.is_ascii() {
                        (word.is_expanded, word.is_split) = (true, true);
                    }
                    word.text.push(byte);
                    self.at += 1;
                }
            }
        }
        if from == self.at {
            return Err(Unproven("is not as expected"));
        }
        word.raw = &self.text[from..self.at];
        if matches!(word.raw, b"[" | b"{" | b"{}" | b"[[") {
            (word.is_expanded, word.is_split) = (false, false);
        }
        if let Some(text) = word.literal() {
            self.name(text);
        }
        Ok(word)
    }

    /// To the closing quote.
    pub(super) fn single_quoted(&mut self) -> Proof<&'a [u8]> {
        let rest = &self.text[self.at..];
        let end = memchr::memchr(b'\'', rest).ok_or(Unproven("has an open quote"))?;
        self.at += end + 1;
        let quoted = &rest[..end];
        self.check_line_feeds(quoted)?;
        Ok(quoted)
    }

    /// `$'…'`, to the closing quote.
    pub(super) fn ansi_quoted(&mut self) -> Proof {
        let from = self.at;
        loop {
            match self.peek().ok_or(Unproven("has an open quote"))? {
                b'\'' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.check_line_feeds(&self.text[from..self.at])
    }

    pub(super) fn double_quoted(&mut self, word: &mut Word<'a>) -> Proof {
        loop {
            match self.peek().ok_or(Unproven("has an open quote"))? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.escaped(word)?,
                b'$' => self.dollar(word, true)?,
                b'`' => {
                    self.backquoted(true)?;
                    word.is_expanded = true;
                }
                byte => {
                    if byte == b'\n' {
                        self.check_line_feeds(b"\n")?;
                    }
                    word.text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// A backslash in double quotes.
    pub(super) fn escaped(&mut self, word: &mut Word<'a>) -> Proof {
        match self.peek_at(1).ok_or(Unproven("has an open quote"))? {
            b'\n' => self.check_line_feeds(b"\n")?,
            next @ (b'$' | b'`' | b'"' | b'\\') => word.text.push(next),
            next => word.text.extend([b'\\', next]),
        }
        self.at += 2;
        Ok(())
    }

    /// A line feed in quotes is not the one that here-documents wait for, and which one is may be a matter of version.
    fn check_line_feeds(&self, text: &[u8]) -> Proof {
        if !self.pending.is_empty() && text.contains(&b'\n') {
            return Err(Unproven("has quotes that span lines in front of a here-document"));
        }
        Ok(())
    }
}
