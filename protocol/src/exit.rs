//! How a process ended.

use serde::{Deserialize, Serialize};

/// Why a process ended: the first that acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum ExitCause {
    /// It exited by itself.
    Exited,
    /// A signal killed it that the daemon did not send as part of an ending.
    Signaled,
    /// `process/terminate`.
    Terminated,
    /// `timeoutMs` ran out.
    Deadline,
    /// `idleTimeoutMs` ran out.
    Idle,
    /// The session ended.
    ClientGone,
    /// The kernel's OOM killer, as its cgroup tells.
    OutOfMemory,
    /// The warden died.
    WardenLost,
}

impl ExitCause {
    /// True for the two time limits.
    #[must_use]
    pub fn timed_out(self) -> bool {
        matches!(self, Self::Deadline | Self::Idle)
    }
}

/// Resource use of the leader and of what it waited for (`getrusage(2)`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// CPU time in user mode, milliseconds.
    pub user_ms: Option<u64>,
    /// CPU time in the kernel, milliseconds.
    pub system_ms: Option<u64>,
    /// Largest resident set of any single process of it, bytes.
    pub max_rss_bytes: Option<u64>,
}

/// What is known of the processes a command started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Tree {
    /// None of them is left.
    Ended,
    /// At least one is running.
    Running,
    /// Tracking was lost (the warden died).
    Unknown,
}
