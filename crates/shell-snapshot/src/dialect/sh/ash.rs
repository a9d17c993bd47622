//! Reads a capture of dash or busybox ash.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use exec_process::environment::Environment;

use super::definitions::{Definitions, Function, find};
use super::listing::{
    assignments, is_ephemeral, is_left_out_trap, limits, not_for_shells, options_on, restore_limits,
    restore_traps, traps,
};
use super::words::{is_name, quote};
use crate::environment::execve::takes_variable;
use crate::inventory::Name;
use crate::sections::Sections;
use crate::state::{Captured, State};
use crate::{Failure, Inventory, LeftOut};

/// What a bare shell's variables hold. (Of HOSTNAME, which busybox sets, nobody knows.)
const BARE: &[(&[u8], &[&[u8]])] = &[
    (b"IFS", &[b" \t\n"]),
    (b"PS1", &[b"$ ", b"# ", b"\\w \\$ "]),
    (b"PS2", &[b"> "]),
    (b"PS4", &[b"+ "]),
];

/// # Errors
/// [`Failure::InvalidCapture`] if a section is missing or is not what the shell prints.
pub(super) fn read(sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
    for name in [
        "traps",
        "options",
        "aliases",
        "exports",
        "readonly",
        "variables",
        "umask",
        "types",
        "names",
        "files",
    ] {
        if !sections.has(name) {
            return Err(Failure::InvalidCapture);
        }
    }
    let mut inventory = Inventory::default();
    let mut state = super::replay::CLOSE.to_vec();

    let exports = assignments(&sections.get("exports"), b"export ")?;
    let exported: BTreeSet<&[u8]> = exports.iter().map(|(name, _)| name.as_slice()).collect();
    variables(sections, &exported, &mut state, &mut inventory)?;
    // Without a value it is in no environment.
    for (name, _) in exports
        .iter()
        .filter(|(name, value)| value.is_none() && is_name(name))
    {
        push(&mut state, &[b"export ", name]);
    }
    if sections.get("names").is_empty() {
        inventory.left_out.push(LeftOut {
            what: b"functions".to_vec(),
            why: "cannot be looked for: no startup file can be read, or IFS is readonly",
        });
    }
    if sections.has("unseen") {
        inventory.left_out.push(LeftOut {
            what: b"functions of files that are sourced by a computed name".to_vec(),
            why: "cannot be seen if there are any: this shell neither lists nor prints functions",
        });
    }
    let readonly = assignments(&sections.get("readonly"), b"readonly ")?;
    umask(&sections.get("umask"), &mut state)?;
    restore_limits(
        &limits(&sections.get("limits"), &sections.get("files")),
        &mut state,
    );

    let (traps_text, command) = last_line(sections.get("traps"));
    functions_and_aliases(sections, &command, &mut state, &mut inventory)?;
    let (left_out, kept): (Vec<_>, Vec<_>) = traps(&traps_text)?
        .into_iter()
        .partition(|(signal, _)| is_left_out_trap(signal));
    restore_traps(&kept, &mut state);
    inventory
        .left_out
        .extend(left_out.into_iter().map(|(signal, _)| LeftOut {
            what: [b"trap ".as_slice(), &signal].concat(),
            why: "a trap for the end of the startup shell, not of a command",
        }));
    // After everything that assigns.
    for (name, _) in readonly
        .iter()
        .filter(|(name, _)| is_name(name) && !is_ephemeral(name))
    {
        push(&mut state, &[b"\\readonly ", name]);
    }
    // Last: from here on they have their effect.
    let options = options_on(&sections.get("options"));
    if !options.is_empty() {
        let words: Vec<u8> = options
            .iter()
            .flat_map(|option| [b" -o ".as_slice(), option].concat())
            .collect();
        push(&mut state, &[b"\\set", &words]);
    }
    inventory.options.extend(options);
    Ok(Captured {
        environment: environment(exports, given),
        state: State {
            file: state,
            text: Vec::new(),
            demand: None,
        },
        inventory,
    })
}

fn push(state: &mut Vec<u8>, parts: &[&[u8]]) {
    state.extend(parts.iter().copied().flatten());
    state.push(b'\n');
}

