//! Reads a capture of mksh.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use exec_process::environment::Environment;
use rustix::process::geteuid;

use super::listing::{
    assignments, is_ephemeral, is_left_out_trap, limits, not_for_shells, options_on, restore_limits,
    restore_traps, traps,
};
use super::words::{Words, is_name, quote};
use crate::environment::execve::takes_variable;
use crate::inventory::Name;
use crate::sections::Sections;
use crate::state::{Captured, State};
use crate::{Failure, Inventory, LeftOut};

/// Parameters that are the shell's own.
const OWN: &[&[u8]] = &[
    b"BASHPID",
    b"KSHEGID",
    b"KSHGID",
    b"KSHUID",
    b"KSH_MATCH",
    b"KSH_VERSION",
    b"PGRP",
    b"PIPESTATUS",
    b"USER_ID",
];

/// How a bare shell prints what it has by itself.
const BARE_PARAMETERS: &[&[u8]] = &[
    b"typeset IFS=$' \\t\\n'",
    b"typeset PATHSEP=:",
    b"typeset PS2='> '",
    b"typeset PS3='#? '",
    b"typeset PS4='+ '",
    b"typeset -i TMOUT=0",
];

/// The prompt of a bare shell, the superuser's and everybody else's.
const BARE_PROMPTS: [&[u8]; 2] = [b"typeset PS1='# '", b"typeset PS1='$ '"];

/// Aliases a bare shell has.
const BARE_ALIASES: &[(&[u8], &[u8])] = &[
    (b"autoload", br"\\builtin typeset -fu"),
    (b"functions", br"\\builtin typeset -f"),
    (b"hash", br"\\builtin alias -t"),
    (b"history", br"\\builtin fc -l"),
    (b"integer", br"\\builtin typeset -i"),
    (b"local", br"\\builtin typeset"),
    (b"login", br"\\builtin exec login"),
    (b"nameref", br"\\builtin typeset -n"),
    (b"nohup", b"nohup "),
    (b"r", br"\\builtin fc -e -"),
    (b"type", br"\\builtin whence -v"),
];

/// Options a bare shell has, which are turned off if they are not among those that are on.
const BARE_OPTIONS: &[&[u8]] = &[b"braceexpand", b"utf8-mode"];

/// Whatever `command` runs has a scope of its own.
const TYPESET: &[u8] = b"typeset -g ";

/// A line of `typeset -p`.
#[derive(Debug, PartialEq, Eq)]
struct Parameter<'a> {
    /// The whole line.
    line: &'a [u8],
    attributes: Vec<&'a [u8]>,
    name: &'a [u8],
    /// Whether one element of an array.
    element: bool,
    value: Option<Vec<u8>>,
}

impl Parameter<'_> {
    fn has(&self, attribute: &[u8]) -> bool {
        self.attributes.contains(&attribute)
    }
}

/// # Errors
/// [`Failure::InvalidCapture`] if a section is missing or is not what the shell prints.
pub(super) fn read(sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
    for name in [
        "traps",
        "options",
        "aliases",
        "directories",
        "parameters",
        "umask",
        "limits",
        "files",
        "names",
        "functions",
        "shadowing",
    ] {
        if !sections.has(name) {
            return Err(Failure::InvalidCapture);
        }
    }
    let mut inventory = Inventory::default();
    let mut environment = not_for_shells(given);
    let mut state = super::replay::CLOSE.to_vec();
    restore_parameters(
        &sections.get("parameters"),
        &mut state,
        &mut environment,
        &mut inventory,
    )?;
    super::ash::umask(&sections.get("umask"), &mut state)?;
    restore_limits(
        &limits_of(&sections.get("limits"), &sections.get("files")),
        &mut state,
    );

    // Printed with a backslash in front of every command's name: aliases do not matter to them.
    state.extend(sections.get("functions"));
    state.push(b'\n');
    inventory.functions.extend(
        sections
            .get("names")
            .split(|byte| *byte == b'\n')
            .filter(|name| !name.is_empty())
            .map(<[u8]>::to_vec),
    );
    restore_aliases(&sections.get("aliases"), &mut state, &mut inventory)?;
    restore_directories(&sections.get("directories"), &mut state, &mut inventory)?;
    // They would stand between what restores the rest and the shell.
    let shadowing = sections.get("shadowing");
    for name in [&b"builtin"[..], b"command"] {
        if [&b"() "[..], b" {"]
            .iter()
            .any(|after| memchr::memmem::find(&shadowing, &[name, after].concat()).is_some())
        {
            inventory.functions.insert(name.to_vec());
        }
    }
    push(&mut state, &[&shadowing]);
    let (left_out, kept): (Vec<_>, Vec<_>) = traps(&sections.get("traps"))?
        .into_iter()
        .partition(|(signal, _)| is_left_out_trap(signal));
    restore_traps(&kept, &mut state);
    inventory
        .left_out
        .extend(left_out.into_iter().map(|(signal, _)| LeftOut {
            what: [b"trap ".as_slice(), &signal].concat(),
            why: "a trap for the end of the startup shell, not of a command",
        }));
    restore_options(&sections.get("options"), &mut state, &mut inventory);
    Ok(Captured {
        environment,
        state: State {
            file: state,
            text: Vec::new(),
            demand: None,
        },
        inventory,
    })
}

