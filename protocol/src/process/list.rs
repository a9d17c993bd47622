//! `process/list`.

use serde::{Deserialize, Serialize};

use super::ProcessId;
use crate::exit::{ExitCause, Tree};

/// Result of `process/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// Every known process, by start.
    pub processes: Vec<ProcessInfo>,
}

/// One process of a `process/list` result. No argv and no environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ProcessInfo {
    /// Its name.
    pub process_id: ProcessId,
    /// The leader's process id; null while starting.
    pub pid: Option<u32>,
    /// Where in its life it is.
    pub state: ProcessState,
    /// On a terminal.
    pub tty: bool,
    /// When it was started, Unix milliseconds.
    pub started_at_ms: u64,
    /// Once exited.
    pub exit_code: Option<i32>,
    /// Once exited.
    pub cause: Option<ExitCause>,
    /// The next seq to be made.
    pub next_seq: u64,
    /// Bytes read from it so far.
    pub output_bytes: u64,
    /// Whether anything it started is left.
    pub tree: Tree,
}

/// Where in its life a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum ProcessState {
    /// Asked for, not yet executed.
    Starting,
    /// The leader runs.
    Running,
    /// The leader ended, a stream is open.
    Exited,
    /// All streams are at end.
    Closed,
}
