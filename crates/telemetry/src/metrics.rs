//! What happened, told to the instruments: one method for each event.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter, MeterProvider};

use crate::catalogue::{self, Instrument};
use crate::tags::*;

/// The name of what makes the metrics and spans.
pub(crate) const SCOPE: &str = "exec-server";

/// Tells the instruments what happens. Where nobody asks for metrics it does nothing: [`Metrics::off`], the default.
///
/// Takes numbers and words of closed sets only. Recording never waits for a scrape or an export.
#[derive(Debug, Clone, Default)]
pub struct Metrics(Option<Arc<Instruments>>);

#[derive(Debug)]
struct Instruments {
    snapshot: Counter<u64>,
    snapshot_duration: Histogram<f64>,
    snapshot_command: Counter<u64>,
    snapshot_wait: Histogram<f64>,
    snapshot_state: Histogram<u64>,
    requests: Counter<u64>,
    request_duration: Histogram<f64>,
    request_queue: Histogram<f64>,
    connections_active: Level,
    connections: Counter<u64>,
    processes_active: Level,
    processes_finished: Counter<u64>,
    process_duration: Histogram<f64>,
    output_bytes: Counter<u64>,
    sandbox_prepare: Histogram<f64>,
    sessions_active: Level,
    approvals: Counter<u64>,
}

/// A capture that came to an end, whichever.
#[derive(Debug, Clone, Copy)]
pub struct Capture {
    /// What it was made for.
    pub purpose: Purpose,
    /// Which attempt it was.
    pub attempt: Attempt,
    /// The shell.
    pub shell: ShellKind,
    /// The sandbox it ran in.
    pub sandbox: SandboxKind,
    /// How long it took.
    pub duration: Duration,
    /// Bytes of state it yielded, or why it yielded none.
    pub outcome: Result<u64, FailureReason>,
}

/// A command that asked for a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotCommand {
    /// What it found.
    pub availability: Availability,
    /// Whether it ran with one.
    pub outcome: Outcome,
    /// How long it waited before the replay.
    pub wait: Duration,
}

impl Metrics {
    /// Metrics that nobody asks for.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    pub(crate) fn new(provider: &impl MeterProvider) -> Self {
        let metrics = Self(Some(Arc::new(Instruments::new(&provider.meter(SCOPE)))));
        metrics.show_zeros();
        metrics
    }

    /// Whether anybody asks for them. For what is to be measured at a cost, such as a clock that is read.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    fn tell(&self, event: impl FnOnce(&Instruments)) {
        if let Some(instruments) = &self.0 {
            event(instruments);
        }
    }

    /// Counters whose few tags are known show from the beginning: what has not happened is 0, and a rate sees the
    /// first time it happens.
    fn show_zeros(&self) {
        self.tell(|on| {
            on.processes_active.change(0, &[]);
            for result in ProcessResult::ALL {
                on.processes_finished.add(0, &[result.pair()]);
            }
            for stream in Stream::ALL {
                on.output_bytes.add(0, &[stream.pair()]);
            }
        });
    }

    /// An attempt at a capture came to an end.
    pub fn capture_finished(&self, capture: Capture) {
        self.tell(|on| {
            let tags = [
                SnapshotVersion::V2.pair(),
                Success::from(capture.outcome.is_ok()).pair(),
                capture.purpose.pair(),
                capture.attempt.pair(),
                capture.shell.pair(),
                capture.sandbox.pair(),
            ];
            on.snapshot_duration.record(milliseconds(capture.duration), &tags);
            match capture.outcome {
                Ok(state_bytes) => {
                    on.snapshot.add(1, &tags);
                    on.snapshot_state.record(state_bytes, &[capture.shell.pair()]);
                }
                Err(reason) => {
                    let [version, success, purpose, attempt, shell, sandbox] = tags;
                    let tags = [version, success, purpose, attempt, shell, sandbox, reason.pair()];
                    on.snapshot.add(1, &tags);
                }
            }
        });
    }

    /// A command that asked for a snapshot is about to run. Never for a prewarm.
    pub fn snapshot_command(&self, command: SnapshotCommand) {
        self.tell(|on| {
            let tags = [
                SnapshotVersion::V2.pair(),
                command.availability.pair(),
                command.outcome.pair(),
                State(command.availability).pair(),
            ];
            on.snapshot_command.add(1, &tags);
            on.snapshot_wait.record(milliseconds(command.wait), &tags);
        });
    }

    /// A request's work begins, so long after its line had come.
    pub fn request_begun(&self, method: Method, queued: Duration) {
        self.tell(|on| on.request_queue.record(queued.as_secs_f64(), &[method.pair()]));
    }

    /// A request was answered.
    pub fn request_answered(&self, method: Method, result: RequestResult, duration: Duration) {
        self.tell(|on| {
            let tags = [method.pair(), result.pair()];
            on.requests.add(1, &tags);
            on.request_duration.record(duration.as_secs_f64(), &tags);
        });
    }

    /// A connection was accepted; it is open until what is returned is dropped.
    #[must_use = "the connection is open until it is dropped"]
    pub fn connection_accepted(&self, transport: Transport) -> OpenConnection {
        self.tell(|on| {
            on.connections
                .add(1, &[transport.pair(), ConnectionResult::Accepted.pair()]);
            on.connections_active.change(1, &[transport.pair()]);
        });
        OpenConnection(self.clone(), transport)
    }

    /// A process executes.
    pub fn process_started(&self) {
        self.tell(|on| on.processes_active.change(1, &[]));
    }

    /// A process that had started came to its end, so long after.
    pub fn process_finished(&self, result: ProcessResult, duration: Duration) {
        self.tell(|on| {
            on.processes_active.change(-1, &[]);
            on.processes_finished.add(1, &[result.pair()]);
            on.process_duration
                .record(duration.as_secs_f64(), &[result.pair()]);
        });
    }

    /// Bytes were read from a process.
    pub fn output(&self, stream: Stream, bytes: usize) {
        self.tell(|on| on.output_bytes.add(bytes as u64, &[stream.pair()]));
    }

    /// A sandbox was prepared, or could not be.
    pub fn sandbox_prepared(&self, backend: SandboxBackend, outcome: SandboxOutcome, duration: Duration) {
        self.tell(|on| {
            on.sandbox_prepare
                .record(milliseconds(duration), &[backend.pair(), outcome.pair()]);
        });
    }

    /// An interactive session opened.
    pub fn session_opened(&self) {
        self.tell(|on| on.sessions_active.change(1, &[]));
    }

    /// An interactive session closed.
    pub fn session_closed(&self) {
        self.tell(|on| on.sessions_active.change(-1, &[]));
    }

    /// The user was asked, and answered.
    pub fn approval(&self, reason: ApprovalReason, decision: ApprovalDecision) {
        self.tell(|on| on.approvals.add(1, &[reason.pair(), decision.pair()]));
    }
}

