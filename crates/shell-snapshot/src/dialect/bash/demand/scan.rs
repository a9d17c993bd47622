//! The scanner: a place in a script, and what was found so far.

use super::context::{Context, Found, Proof, Unproven};
use super::heredocs::HereDocument;
use exec_protocol::limits::{SNAPSHOT_PROVEN_SCRIPT_BYTES, SNAPSHOT_SCRIPT_DEPTH};

/// Reads one text as the shell would.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) context: &'a Context,
    /// Whether aliases are expanded in this text.
    pub(super) has_aliases: bool,
    /// Here-documents whose bodies start behind the next line feed.
    pub(super) pending: Vec<HereDocument<'a>>,
    pub(super) found: Found,
    pub(super) depth: u32,
    /// In `$(…)`.
    pub(super) is_substituted: bool,
}

/// What a whole text does.
///
/// # Errors
/// The text may reach others, or tell whether they are there.
pub(super) fn prove(text: &[u8], context: &Context, has_aliases: bool) -> Proof<Found> {
    let mut scanner = Scanner::new(text, context, has_aliases, 0)?;
    scanner.script()?;
    Ok(scanner.found)
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8], context: &'a Context, has_aliases: bool, depth: u32) -> Proof<Self> {
        check_bytes(text)?;
        Ok(Self {
            text,
            at: 0,
            context,
            has_aliases,
            pending: Vec::new(),
            found: Found::default(),
            depth,
            is_substituted: false,
        })
    }

    /// Proves another text that runs as part of this one, and is read only then.
    pub(super) fn also(&mut self, text: &[u8]) -> Proof {
        self.deeper(|this| {
            let mut scanner = Scanner::new(text, this.context, true, this.depth)?;
            scanner.script()?;
            this.found.extend(&scanner.found);
            Ok(())
        })
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Proof<T>) -> Proof<T> {
        if self.depth >= SNAPSHOT_SCRIPT_DEPTH {
            return Err(Unproven("nests too deep"));
        }
        self.depth += 1;
        let result = read(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// Counts a literal word among the names of commands.
    pub(super) fn name(&mut self, word: &[u8]) {
        if let Some(&function) = self.context.functions.get(word) {
            self.found.functions.push(function);
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, distance: usize) -> Option<u8> {
        self.text.get(self.at + distance).copied()
    }

    pub(super) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.text[self.at..].starts_with(prefix)
    }

    /// Goes past these bytes if they come next.
    pub(super) fn take(&mut self, prefix: &[u8]) -> bool {
        let is_next = self.starts_with(prefix);
        if is_next {
            self.at += prefix.len();
        }
        is_next
    }

    /// Past white space, a comment and line continuations between words, to the end of the line.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                // Behind anything else it would join two halves of a word or an operator.
                Some(b'\\')
                    if self.peek_at(1) == Some(b'\n')
                        && self.at > 0
                        && matches!(self.text[self.at - 1], b' ' | b'\t') =>
                {
                    self.at += 2;
                }
                _ => break,
            }
        }
        let is_behind_blank = self
            .at
            .checked_sub(1)
            .is_none_or(|before| b" \t\n;&|()<>".contains(&self.text[before]));
        if self.peek() == Some(b'#') && is_behind_blank {
            let rest = &self.text[self.at..];
            self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        }
    }

    /// Past line feeds too.
    pub(super) fn skip_lines(&mut self) -> Proof {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.at += 1;
            self.here_documents()?;
        }
    }
}

/// What no rule here allows for: bytes that the shell uses for itself, and such as another character set than UTF-8
/// might take for the second half of a character, though they mean something to the shell.
fn check_bytes(text: &[u8]) -> Proof {
    if text.len() > SNAPSHOT_PROVEN_SCRIPT_BYTES {
        return Err(Unproven("is long"));
    }
    if text.iter().any(|byte| matches!(byte, 0 | 1 | 0x7f)) {
        return Err(Unproven("holds control characters"));
    }
    let is_split = |pair: &[u8]| !pair[0].is_ascii() && br"@[\]^`{|}~".contains(&pair[1]);
    if !text.is_ascii() && text.windows(2).any(is_split) {
        return Err(Unproven("depends on the character set"));
    }
    Ok(())
}
