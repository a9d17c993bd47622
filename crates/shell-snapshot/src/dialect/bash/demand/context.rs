//! What is known of the shell that a script runs in.

use std::collections::{BTreeSet, HashMap};

use crate::inventory::Name;

/// Why a script is not proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unproven(pub(super) &'static str);

/// A proof, or why there is none.
pub(super) type Proof<T = ()> = Result<T, Unproven>;

/// The names of a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// Functions, and their place in the state.
    pub(super) functions: HashMap<Name, u32>,
    /// Aliases, and what they stand for.
    pub(super) aliases: HashMap<Name, Vec<u8>>,
    /// Variables that evaluate what is assigned to them.
    pub(super) integers: BTreeSet<Name>,
    /// Variables that are arrays.
    pub(super) arrays: BTreeSet<Name>,
}

/// What a text does that matters to others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Functions of the state that it names.
    pub(super) functions: Vec<u32>,
    /// Variables that it makes arrays.
    pub(super) arrays: Vec<Name>,
    /// Variables that it declares with values that may look like those of arrays: for one that is an array, and only
    /// for one, the subscripts in the value would be evaluated.
    pub(super) declared: Vec<Name>,
}

impl Found {
    /// Adds what another text does.
    pub(super) fn extend(&mut self, other: &Self) {
        self.functions.extend(&other.functions);
        self.arrays.extend_from_slice(&other.arrays);
        self.declared.extend_from_slice(&other.declared);
    }
}

/// Variables of the shell that evaluate what is assigned to them, or change how it reads or looks up commands. Those
/// named `BASH…` and `COMP_…` are refused as a whole.
const EVALUATING: &[&[u8]] = &[
    b"DIRSTACK",
    b"EPOCHREALTIME",
    b"EPOCHSECONDS",
    b"EUID",
    b"FUNCNAME",
    b"FUNCNEST",
    b"GROUPS",
    b"HISTCMD",
    b"LINENO",
    b"MAILCHECK",
    b"OPTIND",
    b"PIPESTATUS",
    b"POSIXLY_CORRECT",
    b"POSIX_PEDANTIC",
    b"PPID",
    b"PS4",
    b"RANDOM",
    b"SECONDS",
    b"SHELLOPTS",
    b"SRANDOM",
    b"UID",
    b"histchars",
];

impl Context {
    /// Whether a script may assign to a variable and nothing comes of it but its value.
    pub(super) fn check_assigned(&self, name: &[u8]) -> Proof {
        if !is_identifier(name) {
            return Err(Unproven("assigns to what is no plain name"));
        }
        let is_evaluating =
            name.starts_with(b"BASH") || name.starts_with(b"COMP_") || EVALUATING.contains(&name);
        if is_evaluating || self.integers.contains(name) {
            return Err(Unproven("assigns to a variable that does more than hold a value"));
        }
        Ok(())
    }
}

/// Whether these bytes are the name of a variable.
pub(super) fn is_identifier(name: &[u8]) -> bool {
    name.first().is_some_and(|first| is_name_start(*first)) && name.iter().all(|byte| is_name_part(*byte))
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) fn is_name_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
