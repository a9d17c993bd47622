//! The method catalogue: every name on the wire, tied to its params and result type.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::environment::{EnvironmentInfo, EnvironmentStatus};
use crate::initialize::{InitializeParams, InitializeResponse, InitializedParams};
use crate::process::*;

/// Params or a result that says nothing: `{}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Empty {}

/// A request from client to server.
pub trait Method {
    /// Its name on the wire.
    const NAME: &'static str;
    /// Its params.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// Its result.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// A message without an answer.
pub trait Notification {
    /// Its name on the wire.
    const NAME: &'static str;
    /// Its params.
    type Params: Serialize + DeserializeOwned + Send + 'static;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $wire:literal: $params:ty => $result:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub enum $name {}
            impl Method for $name {
                const NAME: &'static str = $wire;
                type Params = $params;
                type Result = $result;
            }
        )*
        /// The names of all requests in the catalogue.
        pub const METHODS: &[&str] = &[$($wire),*];
    };
}

macro_rules! notifications {
    ($($(#[$doc:meta])* $name:ident = $wire:literal: $params:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub enum $name {}
            impl Notification for $name {
                const NAME: &'static str = $wire;
                type Params = $params;
            }
        )*
        /// The names of all notifications in the catalogue.
        pub const NOTIFICATIONS: &[&str] = &[$($wire),*];
    };
}

methods! {
    /// The first request of a connection.
    Initialize = "initialize": InitializeParams => InitializeResponse;
    /// Where commands run.
    GetEnvironmentInfo = "environment/info": Empty => EnvironmentInfo;
    /// Whether commands can run.
    GetEnvironmentStatus = "environment/status": Empty => EnvironmentStatus;
    /// Starts a process.
    Start = "process/start": ExecParams => ExecResponse;
    /// Reads retained output, or waits for more.
    Read = "process/read": ReadParams => ReadResponse;
    /// Queues bytes for stdin.
    Write = "process/write": WriteParams => WriteResponse;
    /// End of file on stdin.
    CloseStdin = "process/closeStdin": CloseStdinParams => WriteResponse;
    /// Changes a terminal's window.
    Resize = "process/resize": ResizeParams => Empty;
    /// Sends a signal.
    Signal = "process/signal": SignalParams => Empty;
    /// Ends a process with everything it started.
    Terminate = "process/terminate": TerminateParams => TerminateResponse;
    /// Every known process.
    List = "process/list": Empty => ListResponse;
    /// Waits for a condition.
    Wait = "process/wait": WaitParams => WaitResponse;
}

notifications! {
    /// The handshake is over.
    Initialized = "initialized": InitializedParams;
    /// Cancels a pending request.
    CancelRequest = "$/cancelRequest": CancelParams;
    /// Bytes a process printed.
    Output = "process/output": OutputNotification;
    /// The leader ended.
    Exited = "process/exited": ExitedNotification;
    /// All streams are at end.
    Closed = "process/closed": ClosedNotification;
    /// The last descendant is gone.
    TreeEnded = "process/treeEnded": TreeEndedNotification;
}

/// Params of `$/cancelRequest`.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct CancelParams {
    /// The request's id, exactly as sent.
    pub id: serde_json::Value,
}
