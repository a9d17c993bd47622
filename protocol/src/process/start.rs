//! `process/start`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ProcessId;
use crate::envelope::{null_as_default, optional_object};
use crate::sandbox::SandboxRequest;
use crate::{Base64, EnvPolicy, PathUri, ShellSnapshotRequest};

/// Params of `process/start`.
// What is `None` is left out when written: not every server takes null for absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExecParams {
    /// Names the process in every later message.
    pub process_id: ProcessId,
    /// Program and arguments; not empty. A program without a slash is looked up on the child's own PATH.
    pub argv: Vec<String>,
    /// Working directory; must exist.
    pub cwd: PathUri,
    /// Laid over what `envPolicy` gives; without one it is the whole environment.
    pub env: BTreeMap<String, String>,
    /// Which variables of the daemon's environment the child sees.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub env_policy: Option<EnvPolicy>,
    /// True: a PTY as controlling terminal. False: pipes.
    pub tty: bool,
    /// Keep a pipe's stdin open for `process/write`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[cfg_attr(feature = "schema", ts(as = "Option<_>", optional = nullable))]
    pub pipe_stdin: bool,
    /// `argv[0]` as the process sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arg0: Option<String>,
    /// What the process may touch.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub sandbox: Option<SandboxRequest>,
    /// True: refuse to start without a managed network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforce_managed_network: Option<bool>,
    /// The managed network, not interpreted yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_network: Option<serde_json::Value>,
    /// Exported as CODEX_THREAD_ID and CODEX_TOOL_CALL_ID, over everything else.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub metadata: Option<ExecMetadata>,
    /// The shell state to start from.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub shell_snapshot: Option<ShellSnapshotRequest>,
    /// Initial window of a PTY; 24 × 80 without.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub size: Option<TerminalSize>,
    /// Written to stdin first; end of file follows unless `pipeStdin` or `tty`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Base64>,
    /// Time limit from exec, milliseconds, ≥ 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Limit of time without a byte in or out, milliseconds, ≥ 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// SIGTERM to SIGKILL for both time limits, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_ms: Option<u64>,
    /// Resource limits of the tree; what cannot be enforced is refused.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub limits: Option<ResourceLimits>,
    /// The same id and `startId` again: the same result, nothing started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_id: Option<String>,
}

impl ExecParams {
    /// A command on pipes, with an empty environment, no stdin and no limits: set what differs.
    #[must_use]
    pub fn new(process_id: impl Into<ProcessId>, argv: Vec<String>, cwd: PathUri) -> Self {
        Self {
            process_id: process_id.into(),
            argv,
            cwd,
            env: BTreeMap::new(),
            env_policy: None,
            tty: false,
            pipe_stdin: false,
            arg0: None,
            sandbox: None,
            enforce_managed_network: None,
            managed_network: None,
            metadata: None,
            shell_snapshot: None,
            size: None,
            stdin: None,
            timeout_ms: None,
            idle_timeout_ms: None,
            grace_ms: None,
            limits: None,
            start_id: None,
        }
    }
}

/// Rows and columns of a terminal, 1–65535 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

impl TerminalSize {
    /// What rows and columns may be, for the error that says so.
    pub const RANGE: &'static str = "1 to 65535 expected";

    /// The member that is 0: there is no such terminal.
    #[must_use]
    pub fn member_out_of_range(self) -> Option<&'static str> {
        match self {
            Self { rows: 0, .. } => Some("rows"),
            Self { cols: 0, .. } => Some("cols"),
            Self { .. } => None,
        }
    }
}

/// `process/start.metadata`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase", default)]
pub struct ExecMetadata {
    /// Exported as CODEX_THREAD_ID.
    pub thread_id: Option<String>,
    /// Exported as CODEX_TOOL_CALL_ID.
    pub tool_call_id: Option<String>,
}

/// Limits of a command's whole tree, each ≥ 1 (`openFiles`: of each process).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceLimits {
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// CPU time, seconds.
    pub cpu_seconds: Option<u64>,
    /// Processes at once.
    pub processes: Option<u64>,
    /// Open descriptors of each process.
    pub open_files: Option<u64>,
}

/// What holds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum Enforcement {
    /// A cgroup v2 controller or its accounting.
    Cgroup,
    /// `setrlimit(2)`.
    Rlimit,
}

/// For each limit, what holds it; null: nothing can.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase", default)]
pub struct Enforces {
    /// Of `memoryBytes`.
    pub memory_bytes: Option<Enforcement>,
    /// Of `cpuSeconds`.
    pub cpu_seconds: Option<Enforcement>,
    /// Of `processes`.
    pub processes: Option<Enforcement>,
    /// Of `openFiles`.
    pub open_files: Option<Enforcement>,
}

/// Which sandbox was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum SandboxType {
    /// None.
    None,
    /// Linux namespaces, Landlock and seccomp.
    LinuxSeccomp,
    /// macOS; never sent by this server.
    MacosSeatbelt,
}

/// Result of `process/start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct ExecResponse {
    /// As given.
    pub process_id: ProcessId,
    /// What was applied.
    pub sandbox_type: SandboxType,
    /// The leader's process id.
    pub pid: Option<u32>,
    /// What holds each limit that was asked for; null when none was.
    pub limits: Option<Enforces>,
}
