//! What becomes of each variable: environment, state, or nothing.

use exec_protocol::limits::SNAPSHOT_STAND_IN_BYTES;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use exec_process::environment::Environment;

use super::words::{Word, quoted, statements};
use crate::Failure;
use crate::environment::execve::takes_variable;
use crate::inventory::{LeftOut, Name};

/// The shell's own: it has them anew in each process, or they say what it did last.
const OWN: &[&str] = &[
    "BASH",
    "BASHOPTS",
    "BASHPID",
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_CMDS",
    "BASH_COMMAND",
    "BASH_EXECUTION_STRING",
    "BASH_LINENO",
    "BASH_MONOSECONDS",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_TRAPSIG",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COMP_WORDBREAKS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "LINENO",
    "PIPESTATUS",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SRANDOM",
    "UID",
];

/// Not kept, whatever startup files do with them: the capture's environment had what it had.
const NOT_KEPT: &[&str] = &[
    "COLUMNS",
    "EXEC_SERVER_SNAPSHOT",
    "LINES",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "_",
];

/// Of these the shell, or a shell that runs a script, does not take the value from its environment.
const SET_AT_START: &[&str] = &["BASH_ENV", "IFS", "OPTERR", "OPTIND", "PS1", "PS2", "PS4"];

/// Taken from the environment, but what they do is done only when they are assigned.
const DONE_WHEN_ASSIGNED: &[&str] = &["BASH_COMPAT", "EXECIGNORE", "FUNCNEST", "GLOBIGNORE", "IGNOREEOF"];

/// What a bare interactive shell has by itself and a shell that runs a script may not have.
const BARE: &[(&str, &str)] = &[
    ("HISTFILESIZE", "500"),
    ("HISTSIZE", "500"),
    ("IFS", " \t\n"),
    ("MAILCHECK", "60"),
    ("OPTERR", "1"),
    ("OPTIND", "1"),
    ("PS1", r"\s-\v\$ "),
    ("PS2", "> "),
    ("PS4", "+ "),
    ("TERM", "dumb"),
];

/// What bash itself sets it to, as it comes from its makers.
const LOADABLES: &[u8] =
    b"/usr/local/lib/bash:/usr/lib/bash:/opt/local/lib/bash:/usr/pkg/lib/bash:/opt/pkg/lib/bash:.";

/// Set by every bash at its start if its environment has them not: if they are away, they were unset.
const ALWAYS_SET: &[&str] = &[
    "HOSTNAME", "HOSTTYPE", "IFS", "MACHTYPE", "OPTERR", "OPTIND", "OSTYPE", "PATH", "PS4", "SHELL", "TERM",
];

/// Set by every bash at its start; assigned again, for a startup file may have changed them, but not state by itself.
const ASSIGNED_AGAIN: &[&str] = &[
    "BASH_LOADABLES_PATH",
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "OSTYPE",
    "SHELL",
];

/// Locale first: it says how everything after it is read.
const LOCALE: &[&str] = &[
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
];

/// The variables of a capture.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Variables {
    /// What children get.
    pub(super) environment: Environment,
    /// Statements that make the rest.
    pub(super) statements: Vec<u8>,
    /// The shell's own that are exported: to be exported when everything else is done.
    pub(super) exported_own: Vec<Name>,
    /// Those that evaluate what is assigned to them, less the shell's own.
    pub(super) integers: BTreeSet<Name>,
    /// Those that are arrays, less the shell's own.
    pub(super) arrays: BTreeSet<Name>,
    /// Whether one stands for another.
    pub(super) has_references: bool,
    /// Those in `statements` that are state.
    pub(super) names: BTreeSet<Name>,
    /// What cannot be kept.
    pub(super) left_out: Vec<LeftOut>,
}

impl Variables {
    /// Whether GLOBIGNORE is assigned, which turns an option on.
    pub(super) fn ignores_when_globbing(&self) -> bool {
        const NAME: &str = "GLOBIGNORE";
        self.names.contains(NAME.as_bytes()) || self.environment.contains_key(OsStr::new(NAME))
    }
}

