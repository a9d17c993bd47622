//! Finds function definitions in the text of a startup file.
//!
//! dash and busybox ash cannot print a function, so its text is taken from where it was written. This is a parser of
//! the shell's grammar that keeps nothing but where each definition begins and ends and where an alias is made. It
//! stops at what it does not understand, as the shell itself does at a syntax error.

use exec_protocol::limits::SNAPSHOT_DEFINITION_DEPTH;

/// What a file defines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Definitions<'a> {
    /// In the order of their ends.
    pub(super) functions: Vec<Function<'a>>,
    /// Names of aliases, and where they are made.
    pub(super) aliases: Vec<(&'a [u8], usize)>,
    /// Whether something is evaluated that the file does not show.
    pub(super) evaluates: bool,
}

/// One definition of a function.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    pub(super) name: &'a [u8],
    /// From the name to the end of the body.
    pub(super) text: &'a [u8],
    /// Where it begins.
    pub(super) at: usize,
    /// Whether something decides if it is made.
    pub(super) conditional: bool,
    /// Literal words in it that stand where a command's name does.
    pub(super) commands: Vec<&'a [u8]>,
}

/// Reads a file as far as it is understood.
pub(super) fn find(text: &[u8]) -> Definitions<'_> {
    let mut parser = Parser::new(text);
    let _ = parser.list(&[]);
    parser.found
}

/// What a shell reads of a script before it runs any of it: its first line, as far as what begins there goes.
pub(super) fn first_read(text: &[u8]) -> &[u8] {
    let mut parser = Parser::new(text);
    match parser.first_line() {
        Ok(()) => &text[..parser.at],
        Err(NotUnderstood) => text,
    }
}

/// The text is not understood from here on.
pub(super) struct NotUnderstood;

pub(super) type Step<T = ()> = Result<T, NotUnderstood>;

pub(super) struct Parser<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    /// Delimiters of here-documents whose bodies begin after the next line feed, and whether tabs are stripped.
    pub(super) heredocs: Vec<(Vec<u8>, bool)>,
    found: Definitions<'a>,
    commands: Vec<&'a [u8]>,
    /// How many constructs decide whether what stands here is run.
    conditions: usize,
    /// How many subshells or functions hide what is defined here.
    pub(super) hidden: usize,
    pub(super) depth: usize,
}

const OPERATORS: &[&[u8]] = &[
    b";;&", b"<<<", b"<<-", b"&&", b"||", b";;", b";&", b"<<", b">>", b"<&", b">&", b"<>", b">|", b"&>",
    b";", b"&", b"|", b"<", b">", b"(", b")",
];

