//! `[[ … ]]`.

use super::context::{Proof, Unproven};
use super::grammar::NOT_KNOWN;
use super::scan::Scanner;

impl Scanner<'_> {
    /// To `]]`.
    pub(super) fn condition(&mut self) -> Proof {
        let mut depth = 0_u32;
        // Whether what came before is a number, and whether the next word must be.
        let (mut was_number, mut wants_number) = (false, false);
        loop {
            if !self.pending.is_empty() {
                return Err(NOT_KNOWN);
            }
            let from = self.at;
            self.skip_lines()?;
            if self.text[from..self.at].contains(&b'#') {
                return Err(Unproven("has what may be a comment in a condition"));
            }
            if self.take(b"&&") || self.take(b"||") {
                continue;
            }
            match self.peek() {
                Some(b'(') => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                Some(b')') => {
                    depth = depth.checked_sub(1).ok_or(NOT_KNOWN)?;
                    self.at += 1;
                    continue;
                }
                Some(b'<' | b'>') if self.peek_at(1) != Some(b'(') => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            let word = self.word()?;
            if self.peek() == Some(b'(') {
                return Err(Unproven("has a parenthesis in a word"));
            }
            if std::mem::take(&mut wants_number) && !word.is_number() {
                return Err(Unproven("compares by arithmetic what is no number"));
            }
            match word.plain() {
                Some(b"]]") if depth == 0 => return Ok(()),
                Some(b"-v" | b"-R") => return Err(Unproven("tests a variable by its name")),
                Some(b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge") => {
                    if !was_number {
                        return Err(Unproven("compares by arithmetic what is no number"));
                    }
                    wants_number = true;
                }
                _ => {}
            }
            was_number = word.is_number();
        }
    }
}
