//! A key pressed in a terminal, until it is seen.

use super::{Contest, Round, in_turns, microseconds};
use crate::Error;
use crate::client::Server;
use crate::figures::Figure;

/// One round.
///
/// # Errors
/// A server cannot be started, or its terminal does not echo.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    let mut servers = Vec::new();
    for &(subject, command) in &contest.servers {
        let mut server = Server::open(command)?.0;
        server.start_echo()?;
        servers.push((subject, server));
    }
    let samples = in_turns(
        round,
        "PTY echo",
        &mut servers,
        contest.sizes.echoes,
        |server, number| Ok(microseconds(server.echo(number)?)),
    );
    for (subject, samples) in samples {
        round.add_median(Figure::Echo, subject, samples);
    }
    Ok(())
}