impl<'a> Parser<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            at: 0,
            heredocs: Vec::new(),
            found: Definitions::default(),
            commands: Vec::new(),
            conditions: 0,
            hidden: 0,
            depth: 0,
        }
    }

    /// Commands up to the end of a line.
    fn first_line(&mut self) -> Step {
        self.lines();
        while !matches!(self.byte(), None | Some(b'\n')) {
            self.pipelines()?;
            self.blanks();
            match self.operator() {
                Some(operator @ (b";" | b"&")) => self.at += operator.len(),
                None if matches!(self.byte(), None | Some(b'\n')) => {}
                _ => return Err(NotUnderstood),
            }
            self.blanks();
        }
        self.lines();
        Ok(())
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text[self.at.min(self.text.len())..]
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Blanks, continued lines and a comment.
    fn blanks(&mut self) {
        loop {
            match self.rest() {
                [b' ' | b'\t' | b'\r', ..] => self.at += 1,
                [b'\\', b'\n', ..] => self.at += 2,
                [b'#', ..] => {
                    let length = memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
                    self.at += length;
                }
                _ => return,
            }
        }
    }

    /// Blanks and line feeds; here-documents begin after a line feed.
    fn lines(&mut self) {
        loop {
            self.blanks();
            if self.byte() != Some(b'\n') {
                return;
            }
            self.at += 1;
            self.bodies();
        }
    }

    fn bodies(&mut self) {
        for (delimiter, strip) in std::mem::take(&mut self.heredocs) {
            loop {
                let line = self.rest();
                if line.is_empty() {
                    break;
                }
                let length = memchr::memchr(b'\n', line).unwrap_or(line.len());
                self.at += (length + 1).min(line.len());
                let mut line = &line[..length];
                while strip && line.first() == Some(&b'\t') {
                    line = &line[1..];
                }
                if line == delimiter {
                    break;
                }
            }
        }
    }

    fn operator(&self) -> Option<&'static [u8]> {
        OPERATORS
            .iter()
            .find(|operator| self.rest().starts_with(operator))
            .copied()
    }

    fn expect(&mut self, operator: &[u8]) -> Step {
        self.blanks();
        if self.operator() != Some(operator) {
            return Err(NotUnderstood);
        }
        self.at += operator.len();
        Ok(())
    }

    /// The word that stands here, not taken.
    fn peek(&mut self) -> &'a [u8] {
        self.blanks();
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| b" \t\r\n;&|<>()\\'\"`$".contains(byte))
            .unwrap_or(rest.len());
        // A word with a quote in it is no reserved word, nor a name.
        match rest.get(length) {
            Some(b'\\' | b'\'' | b'"' | b'`' | b'$') => b"",
            _ => &rest[..length],
        }
    }

    fn keyword(&mut self, word: &[u8]) -> Step {
        if self.peek() != word {
            return Err(NotUnderstood);
        }
        self.at += word.len();
        Ok(())
    }

    /// Commands up to one of these words or operators (nothing: the end of the text), which is not taken.
    fn list(&mut self, stops: &[&[u8]]) -> Step {
        self.depth += 1;
        if self.depth > SNAPSHOT_DEFINITION_DEPTH {
            return Err(NotUnderstood);
        }
        loop {
            self.lines();
            if self.rest().is_empty() {
                break if stops.is_empty() {
                    Ok(())
                } else {
                    Err(NotUnderstood)
                };
            }
            let here = match self.operator() {
                Some(operator) => operator,
                None => self.peek(),
            };
            if stops.contains(&here) {
                break Ok(());
            }
            self.pipelines()?;
            self.blanks();
            match self.operator() {
                Some(operator @ (b";" | b"&")) => self.at += operator.len(),
                Some(operator) if stops.contains(&operator) => {}
                None if matches!(self.byte(), None | Some(b'\n')) => {}
                _ => break Err(NotUnderstood),
            }
        }
        .inspect(|()| self.depth -= 1)
    }

    /// Commands joined by `&&`, `||` and `|`.
    fn pipelines(&mut self) -> Step {
        let (functions, mut conditional, mut piped) = (self.found.functions.len(), false, false);
        loop {
            self.conditions += usize::from(conditional);
            let result = self.command();
            self.conditions -= usize::from(conditional);
            result?;
            self.blanks();
            match self.operator() {
                Some(b"&&" | b"||") => {
                    self.at += 2;
                    conditional = true;
                }
                Some(b"|") => {
                    self.at += 1;
                    piped = true;
                }
                _ => break,
            }
            self.lines();
        }
        if piped {
            // What is defined in a pipeline is defined in a subshell.
            self.found.functions.truncate(functions);
        }
        Ok(())
    }

    fn command(&mut self) -> Step {
        while self.peek() == b"!" {
            self.at += 1;
        }
        if self.operator() == Some(b"(") {
            self.subshell()?;
            return self.redirections();
        }
        match self.peek() {
            b"{" => {
                self.at += 1;
                self.list(&[b"}"])?;
                self.keyword(b"}")?;
            }
            b"if" => {
                self.at += 2;
                self.conditions += 1;
                self.list(&[b"then"])?;
                self.keyword(b"then")?;
                loop {
                    self.list(&[b"elif", b"else", b"then", b"fi"])?;
                    let word = self.peek();
                    self.at += word.len();
                    if word == b"fi" {
                        break;
                    }
                }
                self.conditions -= 1;
            }
            word @ (b"while" | b"until") => {
                self.at += word.len();
                self.conditions += 1;
                self.list(&[b"do"])?;
                self.body()?;
                self.conditions -= 1;
            }
            b"for" | b"select" => self.each()?,
            b"case" => self.case()?,
            b"[[" => self.test()?,
            b"function" => {
                let at = self.at;
                self.at += b"function".len();
                let name = self.peek();
                self.at += name.len();
                self.blanks();
                if self.rest().starts_with(b"(") {
                    self.expect(b"(")?;
                    self.expect(b")")?;
                }
                return self.function(name, at);
            }
            b"then" | b"else" | b"elif" | b"fi" | b"do" | b"done" | b"esac" | b"}" => {
                return Err(NotUnderstood);
            }
            name => {
                let at = self.at;
                if super::words::is_name(name) {
                    self.at += name.len();
                    self.blanks();
                    if self.operator() == Some(b"(") {
                        self.at += 1;
                        self.expect(b")")?;
                        return self.function(name, at);
                    }
                    self.at = at;
                }
                return self.simple();
            }
        }
        self.redirections()
    }

    fn function(&mut self, name: &'a [u8], at: usize) -> Step {
        self.lines();
        if !matches!(
            self.peek(),
            b"{" | b"if" | b"while" | b"until" | b"for" | b"case" | b"[["
        ) && self.operator() != Some(b"(")
        {
            return Err(NotUnderstood);
        }
        let outer = std::mem::take(&mut self.commands);
        self.hidden += 1;
        let result = self.command();
        self.hidden -= 1;
        let commands = std::mem::replace(&mut self.commands, outer);
        result?;
        // A here-document that begins after the body's line is not in the text between its ends.
        if self.hidden == 0 && self.heredocs.is_empty() {
            self.found.functions.push(Function {
                name,
                text: &self.text[at..self.at],
                at,
                conditional: self.conditions > 0,
                commands,
            });
        }
        Ok(())
    }

    pub(super) fn subshell(&mut self) -> Step {
        self.at += 1;
        self.hidden += 1;
        self.list(&[b")"])?;
        self.hidden -= 1;
        self.at += 1;
        Ok(())
    }

    fn body(&mut self) -> Step {
        self.keyword(b"do")?;
        self.list(&[b"done"])?;
        self.keyword(b"done")
    }

    fn each(&mut self) -> Step {
        let word = self.peek();
        self.at += word.len();
        self.blanks();
        self.word()?;
        self.lines();
        if self.peek() == b"in" {
            self.at += 2;
            self.words()?;
        }
        self.blanks();
        if self.operator() == Some(b";") {
            self.at += 1;
        }
        self.lines();
        self.conditions += 1;
        self.body()?;
        self.conditions -= 1;
        Ok(())
    }

    fn words(&mut self) -> Step {
        loop {
            self.blanks();
            if self.operator().is_some() || matches!(self.byte(), None | Some(b'\n')) {
                return Ok(());
            }
            self.word()?;
        }
    }

    fn case(&mut self) -> Step {
        self.at += b"case".len();
        self.blanks();
        self.word()?;
        self.lines();
        self.keyword(b"in")?;
        self.conditions += 1;
        loop {
            self.lines();
            if self.peek() == b"esac" {
                break;
            }
            if self.operator() == Some(b"(") {
                self.at += 1;
            }
            loop {
                self.blanks();
                self.word()?;
                self.blanks();
                match self.operator() {
                    Some(b"|") => self.at += 1,
                    Some(b")") => break,
                    _ => return Err(NotUnderstood),
                }
            }
            self.at += 1;
            self.list(&[b";;", b";&", b";;&", b"esac"])?;
            if let Some(operator) = self.operator() {
                self.at += operator.len();
            }
        }
        self.conditions -= 1;
        self.keyword(b"esac")
    }

    /// `[[ … ]]`, in which operators are words.
    fn test(&mut self) -> Step {
        loop {
            self.lines();
            if self.peek() == b"]]" {
                self.at += 2;
                return Ok(());
            }
            match self.operator() {
                Some(operator) => self.at += operator.len(),
                None if self.byte().is_none() => return Err(NotUnderstood),
                None => drop(self.word()?),
            }
        }
    }

    /// A command of words, assignments and redirections.
    fn simple(&mut self) -> Step {
        let (from, mut name): (usize, Option<&[u8]>) = (self.at, None);
        loop {
            self.blanks();
            if matches!(self.byte(), None | Some(b'\n')) {
                break;
            }
            if self.redirection()? {
                continue;
            }
            if self.operator().is_some() {
                break;
            }
            let at = self.at;
            let word = self.word()?;
            if self.rest().starts_with(b"(") && word.ends_with(b"=") {
                // An array: not in these shells, but in files they share with others.
                self.at += 1;
                self.array()?;
                continue;
            }
            match name {
                None if is_assignment(word) => {}
                None => {
                    let unquoted = word.strip_prefix(b"\\").unwrap_or(word);
                    self.commands.push(word);
                    self.found.evaluates |= unquoted == b"eval";
                    if !matches!(unquoted, b"command" | b"builtin") {
                        name = Some(unquoted);
                    }
                }
                Some(b"alias") if self.hidden == 0 => {
                    if let Some(equals) = memchr::memchr(b'=', word) {
                        self.found.aliases.push((&word[..equals], at));
                    }
                }
                Some(_) => {}
            }
        }
        if self.at == from {
            Err(NotUnderstood)
        } else {
            Ok(())
        }
    }

    fn array(&mut self) -> Step {
        loop {
            self.lines();
            match self.operator() {
                Some(b")") => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => return Err(NotUnderstood),
                None if self.byte().is_none() => return Err(NotUnderstood),
                None => drop(self.word()?),
            }
        }
    }

    fn redirections(&mut self) -> Step {
        loop {
            self.blanks();
            if !self.redirection()? {
                return Ok(());
            }
        }
    }

    /// A redirection, if one stands here.
    fn redirection(&mut self) -> Step<bool> {
        let digits = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let from = self.at;
        self.at += digits;
        let Some(operator) = self
            .operator()
            .filter(|operator| matches!(operator, [b'<' | b'>', ..]) || (*operator == b"&>" && digits == 0))
        else {
            self.at = from;
            return Ok(false);
        };
        self.at += operator.len();
        self.blanks();
        let word = self.word()?;
        if matches!(operator, b"<<" | b"<<-") {
            let delimiter = word
                .iter()
                .copied()
                .filter(|byte| !b"\\'\"".contains(byte))
                .collect();
            self.heredocs.push((delimiter, operator == b"<<-"));
        }
        Ok(true)
    }
}

