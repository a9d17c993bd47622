//! What shells print about themselves: variables, aliases, traps, options.

use std::os::unix::ffi::OsStrExt;

use exec_process::environment::Environment;

use super::words::{Words, is_name, quote};
use crate::Failure;
use crate::inventory::Name;

/// A name and its value; exported variables and read-only ones can be without.
pub(super) type Listed = (Name, Option<Vec<u8>>);

/// Lines `PREFIX NAME='value'` (or without a value) as `export -p`, `readonly -p`, `set` and `alias` print them.
/// A value may go over several lines.
///
/// # Errors
/// [`Failure::InvalidCapture`] for anything else.
pub(super) fn assignments(text: &[u8], prefix: &[u8]) -> Result<Vec<Listed>, Failure> {
    let mut words = Words::new(text);
    let mut listed = Vec::new();
    while !words.rest().is_empty() {
        if !words.take(prefix) {
            return Err(Failure::InvalidCapture);
        }
        let name = words.until(b"=\n").to_vec();
        let value = if words.take(b"=") {
            Some(words.word().ok_or(Failure::InvalidCapture)?.0)
        } else {
            None
        };
        if name.is_empty() || !(words.take(b"\n") || words.rest().is_empty()) {
            return Err(Failure::InvalidCapture);
        }
        listed.push((name, value));
    }
    Ok(listed)
}

/// Lines `trap -- 'action' SIGNAL`: signal and action. An action may go over several lines.
///
/// # Errors
/// [`Failure::InvalidCapture`] for anything else.
pub(super) fn traps(text: &[u8]) -> Result<Vec<(Name, Vec<u8>)>, Failure> {
    let mut words = Words::new(text);
    let mut traps = Vec::new();
    while !words.rest().is_empty() {
        let action = words
            .take(b"trap -- ")
            .then(|| words.word())
            .flatten()
            .ok_or(Failure::InvalidCapture)?
            .0;
        let signal = if words.take(b" ") { words.until(b"\n") } else { b"" };
        if signal.is_empty()
            || !signal
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-_".contains(byte))
        {
            return Err(Failure::InvalidCapture);
        }
        words.take(b"\n");
        traps.push((signal.to_vec(), action));
    }
    Ok(traps)
}

/// Whether a trap is not part of a snapshot.
pub(super) fn is_left_out_trap(signal: &[u8]) -> bool {
    matches!(signal, b"EXIT" | b"0" | b"DEBUG")
}

/// The options that are on, from what `set +o` prints: words `-o NAME`, whether on one line or on many.
pub(super) fn options_on(text: &[u8]) -> Vec<Name> {
    let words: Vec<&[u8]> = text
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .collect();
    words
        .windows(2)
        .filter(|pair| pair[0] == b"-o")
        .map(|pair| pair[1])
        .filter(|name| {
            name.iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        })
        .filter(|name| !OPTIONS_LEFT_OUT.contains(name))
        .map(<[u8]>::to_vec)
        .collect()
}

/// Options that are the session's, not the user's state.
const OPTIONS_LEFT_OUT: &[&[u8]] = &[
    b"interactive",
    b"login",
    b"monitor",
    b"noexec",
    b"stdin",
    b"vi",
    b"viraw",
    b"vi-esccomplete",
    b"vi-show8",
    b"vi-tabcomplete",
    b"emacs",
    b"emacs-usemeta",
    b"gmacs",
    b"history",
    b"privileged",
    b"restricted",
    b"debug",
    b"nolog",
];

/// Variables that are the session's, not the user's state, in every one of these shells.
pub(super) fn is_ephemeral(name: &[u8]) -> bool {
    matches!(
        name,
        b"PWD"
            | b"OLDPWD"
            | b"_"
            | b"PPID"
            | b"LINENO"
            | b"FUNCNAME"
            | b"SHLVL"
            | b"LINES"
            | b"COLUMNS"
            | b"EXEC_SERVER_SNAPSHOT"
            | b"RANDOM"
            | b"SECONDS"
            | b"EPOCHSECONDS"
            | b"EPOCHREALTIME"
            | b"OPTIND"
    )
}

