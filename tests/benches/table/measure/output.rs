//! A child that prints as fast as it can: rate, and the CPU time of the server for it.

use std::time::{Duration, Instant};

use super::{Contest, Round};
use crate::Error;
use crate::client::Server;
use crate::figures::{Figure, Subject};
use crate::floor;

/// Samples of each subject within a round, by turns. One is over in a third of a second, and whatever else the
/// machine did in that time is in it: CPU times of single samples, and so their ratios, differ by half. The median
/// of three drops the one that was hit.
const SAMPLES: usize = 3;

/// One round: a fresh server each time.
///
/// # Errors
/// None: failures are told for each server.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    let bytes = contest.sizes.output_bytes;
    let mut subjects = vec![(Subject::Floor, None)];
    subjects.extend(
        contest
            .servers
            .iter()
            .map(|&(subject, command)| (subject, Some(command))),
    );
    let mut samples = vec![Vec::with_capacity(SAMPLES); subjects.len()];
    for _ in 0..SAMPLES {
        for (&(subject, command), samples) in subjects.iter().zip(&mut samples) {
            let sample = command.map_or_else(|| relay(bytes), |command| server(command, bytes));
            round.attempt("output", subject, sample.map(|sample| samples.push(sample)));
        }
    }
    for ((subject, _), samples) in subjects.into_iter().zip(samples) {
        // One that loses output once is not measured.
        if samples.len() == SAMPLES {
            add(round, subject, bytes, &samples);
        }
    }
    Ok(())
}

fn add(round: &mut Round<'_>, subject: Subject, bytes: u64, samples: &[(Duration, Duration)]) {
    let bytes = bytes as f64;
    let rates = samples.iter().map(|(took, _)| bytes / 1e6 / took.as_secs_f64());
    round.add_median(Figure::OutputRate, subject, rates.collect());
    let costs = samples.iter().map(|(_, cpu)| cpu.as_secs_f64() / (bytes / 1e9));
    round.add_median(Figure::OutputCpu, subject, costs.collect());
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
