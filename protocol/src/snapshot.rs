//! Shell snapshots: the user's own shell state in front of a command.

use serde::{Deserialize, Serialize};

use crate::PathUri;
use crate::envelope::object;

/// `process/start.shellSnapshot`. Ignored while `capabilities.shellSnapshotV2` is false.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellSnapshotRequest {
    /// What the snapshot is shared within: a conversation and an environment, say.
    pub scope_id: String,
    /// The user's shell.
    #[serde(deserialize_with = "object")]
    pub shell: Shell,
}

/// A shell by name and path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
