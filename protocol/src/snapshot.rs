//! Shell snapshots: the user's own shell state in front of a command.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::envelope::{object, optional_object};
use crate::sandbox::SandboxRequest;
use crate::{EnvPolicy, PathUri};

/// `process/start.shellSnapshot`. Ignored while `capabilities.shellSnapshotV2` is false.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ShellSnapshotRequest {
    /// What the snapshot is shared within: a conversation and an environment, say. 1 to 256 bytes.
    pub scope_id: String,
    /// The user's shell.
    #[serde(deserialize_with = "object")]
    pub shell: Shell,
}

/// A shell by name and path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Shell {
    /// `bash`, `zsh`, `sh` or `fish`.
    pub name: String,
    /// Native path of the program (not a URI), or a `file://` URI of it.
    pub path: String,
}

impl Shell {
    /// The path as a URI if it is one, else `None`.
    #[must_use]
    pub fn path_uri(&self) -> Option<PathUri> {
        self.path.parse().ok()
    }
}

/// Params of `shellSnapshot/prewarm` and `shellSnapshot/describe`: those of the commands that are to have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct SnapshotParams {
    /// As in `process/start.shellSnapshot`.
    pub scope_id: String,
    /// As in `process/start.shellSnapshot`.
    #[serde(deserialize_with = "object")]
    pub shell: Shell,
    /// As in `process/start`.
    pub cwd: PathUri,
    /// As in `process/start`.
    pub env: BTreeMap<String, String>,
    /// As in `process/start`.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub env_policy: Option<EnvPolicy>,
    /// As in `process/start`.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub sandbox: Option<SandboxRequest>,
}

/// Result of `shellSnapshot/prewarm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PrewarmResponse {
    /// How long the capture took.
    pub duration_ms: u64,
    /// Its state.
    pub state_bytes: u64,
    /// What it changes in the environment.
    pub environment_bytes: u64,
    /// How many functions it holds.
    pub functions: u64,
    /// How many aliases.
    pub aliases: u64,
    /// How many variables, those exported among them.
    pub variables: u64,
}

/// How a command finds its snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SnapshotAvailability {
    /// There, made by a prewarm.
    PrewarmReady,
    /// Being made by a prewarm.
    PrewarmPending,
    /// There, made for a command.
    CacheHit,
    /// Being made for a command.
    CapturePending,
    /// Not there: it would be made for the command.
    OnDemand,
    /// Not there, and not tried now: a failure is remembered.
    Unavailable,
}

/// Why a capture failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SnapshotFailure {
    /// Not a shell that can be captured.
    UnsupportedShell,
    /// No command that a snapshot applies to.
    MissingCommand,
    /// The shell could not be started.
    SpawnFailed,
    /// The shell ended without its state.
    MissingOutput,
    /// The state could not be read.
    ReadFailed,
    /// More was written than a capture may be.
    CaptureTooLarge,
    /// The shell's end could not be learned.
    WaitFailed,
    /// A startup file ended the shell with a status other than 0.
    NonzeroExit,
    /// The startup files did not come to an end in time.
    Timeout,
    /// What was written is no state.
    InvalidCapture,
    /// The environment is too large.
    EnvironmentTooLarge,
    /// The state is too large.
    StateTooLarge,
}

/// How the state gets to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum SnapshotReplay {
    /// In a sealed file without a name.
    File,
    /// In environment variables.
    Environment,
}

/// Result of `shellSnapshot/describe`. Names that are not UTF-8 have U+FFFD where they are not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct DescribeSnapshotResponse {
    /// What a command would find now.
    pub availability: SnapshotAvailability,
    /// The failure that is remembered.
    pub failure: Option<SnapshotFailure>,
    /// The snapshot that is there.
    pub snapshot: Option<SnapshotContents>,
    /// Files whose change ends it: the shell, its startup files, and those they source by a literal path.
    pub watched_files: Vec<WatchedFile>,
}

/// What a snapshot holds: names and sizes, never a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct SnapshotContents {
    /// Since its capture.
    pub age_ms: u64,
    /// How long the capture took.
    pub duration_ms: u64,
    /// Its state.
    pub state_bytes: u64,
    /// What it changes in the environment.
    pub environment_bytes: u64,
    /// How it gets to a command.
    pub replay: SnapshotReplay,
    /// Whether startup was interactive, as at a terminal. If not, only a startup that is not came to its end, and what
    /// the files of interactive shells make is missing.
    pub interactive: bool,
    /// Functions, autoloaded ones too.
    pub functions: Vec<String>,
    /// Aliases of every kind.
    pub aliases: Vec<String>,
    /// Variables that startup files exported or changed.
    pub exported: Vec<String>,
    /// Variables that startup files took out of the environment.
    pub unset: Vec<String>,
    /// Variables that are not exported.
    pub variables: Vec<String>,
    /// Options that are not as in a bare shell.
    pub options: Vec<String>,
    /// What startup files made and the snapshot does not hold.
    pub left_out: Vec<LeftOut>,
}

/// Something that a snapshot does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Its name, with its kind: `trap EXIT`.
    pub what: String,
    /// Why, for people.
    pub why: String,
}

/// A file that is looked at whenever a command asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct WatchedFile {
    /// Where it is looked for.
    pub path: PathUri,
    /// Whether it was there before the capture.
    pub present: bool,
}

/// Params of `shellSnapshot/invalidate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct InvalidateSnapshotParams {
    /// Whose snapshots; all without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
}

/// Result of `shellSnapshot/invalidate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct InvalidateSnapshotResponse {
    /// How many snapshots and remembered failures were dropped.
    pub dropped: u64,
}
