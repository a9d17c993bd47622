//! How the daemon tells what it does, without ever waiting for whoever listens: logs on stderr, metrics that can be
//! scraped or are pushed, and traces.
//!
//! Takes words from closed sets and numbers, never a command, path, environment value, id or output of a child.

#![forbid(unsafe_code)]

pub mod catalogue;
mod line_queue;
pub mod logs;
mod metrics;
mod otlp;
mod process_ref;
mod reader;
mod scrape;
mod set_up;
mod spans;
pub mod tags;

pub use metrics::{Capture, Metrics, OpenConnection, SnapshotCommand};
pub use otlp::OtlpWhen;
pub use process_ref::ProcessRef;
pub use scrape::{AddressError, BindError, ScrapeAddress, ScrapeLimits};
pub use set_up::{Settings, Telemetry, TelemetryLimits};
pub use spans::{RequestSpan, Spans, Step, StepSpan, TraceContext};