fn is_assignment(word: &[u8]) -> bool {
    memchr::memchr(b'=', word).is_some_and(|equals| super::words::is_name(&word[..equals]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<(String, String, bool)> {
        find(text.as_bytes())
            .functions
            .into_iter()
            .map(|function| {
                (
                    String::from_utf8(function.name.to_vec()).unwrap(),
                    String::from_utf8(function.text.to_vec()).unwrap(),
                    function.conditional,
                )
            })
            .collect()
    }

    #[test]
    fn a_definition_ends_where_its_body_does() {
        for body in [
            "{ echo \"fn $1\"; }",
            "{\n\tif a; then b; elif c; then d; else e; fi\n}",
            "( cd /; pwd )",
            "{ case $1 in a|b) echo \")\";; (c) echo };; esac; }",
            "{\ncat <<EOF\n} done $(\nEOF\n}",
            "{\n\tcat <<-'E F'\n\t\t}\n\tE F\n}",
            "{ echo \"$(echo \")\" | cat)\" '}' `echo \\`}` \"${x:-\"}\"}\" ${y#'}'}; }",
            "{ echo $((1 + (2 * 3))) # }\n}",
            "{ for i in a \"}\" c; do echo $i; done >/dev/null 2>&1; }",
            "{ for i; do :; done; while read -r x; do break; done <f; until false; do :; done; }",
            "{ echo a \\\n }; }",
            "{ [[ a && ( b || c ) ]] && x; }",
            "if a; then b; fi",
            "{ g() { echo inner; }; g; }",
            "{ a && b || ! c | d & }",
            "{ echo done fi } esac; }",
            "{ x; } >&2 </dev/null",
            "{ echo $'a' a#b ${#x} $# $$ \"'\" ; }",
        ] {
            let text = format!("echo before\nf() {body}\nlast() {{ :; }}\n");
            let found = texts(&text);
            assert_eq!(
                found,
                [
                    ("f".to_owned(), format!("f() {body}"), false),
                    ("last".to_owned(), "last() { :; }".to_owned(), false)
                ],
                "{body}"
            );
        }
    }

    #[test]
    fn what_decides_about_a_definition_is_seen() {
        let found = texts(
            "[ -n \"$PS1\" ] || return\na() { :; }\nif x; then b() { :; }; fi\nx && c() { :; }\n\
             { d ()\n{ :; }; }\n( e() { :; } )\nf() { g() { :; }; }\nh() { :; } | cat\nfunction i { :; }\n\
             case $- in *i*) j() { :; } ;; esac\necho \"k() { :; }\" 'l() { :; }' $(m() { :; })\n# n() { :; }\n",
        );
        let names: Vec<(&str, bool)> = found
            .iter()
            .map(|(name, _, conditional)| (name.as_str(), *conditional))
            .collect();
        assert_eq!(
            names,
            [
                ("a", false),
                ("b", true),
                ("c", true),
                ("d", false),
                ("f", false),
                ("i", false),
                ("j", true)
            ]
        );
    }

    #[test]
    fn aliases_evaluation_and_commands_are_seen() {
        let found = find(b"alias ll='ls -l' x=y\nf() { ll | \\cat; X=1 grep; }\neval \"$(tool)\"\n");
        assert_eq!(found.aliases, [(&b"ll"[..], 6), (&b"x"[..], 17)]);
        assert!(found.evaluates);
        assert_eq!(found.functions[0].commands, [&b"ll"[..], b"\\cat", b"grep"]);
    }

    #[test]
    fn what_follows_an_error_is_not_read() {
        for text in [
            "a() { :; }\nfi\nb() { :; }\n",
            "a() { :; }\nb() { echo 'x\n",
            "a() { :; }\nb() { echo $(\n",
        ] {
            assert_eq!(texts(text).len(), 1, "{text}");
        }
        // A here-document that begins outside.
        assert_eq!(texts("a() { cat; } <<E\nx\nE\nb() { :; }\n").len(), 1);
    }

    #[test]
    fn a_shell_reads_a_line_at_a_time() {
        for (script, first) in [
            ("a\nb\n", "a\n"),
            ("# c\n\na; b &\nc", "# c\n\na; b &\n"),
            ("if a\nthen b\nfi; c\nd", "if a\nthen b\nfi; c\n"),
            ("cat <<E && x\nll\nE\nll", "cat <<E && x\nll\nE\n"),
            ("a &&\n b\nc", "a &&\n b\n"),
            ("f() {\n ll\n}\nll", "f() {\n ll\n}\n"),
            ("echo 'a\nb'\nc", "echo 'a\nb'\n"),
            ("", ""),
            // Not understood: all of it.
            ("fi\nb\n", "fi\nb\n"),
        ] {
            assert_eq!(
                String::from_utf8_lossy(first_read(script.as_bytes())),
                first,
                "{script}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_an_end(text: Vec<u8>) {
            let _ = find(&text);
            prop_assert!(text.starts_with(first_read(&text)));
        }

        #[test]
        fn any_text_of_the_grammar_is_read_to_an_end(parts in prop::collection::vec(prop::sample::select(vec![
            "if", "then", "fi", "case", "in", "esac", ";;", ";", "\n", "{", "}", "(", ")", "f()", "$(", "$((", "${", "`",
            "'", "\"", "\\", "<<E", "E", "&&", "|", "for", "do", "done", "x", " ", "#", "[[", "]]", "function", "a=("]), 0..60))
        {
            let text = parts.concat();
            for function in find(text.as_bytes()).functions {
                prop_assert!(super::super::words::is_name(function.name) || function.text.starts_with(b"function"));
            }
        }
    }
}
