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
mod session;
mod telemetry;
mod transport;

fn main() -> ExitCode {
    cli::Cli::of_this_process().run()
}
