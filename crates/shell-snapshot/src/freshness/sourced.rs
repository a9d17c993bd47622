//! Finds the files that a startup file sources, or names as sh's own, by a literal path; and the folders whose files
//! it goes through.
//!
//! It reads words, not the shell's grammar: a file named in a comment or in a branch that is not taken is one more
//! to look at, and no harm. What is sourced through a variable or a command is not found.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// What stands for a directory at the head of a path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// `~` and `$HOME`.
    pub(super) home: Option<Vec<u8>>,
    /// `$ZDOTDIR`, HOME without one.
    pub(super) zdotdir: Option<Vec<u8>>,
}

/// The words that source the file after them.
const COMMANDS: &[&[u8]] = &[b".", b"source", b"\\.", b"\\source"];

/// Assigned to this variable, the name of the file that an interactive sh sources (sh(1p)).
const STARTUP_FILE: &[u8] = b"ENV=";

/// What a startup file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// A file that it sources.
    File(PathBuf),
    /// A folder whose files it goes through, as `for rc in ~/.bashrc.d/*` does.
    Folder(PathBuf),
}

/// What `text` names by absolute paths.
pub(super) fn named_files(text: &[u8], places: &Places) -> Vec<Named> {
    let mut named = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut rest = line;
        let mut in_list = false;
        while let Some((word, after)) = next_plain_word(rest) {
            let head = &rest[rest.len() - after.len() - word.len()..];
            rest = after;
            if COMMANDS.contains(&word) {
                named.extend(word_after_blanks(after, places));
            } else if let Some(text) = head.strip_prefix(STARTUP_FILE) {
                named.extend(path_at(text, places).filter(|path| matches!(path, Named::File(_))));
            } else if in_list {
                named.extend(path_at(head, places).filter(|path| matches!(path, Named::Folder(_))));
            }
            // The words of a `for` stand on its line, and end where its body begins.
            in_list = (in_list || word == b"in") && word != b"do";
        }
    }
    named
}

/// Whether a byte parts words: blanks, and the operators that may stand next to one.
fn parts(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

/// The next word, quotes and all, and what follows it.
fn next_plain_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.iter().position(|byte| !parts(*byte))?;
    let text = &text[start..];
    let end = text.iter().position(|byte| parts(*byte)).unwrap_or(text.len());
    Some(text.split_at(end))
}

/// The path of the first word behind blanks.
fn word_after_blanks(text: &[u8], places: &Places) -> Option<Named> {
    let blanks = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
    if blanks == 0 {
        return None;
    }
    path_at(&text[blanks..], places)
}

/// The path of the word that `text` begins with, or that of the folder in which its pattern looks for names; `None`:
/// it is no absolute path, or depends on more than the places known.
fn path_at(text: &[u8], places: &Places) -> Option<Named> {
    let mut rest = text;
    let mut path = Vec::new();
    let mut quote = None;
    if let Some(after) = rest.strip_prefix(b"~")
        && after.first() == Some(&b'/')
    {
        path.extend_from_slice(places.home.as_ref()?);
        rest = after;
    }
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, quote) {
            (b'\'' | b'"', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (byte, Some(b'\'')) => path.push(byte),
            (b'$', _) if path.is_empty() => {
                let (place, after) = variable(rest, places)?;
                path.extend_from_slice(place);
                rest = after;
            }
            (b'\\', _) => {
                let (&escaped, after) = rest.split_first()?;
                path.push(escaped);
                rest = after;
            }
            (b'$' | b'`', _) | (b'{', None) => return None,
            (b'*' | b'?' | b'[', None) => {
                // Only names are matched, not folders of folders.
                let word = rest.split(|byte| parts(*byte)).next()?;
                let end = path.iter().rposition(|byte| *byte == b'/')?;
                let is_folder = path.starts_with(b"/") && !word.iter().any(|byte| b"/$`".contains(byte));
                path.truncate(end.max(1));
                return is_folder.then(|| Named::Folder(OsString::from_vec(path).into()));
            }
            (byte, None) if parts(byte) => break,
            (byte, _) => path.push(byte),
        }
    }
    (quote.is_none() && path.starts_with(b"/")).then(|| Named::File(OsString::from_vec(path).into()))
}

