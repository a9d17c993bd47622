//! Here-documents.

use super::context::{Proof, Unproven};
use super::scan::Scanner;
use super::words::Word;

/// One whose body is still to come.
#[derive(Debug, Clone, Copy)]
pub(super) struct HereDocument<'a> {
    delimiter: &'a [u8],
    /// `<<-`: tabs in front of a line do not count.
    strips_tabs: bool,
    /// The delimiter is not quoted, and the body is expanded.
    is_expanded: bool,
}

impl<'a> Scanner<'a> {
    /// The delimiter, from behind `<<` or `<<-`: a word of harmless characters, as a whole in quotes or not.
    pub(super) fn here_document(&mut self, strips_tabs: bool) -> Proof {
        self.skip_blanks();
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"'));
        self.at += usize::from(quote.is_some());
        let from = self.at;
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
        let delimiter = &self.text[from..self.at];
        if quote.is_some() && self.peek() != quote {
            return Err(Unproven("has a here-document with a strange delimiter"));
        }
        self.at += usize::from(quote.is_some());
        let ends = matches!(
            self.peek(),
            Some(b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'>' | b'<')
        );
        if delimiter.is_empty() || !ends {
            return Err(Unproven("has a here-document with a strange delimiter"));
        }
        self.skip_blanks();
        // Commands in parentheses are printed and read again, and what follows a document then comes out wrong.
        if self.is_substituted && self.peek() != Some(b'\n') {
            return Err(Unproven("has something behind a here-document in a substitution"));
        }
        self.pending.push(HereDocument {
            delimiter,
            strips_tabs,
            is_expanded: quote.is_none(),
        });
        Ok(())
    }

    /// The bodies that start here, behind a line feed.
    pub(super) fn here_documents(&mut self) -> Proof {
        for document in std::mem::take(&mut self.pending) {
            let from = self.at;
            let to = loop {
                let rest = &self.text[self.at..];
                let line_end = memchr::memchr(b'\n', rest);
                let mut line = &rest[..line_end.unwrap_or(rest.len())];
                if document.strips_tabs {
                    let tabs = line.iter().take_while(|byte| **byte == b'\t').count();
                    line = &line[tabs..];
                }
                let start = self.at;
                self.at += line_end.map_or(rest.len(), |end| end + 1);
                if line == document.delimiter {
                    break start;
                }
                if line_end.is_none() {
                    return Err(Unproven("has a here-document without an end"));
                }
            };
            if document.is_expanded {
                let after = self.at;
                self.expanded_body(from, to)?;
                self.at = after;
            }
        }
        Ok(())
    }

    /// A body that is expanded: like double quotes, but a double quote is nothing special.
    fn expanded_body(&mut self, from: usize, to: usize) -> Proof {
        let whole = self.text;
        self.text = &whole[..to];
        self.at = from;
        let mut ignored = Word::default();
        while let Some(byte) = self.peek() {
            match byte {
                // It may join the delimiter to the line before.
                b'\\' if self.peek_at(1) == Some(b'\n') => {
                    return Err(Unproven("continues a line in a here-document"));
                }
                b'\\' => self.at = (self.at + 2).min(to),
                b'$' => self.deeper(|this| this.dollar(&mut ignored, true))?,
                // It is read before it is known where the body ends.
                b'`' => return Err(Unproven("has back quotes in a here-document")),
                _ => self.at += 1,
            }
        }
        self.text = whole;
        Ok(())
    }
}
