//! Makes a snapshot of a capture: the environment, and the text that restores everything else.

use std::collections::HashMap;

use exec_process::environment::Environment;

use super::demand::{Demand, Source};
use super::functions::{self, Functions, Listings};
use super::indentation::without_indentation;
use super::limits::{self, Limits};
use super::options::{self, Options};
use super::variables;
use super::words::{Word, quoted, statements};
use crate::Failure;
use crate::inventory::{Inventory, LeftOut, Name};
use crate::sections::Sections;
use crate::state::{Captured, State};

/// Stands in front of the state when it is read through a descriptor, which BASH_ENV names: closes it.
pub(super) const FILE_HEADER: &str = "BASH_ENV=${BASH_ENV##*/}; exec {BASH_ENV}<&-; unset BASH_ENV\n";

/// Stands in front of the functions, which bash printed and may not be able to read. It goes on with the script then:
/// the trap notices, and says so, before the first command that is not in a file.
pub(super) const GUARD: &str = r#"trap '[[ ${BASH_SOURCE-} ]] || { \builtin echo "failed to restore shell snapshot" >&2; \builtin trap - DEBUG; }' DEBUG
"#;

/// Stands behind the functions, in the group that ends the state.
const END_OF_GUARD: &str = "\\builtin trap - DEBUG\n";

/// Functions are read as they were printed: with every pattern, and with no alias. Stands in front of the guard.
const EVERY_PATTERN: &str = "shopt -s extglob\n";

/// The functions that the dump prints apart: the state ends with them, for it uses what they hide.
const OVERRIDING: &[&str] = &["builtin", "declare", "enable"];

/// How the group begins that ends a state.
pub(super) const GROUP: &str = "\n{\n\\builtin ";

/// What a command has that starts without a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bare {
    /// Soft limits.
    pub(super) limits: Limits,
    /// The umask, if it is known.
    pub(super) umask: Option<u32>,
    /// The name of the host.
    pub(super) host: Vec<u8>,
}

