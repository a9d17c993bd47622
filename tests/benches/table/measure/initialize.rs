//! From the spawn of the server to the answer of its first request.

use super::{Contest, Round, in_turns, milliseconds};
use crate::Error;
use crate::client::Server;
use crate::figures::Figure;

/// One round.
///
/// # Errors
/// None: failures are told for each server.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    let mut servers = contest.servers.clone();
    let samples = in_turns(
        round,
        "initialize",
        &mut servers,
        contest.sizes.initializes,
        |command, _| Ok(milliseconds(Server::open(command)?.1)),
    );
    for (subject, samples) in samples {
        round.add_median(Figure::Initialize, subject, samples);
    }
    Ok(())
}
