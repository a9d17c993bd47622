//! `sandbox`: what a command may touch.

use serde::{Deserialize, Serialize};

/// `process/start.sandbox`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxRequest {
    /// What is permitted.
    pub permissions: serde_json::Value,
}
