//! Builtins, and the forms in which they neither evaluate text nor tell of functions whose names are not in the script.

use super::context::{Proof, Unproven, is_identifier};
use super::scan::Scanner;
use super::words::Word;

/// Nothing that these are given is evaluated, taken for a variable's name or for a function's.
const ANYTHING: &[&[u8]] = &[
    b":",
    b"break",
    b"cd",
    b"continue",
    b"dirs",
    b"disown",
    b"echo",
    b"exit",
    b"false",
    b"kill",
    b"popd",
    b"pushd",
    b"pwd",
    b"return",
    b"shift",
    b"times",
    b"true",
    b"ulimit",
    b"umask",
];

/// They have a rule of their own, or none, and then are refused.
const OTHERS: &[&[u8]] = &[
    b".",
    b"[",
    b"alias",
    b"bg",
    b"bind",
    b"builtin",
    b"caller",
    b"command",
    b"compgen",
    b"complete",
    b"compopt",
    b"declare",
    b"enable",
    b"eval",
    b"exec",
    b"export",
    b"fc",
    b"fg",
    b"getopts",
    b"hash",
    b"help",
    b"history",
    b"jobs",
    b"let",
    b"local",
    b"logout",
    b"mapfile",
    b"printf",
    b"read",
    b"readarray",
    b"readonly",
    b"set",
    b"shopt",
    b"source",
    b"suspend",
    b"test",
    b"trap",
    b"type",
    b"typeset",
    b"unalias",
    b"unset",
    b"wait",
];

/// Tests of one operand. `-v` evaluates a subscript.
const UNARY: &[&[u8]] = &[
    b"-G", b"-L", b"-N", b"-O", b"-S", b"-b", b"-c", b"-d", b"-e", b"-f", b"-g", b"-h", b"-k", b"-n", b"-p",
    b"-r", b"-s", b"-t", b"-u", b"-w", b"-x", b"-z",
];

/// Tests of two operands. Here `-eq` and the like take numbers only, and evaluate nothing.
const BINARY: &[&[u8]] = &[
    b"!=", b"-ef", b"-eq", b"-ge", b"-gt", b"-le", b"-lt", b"-ne", b"-nt", b"-ot", b"<", b"=", b"==", b">",
];

/// Signals whose traps run on their account alone: not for each command or function.
const SIGNALS: &[&[u8]] = &[
    b"0", b"1", b"15", b"2", b"3", b"EXIT", b"HUP", b"INT", b"PIPE", b"QUIT", b"SIGHUP", b"SIGINT",
    b"SIGPIPE", b"SIGQUIT", b"SIGTERM", b"SIGUSR1", b"SIGUSR2", b"TERM", b"USR1", b"USR2",
];

/// Of `shopt`, what changes patterns and nothing about commands.
const SHOPT: &[&[u8]] = &[
    b"dotglob",
    b"extglob",
    b"globstar",
    b"nocaseglob",
    b"nocasematch",
    b"nullglob",
];

/// Of `set -o`, what may be set.
const SET: &[&[u8]] = &[b"errexit", b"noclobber", b"noglob", b"nounset", b"pipefail"];

/// Whether this is a builtin that can do more than print.
pub(super) fn is_builtin(name: &[u8]) -> bool {
    OTHERS.contains(&name)
}

/// Whether a command is in a form that is known to do nothing unseen. `is_wrapped`: behind `builtin` or `command`.
pub(super) fn check<'a>(scanner: &mut Scanner<'a>, words: &[Word<'a>], is_wrapped: bool) -> Proof {
    let Some((command, arguments)) = words.split_first() else {
        return Ok(());
    };
    let Some(name) = command.literal() else {
        return Err(Unproven("takes the name of a command from a variable"));
    };
    if name.starts_with(b"%") {
        return Err(Unproven("takes a job for a command"));
    }
    if ANYTHING.contains(&name) || !OTHERS.contains(&name) {
        // A program, a function, or nothing: what the script is given for a program cannot run in this shell.
        return Ok(());
    }
    let is_known = match name {
        b"[" => match arguments.split_last() {
            Some((last, operands)) => last.is(b"]") && is_test(operands),
            None => false,
        },
        b"test" => is_test(arguments),
        b"builtin" => return wrapped(scanner, arguments),
        b"command" => match arguments.first().and_then(Word::literal) {
            Some(b"-v" | b"-V") => are_literal(&arguments[1..]),
            _ => return wrapped(scanner, arguments),
        },
        b"type" => !arguments.is_empty() && are_literal(arguments),
        b"hash" => are_literal(arguments),
        b"exec" => arguments.first().is_none_or(|program| {
            program
                .literal()
                .is_some_and(|program| !program.is_empty() && program[0] != b'-')
        }),
        b"export" | b"readonly" | b"local" | b"declare" | b"typeset" => {
            let is_split = is_wrapped || command.plain().is_none() || command.raw != name;
            return declaration(scanner, name, arguments, is_split);
        }
        b"set" => is_set(arguments),
        b"shopt" => match arguments.split_first() {
            Some((how, names)) => (how.is(b"-s") || how.is(b"-u")) && are_of(names, SHOPT),
            None => false,
        },
        b"printf" => return printf(scanner, arguments),
        b"read" => return read(scanner, arguments),
        b"mapfile" | b"readarray" => return mapfile(scanner, arguments),
        b"getopts" => return getopts(scanner, arguments),
        b"unset" => return unset(scanner, arguments),
        b"trap" => return trap(scanner, arguments),
        b"wait" => arguments
            .iter()
            .all(|job| job.raw == b"$!" || job.is_number() && job.first() != Some(b'-')),
        b"jobs" => are_of(arguments, &[b"-l", b"-p", b"-r", b"-s"]),
        _ => false,
    };
    if is_known {
        Ok(())
    } else {
        Err(Unproven(
            "has a builtin in a form that is not known to be harmless",
        ))
    }
}

