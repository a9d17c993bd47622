//! Many live processes, one of them flooding: does a client still feel nothing?

use super::{Contest, Round, microseconds};
use crate::Error;
use crate::client::Server;
use crate::figures::{Figure, Subject};
use crate::messages::Descriptors;

/// What the flood has sent before anything is measured: every queue on its way is as full as it gets.
const FLOOD_BYTES: u64 = 20_000_000;
/// What it must send meanwhile: more than the measured messages are long, less than a fast measurement leaves
/// it time for.
const GOES_ON_BYTES: u64 = 1_000_000;

/// One round: a fresh server each.
///
/// # Errors
/// None: failures are told for each server.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    for &(subject, command) in &contest.servers {
        let outcome = server(contest, round, subject, command);
        round.attempt("crowd", subject, outcome);
    }
    Ok(())
}

fn server(
    contest: &Contest<'_>,
    round: &mut Round<'_>,
    subject: Subject,
    command: &[String],
) -> Result<(), Error> {
    let samples = contest.sizes.crowd_samples;
    let mut server = Server::open(command)?.0;
    server.start_echo()?;
    let (trips, echoes) = feel(&mut server, 0, samples)?;
    round.add_median(Figure::CrowdRoundTripIdle, subject, trips);
    round.add_median(Figure::CrowdEchoIdle, subject, echoes);

    for number in 0..contest.sizes.live {
        server.start(
            &format!("live{number}"),
            &["/bin/sleep", "600"],
            Descriptors::Pipes,
        )?;
    }
    server.start("flood", &["/bin/cat", "/dev/zero"], Descriptors::Pipes)?;
    server.read_on(FLOOD_BYTES)?;
    let flooded = server.read_bytes();
    let (trips, echoes) = feel(&mut server, samples, samples)?;
    if server.read_bytes() - flooded < GOES_ON_BYTES {
        return Err("the flood ran dry".into());
    }
    round.add_median(Figure::CrowdRoundTrip, subject, trips);
    round.add_median(Figure::CrowdEcho, subject, echoes);
    Ok(())
}

/// Round trips and echoes, in microseconds; echoes are numbered from `first`, for no writeId may come twice.
fn feel(server: &mut Server, first: usize, samples: usize) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (mut trips, mut echoes) = (Vec::new(), Vec::new());
    for number in first..first + samples {
        trips.push(microseconds(server.round_trip()?));
        echoes.push(microseconds(server.echo(number)?));
    }
    Ok((trips, echoes))
}