/// The variables of an environment whose names are none for a shell: it drops them unseen, so they were left alone.
pub(super) fn not_for_shells(given: &Environment) -> Environment {
    given
        .iter()
        .filter(|(name, _)| !is_name(name.as_bytes()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Soft limits from lines `LETTER VALUE`: those that these startup files speak of. The others are the command's own.
pub(super) fn limits(text: &[u8], files: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let spoken_of = spoken_of(files);
    text.split(|byte| *byte == b'\n')
        .filter_map(|line| match line {
            [letter, b' ', value @ ..]
                if spoken_of.contains(letter)
                    && !value.is_empty()
                    && (value == b"unlimited" || value.iter().all(u8::is_ascii_digit)) =>
            {
                Some((*letter, value.to_vec()))
            }
            _ => None,
        })
        .collect()
}

/// The letters of the limits in lines with `ulimit`.
fn spoken_of(files: &[u8]) -> Vec<u8> {
    const COMMAND: &[u8] = b"ulimit";
    let mut letters = Vec::new();
    for at in memchr::memmem::find_iter(files, COMMAND) {
        let line = &files[at + COMMAND.len()..];
        let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
        let flags = line
            .split(u8::is_ascii_whitespace)
            .filter_map(|word| word.strip_prefix(b"-"))
            .flatten();
        let before = letters.len();
        letters.extend(flags.filter(|flag| flag.is_ascii_alphabetic() && !b"SHa".contains(flag)));
        if letters.len() == before {
            // Without a letter it is the size of files.
            letters.push(b'f');
        }
    }
    letters
}

/// The lines that set these limits again, each for itself: a hard limit may be lower by now.
pub(super) fn restore_limits(limits: &[(u8, Vec<u8>)], state: &mut Vec<u8>) {
    for (letter, value) in limits {
        state.extend_from_slice(b"ulimit -S -");
        state.push(*letter);
        state.push(b' ');
        state.extend_from_slice(value);
        state.extend_from_slice(b" 2>/dev/null\n");
    }
}

/// The lines that set these traps again.
pub(super) fn restore_traps(traps: &[(Name, Vec<u8>)], state: &mut Vec<u8>) {
    for (signal, action) in traps {
        state.extend_from_slice(b"\\trap -- ");
        state.extend_from_slice(&quote(action));
        state.push(b' ');
        state.extend_from_slice(signal);
        state.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variables_are_read_over_several_lines() {
        let text = b"export A='x\nexport EVIL=1'\nexport FOO\nexport B='it'\"'\"'s'\n";
        assert_eq!(
            assignments(text, b"export ").unwrap(),
            [
                (b"A".to_vec(), Some(b"x\nexport EVIL=1".to_vec())),
                (b"FOO".to_vec(), None),
                (b"B".to_vec(), Some(b"it's".to_vec())),
            ]
        );
        assert_eq!(
            assignments(b"a b='x y'", b"").unwrap(),
            [(b"a b".to_vec(), Some(b"x y".to_vec()))]
        );
        for text in [&b"export A='x"[..], b"A='x'", b"export =x", b"export A='x' y\n"] {
            assert_eq!(
                assignments(text, b"export "),
                Err(Failure::InvalidCapture),
                "{}",
                text.escape_ascii()
            );
        }
    }

    #[test]
    fn traps_are_read_over_several_lines() {
        assert_eq!(
            traps(b"trap -- '' HUP\ntrap -- 'echo x\ntrap -- y' INT").unwrap(),
            [
                (b"HUP".to_vec(), Vec::new()),
                (b"INT".to_vec(), b"echo x\ntrap -- y".to_vec()),
            ]
        );
        for text in [
            &b"trap -- 'x"[..],
            b"trap 'x' INT",
            b"trap -- 'x'",
            b"trap -- 'x' INT; id",
        ] {
            assert_eq!(
                traps(text),
                Err(Failure::InvalidCapture),
                "{}",
                text.escape_ascii()
            );
        }
    }

    #[test]
    fn options_that_are_on_are_found_in_either_form() {
        let many = b"set +o errexit\nset -o noglob\nset -o interactive\nset -o monitor\nset -o nounset";
        assert_eq!(options_on(many), [b"noglob".to_vec(), b"nounset".to_vec()]);
        assert_eq!(
            options_on(b"set -o .reset -o braceexpand -o utf8-mode -o vi"),
            [b"braceexpand".to_vec(), b"utf8-mode".to_vec()]
        );
    }

    #[test]
    fn only_limits_that_are_numbers_are_set_again() {
        let files = b"ulimit -n 1024 -Sx 1\nulimit -S -c unlimited\n[ -z ] && ulimit 99";
        let limits = limits(b"n 1024\nc unlimited\nx $(id)\nnn 1\ns 9\nf 99\n", files);
        let mut state = Vec::new();
        restore_limits(&limits, &mut state);
        assert_eq!(
            String::from_utf8(state).unwrap(),
            "ulimit -S -n 1024 2>/dev/null\nulimit -S -c unlimited 2>/dev/null\nulimit -S -f 99 2>/dev/null\n"
        );
    }

    proptest! {
        #[test]
        fn every_assignment_is_read_as_it_was(listed in prop::collection::vec(
            ("[A-Za-z_][A-Za-z0-9_]{0,8}", prop::option::of(any::<Vec<u8>>())), 0..8))
        {
            let mut text = Vec::new();
            let mut expected = Vec::new();
            for (name, value) in listed {
                text.extend_from_slice(b"export ");
                text.extend_from_slice(name.as_bytes());
                if let Some(value) = &value {
                    text.push(b'=');
                    text.extend_from_slice(&quote(value));
                }
                text.push(b'\n');
                expected.push((name.into_bytes(), value));
            }
            prop_assert_eq!(assignments(&text, b"export ").unwrap(), expected);
        }

        #[test]
        fn any_listing_is_read_or_refused(text: Vec<u8>) {
            let _ = assignments(&text, b"");
            let _ = assignments(&text, b"export ");
            let _ = traps(&text);
            let _ = options_on(&text);
            let _ = limits(&text, &text);
        }

        #[test]
        fn every_trap_is_read_as_it_was(actions in prop::collection::vec(any::<Vec<u8>>(), 0..5)) {
            let listed: Vec<(Name, Vec<u8>)> = actions.into_iter().map(|action| (b"USR1".to_vec(), action)).collect();
            for trap in listed {
                let mut text = Vec::new();
                restore_traps(std::slice::from_ref(&trap), &mut text);
                prop_assert_eq!(traps(&text[1..]).unwrap(), [trap]);
            }
        }
    }
}
