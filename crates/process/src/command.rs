//! What to start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use exec_protocol::process::{ResourceLimits, TerminalSize};

/// Everything the process table needs to start a process.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Program and arguments, not empty; a program without a slash is looked up on the PATH of `environment`.
    pub argv: Vec<OsString>,
    /// argv[0] as the process sees it, if other than `argv[0]`.
    pub arg0: Option<OsString>,
    /// Working directory, absolute.
    pub cwd: PathBuf,
    /// The whole environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Pipes or a terminal.
    pub stdio: Stdio,
    /// Written to stdin first.
    pub input: Bytes,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Resource limits.
    pub limits: ResourceLimits,
}

/// What descriptors 0–2 of a process are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdio {
    /// Pipes.
    Pipes {
        /// Keep stdin open after `input`; else end of file follows it (with no input: /dev/null).
        keep_stdin: bool,
    },
    /// A PTY, the controlling terminal of the process's session.
    Terminal {
        /// Its first window.
        size: TerminalSize,
    },
}

/// Time limits of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// From exec.
    pub total: Option<Duration>,
    /// Without a byte in or out; stands still under back-pressure.
    pub idle: Option<Duration>,
    /// SIGTERM to SIGKILL for both; `None`: the default grace.
    pub grace: Option<Duration>,
}

/// Why a command cannot be started as given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {reason}")]
pub struct InvalidCommand {
    /// Path of the member at fault, as in the request: `argv`, `argv[1]`, `env.A=B`.
    pub member: String,
    /// What is wrong, and what would be right.
    pub reason: String,
}