fn parameters(text: &[u8]) -> Result<Vec<Parameter<'_>>, Failure> {
    let mut words = Words::new(text);
    let mut parameters = Vec::new();
    while !words.rest().is_empty() {
        let from = words.rest();
        let array = words.take(b"set -A ");
        if !array && !words.take(b"typeset ") {
            return Err(Failure::InvalidCapture);
        }
        let mut attributes = Vec::new();
        while words.rest().starts_with(b"-") {
            attributes.push(words.until(b" \n"));
            words.take(b" ");
        }
        let name = words.until(b"=[\n");
        let element = words.take(b"[");
        if element {
            let index = words.until(b"]\n");
            if index.is_empty() || !index.iter().all(u8::is_ascii_digit) || !words.take(b"]") {
                return Err(Failure::InvalidCapture);
            }
        }
        let value = if words.take(b"=") {
            Some(words.word().ok_or(Failure::InvalidCapture)?.0)
        } else {
            None
        };
        let line = &from[..from.len() - words.rest().len()];
        if !is_name(name) || !(words.take(b"\n") || words.rest().is_empty()) {
            return Err(Failure::InvalidCapture);
        }
        parameters.push(Parameter {
            line,
            attributes,
            name,
            element,
            value,
        });
    }
    Ok(parameters)
}

fn restore_parameters(
    text: &[u8],
    state: &mut Vec<u8>,
    environment: &mut Environment,
    inventory: &mut Inventory,
) -> Result<(), Failure> {
    let mut readonly: Vec<Name> = Vec::new();
    let [superusers, others] = BARE_PROMPTS;
    let bare_prompt = if geteuid().is_root() { superusers } else { others };
    for parameter in parameters(text)? {
        if parameter.has(b"-x")
            && !parameter.element
            && let Some(value) = &parameter.value
            && takes_variable(parameter.name, value)
        {
            let name = OsString::from_vec(parameter.name.to_vec());
            environment.insert(name, OsString::from_vec(value.clone()));
        }
        if is_ephemeral(parameter.name)
            || OWN.contains(&parameter.name)
            || BARE_PARAMETERS.contains(&parameter.line)
            || parameter.line == bare_prompt
        {
            continue;
        }
        if !parameter.has(b"-x") {
            inventory.variables.insert(parameter.name.to_vec());
        }
        if parameter.has(b"-r") && readonly.last().map(Vec::as_slice) != Some(parameter.name) {
            readonly.push(parameter.name.to_vec());
        }
        let attributes: Vec<&[u8]> = parameter
            .attributes
            .iter()
            .copied()
            .filter(|attribute| *attribute != b"-r")
            .collect();
        if parameter.line.starts_with(b"set -A ") {
            push(state, &[b"set -A ", parameter.name]);
            continue;
        }
        // The environment brings what is exported, but not its attributes, nor IFS.
        let brought = parameter.has(b"-x")
            && parameter.name != b"IFS"
            && parameter
                .value
                .as_ref()
                .is_some_and(|value| takes_variable(parameter.name, value));
        if brought && attributes.len() == 1 {
            continue;
        }
        state.extend_from_slice(TYPESET);
        for attribute in attributes {
            state.extend_from_slice(attribute);
            state.push(b' ');
        }
        let from = parameter.line.len() - rest_from_name(&parameter).len();
        push(
            state,
            &[if brought {
                parameter.name
            } else {
                &parameter.line[from..]
            }],
        );
    }
    for name in readonly {
        push(state, &[TYPESET, b"-r ", &name]);
    }
    Ok(())
}

fn rest_from_name<'a>(parameter: &Parameter<'a>) -> &'a [u8] {
    let attributes: usize = parameter
        .attributes
        .iter()
        .map(|attribute| attribute.len() + 1)
        .sum();
    &parameter.line[b"typeset ".len() + attributes..]
}

fn restore_aliases(text: &[u8], state: &mut Vec<u8>, inventory: &mut Inventory) -> Result<(), Failure> {
    push(state, &[b"\\command unalias -a"]);
    for (name, value) in assignments(text, b"")? {
        let value = value.ok_or(Failure::InvalidCapture)?;
        push(
            state,
            &[
                &super::replay::ALIAS[1..],
                &quote(&[name.as_slice(), b"=", &value].concat()),
            ],
        );
        if !BARE_ALIASES.contains(&(&name, &value)) {
            inventory.aliases.insert(name);
        }
    }
    Ok(())
}