fn are_literal(words: &[Word<'_>]) -> bool {
    words.iter().all(|word| word.literal().is_some())
}

fn are_of(words: &[Word<'_>], known: &[&[u8]]) -> bool {
    words
        .iter()
        .all(|word| word.literal().is_some_and(|text| known.contains(&text)))
}

/// What `builtin` and `command` run; none of it may be an option.
fn wrapped<'a>(scanner: &mut Scanner<'a>, words: &[Word<'a>]) -> Proof {
    if words.first().is_some_and(|first| first.first() == Some(b'-')) {
        return Err(Unproven("runs a command with options that are not known"));
    }
    check(scanner, words, true)
}

/// As many words as there stand, and an operator where only an operator can be taken for one.
fn is_test(operands: &[Word<'_>]) -> bool {
    let is =
        |word: &Word<'_>, operators: &[&[u8]]| word.literal().is_some_and(|text| operators.contains(&text));
    if operands.iter().any(|word| word.is_split && !word.is_number()) {
        return false;
    }
    match operands {
        [] | [_] => true,
        [operator, _] => operator.is(b"!") || is(operator, UNARY),
        [_, operator, _] if is(operator, BINARY) => true,
        [not, operator, _] => not.is(b"!") && is(operator, UNARY),
        [not, _, operator, _] => not.is(b"!") && is(operator, BINARY),
        _ => false,
    }
}

fn declaration<'a>(scanner: &mut Scanner<'a>, name: &[u8], arguments: &[Word<'a>], is_split: bool) -> Proof {
    let is_export = name == b"export";
    let known: &[u8] = if is_export { b"n" } else { b"aAglrux" };
    let has_array_option = |word: &Word<'_>| {
        let text = word.literal();
        text.is_some_and(|text| {
            text[..].starts_with(b"-") && text.iter().any(|option| b"aA".contains(option))
        })
    };
    let makes_arrays = arguments.iter().any(has_array_option);
    for argument in arguments {
        if let Some(assigned) = argument.assigned() {
            // Only behind the plain word the shell takes it for an assignment, and its value for one word.
            if is_split && argument.is_split {
                return Err(Unproven("declares what may be several words"));
            }
            scanner.context.check_assigned(assigned)?;
            if argument.may_be_compound() {
                if makes_arrays {
                    return Err(Unproven("declares an array with subscripts that are evaluated"));
                }
                scanner.found.declared.push(assigned.to_vec());
            }
            if makes_arrays {
                scanner.found.arrays.push(assigned.to_vec());
            }
            continue;
        }
        match argument.literal() {
            Some([b'-', options @ ..])
                if !options.is_empty() && options.iter().all(|o| known.contains(o)) => {}
            Some(name) if is_identifier(name) => {
                scanner.context.check_assigned(name)?;
                if makes_arrays {
                    scanner.found.arrays.push(name.to_vec());
                }
            }
            _ => return Err(Unproven("declares what is no plain name")),
        }
    }
    if arguments.is_empty() && !is_export {
        return Err(Unproven("lists what is declared"));
    }
    Ok(())
}

fn is_set(arguments: &[Word<'_>]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.literal() {
            Some(b"--") => return true,
            Some([b'-' | b'+', letters @ ..]) if !letters.is_empty() => {
                if !letters.iter().all(|letter| b"eufCo".contains(letter)) {
                    return false;
                }
                let names = letters.iter().filter(|letter| **letter == b'o').count();
                for _ in 0..names {
                    let name = words.next().and_then(Word::literal);
                    if !name.is_some_and(|name| SET.contains(&name)) {
                        return false;
                    }
                }
            }
            _ => return false,
        }
    }
    !arguments.is_empty()
}

fn printf(scanner: &Scanner<'_>, arguments: &[Word<'_>]) -> Proof {
    let arguments = match arguments {
        [option, name, rest @ ..] if option.is(b"-v") => {
            assigned(scanner, name)?;
            rest
        }
        _ => arguments,
    };
    match arguments
        .first()
        .map(|format| (format.first(), format.is(b"--"), format))
    {
        None => Ok(()),
        Some((_, true, _)) => Ok(()),
        Some((Some(first), ..)) if first != b'-' => Ok(()),
        Some((None, _, format)) if format.is(b"") => Ok(()),
        Some(_) => Err(Unproven("prints by a format that may be an option")),
    }
}

