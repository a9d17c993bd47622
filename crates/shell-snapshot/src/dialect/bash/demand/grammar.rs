//! Lists, pipelines and commands.

use super::context::{Proof, Unproven};
use super::scan::Scanner;

/// What ends a list.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// The end of the text.
    Text,
    /// `)`.
    Parenthesis,
    /// One of these words.
    Reserved(&'static [&'static [u8]]),
    /// `;;` or `esac`.
    Item,
}

/// Where a command stands: what may be there in its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// First in a list: a word that ends it, or what stands in front of a pipeline.
    First(End),
    /// First in a pipeline.
    Pipeline,
    /// Only a command.
    Other,
}

const RESERVED: &[&[u8]] = &[
    b"!",
    b"[[",
    b"]]",
    b"case",
    b"coproc",
    b"do",
    b"done",
    b"elif",
    b"else",
    b"esac",
    b"fi",
    b"for",
    b"function",
    b"if",
    b"in",
    b"select",
    b"then",
    b"time",
    b"until",
    b"while",
    b"{",
    b"}",
];

/// Whether the shell may take such a word for part of its grammar.
pub(super) fn is_reserved(word: &[u8]) -> bool {
    RESERVED.contains(&word)
}

pub(super) const NOT_KNOWN: Unproven = Unproven("is not as expected");

impl<'a> Scanner<'a> {
    /// A whole text.
    pub(super) fn script(&mut self) -> Proof {
        self.list(End::Text)?;
        Ok(())
    }

    /// To the parenthesis that closes.
    pub(super) fn commands_in_parentheses(&mut self) -> Proof {
        self.list(End::Parenthesis)?;
        Ok(())
    }

