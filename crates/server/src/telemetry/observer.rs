//! Stands between the processes and the outbox, and counts.

use std::sync::Arc;
use std::time::Duration;

use exec_process::{Process, Subscriber};
use exec_protocol::Stream;
use exec_telemetry::Metrics;
use exec_telemetry::tags::{self, ProcessResult};

use super::ExitSpans;
use crate::outbox::Outbox;

/// Hands on what processes tell, and counts their turns.
pub(crate) struct Observer {
    /// Where what they tell goes.
    pub(crate) outbox: Arc<Outbox>,
    /// Where they are counted.
    pub(crate) metrics: Metrics,
    /// The spans of those that are traced.
    pub(crate) exits: Arc<ExitSpans>,
}

impl Subscriber for Observer {
    fn ready(&self, process: &Arc<Process>) {
        self.outbox.ready(process);
    }

    fn is_interactive(&self) -> bool {
        self.outbox.is_interactive()
    }

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
