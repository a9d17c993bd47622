//! `process/read`: output, pulled.

use serde::{Deserialize, Serialize};

use super::{ProcessId, Stream};
use crate::Base64;
use crate::envelope::null_as_default;
use crate::exit::ExitCause;

/// Params of `process/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ReadParams {
    /// Whose output.
    pub process_id: ProcessId,
    /// Only chunks after this one; default 0.
    pub after_seq: Option<u64>,
    /// Stop when this many bytes are gathered, ≥ 1; always at least one chunk. Default 1 MiB.
    pub max_bytes: Option<u64>,
    /// How long to wait for an event after `afterSeq`, milliseconds; default 0.
    pub wait_ms: Option<u64>,
}

/// One chunk of a `process/read` result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ReadChunk {
    /// Its number.
    pub seq: u64,
    /// Where from.
    pub stream: Stream,
    /// Its bytes.
    pub chunk: Base64,
}

/// Result of `process/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ReadResponse {
    /// Chunks after `afterSeq`, in order.
    pub chunks: Vec<ReadChunk>,
    /// Last returned seq + 1, or the next seq to be made.
    pub next_seq: u64,
    /// The leader ended.
    pub exited: bool,
    /// Its exit code, once exited.
    pub exit_code: Option<i32>,
    /// All streams are at end.
    pub closed: bool,
    /// What went wrong with the process's output, if something did.
    pub failure: Option<String>,
    /// A sandbox refused something.
    #[serde(default, deserialize_with = "null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub sandbox_denied: bool,
    /// The first chunk still retained; null when none is.
    pub first_seq: Option<u64>,
    /// Bytes no longer retained.
    pub evicted_bytes: Option<u64>,
    /// Why it ended, once exited.
    pub cause: Option<ExitCause>,
    /// The signal that killed it.
    pub signal: Option<String>,
}