fn last_line(mut text: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let text_end = memchr::memrchr(b'\n', text.trim_ascii_end()).map_or(0, |at| at + 1);
    let line = text.split_off(text_end);
    (text, line.trim_ascii_end().to_vec())
}

/// What execve(2) would hand on.
fn environment(exports: Vec<(Name, Option<Vec<u8>>)>, given: &Environment) -> Environment {
    let mut environment = not_for_shells(given);
    for (name, value) in exports {
        if let Some(value) = value.filter(|value| takes_variable(&name, value)) {
            environment.insert(OsString::from_vec(name), OsString::from_vec(value));
        }
    }
    environment
}

fn variables(
    sections: &Sections<'_>,
    exported: &BTreeSet<&[u8]>,
    state: &mut Vec<u8>,
    inventory: &mut Inventory,
) -> Result<(), Failure> {
    for (name, value) in assignments(&sections.get("variables"), b"")? {
        let Some(value) = value else { continue };
        if !is_name(&name) {
            return Err(Failure::InvalidCapture);
        }
        // The environment brings what is exported, but no shell takes IFS from there.
        let exported = exported.contains(name.as_slice());
        let brought = exported && name != b"IFS" && takes_variable(&name, &value);
        if is_ephemeral(&name) || brought {
            continue;
        }
        let bare = BARE
            .iter()
            .find(|(bare, _)| *bare == name)
            .map_or(&[][..], |(_, values)| values);
        if !bare.contains(&value.as_slice()) && !exported && name != b"HOSTNAME" {
            inventory.variables.insert(name.clone());
        }
        push(state, &[&name, b"=", &quote(&value)]);
        if exported {
            push(state, &[b"export ", &name]);
        }
    }
    Ok(())
}

pub(super) fn umask(text: &[u8], state: &mut Vec<u8>) -> Result<(), Failure> {
    let mask = text.trim_ascii();
    if mask.is_empty() || !mask.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
        return Err(Failure::InvalidCapture);
    }
    push(state, &[b"umask ", mask]);
    Ok(())
}

fn functions_and_aliases(
    sections: &Sections<'_>,
    command: &[u8],
    state: &mut Vec<u8>,
    inventory: &mut Inventory,
) -> Result<(), Failure> {
    let files_text = sections.get("files");
    let names = sections.get("names");
    let files = files(&names, &files_text);
    let found: Vec<Definitions<'_>> = files.iter().map(|(_, text)| find(text)).collect();
    let types = sections.get("types");
    let live = live(&types, command);

    let aliases = assignments(&sections.get("aliases"), b"")?;
    let unread = unread(&files, &found, &live);
    let mut late = Vec::new();
    for name in &live {
        match definition(name, &found, &unread) {
            Ok((file, function)) => {
                inventory.functions.insert(name.to_vec());
                if *name == b"command" || expands_alias(file, function, &found, &aliases) {
                    late.push(function);
                } else {
                    push(state, &[function.text]);
                }
            }
            Err(why) => {
                inventory.left_out.push(LeftOut {
                    what: [b"function ".as_slice(), name].concat(),
                    why,
                });
            }
        }
    }
    for (file, ((path, _), found)) in files.iter().zip(&found).enumerate() {
        if found.evaluates && !unread.contains(&file) {
            inventory.left_out.push(LeftOut {
                what: [b"functions made by eval in ".as_slice(), path].concat(),
                why: "cannot be seen if there are any: this shell neither lists nor prints functions",
            });
        }
    }
    for (name, value) in aliases {
        let value = value.ok_or(Failure::InvalidCapture)?;
        push(
            state,
            &[
                &super::replay::ALIAS[1..],
                &quote(&[name.as_slice(), b"=", &value].concat()),
            ],
        );
        inventory.aliases.insert(name);
    }
    // These use aliases that were there when they were defined, or would stand between the lines above and the shell.
    for function in late {
        push(state, &[function.text]);
    }
    Ok(())
}

