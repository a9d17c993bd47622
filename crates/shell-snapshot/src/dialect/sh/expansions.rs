//! The words of a startup file: where they end, whatever is quoted, substituted or expanded in them.

use super::definitions::{NotUnderstood, Parser, Step};
use exec_protocol::limits::SNAPSHOT_DEFINITION_DEPTH;

impl<'a> Parser<'a> {
    /// A word as it is written.
    pub(super) fn word(&mut self) -> Step<&'a [u8]> {
        let from = self.at;
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                _ => self.part(byte)?,
            }
        }
        if self.at == from {
            Err(NotUnderstood)
        } else {
            Ok(&self.text[from..self.at])
        }
    }

    /// A byte of a word, or what stands in quotes or is substituted.
    fn part(&mut self, byte: u8) -> Step {
        match byte {
            b'\\' => self.at = (self.at + 2).min(self.text.len()),
            b'\'' => self.past(b'\'')?,
            b'`' => self.backquoted()?,
            b'"' => {
                self.at += 1;
                self.quoted(b'"')?;
            }
            b'$' => self.dollar()?,
            _ => self.at += 1,
        }
        Ok(())
    }

    fn past(&mut self, quote: u8) -> Step {
        self.at += 1;
        let length = memchr::memchr(quote, self.rest()).ok_or(NotUnderstood)?;
        self.at += length + 1;
        Ok(())
    }

    fn backquoted(&mut self) -> Step {
        self.at += 1;
        loop {
            match self.byte().ok_or(NotUnderstood)? {
                b'\\' => self.at += 2,
                b'`' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Up to the end of double quotes (`"`) or of `${` (`}`), past it.
    fn quoted(&mut self, end: u8) -> Step {
        loop {
            match self.byte().ok_or(NotUnderstood)? {
                byte if byte == end => break,
                // In double quotes it is a byte like others.
                b'\'' if end == b'"' => self.at += 1,
                byte => self.part(byte)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    fn dollar(&mut self) -> Step {
        match self.rest() {
            [b'$', b'(', b'(', ..] => self.arithmetic(),
            [b'$', b'(', ..] => {
                self.at += 1;
                // Its here-documents are its own.
                let heredocs = std::mem::take(&mut self.heredocs);
                let result = self.subshell();
                self.heredocs = heredocs;
                result
            }
            [b'$', b'{', ..] => {
                self.at += 2;
                self.depth += 1;
                if self.depth > SNAPSHOT_DEFINITION_DEPTH {
                    return Err(NotUnderstood);
                }
                let result = self.quoted(b'}');
                self.depth -= 1;
                result
            }
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }

    fn arithmetic(&mut self) -> Step {
        self.at += 1;
        let mut open = 0_usize;
        loop {
            match self.byte().ok_or(NotUnderstood)? {
                b'(' => {
                    open += 1;
                    self.at += 1;
                }
                b')' => {
                    open -= 1;
                    self.at += 1;
                    if open == 0 {
                        return Ok(());
                    }
                }
                byte => self.part(byte)?,
            }
        }
    }
}
