//! Logs on stderr, as text or JSON.
//!
//! A line is handed to a bounded queue; a thread that may block writes it. When stderr is not read, lines are
//! lost and their number is told once it is read again; the daemon never waits. `O_NONBLOCK` of stderr is not
//! ours to set: others may share its open file description.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::line_queue::LineQueue;

/// How a log line looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// What is logged when nothing else is asked for.
pub const DEFAULT_FILTER: &str = "warn";

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// What is to be logged is not a filter.
    #[error("not a log filter (--log, RUST_LOG): {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Something else logs already.
    #[error("logging is set up already")]
    Twice(#[from] tracing_subscriber::util::TryInitError),
}

/// Writes what is queued when the daemon goes.
#[derive(Clone)]
pub struct Logs(Arc<LineQueue>);

impl Logs {
    /// Waits until all lines are on stderr, at most `bound`.
    pub fn flush(&self, bound: Duration) {
        self.0.flush(bound);
    }
}

impl std::fmt::Debug for Logs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Logs({} lost)", self.0.lost())
    }
}

/// Sets up logging for the process. `filter` is written as in `RUST_LOG`; `queue_lines` bounds the
/// lines that wait for stderr. Starts no thread before the first line.
///
/// # Errors
/// A filter that cannot be read; a second call.
pub fn set_up(format: LogFormat, filter: Option<&str>, queue_lines: usize) -> Result<Logs, SetUpError> {
    let filter = EnvFilter::try_new(filter.filter(|f| !f.is_empty()).unwrap_or(DEFAULT_FILTER))?;
    let loss_line = match format {
        LogFormat::Text => text_loss_line,
        LogFormat::Json => json_loss_line,
    };
    let queue = Arc::new(LineQueue::new(Box::new(io::stderr()), queue_lines, loss_line));
    let registry = tracing_subscriber::registry().with(filter);
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(QueueWriter(Arc::clone(&queue)));
    match format {
        LogFormat::Text => registry.with(layer).try_init()?,
        LogFormat::Json => registry.with(layer.json()).try_init()?,
    }
    Ok(Logs(queue))
}

fn text_loss_line(lost: u64) -> String {
    format!("WARN exec_telemetry: log lines were lost because stderr was not read lost={lost}\n")
}

fn json_loss_line(lost: u64) -> String {
    format!(
        "{{\"level\":\"WARN\",\"fields\":{{\"message\":\"log lines were lost because stderr was not read\",\
         \"lost\":{lost}}},\"target\":\"exec_telemetry\"}}\n"
    )
}

/// Hands each event's line to the queue.
struct QueueWriter(Arc<LineQueue>);

impl<'a> MakeWriter<'a> for QueueWriter {
    type Writer = Line<'a>;
    fn make_writer(&'a self) -> Line<'a> {
        Line {
            queue: &self.0,
            text: Vec::new(),
        }
    }
}

/// One line in the making; queued when dropped.
struct Line<'a> {
    queue: &'a LineQueue,
    text: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.text.is_empty() {
            self.queue.push(std::mem::take(&mut self.text));
        }
    }
}
