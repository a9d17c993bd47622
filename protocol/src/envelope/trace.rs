//! Trace context that rides on a message.

use serde::{Deserialize, Serialize};

/// W3C trace context of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// `traceparent` header value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// `tracestate` header value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
}
