//! What metrics cost that are scraped once a second: the time of a command, and memory.
//!
//! Two per cent of a command are less than a machine drifts from one turn to the next. So one command of a daemon with
//! metrics and one of a daemon without make a pair, whose order alternates, and what counts is the median of the
//! differences within pairs. No daemon is quite like another, so that a round has several of both.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{Contest, Round, megabytes, milliseconds};
use crate::Error;
use crate::client::Server;
use crate::figures::{Figure, Subject, median};
use crate::messages::Descriptors;

/// Pairs that are not kept.
const WARM_UP: usize = 10;
/// Daemons of each kind in a round.
const DAEMONS: usize = 4;
/// Between two scrapes.
const SCRAPED_EVERY: Duration = Duration::from_secs(1);
/// The variable that says where a daemon is scraped.
const LISTEN: &str = "EXEC_SERVER_METRICS_LISTEN";

/// One round. The floor is the same server without metrics.
///
/// # Errors
/// A server cannot be started, or not be scraped.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    let (_, command) = contest.servers.first().ok_or("no server")?;
    let folder = tempfile::tempdir()?;
    let (mut without, mut differences) = (Vec::new(), Vec::new());
    let (mut lean, mut fat) = (Vec::new(), Vec::new());
    for number in 0..DAEMONS {
        let socket = folder.path().join(number.to_string());
        let mut off = Server::open_with(command, &[(LISTEN, "off")])?;
        let listen = format!("unix:{}", socket.display());
        let mut on = Server::open_with(command, &[(LISTEN, &listen)])?;
        let scraper = Scraper::start(&socket)?;
        for number in 0..WARM_UP + contest.sizes.telemetry_pairs / DAEMONS {
            let id = format!("p{number}");
            let run = |server: &mut Server| server.run(&id, &["/bin/true"], Descriptors::Pipes);
            let (off, on) = if number % 2 == 0 {
                let off = run(&mut off)?;
                (off, run(&mut on)?)
            } else {
                let on = run(&mut on)?;
                (run(&mut off)?, on)
            };
            if number >= WARM_UP {
                without.push(milliseconds(off));
                differences.push(milliseconds(on) - milliseconds(off));
            }
        }
        scraper.stop()?;
        lean.push(megabytes(off.own_processes().pss_bytes()));
        fat.push(megabytes(on.own_processes().pss_bytes()));
    }
    if let (Some(without), Some(difference)) = (median(without), median(differences)) {
        round.add(Figure::Telemetry, Subject::Floor, without);
        round.add(Figure::Telemetry, Subject::Ours, without + difference);
    }
    round.add_median(Figure::TelemetryMemory, Subject::Floor, lean);
    round.add_median(Figure::TelemetryMemory, Subject::Ours, fat);
    Ok(())
}

/// Scrapes a daemon once a second, and at once.
#[derive(Debug)]
struct Scraper {
    stop: Sender<()>,
    thread: JoinHandle<Result<(), Error>>,
}

impl Scraper {
    fn start(socket: &Path) -> Result<Self, Error> {
        let socket = socket.to_owned();
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name("scraper".to_owned());
        let thread = thread.spawn(move || {
            loop {
                scrape(&socket)?;
                if stopped.recv_timeout(SCRAPED_EVERY) != Err(RecvTimeoutError::Timeout) {
                    return Ok(());
                }
            }
        })?;
        Ok(Self { stop, thread })
    }

    fn stop(self) -> Result<(), Error> {
        // Gone already: it tells why.
        let _ = self.stop.send(());
        self.thread.join().map_err(|_| "the scraper panicked")?
    }
}

fn scrape(socket: &Path) -> Result<(), Error> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    let counted = page.starts_with("HTTP/1.1 200 ") && page.contains("\nexec_server_requests_total{");
    counted
        .then_some(())
        .ok_or_else(|| "a scrape that shows nothing".into())
}
