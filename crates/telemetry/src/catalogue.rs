//! Every instrument, once: its name, kind, unit, tags and buckets. `docs/metrics.md` is written from it.

use crate::tags::*;

/// What an instrument does with what it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Adds up.
    Counter,
    /// Shows the last value.
    Gauge,
    /// Counts values by size.
    Histogram,
}

impl Kind {
    /// Its name in Prometheus text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A tag of an instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagKey {
    /// Its key.
    pub key: &'static str,
    /// Its values.
    pub values: &'static [&'static str],
    /// When it is there, if it is not always.
    pub only: Option<&'static str>,
}

const fn tag<T: Tag>() -> TagKey {
    TagKey {
        key: T::KEY,
        values: T::VALUES,
        only: None,
    }
}

/// An instrument.
#[derive(Debug, Clone, Copy)]
pub struct Instrument {
    /// Its name in OTLP; in a scrape, dots are underscores and nothing else is changed.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its unit, in UCUM; empty for a number of things.
    pub unit: &'static str,
    /// What it tells, in a sentence.
    pub description: &'static str,
    /// Its tags.
    pub tags: &'static [TagKey],
    /// Upper bounds of a histogram's buckets, in its unit.
    pub buckets: &'static [f64],
}

impl Instrument {
    /// Its name in a scrape.
    #[must_use]
    pub fn scrape_name(&self) -> String {
        self.name.replace('.', "_")
    }
}

/// Milliseconds: a capture takes from some milliseconds to 10 s.
const CAPTURE_BUCKETS: &[f64] = &[
    5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10000.0,
];
/// Milliseconds: from a hit, which waits for nothing, to a capture.
const WAIT_BUCKETS: &[f64] = &[
    0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0,
    10000.0,
];
/// Bytes: from an empty state to the largest.
const STATE_BUCKETS: &[f64] = &[
    1024.0, 4096.0, 16384.0, 65536.0, 131072.0, 262144.0, 524288.0, 1048576.0, 2097152.0, 4194304.0,
];
/// Seconds: from a request answered at once to a long poll.
const REQUEST_BUCKETS: &[f64] = &[
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 30.0, 60.0, 300.0,
];
/// Seconds: from a request read as it came to one that a full reply queue held up.
const QUEUE_BUCKETS: &[f64] = &[
    0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.1, 1.0, 10.0,
];
/// Seconds: from /bin/true to a build.
const PROCESS_BUCKETS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0,
    3600.0,
];
/// Milliseconds: a sandbox takes about a millisecond.
const SANDBOX_BUCKETS: &[f64] = &[
    0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 1000.0,
];

const CAPTURE_TAGS: [TagKey; 6] = [
    tag::<SnapshotVersion>(),
    tag::<Success>(),
    tag::<Purpose>(),
    tag::<Attempt>(),
    tag::<ShellKind>(),
    tag::<SandboxKind>(),
];
const COMMAND_TAGS: [TagKey; 4] = [
    tag::<SnapshotVersion>(),
    tag::<Availability>(),
    tag::<Outcome>(),
    tag::<State>(),
];

