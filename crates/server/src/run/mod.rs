//! `exec-server run`: a command through a daemon, as a person would run it.

use std::io::Write;
use std::process::ExitCode;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Runs the command.
pub(crate) fn main(_args: Args) -> ExitCode {
    // Stderr may be closed.
    let _ = writeln!(std::io::stderr(), "exec-server run: not in this build");
    ExitCode::FAILURE
}