/// The directory of the variable named at the head of `text`, and what follows the name.
fn variable<'a, 'b>(text: &'a [u8], places: &'b Places) -> Option<(&'b [u8], &'a [u8])> {
    let known: [(&[u8], &Option<Vec<u8>>); 5] = [
        (b"{HOME}", &places.home),
        (b"HOME", &places.home),
        (b"{ZDOTDIR}", &places.zdotdir),
        (b"{ZDOTDIR:-$HOME}", &places.zdotdir),
        (b"ZDOTDIR", &places.zdotdir),
    ];
    known.iter().find_map(|(name, place)| {
        let after = text.strip_prefix(*name)?;
        let ends = name.ends_with(b"}") || after.first().is_none_or(|byte| !is_name(*byte));
        ends.then_some((place.as_deref()?, after))
    })
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let places = Places {
            home: Some(b"/home/a b".to_vec()),
            zdotdir: Some(b"/z".to_vec()),
        };
        let named = named_files(text.as_bytes(), &places).into_iter();
        named
            .map(|named| match named {
                Named::File(path) => path.display().to_string(),
                Named::Folder(path) => format!("{}/", path.display()),
            })
            .collect()
    }

    #[test]
    fn literal_paths_are_found_however_they_are_written() {
        for (text, path) in [
            (". /etc/bashrc", "/etc/bashrc"),
            ("export ENV=$HOME/.shrc", "/home/a b/.shrc"),
            ("ENV=~/.shrc; export ENV", "/home/a b/.shrc"),
            ("[ -n \"$X\" ] || ENV='/a b/rc'", "/a b/rc"),
            ("source ~/.aliases", "/home/a b/.aliases"),
            ("[ -r ~/.bashrc ] && . ~/.bashrc", "/home/a b/.bashrc"),
            ("if [ -f ~/.b ]; then . ~/.b; fi", "/home/a b/.b"),
            ("\tsource \"$HOME/.cargo/env\" # rust", "/home/a b/.cargo/env"),
            (". ${HOME}/x", "/home/a b/x"),
            (". \"$HOME\"/x", "/home/a b/x"),
            ("(. '/a b/c')", "/a b/c"),
            (". /a\\ b", "/a b"),
            ("\\. /nvm.sh", "/nvm.sh"),
            ("builtin source /x", "/x"),
            ("{ . /x;}", "/x"),
            (". $ZDOTDIR/f", "/z/f"),
            (". ${ZDOTDIR:-$HOME}/f", "/z/f"),
            ("source /x >/dev/null 2>&1", "/x"),
            (". /etc/profile.d/*.sh", "/etc/profile.d/"),
            ("for rc in ~/.bashrc.d/*; do", "/home/a b/.bashrc.d/"),
            (
                "for f in \"$ZDOTDIR\"/conf.d/[0-9]*.zsh(N); do . $f; done",
                "/z/conf.d/",
            ),
            ("for f in $HOME/.d/??*.sh", "/home/a b/.d/"),
        ] {
            assert_eq!(found(text), [path], "{text}");
        }
    }

    #[test]
    fn what_depends_on_more_is_not() {
        for text in [
            ". $DIR/x",
            ". \"$HOME/$x\"",
            ". `which x`",
            ". $(which x)",
            ". relative",
            ". ~other/x",
            ". $HOMER/x",
            ". \"/unclosed",
            "x. /a",
            ".",
            "source",
            "source\t",
            "rm -f ~/tmp/*",
            "for f in ~/*/rc; do rm ~/tmp/*; done",
            "for f in \"~/.d/*\" $DIR/*; do",
            "for f in ~/a/*$x",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(text: Vec<u8>) {
            named_files(&text, &Places::default());
        }
    }
}
