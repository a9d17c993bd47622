//! Takes the indentation out of functions that bash printed: reading it back is a twentieth of what they cost.
//!
//! It means nothing wherever a line begins outside of quotes, substitutions, here-documents and the like. A line that is
//! seen to close all it opens leaves the next one there; where that is not plain, the rest of the function stays as it is.
//! No line goes, so that they keep their numbers.

/// A definition without the indentation that means nothing.
pub(super) fn without_indentation(definition: &[u8]) -> Vec<u8> {
    // In another character set than UTF-8 the second might be half of a character.
    let is_split = |pair: &[u8]| !pair[0].is_ascii() && br"@[\]^`{|}~".contains(&pair[1]);
    if !definition.is_ascii() && definition.windows(2).any(is_split) {
        return definition.to_vec();
    }
    let mut text = Vec::with_capacity(definition.len());
    let mut rest = definition;
    while !rest.is_empty() {
        let blanks = rest.iter().take_while(|&&byte| byte == b' ').count();
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = &rest[blanks.min(end)..end];
        text.extend(line);
        rest = &rest[end..];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if (Line { text: line, at: 0 }).closes(false).is_none() {
            text.extend(rest);
            break;
        }
    }
    text
}

/// A place in a line that begins outside of everything. Whatever is not plain is `None`.
struct Line<'a> {
    text: &'a [u8],
    at: usize,
}