struct Variable<'a> {
    name: &'a [u8],
    /// Letters, without the dash.
    attributes: &'a [u8],
    /// `NAME=VALUE` as bash reads it, or only the name.
    assignment: &'a [u8],
    value: Option<Vec<u8>>,
}

impl<'a> Variable<'a> {
    /// `declare -ATTRIBUTES NAME[=VALUE]`.
    fn read(statement: &[Word<'a>]) -> Option<Self> {
        let [declare, attributes, assignment] = statement else {
            return None;
        };
        if declare.raw != b"declare" {
            return None;
        }
        let attributes = attributes.raw.strip_prefix(b"-")?;
        let assignment = assignment.raw;
        let name_end = memchr::memchr(b'=', assignment).unwrap_or(assignment.len());
        let name = &assignment[..name_end];
        let value = (name_end < assignment.len()).then(|| statement[2].value[name_end + 1..].to_vec());
        Some(Self {
            name,
            attributes: attributes.strip_prefix(b"-").unwrap_or(attributes),
            assignment,
            value,
        })
    }

    fn has(&self, attribute: u8) -> bool {
        self.attributes.contains(&attribute)
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.as_bytes() == self.name)
    }

    /// A string in the environment: arrays and references are not.
    fn is_passed_on(&self) -> bool {
        self.has(b'x') && self.value.is_some() && !b"aAn".iter().any(|&attribute| self.has(attribute))
    }

    /// The assignment as the state has it. bash lists the elements of an associative array by their place in its table,
    /// and of those in one place the last first: assigned from the last to the first they come in the same order again
    /// (while the table has not grown, which it does with 2048 elements).
    fn written(&self) -> Assignment<'a> {
        let reversed = || {
            let name_end = self.name.len() + 1;
            let elements = self.assignment.get(name_end..)?.strip_prefix(b"(")?;
            let elements = elements.strip_suffix(b" )")?;
            let statements = statements(elements)?;
            let [elements] = &statements[..] else { return None };
            let elements: Vec<&[u8]> = elements.iter().rev().map(|element| element.raw).collect();
            Some([&self.assignment[..name_end], b"(", &elements.join(&b' '), b" )"].concat())
        };
        match self.has(b'A').then(reversed).flatten() {
            Some(reversed) => Cow::Owned(reversed),
            None => Cow::Borrowed(self.assignment),
        }
    }

    /// bash says which locale there is not, when it is assigned: once at most, and by itself, in any other shell.
    fn end_of_statement(&self) -> &'static [u8] {
        if self.is_one_of(LOCALE) { b" 2>&-\n" } else { b"\n" }
    }

    fn is_bare(&self, given: &Environment, built_in: &BuiltIn<'_>) -> bool {
        let Some(value) = &self.value else { return false };
        if self.has(b'x') || self.has(b'r') {
            return false;
        }
        if self.name == b"HISTFILE" {
            let home = given.get(OsStr::new("HOME")).map(|home| home.as_bytes());
            return home.is_some_and(|home| value.strip_prefix(home) == Some(b"/.bash_history"));
        }
        if built_in.value_of(self.name) == Some(&value[..]) {
            return self.attributes.is_empty();
        }
        BARE.iter()
            .any(|(name, bare)| name.as_bytes() == self.name && bare.as_bytes() == value)
    }
}

/// What bash sets variables to at its start that tell where it runs, and that its environment does not bring.
struct BuiltIn<'a> {
    host: &'a [u8],
    /// What it was built for: processor, maker and system.
    machine: Option<[&'a [u8]; 3]>,
    /// The three in one.
    whole_machine: &'a [u8],
}

