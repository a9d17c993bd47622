//! `environment/*`: where commands run, and what this server can do.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::PathUri;
use crate::envelope::null_as_default;
use crate::method::Method;
use crate::process::Enforces;
use crate::snapshot::Shell;

/// Result of `environment/info`, and part of `initialize`'s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentInfo {
    /// The user's shell.
    pub shell: Shell,
    /// This server's version.
    pub executor_version: String,
    /// Says which kind of server this is: `sha256:…`.
    pub provider_id: String,
    /// The daemon's working directory.
    pub cwd: PathUri,
    /// The user's home.
    pub user_home_dir: PathUri,
    /// `linux`.
    pub platform_os: String,
    /// Directories a client should put in front of PATH.
    #[serde(default, deserialize_with = "null_as_default")]
    pub prepend_path_dirs: Vec<PathUri>,
    /// More directories for temporary files.
    #[serde(default, deserialize_with = "null_as_default")]
    pub temporary_directories: Vec<PathUri>,
    /// Where temporary files go.
    pub temp_dir: Option<PathUri>,
    /// What works; absent is false.
    #[serde(default, deserialize_with = "null_as_default")]
    pub capabilities: BTreeMap<String, bool>,
    /// Discovery of this protocol's additions.
    pub protocol: Option<ProtocolInfo>,
}

/// `environmentInfo.protocol`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtocolInfo {
    /// 1.
    pub version: u32,
    /// Every method the server answers: what it serves of the catalogue ([`crate::method::METHODS`]).
    pub methods: Vec<String>,
    /// The caps a client can run into.
    pub limits: WireLimits,
    /// What holds which resource limit.
    pub enforces: Enforces,
    /// How a command's descendants are known.
    pub tree_tracking: TreeTracking,
}

impl ProtocolInfo {
    /// Whether the server answers a method. A method in the catalogue need not be served, and a client asks
    /// before it sends one.
    #[must_use]
    pub fn serves<M: Method>(&self) -> bool {
        self.methods.iter().any(|name| name == M::NAME)
    }
}

/// The caps a client can run into; see [`crate::limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WireLimits {
    /// Longest line.
    pub max_line_bytes: u64,
    /// Processes at once.
    pub max_processes: u64,
    /// Requests in work at once.
    pub max_pending_requests: u64,
    /// Output kept readable per process.
    pub retained_bytes: u64,
    /// How long a closed process stays readable.
    pub retention_ms: u64,
    /// Bytes that may wait for a process's stdin.
    pub stdin_backlog_bytes: u64,
    /// Longest `waitMs`.
    pub max_wait_ms: u64,
    /// SIGTERM to SIGKILL by default.
    pub default_grace_ms: u64,
    /// The same at the end of the session.
    pub session_end_grace_ms: u64,
}

/// How a command's descendants are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TreeTracking {
    /// A cgroup v2 for each command.
    Cgroup,
    /// A subreaper for each command.
    Subreaper,
}

/// Result of `environment/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentStatus {
    /// `ready`.
    pub status: String,
}

/// Params of `environmentConfig/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadConfigParams {
    /// Whose project's configuration.
    pub cwd: PathUri,
    /// Which members of the configuration, each a path of keys.
    #[serde(default, deserialize_with = "null_as_default")]
    pub config_paths: Vec<Vec<String>>,
    /// Which members of the requirements, each a path of keys.
    #[serde(default, deserialize_with = "null_as_default")]
    pub requirements_paths: Vec<Vec<String>>,
}

/// Result of `environmentConfig/read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadConfigResponse {
    /// The user's home.
    pub user_home_dir: PathUri,
    /// Where a client of this dialect keeps its own files.
    pub codex_home_dir: PathUri,
    /// This machine's name.
    pub hostname: String,
    /// Empty: this server keeps no such configuration.
    pub config: ConfigLayers,
    /// Empty: this server keeps no such requirements.
    pub requirements: ConfigLayers,
}

/// Configuration, lowest layer first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigLayers {
    /// The layers, not interpreted.
    #[serde(default, deserialize_with = "null_as_default")]
    pub layers: Vec<serde_json::Value>,
    /// Where a layer from the network would go.
    pub cloud_insertion_index: u64,
}
