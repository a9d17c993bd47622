//! What stands behind a dollar sign, and in back quotes.

use super::context::{Proof, Unproven, is_identifier, is_name_part, is_name_start};
use super::scan::Scanner;
use super::words::Word;

impl<'a> Scanner<'a> {
    /// A dollar sign and what belongs to it.
    pub(super) fn dollar(&mut self, word: &mut Word<'a>, is_quoted: bool) -> Proof {
        let next = self.peek_at(1);
        match next {
            Some(b'(') if self.peek_at(2) == Some(b'(') => {
                self.at += 3;
                self.arithmetic()?;
            }
            Some(b'(') => {
                self.at += 2;
                self.substitution()?;
            }
            Some(b'{') => {
                self.at += 2;
                let is_list = self.parameter(is_quoted)?;
                word.is_expanded = true;
                word.is_split |= !is_quoted || is_list;
                return Ok(());
            }
            Some(b'\'') if !is_quoted => {
                self.at += 2;
                self.ansi_quoted()?;
                (word.is_quoted, word.is_expanded) = (true, true);
                return Ok(());
            }
            Some(b'"') if !is_quoted => return Err(Unproven("is translated")),
            Some(b'[') => return Err(Unproven("has arithmetic of the old form")),
            Some(b'\\') if self.peek_at(2) == Some(b'\n') => {
                return Err(Unproven("continues a line inside a name"));
            }
            Some(byte) if is_name_start(byte) => {
                self.at += 1;
                while self.peek().is_some_and(is_name_part) {
                    self.at += 1;
                }
                if self.starts_with(b"\\\n") {
                    return Err(Unproven("continues a line inside a name"));
                }
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.at += 2;
                word.is_split |= byte == b'@';
            }
            _ => {
                word.text.push(b'$');
                self.at += 1;
                return Ok(());
            }
        }
        word.is_expanded = true;
        word.is_split |= !is_quoted;
        Ok(())
    }

    /// Commands up to a closing parenthesis.
    pub(super) fn substitution(&mut self) -> Proof {
        if !self.pending.is_empty() {
            return Err(Unproven("has commands in front of a here-document's body"));
        }
        // They may be read when the text runs, whenever that itself was read.
        let before = (self.is_substituted, self.has_aliases);
        (self.is_substituted, self.has_aliases) = (true, true);
        self.deeper(Self::commands_in_parentheses)?;
        (self.is_substituted, self.has_aliases) = before;
        Ok(())
    }

    /// Commands in back quotes.
    pub(super) fn backquoted(&mut self, is_quoted: bool) -> Proof {
        let rest = &self.text[self.at + 1..];
        let end = memchr::memchr(b'`', rest).ok_or(Unproven("has an open quote"))?;
        let commands = &rest[..end];
        // What a backslash says here is not what it says in the commands.
        if commands.contains(&b'\\') || (is_quoted && commands.contains(&b'"')) || !self.pending.is_empty() {
            return Err(Unproven("has quotes in back quotes"));
        }
        self.at += end + 2;
        self.also(commands)
    }

    /// Numbers and operators, up to `))`: a name would be evaluated, and so would be what its value says.
    fn arithmetic(&mut self) -> Proof {
        let mut depth = 0_u32;
        loop {
            match self.peek().ok_or(Unproven("has open parentheses"))? {
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b')' if self.peek_at(1) == Some(b')') => {
                    self.at += 2;
                    return Ok(());
                }
                b'$' if matches!(self.peek_at(1), Some(b'?' | b'#' | b'$')) => self.at += 1,
                b' ' | b'0'..=b'9' => {}
                b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|' | b'^' | b'~'
                | b'?' | b':' | b',' => {}
                _ => return Err(Unproven("has names in arithmetic")),
            }
            self.at += 1;
        }
    }