impl<'a> BuiltIn<'a> {
    /// `statements`: what is declared. BASH_VERSINFO cannot be assigned to.
    fn read(statements: &[Vec<Word<'a>>], host: &'a [u8]) -> Self {
        let version = statements
            .iter()
            .filter_map(|statement| statement.get(2)?.raw.strip_prefix(b"BASH_VERSINFO="))
            .next();
        let whole_machine = version
            .and_then(|version| {
                const ELEMENT: &[u8] = b" [5]=\"";
                let value = &version[memchr::memmem::find(version, ELEMENT)? + ELEMENT.len()..];
                Some(&value[..memchr::memchr(b'"', value)?])
            })
            .unwrap_or_default();
        let mut parts = whole_machine.splitn(3, |&byte| byte == b'-');
        let machine = match (parts.next(), parts.next(), parts.next()) {
            (Some(processor), Some(maker), Some(system)) => Some([processor, maker, system]),
            _ => None,
        };
        Self {
            host,
            machine,
            whole_machine,
        }
    }

    fn value_of(&self, name: &[u8]) -> Option<&'a [u8]> {
        let [processor, _, system] = self.machine?;
        Some(match name {
            b"BASH_LOADABLES_PATH" => LOADABLES,
            b"HOSTNAME" => self.host,
            b"HOSTTYPE" => processor,
            b"MACHTYPE" => self.whole_machine,
            b"OSTYPE" => system,
            _ => return None,
        })
    }
}

/// Reads `declare -p`. `given`: the environment the capture ran in. `host`: the name of the machine.
pub(super) fn read(declared: &[u8], given: &Environment, host: &[u8]) -> Result<Variables, Failure> {
    let statements = statements(declared).ok_or(Failure::InvalidCapture)?;
    let built_in = BuiltIn::read(&statements, host);
    let mut read = Variables {
        environment: kept_as_given(given),
        ..Variables::default()
    };
    let mut declarations = Declarations::default();
    let mut seen = BTreeSet::new();
    let mut after: Vec<u8> = Vec::new();
    for statement in &statements {
        let variable = Variable::read(statement).ok_or(Failure::InvalidCapture)?;
        seen.insert(variable.name);
        read.has_references |= variable.has(b'n');
        if variable.is_one_of(NOT_KEPT) {
            continue;
        }
        if variable.is_one_of(OWN) {
            if variable.has(b'x') {
                read.exported_own.push(variable.name.to_vec());
            }
            continue;
        }
        if variable.name == b"BASH_XTRACEFD" {
            read.left_out.push(LeftOut {
                what: b"variable BASH_XTRACEFD".to_vec(),
                why: "it names a descriptor, and descriptors are not kept",
            });
            continue;
        }
        if variable.has(b'a') || variable.has(b'A') {
            read.arrays.insert(variable.name.to_vec());
        }
        if variable.has(b'i') && !variable.is_bare(given, &built_in) {
            read.integers.insert(variable.name.to_vec());
        }
        if !variable.is_passed_on() {
            if !variable.is_bare(given, &built_in) {
                if given.contains_key(OsStr::from_bytes(variable.name)) && !variable.is_one_of(SET_AT_START) {
                    after.extend(unless_passed_on(variable.name));
                    let attributes = if variable.attributes.is_empty() {
                        b"-"
                    } else {
                        variable.attributes
                    };
                    after.extend([b"declare -", attributes, b" ", &variable.written()].concat());
                    after.extend(variable.end_of_statement());
                } else {
                    declarations.add(&variable);
                }
                if !variable.is_one_of(ASSIGNED_AGAIN) {
                    read.names.insert(variable.name.to_vec());
                }
            }
            continue;
        }
        let name = OsString::from_vec(variable.name.to_vec());
        let mut value = variable.value.clone().unwrap_or_default();
        if !takes_variable(variable.name, &value) {
            value.truncate(SNAPSHOT_STAND_IN_BYTES);
            after.extend(in_place_of(&value, &variable));
        }
        read.environment.insert(name, OsString::from_vec(value));
        if variable.is_one_of(SET_AT_START) {
            declarations.add(&variable);
        } else {
            add_to_passed_on(&variable, &mut after);
        }
    }
    for name in ALWAYS_SET
        .iter()
        .map(|name| name.as_bytes())
        .filter(|name| !seen.contains(name))
    {
        read.statements.extend(unless_passed_on(name));
        read.statements.extend([b"unset ", name, b"\n"].concat());
    }
    declarations.write(&mut read.statements);
    read.statements.extend(after);
    Ok(read)
}

