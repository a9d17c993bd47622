//! A request that does nothing: one at a time, and as many as go through.

use super::{Contest, Round, in_turns, microseconds};
use crate::Error;
use crate::client::Server;
use crate::figures::{Figure, Subject};
use crate::floor;

/// One round.
///
/// # Errors
/// A server cannot be started.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    let mut servers = vec![(
        Subject::Floor,
        Server::spawn(&floor::command(&["--null-server"])?)?.0,
    )];
    for &(subject, command) in &contest.servers {
        servers.push((subject, Server::open(command)?.0));
    }
    let samples = in_turns(
        round,
        "round trip",
        &mut servers,
        contest.sizes.round_trips,
        |server, _| Ok(microseconds(server.round_trip()?)),
    );
    for (subject, samples) in samples {
        round.add_median(Figure::RoundTrip, subject, samples);
    }
    for (subject, server) in &mut servers {
        let outcome = server
            .pipelined(contest.sizes.pipelined_requests)
            .map(|rate| round.add(Figure::Requests, *subject, rate / 1e3));
        round.attempt("pipelined requests", *subject, outcome);
    }
    Ok(())
}