/// Reads the sections.
pub(super) fn read(sections: &Sections<'_>, given: &Environment, bare: &Bare) -> Result<Captured, Failure> {
    let section = |name: &str| {
        sections
            .has(name)
            .then(|| sections.get(name))
            .ok_or(Failure::InvalidCapture)
    };
    let variables = variables::read(&section("variables")?, given, &bare.host)?;
    let mut functions = functions::read(Listings {
        definitions: &section("functions")?,
        names: &section("function-names")?,
        readable: &sections.get("readable"),
        unreadable: &sections.get("unreadable"),
    })?;
    for (_, definition) in &mut functions.definitions {
        *definition = without_indentation(definition);
    }
    let mut options = options::read(&section("options")?, &section("shopt")?)?;
    if variables.ignores_when_globbing() {
        options.restate("dotglob");
    }
    let limits = limits::statement(&limits::of_ulimit(&section("limits")?), &bare.limits);
    let aliases = section("aliases")?;
    let aliases = Aliases::read(&aliases)?;
    let traps = section("traps")?;
    let traps = Traps::read(&traps)?;
    let posix = section("posix")?;
    let posix = if options.posix {
        posix_variable(&posix)?
    } else {
        Vec::new()
    };

    let mut inventory = Inventory {
        functions: functions.names.iter().cloned().collect(),
        aliases: aliases.names.into_iter().collect(),
        variables: variables.names,
        options: options.names.clone(),
        left_out: variables.left_out,
    };
    inventory.left_out.extend(traps.left_out);
    inventory
        .left_out
        .extend(functions.lost.iter().map(|name| LeftOut {
            what: [b"function ", &name[..]].concat(),
            why: "bash prints it in a form that it cannot read",
        }));
    let overriding = sections.get("overriding");
    for name in OVERRIDING {
        let head = format!("{name} () \n").into_bytes();
        if overriding
            .split_inclusive(|&byte| byte == b'\n')
            .any(|line| line == head)
        {
            inventory.functions.insert(name.as_bytes().to_vec());
        }
    }

    let mut text = FILE_HEADER.as_bytes().to_vec();
    text.extend(variables.statements);
    text.extend(aliases.statement);
    let head_end = text.len();
    text.extend(EVERY_PATTERN.as_bytes());
    text.extend(GUARD.as_bytes());
    for (_, definition) in &functions.definitions {
        text.extend(definition);
    }
    let functions_end = text.len();
    text.extend(&functions.whole);
    for definition in &functions.mended {
        text.extend([b"\\builtin eval ", &quoted(definition)[..], b" 2>&-\n"].concat());
    }
    let disabled = section("disabled")?;
    let mut settings = exports(&functions);
    settings.extend(umask(&section("umask")?, bare.umask)?);
    settings.extend(limits.into_bytes());
    let mut last = traps.statements;
    if !variables.exported_own.is_empty() {
        last.extend(
            [
                b"\\builtin declare -x ",
                &variables.exported_own.join(&b' ')[..],
                b"\n",
            ]
            .concat(),
        );
    }
    last.extend(last_options(&options, &posix));
    last.extend(last_statement(&disabled, &options));
    last.extend(overriding.trim_ascii());
    // One compound command: bash reads all of it before any of it changes how bash reads.
    let group = |guard: &str, shopt: String| {
        let parts = [
            b"{\n",
            guard.as_bytes(),
            &settings,
            shopt.as_bytes(),
            &last,
            b"\n}",
        ];
        parts.concat()
    };
    text.extend(group(END_OF_GUARD, options.shopt()));
    let is_plain = options.are_plain()
        && !variables.has_references
        // Leaving functions out has the shell's line number assigned.
        && !variables.exported_own.iter().any(|name| name == b"LINENO")
        && functions.whole.is_empty()
        && functions.mended.is_empty()
        && !functions.attributes.keys().any(|attributes| attributes.contains(&b't'))
        && !disabled.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"enable -n "))
        && overriding.trim_ascii().is_empty();
    let demand = is_plain.then(|| {
        Demand::new(Source {
            text: &text,
            functions: &functions.definitions,
            functions_end,
            head_end,
            unguarded_group: group("", options.shopt_without_every_pattern()),
            kept: functions
                .attributes
                .values()
                .flatten()
                .map(|name| &name[..])
                .collect(),
            aliases: aliases.values,
            integers: variables.integers,
            arrays: variables.arrays,
            traps: traps.commands,
        })
    });
    Ok(Captured {
        environment: variables.environment,
        state: State {
            file: text,
            text: Vec::new(),
            demand: demand.flatten(),
        },
        inventory,
    })
}

/// `alias -p`, as one statement.
#[derive(Default)]
struct Aliases {
    statement: Vec<u8>,
    names: Vec<Name>,
    values: HashMap<Name, Vec<u8>>,
}

impl Aliases {
    fn read(text: &[u8]) -> Result<Self, Failure> {
        let mut aliases = Self::default();
        for statement in &statements(text).ok_or(Failure::InvalidCapture)? {
            let words = match &statement[..] {
                [alias, dashes, word] if alias.raw == b"alias" && dashes.raw == b"--" => word,
                [alias, word] if alias.raw == b"alias" => word,
                _ => return Err(Failure::InvalidCapture),
            };
            let name_end = memchr::memchr(b'=', words.raw).ok_or(Failure::InvalidCapture)?;
            aliases.names.push(words.raw[..name_end].to_vec());
            let (name, value) = words.value.split_at(name_end);
            aliases.values.insert(name.to_vec(), value[1..].to_vec());
            if aliases.statement.is_empty() {
                aliases.statement.extend(b"alias --");
            }
            aliases.statement.push(b' ');
            // The name too: bash prints it as it is, and takes `$(…)` or a glob in it for what it looks like.
            aliases.statement.extend(quoted(&words.value));
        }
        if !aliases.statement.is_empty() {
            aliases.statement.push(b'\n');
        }
        Ok(aliases)
    }
}

/// `trap -p`.
#[derive(Default)]
struct Traps {
    statements: Vec<u8>,
    /// What they run.
    commands: Vec<Vec<u8>>,
    left_out: Vec<LeftOut>,
}