macro_rules! instruments {
    ($($(#[doc = $doc:literal])+ $constant:ident = $name:literal, $kind:ident, $unit:literal, [$($tag:expr),*], $buckets:expr;)*) => {
        $(
            $(#[doc = $doc])+
            pub const $constant: Instrument = Instrument {
                name: $name,
                kind: Kind::$kind,
                unit: $unit,
                description: concat!($($doc),+).trim_ascii(),
                tags: &[$($tag),*],
                buckets: $buckets,
            };
        )*
        /// All of them.
        pub const INSTRUMENTS: &[Instrument] = &[$($constant),*];
    };
}

instruments! {
    /// Attempts to capture a shell's state.
    SNAPSHOT = "codex.shell_snapshot", Counter, "", [
        CAPTURE_TAGS[0], CAPTURE_TAGS[1], CAPTURE_TAGS[2], CAPTURE_TAGS[3], CAPTURE_TAGS[4], CAPTURE_TAGS[5],
        TagKey { only: Some("success=false"), ..tag::<FailureReason>() }
    ], &[];
    /// How long an attempt took.
    SNAPSHOT_DURATION = "codex.shell_snapshot.duration_ms", Histogram, "ms", [
        CAPTURE_TAGS[0], CAPTURE_TAGS[1], CAPTURE_TAGS[2], CAPTURE_TAGS[3], CAPTURE_TAGS[4], CAPTURE_TAGS[5]
    ], CAPTURE_BUCKETS;
    /// Commands that asked for a snapshot.
    SNAPSHOT_COMMAND = "codex.shell_snapshot.command", Counter, "", [
        COMMAND_TAGS[0], COMMAND_TAGS[1], COMMAND_TAGS[2], COMMAND_TAGS[3]
    ], &[];
    /// How long a command waited for its snapshot: lookup and capture, before the replay.
    SNAPSHOT_WAIT = "codex.shell_snapshot.wait_ms", Histogram, "ms", [
        COMMAND_TAGS[0], COMMAND_TAGS[1], COMMAND_TAGS[2], COMMAND_TAGS[3]
    ], WAIT_BUCKETS;
    /// Size of a captured state.
    SNAPSHOT_STATE = "codex.shell_snapshot.state_bytes", Histogram, "By", [tag::<ShellKind>()], STATE_BUCKETS;
    /// Requests answered.
    REQUESTS = "exec_server_requests_total", Counter, "", [tag::<Method>(), tag::<RequestResult>()], &[];
    /// From the start of a request's work to its answer.
    REQUEST_DURATION = "exec_server_request_duration_seconds", Histogram, "s",
        [tag::<Method>(), tag::<RequestResult>()], REQUEST_BUCKETS;
    /// From the arrival of a request's line to the start of its work.
    REQUEST_QUEUE = "exec_server_request_queue_duration_seconds", Histogram, "s", [tag::<Method>()], QUEUE_BUCKETS;
    /// Connections that are open.
    CONNECTIONS_ACTIVE = "exec_server_connections_active", Gauge, "", [tag::<Transport>()], &[];
    /// Connections that were asked for.
    CONNECTIONS = "exec_server_connections_total", Counter, "", [tag::<Transport>(), tag::<ConnectionResult>()], &[];
    /// Processes that run.
    PROCESSES_ACTIVE = "exec_server_processes_active", Gauge, "", [], &[];
    /// Processes that ended.
    PROCESSES_FINISHED = "exec_server_processes_finished_total", Counter, "", [tag::<ProcessResult>()], &[];
    /// From a process's exec to its end.
    PROCESS_DURATION = "exec_server_process_duration_seconds", Histogram, "s", [tag::<ProcessResult>()], PROCESS_BUCKETS;
    /// Bytes read from processes.
    OUTPUT_BYTES = "exec_server_output_bytes_total", Counter, "By", [tag::<Stream>()], &[];
    /// How long a sandbox took to prepare.
    SANDBOX_PREPARE = "exec_server_sandbox_prepare_ms", Histogram, "ms",
        [tag::<SandboxBackend>(), tag::<SandboxOutcome>()], SANDBOX_BUCKETS;
    /// Interactive sessions that are open.
    SESSIONS_ACTIVE = "exec_server_sessions_active", Gauge, "", [], &[];
    /// Questions to the user that were answered.
    APPROVALS = "exec_server_approvals_total", Counter, "", [tag::<ApprovalReason>(), tag::<ApprovalDecision>()], &[];
}

/// Those that nothing records yet. Their names are kept for the sandbox, for interactive sessions and for approvals.
pub const NOT_YET: &[Instrument] = &[SANDBOX_PREPARE, SESSIONS_ACTIVE, APPROVALS];

/// The instrument of that name.
pub(crate) fn named(name: &str) -> Option<&'static Instrument> {
    INSTRUMENTS.iter().find(|instrument| instrument.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct_and_not_doubled() {
        let names: BTreeSet<String> = INSTRUMENTS.iter().map(Instrument::scrape_name).collect();
        assert_eq!(names.len(), INSTRUMENTS.len());
        for name in names {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
            assert!(!name.contains("_total_") && !name.contains("_ms_"), "{name}");
        }
    }

    #[test]
    fn only_histograms_have_buckets_and_theirs_ascend() {
        for instrument in INSTRUMENTS {
            let is_histogram = instrument.kind == Kind::Histogram;
            assert_eq!(
                is_histogram,
                !instrument.buckets.is_empty(),
                "{}",
                instrument.name
            );
            assert!(instrument.buckets.is_sorted(), "{}", instrument.name);
        }
    }
}
