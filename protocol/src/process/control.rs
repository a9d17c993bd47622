//! `process/resize`, `process/signal` and `process/terminate`.

use serde::{Deserialize, Serialize};

use super::ProcessId;

/// Params of `process/resize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ResizeParams {
    /// Whose terminal.
    pub process_id: ProcessId,
    /// Lines, 1–65535.
    pub rows: u16,
    /// Columns, 1–65535.
    pub cols: u16,
}

/// Params of `process/signal`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SignalParams {
    /// Whose process group.
    pub process_id: ProcessId,
    /// `interrupt`, a POSIX name (`SIGTERM`) or `SIGRTMIN+n`.
    pub signal: String,
}

/// Params of `process/terminate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct TerminateParams {
    /// What to end, with everything it started.
    pub process_id: ProcessId,
    /// SIGTERM to SIGKILL, milliseconds; 0 at once.
    pub grace_ms: Option<u64>,
}

/// Result of `process/terminate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TerminateResponse {
    /// The leader had not yet exited.
    pub running: bool,
}
