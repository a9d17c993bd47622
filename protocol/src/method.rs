//! The method catalogue: every name on the wire, tied to its params and result type.
//!
//! A server need not serve all of it: what it does serve stands in
//! [`ProtocolInfo::methods`](crate::environment::ProtocolInfo), which the server fills from what it registered.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::environment::*;
use crate::filesystem::*;
use crate::initialize::{InitializeParams, InitializeResponse, InitializedParams};
use crate::process::*;
use crate::snapshot::*;

/// Params or a result that says nothing: `{}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Empty {}

/// What params and results are. With the feature `schema` they also describe themselves.
#[cfg(not(feature = "schema"))]
pub trait WireType: Serialize + DeserializeOwned + Send + 'static {}
#[cfg(not(feature = "schema"))]
impl<T: Serialize + DeserializeOwned + Send + 'static> WireType for T {}

/// What params and results are. With the feature `schema` they also describe themselves.
#[cfg(feature = "schema")]
pub trait WireType: Serialize + DeserializeOwned + Send + schemars::JsonSchema + ts_rs::TS + 'static {}
#[cfg(feature = "schema")]
impl<T: Serialize + DeserializeOwned + Send + schemars::JsonSchema + ts_rs::TS + 'static> WireType for T {}

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The frontend.
    Client,
    /// The daemon.
    Server,
}

/// A request from client to server.
pub trait Method {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it does, in a sentence.
    const SUMMARY: &'static str;
    /// Its params.
    type Params: WireType;
    /// Its result.
    type Result: WireType;
}

/// A message without an answer.
pub trait Notification {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it says, in a sentence.
    const SUMMARY: &'static str;
    /// Who sends it.
    const SENDER: Side;
    /// Its params.
    type Params: WireType;
}

/// Is shown every entry of the catalogue: for code that is the same for all of them, as tests and generators are.
pub trait Visitor {
    /// Is shown a request.
    fn method<M: Method>(&mut self);
    /// Is shown a notification.
    fn notification<N: Notification>(&mut self);
}

/// Shows `visitor` every entry of the catalogue, in its order.
pub fn visit(visitor: &mut impl Visitor) {
    visit_methods(visitor);
    visit_notifications(visitor);
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $name:ident = $wire:literal: $params:ty => $result:ty;)*) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug, Clone, Copy)]
            pub enum $name {}
            impl Method for $name {
                const NAME: &'static str = $wire;
                const SUMMARY: &'static str = concat!($($doc),+).trim_ascii();
                type Params = $params;
                type Result = $result;
            }
        )*
        /// The names of all requests in the catalogue, served or not.
        pub const METHODS: &[&str] = &[$($wire),*];

        fn visit_methods(visitor: &mut impl Visitor) {
            $(visitor.method::<$name>();)*
        }
    };
}

