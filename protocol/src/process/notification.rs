//! What a process says by itself: output, exit, close, the end of its tree.

use serde::{Deserialize, Serialize};

use super::ProcessId;
use crate::Base64;
use crate::envelope::null_as_default;
use crate::exit::{ExitCause, Tree, Usage};

/// Where a chunk came from, or goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Stream {
    /// A pipe on descriptor 1.
    Stdout,
    /// A pipe on descriptor 2.
    Stderr,
    /// A terminal.
    Pty,
}

impl Stream {
    /// Its name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Pty => "pty",
        }
    }
}

/// `process/output`: bytes a process printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct OutputNotification {
    /// Whose.
    pub process_id: ProcessId,
    /// One counter for all notifications of a process, from 1, without gaps.
    pub seq: u64,
    /// Where from.
    pub stream: Stream,
    /// Offset of the first byte in its stream.
    pub offset: Option<u64>,
    /// The bytes.
    pub chunk: Base64,
}

/// `process/exited`: the leader ended; output may still follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExitedNotification {
    /// Whose.
    pub process_id: ProcessId,
    /// See [`OutputNotification::seq`].
    pub seq: u64,
    /// The leader's own exit code, or 128 + signal; 137 when the warden was lost.
    pub exit_code: i32,
    /// True when a sandbox refused something.
    #[serde(default, deserialize_with = "null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub sandbox_denied: bool,
    /// The signal that killed it (`SIGKILL`), if one did.
    pub signal: Option<String>,
    /// Why it ended.
    pub cause: Option<ExitCause>,
    /// True for the causes deadline and idle.
    #[serde(default, deserialize_with = "null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub timed_out: bool,
    /// From exec to exit, milliseconds.
    pub duration_ms: Option<u64>,
    /// Resource use, where known.
    pub usage: Option<Usage>,
}

/// `process/closed`: all output streams are at end; the last numbered notification of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ClosedNotification {
    /// Whose.
    pub process_id: ProcessId,
    /// See [`OutputNotification::seq`].
    pub seq: u64,
    /// Bytes read from the process, all streams.
    pub output_bytes: Option<u64>,
    /// Bytes read from it and never sent. This server sends all that it reads: 0.
    pub dropped_bytes: Option<u64>,
    /// Whether anything it started is left.
    pub tree: Option<Tree>,
}

/// `process/treeEnded`: the last descendant of a closed process is gone. Outside `seq`; sent once, to clients
/// that gave `notifyTreeEnded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TreeEndedNotification {
    /// Whose.
    pub process_id: ProcessId,
}
