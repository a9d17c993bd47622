//! Redirections.

use super::context::{Proof, Unproven};
use super::scan::Scanner;

impl Scanner<'_> {
    /// Those behind a compound command.
    pub(super) fn redirections(&mut self) -> Proof {
        loop {
            self.skip_blanks();
            let digits = self.text[self.at..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            if digits > 0 && matches!(self.peek_at(digits), Some(b'<' | b'>')) {
                self.at += digits;
            }
            if !self.redirection()? {
                return Ok(());
            }
        }
    }

    /// One, from its operator on, if it comes next.
    pub(super) fn redirection(&mut self) -> Proof<bool> {
        if self.starts_with(b"<(") || self.starts_with(b">(") {
            return Ok(false);
        }
        if self.take(b"<<<") {
            return self.target();
        }
        for (operator, strips_tabs) in [(&b"<<-"[..], true), (b"<<", false)] {
            if self.take(operator) {
                self.here_document(strips_tabs)?;
                return Ok(true);
            }
        }
        let operators: &[&[u8]] = &[b"&>>", b"&>", b"<>", b"<&", b"<", b">>", b">|", b">&", b">"];
        if operators.iter().any(|operator| self.take(operator)) {
            return self.target();
        }
        Ok(false)
    }

    fn target(&mut self) -> Proof<bool> {
        self.skip_blanks();
        self.word()?;
        if self.peek() == Some(b'(') {
            return Err(Unproven("has a parenthesis in a word"));
        }
        Ok(true)
    }
}
