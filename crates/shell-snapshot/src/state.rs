//! What a dialect makes of a capture, and what it makes of a command.

use std::ffi::OsString;

use exec_process::environment::Environment;

use crate::Inventory;
use crate::dialect::Demand;

/// A capture, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Captured {
    /// Every exported variable as the startup files left it, bytes as execve(2) would hand them on.
    pub(crate) environment: Environment,
    /// What a fresh shell runs to have everything else.
    pub(crate) state: State,
    /// What it holds.
    pub(crate) inventory: Inventory,
}

/// What restores a shell, in the form the shell reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// Read through a descriptor: text, or what zsh compiled.
    pub(crate) file: Vec<u8>,
    /// The same as text, for a sandbox in which descriptors cannot be opened by path; empty if `file` is text.
    pub(crate) text: Vec<u8>,
    /// Tells what of `file` a script needs, if it may do with less than all of it.
    pub(crate) demand: Option<Demand>,
}

/// How a command gets its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// A sealed memfd that the child inherits under this number.
    File(i32),
    /// Environment variables of at most [`SNAPSHOT_ENVIRONMENT_CHUNK_BYTES`](exec_protocol::limits::SNAPSHOT_ENVIRONMENT_CHUNK_BYTES) each.
    Environment,
}

/// A command that restores a state and then runs the user's script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replay {
    /// Program and arguments.
    pub(crate) argv: Vec<OsString>,
    /// The first argument as the shell sees it, if other than `argv[0]`.
    pub(crate) arg0: Option<OsString>,
    /// Laid over the command's environment.
    pub(crate) set: Environment,
    /// Left out of it.
    pub(crate) unset: Vec<OsString>,
    /// What the file holds for this script, if not the whole state.
    pub(crate) file: Option<Vec<u8>>,
}
