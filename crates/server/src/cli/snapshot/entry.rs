//! The way in and out: a runtime, a report on stdout, an exit code.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use super::arguments::Args;
use super::failure::Failure;
use super::{ask, page};
use crate::cli::speaker::{Speaker, with_causes};

/// There is no snapshot.
const FAILED: u8 = 1;
/// It could not be tried.
const NOT_TRIED: u8 = 125;

/// Shows what a capture finds, and returns what this process should exit with.
pub(crate) fn main(arguments: Args) -> ExitCode {
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(failure) => {
            Speaker::Snapshot.says(&with_causes(&failure));
            ExitCode::from(NOT_TRIED)
        }
    }
}

/// Whether there is a snapshot.
fn run(arguments: &Args) -> Result<bool, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)?;
    let report = runtime.block_on(ask::ask(arguments))?;
    let text = if arguments.json {
        let text = serde_json::to_string_pretty(&report).map_err(io::Error::from);
        text.map_err(Failure::Output)? + "\n"
    } else {
        let home = std::env::var_os("HOME").unwrap_or_default();
        page::page(&report, Path::new(&home))
    };
    match io::stdout().write_all(text.as_bytes()) {
        // `| head` has seen what it wants.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(report.failure.is_none()),
    }
}
