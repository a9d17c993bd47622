//! What was measured.

use std::collections::BTreeMap;

/// A figure: what is measured, in which unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Figure {
    Initialize,
    TruePipes,
    TruePty,
    OutputRate,
    OutputCpu,
    RoundTrip,
    Requests,
    Echo,
    MemoryIdle,
    MemoryAfter,
    Binary,
    CrowdRoundTripIdle,
    CrowdRoundTrip,
    CrowdEchoIdle,
    CrowdEcho,
    SnapshotSmall,
    SnapshotFew,
    SnapshotAll,
    SnapshotZsh,
    SnapshotCapture,
    Telemetry,
    TelemetryMemory,
}

impl Figure {
    /// All, in the order of the table.
    pub(crate) const ALL: [Self; 22] = [
        Self::Initialize,
        Self::TruePipes,
        Self::TruePty,
        Self::OutputRate,
        Self::OutputCpu,
        Self::RoundTrip,
        Self::Requests,
        Self::Echo,
        Self::MemoryIdle,
        Self::MemoryAfter,
        Self::Binary,
        Self::CrowdRoundTripIdle,
        Self::CrowdRoundTrip,
        Self::CrowdEchoIdle,
        Self::CrowdEcho,
        Self::SnapshotSmall,
        Self::SnapshotFew,
        Self::SnapshotAll,
        Self::SnapshotZsh,
        Self::SnapshotCapture,
        Self::Telemetry,
        Self::TelemetryMemory,
    ];

    /// What a reader is told.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Initialize => "spawn → initialize answered",
            Self::TruePipes => "/bin/true on pipes, start → closed",
            Self::TruePty => "/bin/true on a PTY, start → closed",
            Self::OutputRate => "output through a pipe, rate",
            Self::OutputCpu => "output through a pipe, server CPU",
            Self::RoundTrip => "request round trip",
            Self::Requests => "requests, pipelined",
            Self::Echo => "PTY echo, write → output",
            Self::MemoryIdle => "memory (PSS), idle",
            Self::MemoryAfter => "memory (PSS), after 200 processes",
            Self::Binary => "binary",
            Self::CrowdRoundTripIdle => "round trip, one live process",
            Self::CrowdRoundTrip => "round trip, a crowd alive, one flooding",
            Self::CrowdEchoIdle => "PTY echo, one live process",
            Self::CrowdEcho => "PTY echo, a crowd alive, one flooding",
            Self::SnapshotSmall => "bash snapshot, small rc",
            Self::SnapshotFew => "bash snapshot, 240 KB of functions, one needed",
            Self::SnapshotAll => "bash snapshot, 240 KB of functions, all needed",
            Self::SnapshotZsh => "zsh snapshot, 184 KB of functions",
            Self::SnapshotCapture => "bash snapshot, capture of 70 KB",
            Self::Telemetry => "/bin/true on pipes, metrics scraped each second",
            Self::TelemetryMemory => "memory (PSS), metrics scraped each second",
        }
    }

    /// Of its values.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Initialize
            | Self::TruePipes
            | Self::TruePty
            | Self::SnapshotSmall
            | Self::SnapshotFew
            | Self::SnapshotAll
            | Self::SnapshotZsh
            | Self::SnapshotCapture
            | Self::Telemetry => "ms",
            Self::OutputRate => "MB/s",
            Self::OutputCpu => "s/GB",
            Self::RoundTrip
            | Self::Echo
            | Self::CrowdRoundTripIdle
            | Self::CrowdRoundTrip
            | Self::CrowdEchoIdle
            | Self::CrowdEcho => "µs",
            Self::Requests => "k/s",
            Self::MemoryIdle | Self::MemoryAfter | Self::Binary | Self::TelemetryMemory => "MB",
        }
    }

    /// Whether more is better.
    pub(crate) fn is_rate(self) -> bool {
        matches!(self, Self::OutputRate | Self::Requests)
    }
}

/// Whose figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// The server under test.
    Ours,
    /// The server beside it.
    Peer,
    /// What it cannot go below: the same work without a server, or in a bare shell.
    Floor,
}

impl Subject {
    /// What a reader is told.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "this server",
            Self::Peer => "peer",
            Self::Floor => "floor",
        }
    }
}

/// A median with its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// One value a round for each figure and subject.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    values: BTreeMap<(Figure, Subject), BTreeMap<usize, f64>>,
    failures: Vec<String>,
}

impl Figures {
    /// Keeps the value of a round.
    pub(crate) fn add(&mut self, round: usize, figure: Figure, subject: Subject, value: f64) {
        self.values
            .entry((figure, subject))
            .or_default()
            .insert(round, value);
    }

    /// Keeps what went wrong, once.
    pub(crate) fn fail(&mut self, failure: String) {
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }

    /// What went wrong.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Median and range over rounds.
    pub(crate) fn spread(&self, figure: Figure, subject: Subject) -> Option<Spread> {
        spread(self.values.get(&(figure, subject))?.values().copied())
    }

    /// Median over rounds of `compare(one, other)` within a round.
    pub(crate) fn compared(
        &self,
        one: (Figure, Subject),
        other: (Figure, Subject),
        compare: impl Fn(f64, f64) -> f64,
    ) -> Option<f64> {
        let other = self.values.get(&other)?;
        let pairs = self
            .values
            .get(&one)?
            .iter()
            .filter_map(|(round, &value)| Some((value, *other.get(round)?)));
        Some(spread(pairs.map(|(one, other)| compare(one, other)))?.median)
    }
}

fn spread(values: impl Iterator<Item = f64>) -> Option<Spread> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    Some(Spread {
        median: middle(&values)?,
        least: *values.first()?,
        most: *values.last()?,
    })
}

/// The median of samples.
pub(crate) fn median(mut samples: Vec<f64>) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    middle(&samples)
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 {
        upper
    } else {
        f64::midpoint(sorted[sorted.len() / 2 - 1], upper)
    })
}
