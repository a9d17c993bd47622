//! What the server holds when nothing runs, and the size of its binary.

use std::thread;
use std::time::Duration;

use super::{Contest, Round, megabytes};
use crate::Error;
use crate::client::Server;
use crate::figures::{Figure, Subject};
use crate::messages::Descriptors;

/// Allocators and reapers settle within it; shorter than the time a closed process stays readable, which is
/// part of what is measured.
const SETTLE: Duration = Duration::from_millis(500);

/// One round: a fresh server each.
///
/// # Errors
/// None: failures are told for each server.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    for &(subject, command) in &contest.servers {
        let outcome = server(round, subject, command, contest.sizes.finished);
        round.attempt("memory", subject, outcome);
    }
    Ok(())
}

fn server(round: &mut Round<'_>, subject: Subject, command: &[String], finished: usize) -> Result<(), Error> {
    let mut server = Server::open(command)?.0;
    thread::sleep(SETTLE);
    let own = server.own_processes();
    round.add(Figure::MemoryIdle, subject, megabytes(own.pss_bytes()));
    if let Some(bytes) = own.binary_bytes() {
        round.add(Figure::Binary, subject, megabytes(bytes));
    }
    for number in 0..finished {
        let descriptors = if number % 2 == 0 {
            Descriptors::Pipes
        } else {
            Descriptors::Terminal
        };
        server.run(&format!("m{number}"), &["/bin/echo", "x"], descriptors)?;
    }
    thread::sleep(SETTLE);
    round.add(
        Figure::MemoryAfter,
        subject,
        megabytes(server.own_processes().pss_bytes()),
    );
    Ok(())
}