/// A connection; open until it is dropped.
#[derive(Debug)]
pub struct OpenConnection(Metrics, Transport);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0
            .tell(|on| on.connections_active.change(-1, &[self.1.pair()]));
    }
}

/// How many there are of something.
#[derive(Debug)]
struct Level {
    count: AtomicI64,
    gauge: Gauge<i64>,
}

impl Level {
    fn change(&self, by: i64, tags: &[opentelemetry::KeyValue]) {
        let before = self.count.fetch_add(by, Ordering::Relaxed);
        self.gauge.record(before + by, tags);
    }
}

impl Instruments {
    fn new(meter: &Meter) -> Self {
        Self {
            snapshot: counter(meter, &catalogue::SNAPSHOT),
            snapshot_duration: histogram(meter, &catalogue::SNAPSHOT_DURATION),
            snapshot_command: counter(meter, &catalogue::SNAPSHOT_COMMAND),
            snapshot_wait: histogram(meter, &catalogue::SNAPSHOT_WAIT),
            snapshot_state: sizes(meter, &catalogue::SNAPSHOT_STATE),
            requests: counter(meter, &catalogue::REQUESTS),
            request_duration: histogram(meter, &catalogue::REQUEST_DURATION),
            request_queue: histogram(meter, &catalogue::REQUEST_QUEUE),
            connections_active: level(meter, &catalogue::CONNECTIONS_ACTIVE),
            connections: counter(meter, &catalogue::CONNECTIONS),
            processes_active: level(meter, &catalogue::PROCESSES_ACTIVE),
            processes_finished: counter(meter, &catalogue::PROCESSES_FINISHED),
            process_duration: histogram(meter, &catalogue::PROCESS_DURATION),
            output_bytes: counter(meter, &catalogue::OUTPUT_BYTES),
            sandbox_prepare: histogram(meter, &catalogue::SANDBOX_PREPARE),
            sessions_active: level(meter, &catalogue::SESSIONS_ACTIVE),
            approvals: counter(meter, &catalogue::APPROVALS),
        }
    }
}

fn counter(meter: &Meter, of: &Instrument) -> Counter<u64> {
    meter
        .u64_counter(of.name)
        .with_unit(of.unit)
        .with_description(of.description)
        .build()
}

fn level(meter: &Meter, of: &Instrument) -> Level {
    Level {
        count: AtomicI64::new(0),
        gauge: meter
            .i64_gauge(of.name)
            .with_unit(of.unit)
            .with_description(of.description)
            .build(),
    }
}

fn histogram(meter: &Meter, of: &Instrument) -> Histogram<f64> {
    meter
        .f64_histogram(of.name)
        .with_unit(of.unit)
        .with_description(of.description)
        .with_boundaries(of.buckets.to_vec())
        .build()
}

fn sizes(meter: &Meter, of: &Instrument) -> Histogram<u64> {
    meter
        .u64_histogram(of.name)
        .with_unit(of.unit)
        .with_description(of.description)
        .with_boundaries(of.buckets.to_vec())
        .build()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
pub(crate) mod tests;
