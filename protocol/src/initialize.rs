//! `initialize` and `initialized`: the handshake.

use serde::{Deserialize, Serialize};

use crate::environment::EnvironmentInfo;

/// Params of `initialize`, once per connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// The client's name, for logs.
    pub client_name: String,
    /// A session to resume; stdio has none, so anything but null is refused.
    pub resume_session_id: Option<String>,
    /// True: send `process/treeEnded`.
    pub notify_tree_ended: Option<bool>,
}

impl InitializeParams {
    /// A new session, told no more than every client is.
    #[must_use]
    pub fn new(client_name: impl Into<String>) -> Self {
        Self {
            client_name: client_name.into(),
            resume_session_id: None,
            notify_tree_ended: None,
        }
    }
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct InitializeResponse {
    /// A UUID.
    pub session_id: String,
    /// Where commands will run.
    pub environment_info: EnvironmentInfo,
}

/// Params of the notification `initialized`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct InitializedParams {}
