//! Why a call failed: the server said no, or the connection could not carry it.

use std::io;
use std::sync::Arc;

use exec_protocol::{ErrorKind, ProcessId, RpcError};

/// Why a connection ended. Every call that was pending, and every later one, fails with it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Closed {
    /// The server closed its side.
    #[error("the server closed the connection")]
    ByServer,
    /// This side was closed: [`Client::close`](crate::Client::close), or the last handle was dropped.
    #[error("the connection was closed by this client")]
    ByClient,
    /// The [`Connection`](crate::Connection) was dropped, or its task was stopped, before its end.
    #[error("the connection's task was stopped")]
    Stopped,
    /// Reading from the server failed.
    #[error("failed to read from the server")]
    Read(#[source] Arc<io::Error>),
    /// Writing to the server failed.
    #[error("failed to write to the server")]
    Write(#[source] Arc<io::Error>),
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The server answered with an error: the connection is well.
    #[error("{}", .0.message)]
    Remote(RpcError),
    /// The connection ended before the answer came, or before the request left.
    #[error(transparent)]
    Closed(#[from] Closed),
    /// The params could not be written as JSON; nothing was sent.
    #[error("failed to encode the params of {method}")]
    Params {
        /// Of which method.
        method: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// The server's result is not of the method's type.
    #[error("failed to decode the result of {method}")]
    Result {
        /// Of which method.
        method: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// The server's answer was one line over the cap, and was skipped.
    #[error("the answer is longer than {limit_bytes} bytes")]
    AnswerTooLong {
        /// [`ClientLimits::max_incoming_line_bytes`](crate::ClientLimits::max_incoming_line_bytes).
        limit_bytes: usize,
    },
    /// A process of this id was started by this client and has not closed; nothing was sent.
    #[error("process id {0:?} is in use")]
    ProcessIdInUse(ProcessId),
}

impl CallError {
    /// The server's machine-readable cause, if this is its error and it gave one.
    #[must_use]
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Remote(error) => error.kind(),
            _ => None,
        }
    }
}

/// Why a notification was not sent.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// The connection has ended.
    #[error(transparent)]
    Closed(#[from] Closed),
    /// The params could not be written as JSON.
    #[error("failed to encode the params of {method}")]
    Params {
        /// Of which notification.
        method: &'static str,
        /// Why.
        source: serde_json::Error,
    },
}
