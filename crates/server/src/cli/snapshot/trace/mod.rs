//! A run of the startup files beside the capture, with the shell's own trace: where the time goes, and the line at
//! which startup ends or hangs.
//!
//! bash and zsh put a time, a file and a line in front of each command that they trace (`PS4`). Only these are read of
//! a trace; the commands in it, and so every value, are skipped and never kept. A traced shell is slower than one that
//! is not, by some microseconds a command, so times are shares more than they are durations. dash, busybox, mksh and
//! fish cannot tell the file.

mod bash;
mod reader;
mod run;
mod zsh;

use std::collections::BTreeMap;

use exec_shell_snapshot::ShellKind;

use crate::cli::user_shell::UserShell;

pub(super) use run::run;

/// A shell to be started and traced, on a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Startup {
    argv: Vec<String>,
    env: BTreeMap<String, String>,
    /// What frames records of the trace.
    nonce: String,
}

/// How a shell's startup is traced; `None`: it cannot be.
pub(super) fn startup(shell: &UserShell) -> Option<Startup> {
    let nonce = uuid::Uuid::new_v4().simple().to_string();
    match shell.kind {
        ShellKind::Bash => Some(bash::startup(
            &shell.path,
            nonce,
            std::env::var("HOME").ok().as_deref(),
        )),
        ShellKind::Zsh => Some(zsh::startup(&shell.path, nonce)),
        ShellKind::Sh | ShellKind::Fish => None,
    }
}
