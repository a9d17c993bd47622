//! exec-server: runs commands for a coding agent, JSON-RPC on stdin and stdout.

#![forbid(unsafe_code)]

use std::process::ExitCode;

mod cli;
mod daemon;
mod dispatch;
mod facts;
mod handlers;
mod launch;
mod outbox;
mod own_daemon;
mod run;
mod session;
mod snapshot;
mod snapshot_request;
mod telemetry;
mod transport;
mod user_shell;

fn main() -> ExitCode {
    cli::Cli::of_this_process().run()
}
