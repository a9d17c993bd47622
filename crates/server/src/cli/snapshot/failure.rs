//! Why nothing could be found out.

use std::io;
use std::path::PathBuf;

use exec_client::{CallError, Closed, SpawnError};

use crate::cli::user_shell::NoShell;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("failed to find the current directory")]
    CurrentDirectory(#[source] io::Error),
    #[error("{}: no such directory", .0.display())]
    NoDirectory(PathBuf),
    #[error(transparent)]
    Shell(#[from] NoShell),
    #[error("{0}: no such program")]
    NoProgram(String),
    #[error("failed to make a runtime")]
    Runtime(#[source] io::Error),
    #[error(transparent)]
    Spawn(SpawnError),
    #[error("failed to speak with the daemon")]
    Ask(#[source] CallError),
    #[error("the daemon ended before the shell did")]
    DaemonEnded(#[from] Closed),
    #[error("failed to write the report")]
    Output(#[source] io::Error),
}
