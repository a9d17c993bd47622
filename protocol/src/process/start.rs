//! `process/*`: start, stream, feed, end.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::envelope::{null_as_default, object, optional_object};
use crate::exit::{ExitCause, Tree, Usage};
use crate::sandbox::SandboxRequest;
use crate::{Base64, EnvPolicy, PathUri, ShellSnapshotRequest};

/// A process's name, chosen by the client; unique in the session while the process is known.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ProcessId(#[cfg_attr(feature = "schema", schemars(with = "String"), ts(as = "String"))] Arc<str>);

impl ProcessId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ProcessId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl From<String> for ProcessId {
    fn from(id: String) -> Self {
        Self(id.into())
    }
}

impl Deref for ProcessId {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ProcessId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ProcessId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ProcessId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

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
    /// Bytes read from it and never sent.
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

/// Params of `process/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WaitParams {
    /// What to wait for.
    pub process_id: ProcessId,
    /// The condition; one that holds already answers at once.
    pub until: WaitUntil,
    /// Milliseconds; absent: no limit.
    pub timeout_ms: Option<u64>,
}

/// The condition of a `process/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WaitUntil {
    /// The leader ended.
    Exit,
    /// Nothing that it started is left.
    TreeEnded,
    /// Its output holds a pattern: exactly one of `literal` and `regex`.
    Output {
        /// Text to find.
        literal: Option<String>,
        /// Regular expression (Rust syntax, over bytes).
        regex: Option<String>,
        /// Only in this stream; default: any.
        stream: Option<Stream>,
        /// Offset in the stream to search from; default 0.
        from_offset: Option<u64>,
    },
    /// No output for so long.
    Quiet {
        /// Milliseconds.
        ms: u64,
        /// Only this stream; default: all.
        stream: Option<Stream>,
    },
    /// So many bytes of output since its start.
    Bytes {
        /// How many.
        count: u64,
        /// Only this stream; default: all together.
        stream: Option<Stream>,
    },
}

// By hand, for errors that name the member: the derived decoder of a tagged enum buffers its input.
impl<'de> Deserialize<'de> for WaitUntil {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        enum Type {
            Exit,
            TreeEnded,
            Output,
            Quiet,
            Bytes,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Members {
            r#type: Type,
            literal: Option<String>,
            regex: Option<String>,
            stream: Option<Stream>,
            from_offset: Option<u64>,
            ms: Option<u64>,
            count: Option<u64>,
        }
        let members: Members = object(deserializer)?;
        let stream = members.stream;
        Ok(match members.r#type {
            Type::Exit => Self::Exit,
            Type::TreeEnded => Self::TreeEnded,
            Type::Output => {
                if members.literal.is_some() == members.regex.is_some() {
                    return Err(de::Error::custom("expected exactly one of `literal` and `regex`"));
                }
                Self::Output {
                    literal: members.literal,
                    regex: members.regex,
                    stream,
                    from_offset: members.from_offset,
                }
            }
            Type::Quiet => Self::Quiet {
                ms: members.ms.ok_or_else(|| de::Error::missing_field("ms"))?,
                stream,
            },
            Type::Bytes => Self::Bytes {
                count: members.count.ok_or_else(|| de::Error::missing_field("count"))?,
                stream,
            },
        })
    }
}

/// Why a `process/wait` answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum WaitReason {
    /// As asked.
    Exit,
    /// As asked.
    Output,
    /// As asked.
    Quiet,
    /// As asked.
    Bytes,
    /// As asked.
    TreeEnded,
    /// The condition can no longer be met.
    Closed,
    /// `timeoutMs` ran out.
    Timeout,
    /// The session is ending.
    SessionEnding,
}

/// Where a pattern was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OutputMatch {
    /// In which stream.
    pub stream: Stream,
    /// Offset of the first byte in its stream.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

/// Result of `process/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct WaitResponse {
    /// Why it answered.
    pub reason: WaitReason,
    /// The next seq to be made.
    pub next_seq: u64,
    /// Once exited.
    pub exit_code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<String>,
    /// Once exited.
    pub cause: Option<ExitCause>,
    /// For the reason output.
    #[serde(rename = "match")]
    pub found: Option<OutputMatch>,
}