impl Line<'_> {
    fn peek(&self, distance: usize) -> Option<u8> {
        self.text.get(self.at + distance).copied()
    }

    fn is_behind(&self, bytes: &[u8]) -> bool {
        self.at
            .checked_sub(1)
            .is_some_and(|before| bytes.contains(&self.text[before]))
    }

    /// Goes past this many bytes of the line, which does not end before.
    fn skip(&mut self, count: usize) -> Option<()> {
        self.at += count;
        (self.at <= self.text.len()).then_some(())
    }

    /// Commands: to the end of the line, or in parentheses to the one that closes.
    fn closes(&mut self, in_parentheses: bool) -> Option<()> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.skip(2)?,
                b'\'' => self.single_quoted(1)?,
                b'"' => self.double_quoted(1)?,
                b'$' => self.dollar(false)?,
                b'`' => return None,
                b'<' if self.text[self.at..].starts_with(b"<<<") => self.skip(3)?,
                // A here-document, or a shift.
                b'<' if self.peek(1) == Some(b'<') => return None,
                b'<' | b'>' if self.peek(1) == Some(b'(') => {
                    self.skip(2)?;
                    self.closes(true)?;
                }
                // Arithmetic, an array, a pattern: parts of one word, or text that is printed as it was written.
                b'(' if in_parentheses || self.peek(1) == Some(b'(') || self.is_behind(b"=?*+@!(") => {
                    self.skip(1)?;
                    self.closes(true)?;
                }
                b')' if in_parentheses => return self.skip(1),
                b'[' if self.peek(1) == Some(b'[') => {
                    memchr::memmem::find(&self.text[self.at..], b"]]")?;
                    self.skip(2)?;
                }
                // A comment, or a pattern's parenthesis, would close what it does not.
                b'#' if in_parentheses && !self.is_behind(b"0123456789") => return None,
                b'c' if in_parentheses && self.text[self.at..].starts_with(b"case") => return None,
                _ => self.skip(1)?,
            }
        }
        (!in_parentheses).then_some(())
    }

    /// From the dollar sign on.
    fn dollar(&mut self, is_quoted: bool) -> Option<()> {
        match self.peek(1) {
            Some(b'(') => {
                self.skip(2)?;
                self.closes(true)
            }
            Some(b'{') => {
                self.skip(2)?;
                self.parameter()
            }
            Some(b'\'') if !is_quoted => self.ansi_quoted(),
            Some(b'"') if !is_quoted => self.double_quoted(2),
            Some(b'[' | b'`') => None,
            _ => self.skip(1),
        }
    }

    /// To the brace that closes: what quotes say in there depends on where it stands.
    fn parameter(&mut self) -> Option<()> {
        loop {
            match self.peek(0)? {
                b'}' => return self.skip(1),
                b'\'' | b'"' | b'`' | b'\\' => return None,
                b'<' | b'>' if self.peek(1) == Some(b'(') => return None,
                b'$' if matches!(self.peek(1), Some(b'\'' | b'"')) => return None,
                b'$' => self.dollar(false)?,
                _ => self.skip(1)?,
            }
        }
    }

    /// From the opening quote, so many bytes long, to behind the closing one.
    fn single_quoted(&mut self, opening: usize) -> Option<()> {
        self.skip(opening)?;
        let length = memchr::memchr(b'\'', &self.text[self.at..])?;
        self.skip(length + 1)
    }

    fn ansi_quoted(&mut self) -> Option<()> {
        self.skip(2)?;
        loop {
            match self.peek(0)? {
                b'\'' => return self.skip(1),
                b'\\' => self.skip(2)?,
                _ => self.skip(1)?,
            }
        }
    }

    fn double_quoted(&mut self, opening: usize) -> Option<()> {
        self.skip(opening)?;
        loop {
            match self.peek(0)? {
                b'"' => return self.skip(1),
                b'\\' => self.skip(2)?,
                b'$' => self.dollar(true)?,
                b'`' => return None,
                _ => self.skip(1)?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::dialect::bash::functions::{Listings, read};
    use crate::dialect::bash::tests::SHELL;

    /// What bash prints of functions: all of them, and their names. `None`: it cannot read them.
    fn printed(functions: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("functions");
        std::fs::write(&file, functions).unwrap();
        let list = |option: &str| {
            let script = format!("shopt -s extglob; . \"$0\" || exit; declare {option}");
            let output = Command::new(SHELL)
                .args(["--norc", "--noprofile", "-c", &script])
                .arg(&file)
                .env_clear()
                .output()
                .unwrap();
            (output.status.success() && output.stderr.is_empty()).then_some(output.stdout)
        };
        Some((list("-f")?, list("-F")?))
    }

    /// The functions as they are kept, and how many bytes they have lost.
    fn kept(functions: &[u8]) -> Option<(Vec<u8>, usize)> {
        let (definitions, names) = printed(functions)?;
        let listings = Listings {
            definitions: &definitions,
            names: &names,
            ..Listings::default()
        };
        let mut kept = Vec::new();
        let mut lost = 0;
        for (_, definition) in read(listings).ok()?.definitions {
            let without = without_indentation(&definition);
            assert_eq!(
                memchr::memchr_iter(b'\n', &without).count(),
                memchr::memchr_iter(b'\n', &definition).count()
            );
            lost += definition.len() - without.len();
            kept.extend(without);
        }
        // As it is printed, if bash can read that: it prints some functions wrongly.
        printed(&definitions)
            .is_some_and(|again| again.0 == definitions)
            .then_some((kept, lost))
    }

    fn assert_same(functions: &[u8]) -> Option<usize> {
        let (kept, lost) = kept(functions)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let was = printed(functions)?.0;
        let is = printed(&kept).map(|printed| printed.0).unwrap_or_default();
        assert_eq!(text(&is), text(&was), "{}", text(&kept));
        Some(lost)
    }

    /// What may hold a line feed behind which blanks count.
    const STRANGE: &[&str] = &[
        "x='a\n    b'",
        "x=\"a\n    b\"",
        "x=$'a\n    b'",
        "x=\"$(echo \"a'b\n    c\")\"",
        "x=\"$(cat \"a\n    b\")\"; y=\"\"",
        "x=`echo \"a\n    b\"`",
        "cat <<E\n    a 'b\nE",
        "cat <<-'E'\n    a\n\tE",
        "x=$(cat <<E\n    a\nE\n)",
        "x=${x:-'a\n    b'}",
        "x=\"${x:-'a\n    b'}\"",
        "x=\"${x:-\"a\n    b\"}\"",
        "(( x = 1 +\n    2 ))",
        "x=$(( 1 +\n    2 ))",
        "x=$[ 1 +\n    2 ]",
        "x=$(case a in\n    a) echo ')\n    b' ;;\nesac)",
        "x=$(echo a # it's\n    echo \"b'\n    c\")",
        "cat <(echo 'a\n    b')",
        "[[ $x =~ (a|\n    b) ]]",
        "[[ $x == 'a\n    b' ]]",
        "x=(a 'b\n    c'\n    d)",
        "echo @(a|'b\n    c')",
        "case $x in 'a\n    b') : ;; \\\" ) : ;; '(') : ;; esac",
        "echo a\\\n    b \\\\",
        "echo \"it's\" 'a \"b' \"\\\"\" '\\' \"'\n    c\"",
        "echo ${#x} ${x#\\\"} ${x%\\}} \"${x#'\"'}\n    a\"",
        "for ((i = 0; i < 3; i++)); do echo '\n    '; done",
        "g() { echo \"\n    a\"; }",
        "coproc { cat; }; echo '\n   b'",
        "echo <<<\"a\n    b\"",
        "x=1; (echo '\n    a'; echo b) | { cat; }",
        "echo é\"\n    a\"é",
        "echo $'it\\'s' \"$'\" \"'$x\n    a'\"",
        "eval \"a='b\n    c'\"",
    ];

    #[test]
    fn bash_reads_the_same() {
        let mut lost = 0;
        for text in STRANGE {
            let function = format!("f() {{ if true; then\n{text}\nfi; {{ echo a; }}; }}\n");
            if printed(function.as_bytes()).is_none() {
                panic!("bash cannot read {function}");
            }
            lost += assert_same(function.as_bytes()).unwrap_or_default();
        }
        assert!(lost > 0);
    }

    #[test]
    fn plain_functions_have_none_left() {
        let function = "function f () \n{ \n    local a=\"$1\" b=$(echo \"$2\");\n    for i in \"${a[@]}\";\n    do\n        \
                        case \"$i\" in \n            a | b)\n                echo 'x' 1>&2\n            ;;\n        esac;\n    \
                        done;\n    (( a < 3 )) && [[ -n $a ]] || return 1\n}\n";
        let without = without_indentation(function.as_bytes());
        assert!(
            memchr::memmem::find(&without, b"\n ").is_none(),
            "{}",
            String::from_utf8_lossy(&without)
        );
        assert_eq!(
            assert_same(function.as_bytes()),
            Some(function.len() - without.len())
        );
    }

    /// Pieces of which lines are made.
    fn any_body() -> impl proptest::strategy::Strategy<Value = String> {
        let pieces = [
            "echo ",
            "a",
            " ",
            "\n    ",
            ";\n",
            "'",
            "\"",
            "`",
            "\\",
            "$",
            "(",
            ")",
            "((",
            "))",
            "{ ",
            "; }",
            "${x",
            "}",
            "$(",
            "<<E\n",
            "\nE\n",
            "<<<",
            "[[ ",
            " ]]",
            "=",
            "#",
            "case a in a) ",
            ";; esac",
            "|",
            "&&",
            "x=",
            "@(",
            "<(",
            "$'",
            "$\"",
            ":-",
            "é",
        ];
        proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 1..14)
            .prop_map(|pieces| pieces.concat())
    }

    use proptest::strategy::Strategy as _;

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(150))]

        #[test]
        fn whatever_bash_reads_it_reads_again(first in any_body(), index in 0..STRANGE.len(), second in any_body()) {
            for body in [format!("{first}\n{}", STRANGE[index]), format!("{first}\n    {second}")] {
                assert_same(format!("f() {{\n{body}\n}}\n").as_bytes());
            }
        }

        #[test]
        fn nothing_but_blanks_goes(definition: Vec<u8>) {
            let without = without_indentation(&definition);
            let blank = |bytes: &[u8]| -> Vec<u8> { bytes.iter().copied().filter(|byte| *byte != b' ').collect() };
            proptest::prop_assert_eq!(blank(&without), blank(&definition));
        }
    }
}
