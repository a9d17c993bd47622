//! Error codes of the wire and the machine-readable `data` beside them.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::PathUri;
use crate::snapshot::SnapshotFailure;

/// Not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// Not a request, or not one for this state of the connection or of the process.
pub const INVALID_REQUEST: i32 = -32600;
/// No such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// Params that the method cannot take.
pub const INVALID_PARAMS: i32 = -32602;
/// The daemon or the system could not do it.
pub const INTERNAL_ERROR: i32 = -32603;
/// No such file, or no such file handle.
pub const NOT_FOUND: i32 = -32004;
/// Cancelled with `$/cancelRequest`.
pub const REQUEST_CANCELLED: i32 = -32800;

/// A JSON-RPC error object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS), ts(optional_fields = nullable))]
pub struct RpcError {
    /// One of the codes of this module.
    pub code: i32,
    /// For people: what was wrong, and what would be right.
    pub message: String,
    /// For programs: `{kind, …}`, see [`ErrorKind`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Which path a spawn failed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub enum SpawnSubject {
    /// The program.
    Program,
    /// The working directory.
    Cwd,
    /// The program's `#!` or ELF interpreter.
    Interpreter,
}

/// The machine-readable cause of an error: `error.data.kind` and the members beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ErrorKind {
    /// No process of that id.
    UnknownProcess,
    /// A process of that id has not closed.
    ProcessIdInUse,
    /// Nothing to resume.
    UnknownSession,
    /// Not in this state of the connection.
    WrongState {
        /// The state: `uninitialized`, `initializing`, `ready` or `ending`.
        state: String,
    },
    /// A terminal has no end of file: write the EOF character.
    StdinIsTerminal,
    /// Pipes have no window.
    NotTerminal,
    /// Started without `pipeStdin`.
    StdinNotPiped,
    /// Nothing was written.
    StdinBacklogFull {
        /// Bytes that wait.
        queued_bytes: u64,
        /// The limit they reached.
        limit_bytes: u64,
    },
    /// A limit of the daemon.
    LimitReached {
        /// Its name in `limits`.
        limit: String,
        /// Its value.
        value: u64,
    },
    /// A line over the cap.
    LineTooLong {
        /// The cap.
        limit_bytes: u64,
    },
    /// `process/wait` in a batch.
    NotInBatch,
    /// A member that is missing or wrong.
    InvalidParam {
        /// Its path: `argv[0]`, `size.rows`.
        member: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A limit that nothing on this machine can enforce.
    Unenforceable {
        /// Its path: `limits.memoryBytes`.
        member: String,
    },
    /// A member that this server cannot honour.
    Unsupported {
        /// Its path: `sandbox`.
        member: String,
    },
    /// Missing.
    SpawnNotFound {
        /// Which of the paths.
        subject: SpawnSubject,
        /// The path.
        path: PathUri,
    },
    /// Not executable, or not to be entered.
    SpawnPermissionDenied {
        /// Which of the paths.
        subject: SpawnSubject,
        /// The path.
        path: PathUri,
    },
    /// Any other failed step.
    SpawnFailed {
        /// The step, in words: `fork`, `pipe`, `exec`.
        step: String,
        /// The error's name: `EMFILE`.
        errno: String,
    },
    /// `process/terminate` came first.
    TerminatedWhileStarting,
    /// The warden died.
    WardenLost,
    /// A shell's state could not be captured.
    SnapshotFailed {
        /// Why.
        reason: SnapshotFailure,
    },
    /// Cancelled with `$/cancelRequest`.
    RequestCancelled,
}

impl ErrorKind {
    /// The code on the wire: the one place that chooses it. JSON-RPC's own errors, which have no kind, have a
    /// constructor each: [`RpcError::parse_error`] and the three after it.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::UnknownProcess
            | Self::ProcessIdInUse
            | Self::UnknownSession
            | Self::WrongState { .. }
            | Self::StdinIsTerminal
            | Self::NotTerminal
            | Self::StdinNotPiped
            | Self::StdinBacklogFull { .. }
            | Self::LimitReached { .. }
            | Self::LineTooLong { .. }
            | Self::NotInBatch => INVALID_REQUEST,
            Self::InvalidParam { .. } | Self::Unenforceable { .. } | Self::Unsupported { .. } => {
                INVALID_PARAMS
            }
            Self::SpawnNotFound { .. }
            | Self::SpawnPermissionDenied { .. }
            | Self::SpawnFailed { .. }
            | Self::TerminatedWhileStarting
            | Self::WardenLost
            | Self::SnapshotFailed { .. } => INTERNAL_ERROR,
            Self::RequestCancelled => REQUEST_CANCELLED,
        }
    }

    /// The error object: this kind as `data`, its code, and a message for people.
    #[must_use]
    pub fn into_error(self, message: impl Into<String>) -> RpcError {
        let code = self.code();
        let data = serde_json::to_value(&self).unwrap_or_else(|_| json!({}));
        RpcError {
            code,
            message: message.into(),
            data: Some(data),
        }
    }
}

impl RpcError {
    /// The kind in `data`, if it is one of ours.
    #[must_use]
    pub fn kind(&self) -> Option<ErrorKind> {
        self.data
            .as_ref()
            .and_then(|data| ErrorKind::deserialize(data).ok())
    }

    /// An error with a code and no kind: for a client that answers a server's request.
    #[must_use]
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// What came is not JSON.
    #[must_use]
    pub fn parse_error(reason: impl fmt::Display) -> Self {
        Self::new(PARSE_ERROR, format!("parse error: {reason}"))
    }

    /// What came is JSON and no message.
    #[must_use]
    pub fn invalid_request(reason: impl fmt::Display) -> Self {
        Self::new(INVALID_REQUEST, format!("invalid request: {reason}"))
    }

    /// There is no such method, or it is no request.
    #[must_use]
    pub fn method_not_found(message: impl Into<String>) -> Self {
        Self::new(METHOD_NOT_FOUND, message)
    }

    /// Nothing the other side did: this side could not.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(INTERNAL_ERROR, message)
    }

    /// A parameter that is missing or wrong.
    #[must_use]
    pub fn invalid_param(member: impl Into<String>, reason: impl Into<String>) -> Self {
        let (member, reason) = (member.into(), reason.into());
        let message = format!("invalid params: {member}: {reason}");
        ErrorKind::InvalidParam { member, reason }.into_error(message)
    }

    /// No process of that id.
    #[must_use]
    pub fn unknown_process(id: &str) -> Self {
        let shown: String = id.chars().take(80).collect();
        ErrorKind::UnknownProcess.into_error(format!(
            "no process {shown:?}: never started, or forgotten after it closed"
        ))
    }
}
