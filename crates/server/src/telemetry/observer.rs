//! Counts what becomes of processes.

use std::sync::Arc;
use std::time::Duration;

use exec_process::Process;
use exec_protocol::Stream;
use exec_telemetry::Metrics;
use exec_telemetry::tags::{self, ProcessResult};

use super::ExitSpans;

/// Counts starts, output and exits, and ends the spans of what exits.
pub(crate) struct ProcessObserver {
    /// Where they are counted.
    pub(crate) metrics: Metrics,
    /// The spans of those that are traced.
    pub(crate) exits: Arc<ExitSpans>,
}

impl exec_process::Observer for ProcessObserver {
    fn started(&self, _: &Arc<Process>) {
        self.metrics.process_started();
    }

    fn output(&self, stream: Stream, bytes: usize) {
        let stream = match stream {
            Stream::Stdout => tags::Stream::Stdout,
            Stream::Stderr => tags::Stream::Stderr,
            Stream::Pty => tags::Stream::Pty,
        };
        self.metrics.output(stream, bytes);
    }

    fn exited(&self, process: &Arc<Process>, exit_code: i32, duration: Duration) {
        self.metrics
            .process_finished(ProcessResult::of(exit_code), duration);
        self.exits.end(process, exit_code);
    }
}
