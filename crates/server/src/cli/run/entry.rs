//! The way in and out: a runtime, a session, an exit code.

use std::process::ExitCode;

use super::arguments::Args;
use super::failure::Failure;
use super::session;
use crate::cli::speaker::{Speaker, with_causes};

/// Runs the command and returns what this process should exit with.
pub(crate) fn main(arguments: Args) -> ExitCode {
    match run(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            Speaker::Run.says(&with_causes(&failure));
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(arguments: &Args) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)?;
    let result = runtime.block_on(session::run(arguments));
    // Threads that are blocked on a terminal or a pipe end with the process.
    runtime.shutdown_background();
    result
}
