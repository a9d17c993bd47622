//! A child that prints as fast as it can: rate, and the CPU time of the server for it.

use std::time::{Duration, Instant};

use super::{Contest, Round};
use crate::Error;
use crate::client::Server;
use crate::figures::{Figure, Subject};
use crate::floor;

/// One round: a fresh server each.
///
/// # Errors
/// None: failures are told for each server.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    let bytes = contest.sizes.output_bytes;
    let outcome = relay(bytes).map(|figures| add(round, Subject::Floor, bytes, figures));
    round.attempt("output", Subject::Floor, outcome);
    for &(subject, command) in &contest.servers {
        let outcome = server(command, bytes).map(|figures| add(round, subject, bytes, figures));
        round.attempt("output", subject, outcome);
    }
    Ok(())
}

fn add(round: &mut Round<'_>, subject: Subject, bytes: u64, (took, cpu): (Duration, Duration)) {
    round.add(
        Figure::OutputRate,
        subject,
        bytes as f64 / 1e6 / took.as_secs_f64(),
    );
    round.add(
        Figure::OutputCpu,
        subject,
        cpu.as_secs_f64() / (bytes as f64 / 1e9),
    );
}

fn relay(bytes: u64) -> Result<(Duration, Duration), Error> {
    let (mut relay, _) = Server::spawn(&floor::command(&["--relay", &bytes.to_string()])?)?;
    let begun = Instant::now();
    relay.send(b"\n")?;
    let (took, counted) = relay.count_until_closed(begun, None)?;
    complete(counted, bytes)?;
    Ok((took, relay.own_processes().cpu_time()))
}

fn server(command: &[String], bytes: u64) -> Result<(Duration, Duration), Error> {
    let mut server = Server::open(command)?.0;
    let before = server.own_processes().cpu_time();
    let (took, counted) =
        server.run_and_count("t", &["/usr/bin/head", "-c", &bytes.to_string(), "/dev/zero"])?;
    complete(counted, bytes)?;
    Ok((took, server.own_processes().cpu_time().saturating_sub(before)))
}

/// A server that loses output is not fast.
fn complete(counted: u64, bytes: u64) -> Result<(), Error> {
    if counted == bytes {
        Ok(())
    } else {
        Err(format!("{counted} of {bytes} bytes arrived").into())
    }
}
