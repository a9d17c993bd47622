//! Starts processes on pipes or a PTY, streams what they print, feeds them, and ends them with everything
//! they started.
//!
//! [`ProcessTable`] knows the session's processes; [`Process`] is one of them; the [`warden`] starts them,
//! in a process of its own, and reports how they end.

mod command;
pub mod environment;
mod hidden;
mod launcher;
mod process;
mod registry;
mod signal;
mod sys;
mod sys_async_fd;
mod sys_child;
mod sys_keeper;
mod sys_pty;
mod sys_raw;
mod sys_spawn;
mod sys_stack;
mod table;
#[cfg(test)]
mod tests;
pub mod warden;

pub use command::{Command, INHERITED_NUMBERS, Inherited, InvalidCommand, Stdio, Timeouts};
pub use hidden::{Ended, Helpers, Hidden, StartHiddenError};
pub use process::{
    CloseStdinError, Notification, Observer, Process, ReadPage, Reserved, ResizeError, Rewrite, StartError,
    StartStep, Started, Subscriber, Turn, Unobserved, Wait, WaitError, WriteError,
};
pub use signal::{InvalidSignal, Signal};
pub use sys_async_fd::watch_fd;
pub use table::{ProcessTable, StartRefused};
