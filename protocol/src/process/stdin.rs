//! `process/write` and `process/closeStdin`.

use serde::{Deserialize, Serialize};

use super::ProcessId;
use crate::Base64;

/// Params of `process/write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WriteParams {
    /// Whose stdin.
    pub process_id: ProcessId,
    /// The bytes.
    pub chunk: Base64,
    /// The same `writeId` again is accepted and not written twice.
    pub write_id: Option<String>,
    /// End of file after the chunk.
    pub close_stdin: Option<bool>,
}

/// Result of `process/write`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct WriteResponse {
    /// What became of it.
    pub status: WriteStatus,
}

/// What became of a write or of closing stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum WriteStatus {
    /// Queued, in order.
    Accepted,
    /// No such process.
    UnknownProcess,
    /// Stdin is not open, or no longer.
    StdinClosed,
    /// Never sent by this server.
    Starting,
}

/// Params of `process/closeStdin`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CloseStdinParams {
    /// Whose stdin.
    pub process_id: ProcessId,
}
