//! `process/*`: start, stream, feed, end.

mod control;
mod id;
mod list;
mod notification;
mod read;
mod start;
mod stdin;
mod wait;

pub use control::{ResizeParams, SignalParams, TerminateParams, TerminateResponse};
pub use id::ProcessId;
pub use list::{ListResponse, ProcessInfo, ProcessState};
pub use notification::{
    ClosedNotification, ExitedNotification, OutputNotification, Stream, TreeEndedNotification,
};
pub use read::{ReadChunk, ReadParams, ReadResponse};
pub use start::{
    Enforcement, Enforces, ExecMetadata, ExecParams, ExecResponse, ResourceLimits, SandboxType, TerminalSize,
};
pub use stdin::{CloseStdinParams, WriteParams, WriteResponse, WriteStatus};
pub use wait::{OutputMatch, WaitParams, WaitReason, WaitResponse, WaitUntil};