impl Traps {
    fn read(text: &[u8]) -> Result<Self, Failure> {
        let mut traps = Self::default();
        for statement in &statements(text).ok_or(Failure::InvalidCapture)? {
            let [trap, dashes, command, signal] = &statement[..] else {
                return Err(Failure::InvalidCapture);
            };
            if trap.raw != b"trap" || dashes.raw != b"--" {
                return Err(Failure::InvalidCapture);
            }
            match Self::why_left_out(signal) {
                Some(why) => traps.left_out.push(LeftOut {
                    what: [b"trap ", signal.raw].concat(),
                    why,
                }),
                None => {
                    traps
                        .statements
                        .extend([b"\\builtin trap -- ", command.raw, b" ", signal.raw, b"\n"].concat());
                    traps.commands.push(command.value.clone());
                }
            }
        }
        Ok(traps)
    }

    fn why_left_out(signal: &Word<'_>) -> Option<&'static str> {
        match signal.raw {
            b"EXIT" => Some("it is for the end of the shell, and a typed command does not end it"),
            b"DEBUG" => Some("it would run for every command"),
            _ => None,
        }
    }
}

/// The statement that turns posix mode on, with the variable as the user has it.
fn posix_variable(declared: &[u8]) -> Result<Vec<u8>, Failure> {
    let statements = statements(declared).ok_or(Failure::InvalidCapture)?;
    let Some([_, attributes, assignment]) = statements.first().map(|statement| &statement[..]) else {
        return Err(Failure::InvalidCapture);
    };
    Ok([b"\\builtin declare ", attributes.raw, b" ", assignment.raw, b"\n"].concat())
}

/// The attributes of functions.
fn exports(functions: &Functions) -> Vec<u8> {
    let mut text = Vec::new();
    for (attributes, names) in &functions.attributes {
        text.extend([b"\\builtin declare -f", &attributes[..], b" --"].concat());
        for name in names {
            text.push(b' ');
            text.extend(quoted(name));
        }
        text.push(b'\n');
    }
    text
}

fn umask(text: &[u8], bare: Option<u32>) -> Result<Vec<u8>, Failure> {
    let mask = text.trim_ascii();
    let number = std::str::from_utf8(mask)
        .ok()
        .filter(|mask| mask.bytes().all(|byte| (b'0'..=b'7').contains(&byte)))
        .and_then(|mask| u32::from_str_radix(mask, 8).ok())
        .ok_or(Failure::InvalidCapture)?;
    if Some(number) == bare {
        return Ok(Vec::new());
    }
    Ok([b"\\builtin umask ", mask, b"\n"].concat())
}

/// What `set` has, posix mode behind it: it turns other options on and off, so these follow once more.
fn last_options(options: &Options, posix: &[u8]) -> Vec<u8> {
    let mut text = options.set().into_bytes();
    if !posix.is_empty() {
        text.extend(posix);
        text.extend(options.shopt().into_bytes());
    }
    text
}

/// The last that runs: the builtins of `enable -n`, and the options that print what is run. The comment at the end makes
/// `$_` what it is in a shell that has done nothing yet.
fn last_statement(disabled: &[u8], options: &Options) -> Vec<u8> {
    let disabled: Vec<&[u8]> = disabled
        .split(|&byte| byte == b'\n')
        .filter_map(|line| line.strip_prefix(b"enable -n "))
        .filter(|name| !name.is_empty())
        .collect();
    let mut statements = options.set_last().into_bytes();
    if !disabled.is_empty() {
        let disable = [b"\\builtin enable -n ", &disabled.join(&b' ')[..], b"\n"].concat();
        // Rather a line of trace than an option less, if it is these that go.
        let set_first = disabled.iter().any(|name| matches!(*name, b"builtin" | b"set"));
        statements = if set_first {
            [statements, disable]
        } else {
            [disable, statements]
        }
        .concat();
    }
    if statements.is_empty() {
        return b"\\builtin : \"$BASH\"\n".to_vec();
    }
    // On the same line: `set -o verbose` would print the next.
    let statements = [statements.trim_ascii_end(), b" #"].concat();
    [b"\\builtin eval ", &quoted(&statements)[..], b" \"$BASH\"\n"].concat()
}
