//! The measurements, round by round.

mod crowd;
mod echo;
mod initialize;
mod memory;
mod output;
mod round_trip;
mod snapshot;
mod spawn;
mod telemetry;

use std::time::Duration;

use crate::Error;
use crate::figures::{Figures, Subject};
use crate::options::{Options, Sizes};

/// A group of figures that are measured together: its name, and the function that measures one round.
type Group = (
    &'static str,
    fn(&Contest<'_>, &mut Round<'_>) -> Result<(), Error>,
);

const GROUPS: [Group; 9] = [
    ("initialize", initialize::measure),
    ("spawn", spawn::measure),
    ("output", output::measure),
    ("round-trip", round_trip::measure),
    ("echo", echo::measure),
    ("memory", memory::measure),
    ("crowd", crowd::measure),
    ("snapshot", snapshot::measure),
    ("telemetry", telemetry::measure),
];

/// Samples of one subject that are taken before the next one's turn: long enough to be warm, short enough that
/// the machine is the same for all.
const TURN: usize = 10;

/// Who is measured.
#[derive(Debug)]
pub(crate) struct Contest<'a> {
    /// Servers and how to start them.
    pub(crate) servers: Vec<(Subject, &'a [String])>,
    /// How much.
    pub(crate) sizes: Sizes,
}

/// Where the values of a round go.
#[derive(Debug)]
pub(crate) struct Round<'a> {
    number: usize,
    figures: &'a mut Figures,
}

impl Round<'_> {
    /// Keeps a value.
    pub(crate) fn add(&mut self, figure: crate::figures::Figure, subject: Subject, value: f64) {
        self.figures.add(self.number, figure, subject, value);
    }

    /// Keeps the median of samples.
    pub(crate) fn add_median(&mut self, figure: crate::figures::Figure, subject: Subject, samples: Vec<f64>) {
        if let Some(median) = crate::figures::median(samples) {
            self.add(figure, subject, median);
        }
    }

    /// Keeps that one subject could not be measured, and goes on with the others.
    pub(crate) fn attempt(&mut self, what: &str, subject: Subject, outcome: Result<(), Error>) {
        if let Err(error) = outcome {
            let error: String = error.to_string().chars().take(300).collect();
            self.figures.fail(format!("{what}, {}: {error}", subject.name()));
        }
    }
}

/// Measures everything asked for.
///
/// # Errors
/// This server cannot be started.
pub(crate) fn all(options: &Options) -> Result<Figures, Error> {
    let mut servers = vec![(Subject::Ours, options.ours.as_slice())];
    servers.extend(options.peer.as_deref().map(|peer| (Subject::Peer, peer)));
    for (_, command) in &servers {
        drop(crate::client::Server::open(command)?);
    }
    for name in &options.only {
        if !GROUPS.iter().any(|(group, _)| group == name) {
            return Err(format!("--only {name}: no such group; --help tells which there are").into());
        }
    }
    let contest = Contest {
        servers,
        sizes: options.sizes,
    };
    let mut figures = Figures::default();
    for number in 0..options.sizes.rounds {
        for (name, measure) in GROUPS {
            if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
                continue;
            }
            eprintln!("round {} of {}: {name}", number + 1, options.sizes.rounds);
            let mut round = Round {
                number,
                figures: &mut figures,
            };
            if let Err(error) = measure(&contest, &mut round) {
                figures.fail(format!("{name}: {error}"));
            }
        }
    }
    Ok(figures)
}

/// `count` samples of each subject, in turns. A subject that fails has no samples.
fn in_turns<S>(
    round: &mut Round<'_>,
    what: &str,
    subjects: &mut [(Subject, S)],
    count: usize,
    mut sample: impl FnMut(&mut S, usize) -> Result<f64, Error>,
) -> Vec<(Subject, Vec<f64>)> {
    let mut samples: Vec<Result<Vec<f64>, ()>> =
        subjects.iter().map(|_| Ok(Vec::with_capacity(count))).collect();
    for first in (0..count).step_by(TURN) {
        for ((subject, state), samples) in subjects.iter_mut().zip(&mut samples) {
            for number in first..count.min(first + TURN) {
                let Ok(kept) = samples else { break };
                match sample(state, number) {
                    Ok(value) => kept.push(value),
                    Err(error) => {
                        round.attempt(what, *subject, Err(error));
                        *samples = Err(());
                    }
                }
            }
        }
    }
    subjects
        .iter()
        .zip(samples)
        .filter_map(|((subject, _), samples)| Some((*subject, samples.ok()?)))
        .collect()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn microseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