macro_rules! notifications {
    ($($(#[doc = $doc:literal])+ $name:ident = $sender:ident $wire:literal: $params:ty;)*) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug, Clone, Copy)]
            pub enum $name {}
            impl Notification for $name {
                const NAME: &'static str = $wire;
                const SUMMARY: &'static str = concat!($($doc),+).trim_ascii();
                const SENDER: Side = Side::$sender;
                type Params = $params;
            }
        )*
        /// The names of all notifications in the catalogue, served or not.
        pub const NOTIFICATIONS: &[&str] = &[$($wire),*];

        fn visit_notifications(visitor: &mut impl Visitor) {
            $(visitor.notification::<$name>();)*
        }
    };
}

methods! {
    /// Begins the session; the first request of a connection, and sent once.
    Initialize = "initialize": InitializeParams => InitializeResponse;
    /// Says where commands run, and what this server can do.
    GetEnvironmentInfo = "environment/info": Empty => EnvironmentInfo;
    /// Says whether commands can run.
    GetEnvironmentStatus = "environment/status": Empty => EnvironmentStatus;
    /// Reads layered configuration of the environment.
    ReadConfig = "environmentConfig/read": ReadConfigParams => ReadConfigResponse;
    /// Starts a process.
    Start = "process/start": ExecParams => ExecResponse;
    /// Reads retained output, or waits for more.
    Read = "process/read": ReadParams => ReadResponse;
    /// Queues bytes for stdin.
    Write = "process/write": WriteParams => WriteResponse;
    /// Ends stdin after what is queued.
    CloseStdin = "process/closeStdin": CloseStdinParams => WriteResponse;
    /// Changes a terminal's window.
    Resize = "process/resize": ResizeParams => Empty;
    /// Sends a signal to a process group.
    Signal = "process/signal": SignalParams => Empty;
    /// Ends a process with everything it started.
    Terminate = "process/terminate": TerminateParams => TerminateResponse;
    /// Lists every known process.
    List = "process/list": Empty => ListResponse;
    /// Waits for a condition, and answers once.
    Wait = "process/wait": WaitParams => WaitResponse;
    /// Captures a shell's state ahead of the commands that start from it.
    PrewarmSnapshot = "shellSnapshot/prewarm": SnapshotParams => PrewarmResponse;
    /// Says what is cached of a shell's state: names and sizes, never a value.
    DescribeSnapshot = "shellSnapshot/describe": SnapshotParams => DescribeSnapshotResponse;
    /// Drops cached shell state, and remembered failures.
    InvalidateSnapshot = "shellSnapshot/invalidate": InvalidateSnapshotParams => InvalidateSnapshotResponse;
    /// Describes a file or directory.
    GetMetadata = "fs/getMetadata": PathParams => Metadata;
    /// Reads a whole file.
    ReadFile = "fs/readFile": PathParams => ReadFileResponse;
    /// Writes a whole file.
    WriteFile = "fs/writeFile": WriteFileParams => Empty;
    /// Makes a directory.
    CreateDirectory = "fs/createDirectory": CreateDirectoryParams => Empty;
    /// Lists a directory.
    ReadDirectory = "fs/readDirectory": PathParams => ReadDirectoryResponse;
    /// Resolves symbolic links.
    Canonicalize = "fs/canonicalize": PathParams => CanonicalizeResponse;
    /// Lists what is below a directory.
    Walk = "fs/walk": WalkParams => WalkResponse;
    /// Removes a file or directory.
    Remove = "fs/remove": RemoveParams => Empty;
    /// Copies a file or directory.
    Copy = "fs/copy": CopyParams => Empty;
    /// Opens a file for reading or writing in blocks.
    Open = "fs/open": OpenParams => OpenResponse;
    /// Reads a block of an open file.
    ReadBlock = "fs/readBlock": ReadBlockParams => ReadBlockResponse;
    /// Writes a block of an open file.
    WriteBlock = "fs/writeBlock": WriteBlockParams => Empty;
    /// Closes an open file.
    Close = "fs/close": CloseParams => Empty;
    /// Watches for missing paths to come into being.
    WatchMissing = "fs/watchMissing": WatchMissingParams => WatchMissingResponse;
}

notifications! {
    /// Ends the handshake.
    Initialized = Client "initialized": InitializedParams;
    /// Cancels a pending request.
    CancelRequest = Client "$/cancelRequest": CancelParams;
    /// Brings bytes that a process printed.
    Output = Server "process/output": OutputNotification;
    /// Says that the leader ended; output may still follow.
    Exited = Server "process/exited": ExitedNotification;
    /// Says that all output streams are at end.
    Closed = Server "process/closed": ClosedNotification;
    /// Says that the last descendant of a closed process is gone.
    TreeEnded = Server "process/treeEnded": TreeEndedNotification;
    /// Says that a watched path changed.
    MissingChanged = Server "fs/missingChanged": MissingChangedNotification;
}

/// Params of `$/cancelRequest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct CancelParams {
    /// The request's id.
    #[cfg_attr(feature = "schema", ts(type = "string | number | null"))]
    pub id: serde_json::Value,
}