    /// Commands, to what ends them, and past it. Returns the word that did.
    fn list(&mut self, end: End) -> Proof<&'a [u8]> {
        loop {
            self.skip_lines()?;
            match (self.peek(), end) {
                (None, End::Text) if self.pending.is_empty() => return Ok(b""),
                (Some(b')'), End::Parenthesis) if self.pending.is_empty() => {
                    self.at += 1;
                    return Ok(b")");
                }
                (Some(b';'), End::Item) => {
                    if [&b";;&"[..], b";;", b";&"].iter().any(|end| self.take(end)) {
                        return Ok(b";;");
                    }
                    return Err(NOT_KNOWN);
                }
                (None | Some(b')' | b';'), _) => return Err(NOT_KNOWN),
                _ => {}
            }
            if let Some(word) = self.and_or(end)? {
                return Ok(word);
            }
            self.skip_blanks();
            match self.peek() {
                None | Some(b'\n' | b')') => {}
                Some(b';') if matches!(end, End::Item) && matches!(self.peek_at(1), Some(b';' | b'&')) => {}
                Some(b';') if self.peek_at(1) != Some(b';') => self.at += 1,
                Some(b'&') if !matches!(self.peek_at(1), Some(b'&' | b'>')) => self.at += 1,
                Some(_) => return Err(NOT_KNOWN),
            }
        }
    }

    /// Pipelines. Returns the word that ended the list in place of the first.
    fn and_or(&mut self, end: End) -> Proof<Option<&'a [u8]>> {
        let mut place = Place::First(end);
        loop {
            if let Some(word) = self.deeper(|this| this.command(place))? {
                return Ok(Some(word));
            }
            self.skip_blanks();
            if self.take(b"&&") || self.take(b"||") {
                place = Place::Pipeline;
            } else if self.take(b"|&") || self.take(b"|") {
                place = Place::Other;
            } else {
                return Ok(None);
            }
            self.skip_lines()?;
        }
    }

    /// A command, or a word that ends the list.
    pub(super) fn command(&mut self, place: Place) -> Proof<Option<&'a [u8]>> {
        self.skip_blanks();
        match self.peek() {
            Some(b'(') => {
                if self.peek_at(1) == Some(b'(') {
                    return Err(Unproven("has arithmetic"));
                }
                self.at += 1;
                self.list(End::Parenthesis)?;
                self.redirections()?;
                return Ok(None);
            }
            Some(b'&') if self.peek_at(1) != Some(b'>') => return Err(NOT_KNOWN),
            Some(b'<' | b'>' | b'&') => {
                self.simple(None)?;
                return Ok(None);
            }
            _ => {}
        }
        let first = self.bare_word()?;
        let reserved = first.plain().filter(|word| is_reserved(word));
        let Some(reserved) = reserved else {
            self.simple(Some(first))?;
            return Ok(None);
        };
        if self.alias(&first).is_some() {
            return Err(Unproven("has an alias of a reserved word"));
        }
        match (reserved, place) {
            (b"esac", Place::First(End::Item)) => return Ok(Some(reserved)),
            (_, Place::First(End::Reserved(words))) if words.contains(&reserved) => {
                return Ok(Some(reserved));
            }
            (b"!", Place::First(_) | Place::Pipeline) => return self.behind_prefix(),
            (b"time", Place::First(_) | Place::Pipeline) => {
                self.skip_blanks();
                if matches!(
                    self.peek(),
                    None | Some(b'-' | b'\n' | b';' | b'&' | b'|' | b'!' | b')')
                ) {
                    return Err(Unproven("times what is not plainly a command"));
                }
                return self.behind_prefix();
            }
            _ => self.compound(reserved)?,
        }
        self.redirections()?;
        Ok(None)
    }

    /// What `!` and `time` stand in front of: a command, and not one of them again.
    fn behind_prefix(&mut self) -> Proof<Option<&'a [u8]>> {
        if self.peek() == Some(b'(') {
            return Err(Unproven("has what may be a pattern"));
        }
        self.skip_blanks();
        match self.peek() {
            None | Some(b'\n' | b';' | b'&' | b'|' | b')') => Err(NOT_KNOWN),
            _ => self.command(Place::Other),
        }
    }

    /// From behind its first word to its last.
    fn compound(&mut self, reserved: &[u8]) -> Proof {
        match reserved {
            b"{" => {
                self.list(End::Reserved(&[b"}"]))?;
            }
            b"if" => {
                self.list(End::Reserved(&[b"then"]))?;
                loop {
                    match self.list(End::Reserved(&[b"elif", b"else", b"fi"]))? {
                        b"elif" => self.list(End::Reserved(&[b"then"]))?,
                        b"else" => {
                            self.list(End::Reserved(&[b"fi"]))?;
                            break;
                        }
                        _ => break,
                    };
                }
            }
            b"while" | b"until" => {
                self.list(End::Reserved(&[b"do"]))?;
                self.list(End::Reserved(&[b"done"]))?;
            }
            b"for" => self.for_loop()?,
            b"case" => self.case()?,
            b"[[" => self.condition()?,
            b"function" => {
                self.skip_blanks();
                let name = self.bare_word()?;
                self.skip_blanks();
                if self.peek() != Some(b'(') {
                    return Err(Unproven("defines a function without parentheses"));
                }
                self.function(&name)?;
            }
            _ => return Err(Unproven("has a reserved word that is not known here")),
        }
        Ok(())
    }

    fn for_loop(&mut self) -> Proof {
        self.skip_blanks();
        let name = self.word()?;
        let name = name.plain().ok_or(NOT_KNOWN)?;
        self.context.check_assigned(name)?;
        self.skip_lines()?;
        if !self.take(b";") {
            let word = self.word()?;
            match word.plain() {
                Some(b"do") => {
                    self.list(End::Reserved(&[b"done"]))?;
                    return Ok(());
                }
                Some(b"in") => self.words_of_line()?,
                _ => return Err(NOT_KNOWN),
            }
            if !self.take(b";") && self.peek() != Some(b'\n') {
                return Err(NOT_KNOWN);
            }
        }
        self.skip_lines()?;
        if self.word()?.plain() != Some(b"do") {
            return Err(NOT_KNOWN);
        }
        self.list(End::Reserved(&[b"done"]))?;
        Ok(())
    }

    fn words_of_line(&mut self) -> Proof {
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some(b';' | b'\n') => return Ok(()),
                _ => self.word()?,
            };
        }
    }

    fn case(&mut self) -> Proof {
        self.skip_blanks();
        self.word()?;
        self.skip_lines()?;
        if self.word()?.plain() != Some(b"in") {
            return Err(NOT_KNOWN);
        }
        loop {
            self.skip_lines()?;
            let is_open = self.take(b"(");
            self.skip_blanks();
            let pattern = self.word()?;
            if pattern.plain() == Some(b"esac") {
                return if is_open { Err(NOT_KNOWN) } else { Ok(()) };
            }
            loop {
                self.skip_blanks();
                if self.take(b")") {
                    break;
                }
                if !self.take(b"|") {
                    return Err(NOT_KNOWN);
                }
                self.skip_blanks();
                self.word()?;
            }
            if self.list(End::Item)? == b"esac" {
                return Ok(());
            }
        }
    }
}