/// Aliases of directories, for words that begin with a tilde.
fn restore_directories(text: &[u8], state: &mut Vec<u8>, inventory: &mut Inventory) -> Result<(), Failure> {
    for (name, value) in assignments(text, b"")? {
        let value = value.ok_or(Failure::InvalidCapture)?;
        let alias = quote(&[name.as_slice(), b"=", &value].concat());
        push(state, &[b"\\builtin alias -d ", &alias]);
        inventory.aliases.insert([b"~", &name[..]].concat());
    }
    Ok(())
}

fn restore_options(text: &[u8], state: &mut Vec<u8>, inventory: &mut Inventory) {
    let on = options_on(text);
    let mut line = b"\\set".to_vec();
    for option in BARE_OPTIONS
        .iter()
        .filter(|option| !on.iter().any(|on| on == *option))
    {
        line.extend_from_slice(b" +o ");
        line.extend_from_slice(option);
        inventory.options.insert(option.to_vec());
    }
    for option in on {
        line.extend_from_slice(b" -o ");
        line.extend_from_slice(&option);
        if !BARE_OPTIONS.contains(&option.as_slice()) {
            inventory.options.insert(option);
        }
    }
    push(state, &[&line]);
}

/// Limits from lines `-LETTER: what(unit)  VALUE`.
fn limits_of(text: &[u8], files: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let lines: Vec<u8> = text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| {
            let letter = *line.strip_prefix(b"-")?.first()?;
            let value = line.rsplit(|byte| *byte == b' ').next()?;
            Some([&[letter, b' '], value, b"\n"].concat())
        })
        .flatten()
        .collect();
    limits(&lines, files)
}

fn push(state: &mut Vec<u8>, parts: &[&[u8]]) {
    state.extend(parts.iter().copied().flatten());
    state.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_capture_becomes_a_state() {
        let nonce = "0123456789abcdef0123456789abcdef";
        let stream = "\n@ begin\n\n@ traps\ntrap -- 'e' ERR\ntrap -- 'bye' EXIT\n\n\
            @ options\nset -o .reset -o braceexpand +o monitor -o nounset\n\n\
            @ aliases\nll='ls -l'\nr='\\\\builtin fc -e -'\n\n\
            @ directories\nd='/a b'\n\n\
            @ parameters\ntypeset -i -U BASHPID=7\ntypeset -x EV=$'a\\nb\\047c'\ntypeset -x FOO\ntypeset -i N=5\n\
            set -A arr\ntypeset arr[0]=a\ntypeset -i -r -x XI=7\ntypeset IFS=$' \\t\\n'\n\n\
            @ umask\n022\n\n@ files\nulimit -n 64\n\n@ limits\n-n: nofiles(descriptors)  64\n-s: stack(KiB)  8192\n\n\
            @ names\nf\n\n@ functions\nf() {\n\t\\echo fn \n} \n\n@ shadowing\ncommand() {\n\t\\: \n} \n\n@ end\n"
            .replace('@', nonce);
        let captured = read(
            &Sections::read(stream.as_bytes(), nonce).unwrap(),
            &Environment::new(),
        )
        .unwrap();
        assert_eq!(
            captured.environment,
            [("EV", "a\nb'c"), ("XI", "7")]
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect()
        );
        assert_eq!(
            String::from_utf8(captured.state.file).unwrap(),
            "exec 9<&-\ntypeset -g -x FOO\ntypeset -g -i N=5\nset -A arr\ntypeset -g arr[0]=a\ntypeset -g -i -x XI\n\
             typeset -g -r XI\numask 022\nulimit -S -n 64 2>/dev/null\nf() {\n\t\\echo fn \n} \n\n\
             \\command unalias -a\n\\command alias 'll=ls -l'\n\\command alias 'r=\\\\builtin fc -e -'\n\\builtin alias -d 'd=/a b'\n\
             command() {\n\t\\: \n} \n\n\\trap -- 'e' ERR\n\\set +o utf8-mode -o braceexpand -o nounset\n"
        );
        let names = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
        assert_eq!(captured.inventory.functions, names(&["command", "f"]));
        assert_eq!(captured.inventory.aliases, names(&["ll", "~d"]));
        assert_eq!(captured.inventory.variables, names(&["N", "arr"]));
        assert_eq!(captured.inventory.options, names(&["nounset", "utf8-mode"]));
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for line in [
            &b"typeset"[..],
            b"x=1",
            b"typeset -i",
            b"typeset x='",
            b"typeset x=1 y",
            b"typeset x[$(id)]=1",
            b"typeset x[]=1",
        ] {
            assert_eq!(
                parameters(line),
                Err(Failure::InvalidCapture),
                "{}",
                line.escape_ascii()
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn any_parameters_are_read_or_refused(text in "(typeset |-[a-z0-9]{1,2} |[A-Za-z_]{1,3}|=|'|\\$'|\\[[0-9]\\]|\n|set -A |[ -~]){0,20}") {
            let _ = parameters(text.as_bytes());
            let _ = limits_of(text.as_bytes(), text.as_bytes());
        }
    }
}