/// The files and their texts as `head` puts them one after the other: `==> NAME <==`, the text, an empty line.
fn files<'a>(names: &'a [u8], text: &'a [u8]) -> Vec<(&'a [u8], &'a [u8])> {
    let mut starts = Vec::new();
    let mut from = 0;
    for name in names.split(|byte| *byte == b'\n').filter(|name| !name.is_empty()) {
        let header = [b"==> ", name, b" <==\n"].concat();
        let Some(at) = memchr::memmem::find_iter(&text[from..], &header)
            .map(|at| from + at)
            .find(|at| *at == 0 || text[at - 1] == b'\n')
        else {
            continue;
        };
        from = at + header.len();
        starts.push((name, at, from));
    }
    let ends = starts.iter().skip(1).map(|(_, at, _)| *at).chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|((name, _, from), end)| (*name, &text[*from..end]))
        .collect()
}

/// The names the shell said to be functions.
fn live<'a>(types: &'a [u8], command: &'a [u8]) -> BTreeSet<&'a [u8]> {
    types
        .split(|byte| *byte == b'\n')
        .chain([command])
        .filter_map(|line| {
            let name = line
                .strip_suffix(b" is a shell function")
                .or_else(|| line.strip_suffix(b" is a function"))?;
            is_name(name).then_some(name)
        })
        .collect()
}

/// The numbers of files that were not read, whatever sources them: they define functions that are not there. A profile
/// often sources what is for another shell only if it runs in that.
fn unread(files: &[(&[u8], &[u8])], found: &[Definitions<'_>], live: &BTreeSet<&[u8]>) -> BTreeSet<usize> {
    if files
        .iter()
        .any(|(_, text)| memchr::memmem::find(text, b"unset -f").is_some())
    {
        return BTreeSet::new();
    }
    let missing = |function: &Function<'_>| !function.conditional && !live.contains(function.name);
    found
        .iter()
        .enumerate()
        .filter(|(_, found)| found.functions.iter().any(missing))
        .map(|(file, _)| file)
        .collect()
}

/// The definition that is in force, and the number of its file.
fn definition<'f, 'a>(
    name: &[u8],
    found: &'f [Definitions<'a>],
    unread: &BTreeSet<usize>,
) -> Result<(usize, &'f Function<'a>), &'static str> {
    let mut all: Vec<(usize, &Function<'_>)> = found
        .iter()
        .enumerate()
        .flat_map(|(file, found)| found.functions.iter().map(move |function| (file, function)))
        .filter(|(_, function)| function.name == name)
        .collect();
    if all.iter().any(|(file, _)| !unread.contains(file)) {
        all.retain(|(file, _)| !unread.contains(file));
    }
    let last = *all.last().ok_or(
        "cannot be restored: made by eval or in another function, and this shell cannot print functions",
    )?;
    let same_file = all.iter().all(|(file, _)| *file == last.0);
    if all.iter().all(|(_, function)| function.text == last.1.text) || (same_file && !last.1.conditional) {
        Ok(last)
    } else {
        Err("cannot be restored: defined in more than one place, and this shell cannot print functions")
    }
}

