//! A command that does nothing, from its start to its end, on pipes and on a PTY.

use super::{Contest, Round, in_turns, milliseconds};
use crate::Error;
use crate::client::Server;
use crate::figures::{Figure, Subject};
use crate::floor::posix_spawn;
use crate::messages::Descriptors;

/// Samples that are not kept.
const WARM_UP: usize = 10;

/// One round.
///
/// # Errors
/// A server cannot be started.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    // None is the floor: no server.
    let mut subjects = vec![(Subject::Floor, None)];
    for &(subject, command) in &contest.servers {
        subjects.push((subject, Some(Server::open(command)?.0)));
    }
    let samples = in_turns(
        round,
        "/bin/true on pipes",
        &mut subjects,
        contest.sizes.spawns + WARM_UP,
        |server, number| {
            Ok(milliseconds(match server {
                None => posix_spawn::run(c"/bin/true")?,
                Some(server) => server.run(&format!("pipes{number}"), &["/bin/true"], Descriptors::Pipes)?,
            }))
        },
    );
    for (subject, samples) in samples {
        round.add_median(Figure::TruePipes, subject, samples[WARM_UP..].to_vec());
    }

    subjects.retain(|(_, server)| server.is_some());
    let samples = in_turns(
        round,
        "/bin/true on a PTY",
        &mut subjects,
        contest.sizes.spawns + WARM_UP,
        |server, number| {
            let server = server.as_mut().ok_or("no server")?;
            Ok(milliseconds(server.run(
                &format!("pty{number}"),
                &["/bin/true"],
                Descriptors::Terminal,
            )?))
        },
    );
    for (subject, samples) in samples {
        round.add_median(Figure::TruePty, subject, samples[WARM_UP..].to_vec());
    }
    Ok(())
}