    /// `${…}`, from behind the brace. Returns whether it yields a list even in quotes.
    fn parameter(&mut self, is_quoted: bool) -> Proof<bool> {
        let is_length = self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}') && self.take(b"#");
        let from = self.at;
        match self.peek() {
            Some(byte) if is_name_start(byte) => {
                while self.peek().is_some_and(is_name_part) {
                    self.at += 1;
                }
            }
            Some(byte) if byte.is_ascii_digit() => {
                while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'-') => self.at += 1,
            _ => return Err(Unproven("has an expansion that is not known")),
        }
        let name = &self.text[from..self.at];
        let mut is_list = name == b"@";
        if self.peek() == Some(b'[') {
            is_list |= self.subscript()?;
        }
        if self.take(b"}") {
            return Ok(is_list && !is_length);
        }
        if is_length {
            return Err(Unproven("has an expansion that is not known"));
        }
        self.operator(name)?;
        Ok(self.operand(is_quoted)? || is_list)
    }

    /// `[@]`, `[*]` or a number: anything else is evaluated.
    fn subscript(&mut self) -> Proof<bool> {
        let rest = &self.text[self.at + 1..];
        let end = memchr::memchr(b']', rest).ok_or(Unproven("has an open bracket"))?;
        let subscript = &rest[..end];
        let digits = subscript.strip_prefix(b"-").unwrap_or(subscript);
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        if !is_number && !matches!(subscript, b"@" | b"*") {
            return Err(Unproven("has a subscript that is evaluated"));
        }
        self.at += end + 2;
        Ok(subscript == b"@")
    }

    /// What is done with the value. What is evaluated or run (`!`, `@P`, an offset by name) is not among it.
    fn operator(&mut self, name: &[u8]) -> Proof {
        if [&b":="[..], b"="].iter().any(|assignment| self.take(assignment)) {
            if !is_identifier(name) {
                return Err(Unproven("assigns to what is no plain name"));
            }
            return self.context.check_assigned(name);
        }
        let operators: &[&[u8]] = &[
            b":-", b":+", b":?", b"-", b"+", b"?", b"##", b"#", b"%%", b"%", b"//", b"/#", b"/%", b"/",
            b"^^", b"^", b",,", b",",
        ];
        if operators.iter().any(|operator| self.take(operator)) {
            return Ok(());
        }
        if self.take(b"@") {
            return match self.peek() {
                Some(b'Q' | b'U' | b'u' | b'L') if self.peek_at(1) == Some(b'}') => {
                    self.at += 1;
                    Ok(())
                }
                _ => Err(Unproven("has an expansion that is not known")),
            };
        }
        if self.take(b":") {
            let rest = &self.text[self.at..];
            let end = memchr::memchr(b'}', rest).ok_or(Unproven("has an open brace"))?;
            if rest[..end].iter().all(|byte| b"0123456789 :-".contains(byte)) {
                self.at += end;
                return Ok(());
            }
            return Err(Unproven("has names in arithmetic"));
        }
        Err(Unproven("has an expansion that is not known"))
    }

    /// The word behind an operator, to the closing brace. Returns whether it may be a list.
    fn operand(&mut self, is_quoted: bool) -> Proof<bool> {
        let mut operand = Word::default();
        loop {
            match self.peek().ok_or(Unproven("has an open brace"))? {
                b'}' => {
                    self.at += 1;
                    return Ok(operand.is_split);
                }
                b'\\' if self.peek_at(1).is_some_and(|next| next.is_ascii_graphic()) => self.at += 2,
                b'$' => self.deeper(|this| this.dollar(&mut operand, is_quoted))?,
                b'"' if !is_quoted => {
                    self.at += 1;
                    self.double_quoted(&mut operand)?;
                }
                b'\'' if !is_quoted => {
                    self.at += 1;
                    self.single_quoted()?;
                }
                // What these mean in here is not the same everywhere.
                b'\\' | b'"' | b'\'' | b'`' | b'\n' | b'(' | b')' | b'<' | b'>' | b'{' => {
                    return Err(Unproven("has an expansion that is not known"));
                }
                _ => self.at += 1,
            }
        }
    }
}