/// Whether a function uses an alias that was made before it.
fn expands_alias(
    file: usize,
    function: &Function<'_>,
    found: &[Definitions<'_>],
    aliases: &[(Name, Option<Vec<u8>>)],
) -> bool {
    let alive = |name: &[u8]| aliases.iter().any(|(alias, _)| alias == name);
    !alive(function.name)
        && function
            .commands
            .iter()
            .filter(|command| alive(command))
            .any(|command| {
                found.iter().enumerate().take(file + 1).any(|(other, found)| {
                    found
                        .aliases
                        .iter()
                        .any(|(name, at)| name == command && (other < file || *at < function.at))
                })
            })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    /// What dash wrote, less what does not matter here. `@` stands for the nonce.
    const STREAM: &str = "\n@ begin\n\n@ traps\ntrap -- 'echo \"$x\"' USR1\ntrap -- 'bye' EXIT\ncommand is a shell builtin\n\n\
        @ options\nset +o errexit\nset -o interactive\nset -o monitor\nset -o nounset\n\n\
        @ aliases\nll='ls -l'\nq='it'\"'\"'s'\n\n\
        @ exports\nexport BARE\nexport EV='a\nb'\nexport HOME='/h'\n\n@ readonly\nreadonly EV='a\nb'\n\n\
        @ variables\nEV='a\nb'\nHOME='/h'\nIFS=' \t\n'\nPPID='7'\nPS1='$ '\nV='\nexport EVIL=1'\n\n@ umask\n0027\n\n\
        @ types\nf is a shell function\ng is a shell function\nls is /bin/ls\n\n\
        @ limits\nn 64\ns 8192\n\n@ names\n/h/.profile\n\n\
        @ files\n==> /dev/null <==\n\n==> /h/.profile <==\nalias ll='ls -l'\nf() { ll \"$@\"; }\nulimit -n 64\neval 'g() { :; }'\n\n@ end\n";

    fn read_stream(stream: &str, given: &[(&str, &str)]) -> Result<Captured, Failure> {
        let stream = stream
            .replace('@', NONCE)
            .replace(&format!("\"${NONCE}\""), "\"$@\"");
        let given = given
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        read(&Sections::read(stream.as_bytes(), NONCE)?, &given)
    }

    #[test]
    fn a_recorded_capture_becomes_a_state() {
        let captured = read_stream(STREAM, &[("BASH_FUNC_x%%", "() { :; }"), ("GONE", "1")]).unwrap();
        let environment = [("BASH_FUNC_x%%", "() { :; }"), ("EV", "a\nb"), ("HOME", "/h")];
        assert_eq!(
            captured.environment,
            environment
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect()
        );
        assert_eq!(
            String::from_utf8(captured.state.file).unwrap(),
            "exec 9<&-\nIFS=' \t\n'\nPS1='$ '\nV='\nexport EVIL=1'\nexport BARE\numask 0027\n\
             ulimit -S -n 64 2>/dev/null\n\\command alias 'll=ls -l'\n\\command alias 'q=it'\\''s'\n\
             f() { ll \"$@\"; }\n\\trap -- 'echo \"$x\"' USR1\n\\readonly EV\n\\set -o nounset\n"
        );
        let names = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
        assert_eq!(captured.inventory.functions, names(&["f"]));
        assert_eq!(captured.inventory.aliases, names(&["ll", "q"]));
        assert_eq!(captured.inventory.variables, names(&["V"]));
        assert_eq!(captured.inventory.options, names(&["nounset"]));
        let left_out: Vec<Vec<u8>> = captured
            .inventory
            .left_out
            .into_iter()
            .map(|left_out| left_out.what)
            .collect();
        assert_eq!(
            left_out,
            [
                &b"function g"[..],
                b"functions made by eval in /h/.profile",
                b"trap EXIT"
            ]
        );
    }

    #[test]
    fn a_capture_without_one_of_its_sections_is_none() {
        for section in [
            "traps",
            "options",
            "aliases",
            "exports",
            "readonly",
            "variables",
            "umask",
            "types",
            "names",
            "files",
        ] {
            let stream = STREAM.replace(&format!("@ {section}\n"), "@ other\n");
            assert_eq!(
                read_stream(&stream, &[]),
                Err(Failure::InvalidCapture),
                "{section}"
            );
        }
    }

    #[test]
    fn files_are_told_apart_by_their_names() {
        let text = b"==> /dev/null <==\n\n==> /a <==\none\n==> /x <==\n\n==> /b <==\ntwo\n";
        let expected: Vec<(&[u8], &[u8])> = vec![(b"/a", b"one\n==> /x <==\n\n"), (b"/b", b"two\n")];
        assert_eq!(files(b"/a\n/missing\n/b", text), expected);
    }

    proptest::proptest! {
        #[test]
        fn any_section_is_read_or_refused(
            section in proptest::sample::select(vec!["traps", "options", "aliases", "exports", "variables", "umask", "types", "names", "files"]),
            body in "[ -~\n]{0,80}")
        {
            let stream = STREAM.replacen(&format!("@ {section}\n"), &format!("@ {section}\n{}\n", body.replace('@', "")), 1);
            let _ = read_stream(&stream, &[]);
        }
    }
}