/// A request may state a variable that the startup files unset or no longer export: then that is what counts.
fn unless_passed_on(name: &[u8]) -> Vec<u8> {
    [b"[[ ${", name, b"@a} == *x* ]] || "].concat()
}

/// Puts a value that no environment takes in place of what stands for it there.
fn in_place_of(stand_in: &[u8], variable: &Variable<'_>) -> Vec<u8> {
    [
        b"[[ ${",
        variable.name,
        b"-} != ",
        &quoted(stand_in),
        b" ]] || ",
        variable.assignment,
        b"\n",
    ]
    .concat()
}

/// What a variable that the environment brings still lacks. The policy may have kept it away: then it stays away.
fn add_to_passed_on(variable: &Variable<'_>, statements: &mut Vec<u8>) {
    let name = variable.name;
    if variable.is_one_of(DONE_WHEN_ASSIGNED) {
        statements.extend([b"[[ ${", name, b"+x} ]] && ", name, b"=$", name, b"\n"].concat());
    }
    let attributes: Vec<u8> = variable
        .attributes
        .iter()
        .copied()
        .filter(|&letter| letter != b'x')
        .collect();
    if !attributes.is_empty() {
        statements.extend(
            [
                b"[[ ${",
                name,
                b"+x} ]] && declare -",
                &attributes[..],
                b" ",
                name,
                variable.end_of_statement(),
            ]
            .concat(),
        );
    }
}

/// What the difference to the given environment must not show: what is never kept, and what bash hands on without
/// making a variable of it. Functions are state.
fn kept_as_given(given: &Environment) -> Environment {
    let is_kept = |name: &[u8]| {
        let is_identifier = name
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && name
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let is_function = name.starts_with(b"BASH_FUNC_") && name.ends_with(b"%%");
        (!is_identifier && !is_function) || NOT_KEPT.iter().any(|not_kept| not_kept.as_bytes() == name)
    };
    given
        .iter()
        .filter(|(name, _)| is_kept(name.as_bytes()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// `NAME=VALUE` as the state has it.
type Assignment<'a> = Cow<'a, [u8]>;

/// Declarations, one statement for each set of attributes: a builtin's start is dearer than its words.
#[derive(Default)]
struct Declarations<'a> {
    /// Statements.
    locale: Vec<u8>,
    by_attributes: Vec<(Vec<u8>, Vec<Assignment<'a>>)>,
}

impl<'a> Declarations<'a> {
    fn add(&mut self, variable: &Variable<'a>) {
        let attributes = if variable.attributes.is_empty() {
            b"-"
        } else {
            variable.attributes
        };
        if variable.is_one_of(LOCALE) {
            self.locale
                .extend([b"declare -", attributes, b" ", &variable.written()].concat());
            self.locale.extend(variable.end_of_statement());
            return;
        }
        match self
            .by_attributes
            .iter_mut()
            .find(|(known, _)| known == attributes)
        {
            Some((_, assignments)) => assignments.push(variable.written()),
            None => self
                .by_attributes
                .push((attributes.to_vec(), vec![variable.written()])),
        }
    }

    fn write(&self, statements: &mut Vec<u8>) {
        statements.extend(&self.locale);
        for (attributes, assignments) in &self.by_attributes {
            statements.extend(b"declare -");
            statements.extend(attributes);
            for assignment in assignments {
                statements.push(b' ');
                statements.extend(&**assignment);
            }
            statements.push(b'\n');
        }
    }
}