fn assigned(scanner: &Scanner<'_>, word: &Word<'_>) -> Proof {
    let name = word
        .literal()
        .ok_or(Unproven("assigns to a variable named by another"))?;
    scanner.context.check_assigned(name)
}

fn read(scanner: &mut Scanner<'_>, arguments: &[Word<'_>]) -> Proof {
    let mut words = arguments.iter();
    let mut assigns = false;
    while let Some(word) = words.next() {
        let text = word
            .literal()
            .ok_or(Unproven("assigns to a variable named by another"))?;
        match text {
            b"-r" | b"-s" | b"-rs" | b"-sr" => {}
            // With a value, which must be one word.
            b"-p" | b"-t" | b"-n" | b"-N" | b"-d" | b"-u" | b"-rp" | b"-rt" | b"-rn" | b"-rd" | b"-rsp"
            | b"-sp" | b"-rsn" => {
                if words
                    .next()
                    .is_none_or(|value| value.is_split && !value.is_number())
                {
                    return Err(Unproven("reads with options that are not known"));
                }
            }
            b"-a" | b"-ra" => {
                let name = words.next().ok_or(Unproven("reads nothing"))?;
                assigned(scanner, name)?;
                scanner.found.arrays.push(name.text.clone());
                assigns = true;
            }
            name => {
                scanner.context.check_assigned(name)?;
                assigns = true;
            }
        }
    }
    if assigns {
        Ok(())
    } else {
        scanner.context.check_assigned(b"REPLY")
    }
}

fn mapfile(scanner: &mut Scanner<'_>, arguments: &[Word<'_>]) -> Proof {
    let mut words = arguments.iter();
    let mut assigns = false;
    while let Some(word) = words.next() {
        match word.literal() {
            Some(b"-t") => {}
            Some(b"-d") if words.next().is_some_and(|value| !value.is_split) => {}
            Some(_) => {
                assigned(scanner, word)?;
                scanner.found.arrays.push(word.text.clone());
                assigns = true;
            }
            None => return Err(Unproven("assigns to a variable named by another")),
        }
    }
    if assigns {
        Ok(())
    } else {
        scanner.found.arrays.push(b"MAPFILE".to_vec());
        scanner.context.check_assigned(b"MAPFILE")
    }
}

fn getopts(scanner: &Scanner<'_>, arguments: &[Word<'_>]) -> Proof {
    match arguments {
        [options, name, ..] if options.literal().is_some_and(|text| text.first() != Some(&b'-')) => {
            scanner.context.check_assigned(b"OPTARG")?;
            assigned(scanner, name)
        }
        _ => Err(Unproven("reads options named by a variable")),
    }
}

fn unset(scanner: &Scanner<'_>, arguments: &[Word<'_>]) -> Proof {
    for word in arguments {
        if !word.is(b"-v") && !word.is(b"-f") {
            assigned(scanner, word)?;
        }
    }
    Ok(())
}

/// A trap that is set to literal commands, which are part of the script, or reset.
fn trap(scanner: &mut Scanner<'_>, arguments: &[Word<'_>]) -> Proof {
    let arguments = match arguments {
        [dashes, rest @ ..] if dashes.is(b"--") => rest,
        _ => arguments,
    };
    let [action, signals @ ..] = arguments else {
        return Err(Unproven("lists traps"));
    };
    let action = action
        .literal()
        .ok_or(Unproven("sets a trap to what a variable says"))?;
    if signals.is_empty() || !are_of(signals, SIGNALS) {
        return Err(Unproven("sets a trap that runs for commands"));
    }
    match action {
        b"" | b"-" => Ok(()),
        [b'-', ..] => Err(Unproven("lists traps")),
        action => scanner.also(action),
    }
}
