//! Commands without grammar of their own, and definitions of functions.

use super::builtins;
use super::context::{Proof, Unproven};
use super::grammar::{NOT_KNOWN, Place, is_reserved};
use super::scan::Scanner;
use super::words::Word;

impl<'a> Scanner<'a> {
    /// A command without grammar of its own: assignments, words, redirections; or the definition of a function.
    pub(super) fn simple(&mut self, first: Option<Word<'a>>) -> Proof {
        let mut words: Vec<Word<'a>> = Vec::new();
        let (mut next, mut is_bare) = (first, true);
        loop {
            let word = match next.take() {
                Some(word) => word,
                None => {
                    self.skip_blanks();
                    match self.peek() {
                        None | Some(b'\n' | b';' | b'|' | b')') => break,
                        Some(b'&') if self.peek_at(1) != Some(b'>') => break,
                        Some(b'<' | b'>' | b'&') if self.redirection()? => {
                            is_bare = false;
                            continue;
                        }
                        Some(b'(') if is_bare && words.len() == 1 => return self.function(&words[0]),
                        _ => self.bare_word()?,
                    }
                }
            };
            if matches!(self.peek(), Some(b'<' | b'>')) && word.raw.ends_with(b"}") && word.raw[0] == b'{' {
                return Err(Unproven("has a redirection that assigns"));
            }
            let is_descriptor = !word.raw.is_empty() && word.raw.iter().all(u8::is_ascii_digit);
            if is_descriptor && matches!(self.peek(), Some(b'<' | b'>')) {
                is_bare = false;
                continue;
            }
            match word.assigned() {
                Some(name) if words.is_empty() => {
                    is_bare = false;
                    self.context.check_assigned(name)?;
                    if self.peek() == Some(b'(') {
                        self.array(&word)?;
                    }
                }
                _ => {
                    // Behind an assignment or a redirection it is none, but that is for other readers to know.
                    if words.is_empty() && !is_bare && word.plain().is_some_and(is_reserved) {
                        return Err(NOT_KNOWN);
                    }
                    if !words.is_empty() {
                        self.check_alias_elsewhere(&word)?;
                    }
                    words.push(word);
                }
            }
        }
        self.check_words(&words)?;
        if let Some(words) = self.with_alias(&words)? {
            self.check_words(&words)?;
        }
        Ok(())
    }

    fn check_words(&mut self, words: &[Word<'a>]) -> Proof {
        builtins::check(self, words, false)
    }

    /// `NAME=(…)`: words, none of them with a subscript.
    fn array(&mut self, word: &Word<'a>) -> Proof {
        let is_empty = memchr::memchr(b'=', word.raw) == Some(word.raw.len() - 1);
        if !is_empty || !self.pending.is_empty() {
            return Err(NOT_KNOWN);
        }
        self.found.arrays.extend(word.assigned().map(<[u8]>::to_vec));
        self.at += 1;
        loop {
            self.skip_lines()?;
            if self.take(b")") {
                break;
            }
            let word = self.word()?;
            // A brace may make the subscript.
            if word.raw[0] == b'[' || (word.raw.contains(&b'[') && word.raw.contains(&b'=')) {
                return Err(Unproven("has a subscript that is evaluated"));
            }
        }
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')') => Ok(()),
            Some(_) => Err(NOT_KNOWN),
        }
    }

    /// `NAME () …`, from the parenthesis on.
    pub(super) fn function(&mut self, name: &Word<'a>) -> Proof {
        let plain = name.plain().ok_or(NOT_KNOWN)?;
        let is_plain = plain
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.:+/@".contains(byte));
        if !is_plain || self.alias(name).is_some() {
            return Err(Unproven("defines a function with a strange name"));
        }
        self.at += 1;
        self.skip_blanks();
        if !self.take(b")") {
            return Err(NOT_KNOWN);
        }
        self.skip_lines()?;
        match self.peek() {
            Some(b'(') => {}
            Some(b'{') if matches!(self.peek_at(1), Some(b' ' | b'\t' | b'\n')) => {}
            _ => return Err(Unproven("defines a function with a strange body")),
        }
        self.command(Place::Other)?;
        Ok(())
    }
}
