//! What the daemon tells of its requests and processes, and how it is asked for.

mod exits;
mod measure;
mod observer;
mod settings;
mod snapshots;

use exec_telemetry::{Metrics, Spans};

pub(crate) use exits::ExitSpans;
pub(crate) use measure::{Measure, handed_down};
pub(crate) use observer::ProcessObserver;
pub(crate) use settings::{SettingsError, limits, settings};
pub(crate) use snapshots::{CaptureSteps, SnapshotObserver};

/// Where the parts of the daemon tell what they do. By default nobody listens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Probes {
    /// Counts and durations.
    pub(crate) metrics: Metrics,
    /// Traces.
    pub(crate) spans: Spans,
}
