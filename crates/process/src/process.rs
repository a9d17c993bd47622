//! One process, from its start request until it is forgotten.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use exec_protocol::error::SpawnSubject;
use exec_protocol::exit::{ExitCause, Tree, Usage};
use exec_protocol::process::{Enforces, ProcessInfo, TerminalSize, WaitResponse, WaitUntil, WriteStatus};
use exec_protocol::{PathUri, ProcessId, Stream};

use crate::Signal;

/// Told when a process has notifications to send.
pub trait Subscriber: Send + Sync + 'static {
    /// `process` has at least one notification; called once until [`Process::next_notification`] has
    /// returned `None` again. Must not call back into the process.
    fn ready(&self, process: &Arc<Process>);
}

/// What a process has to say, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Notification {
    /// Bytes it printed.
    Output {
        /// Number.
        seq: u64,
        /// Where from.
        stream: Stream,
        /// Of the first byte in its stream.
        offset: u64,
        /// The bytes.
        bytes: Bytes,
    },
    /// The leader ended.
    Exited {
        /// Number.
        seq: u64,
        /// Exit code, or 128 + signal.
        exit_code: i32,
        /// The signal that killed it.
        signal: Option<Signal>,
        /// Why.
        cause: ExitCause,
        /// From exec to exit.
        duration: Duration,
        /// Resource use, where known.
        usage: Option<Usage>,
    },
    /// All streams are at end.
    Closed {
        /// Number.
        seq: u64,
        /// Bytes read from it.
        output_bytes: u64,
        /// Bytes read and never sent.
        dropped_bytes: u64,
        /// What is left of its tree.
        tree: Tree,
    },
    /// After `Closed` with a tree that had not ended: now it has.
    TreeEnded,
}

/// How a start went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// The leader's process id.
    pub pid: u32,
    /// What holds each limit that was asked for.
    pub limits: Option<Enforces>,
}

/// The step of a start that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartStep {
    /// pipe2(2).
    #[error("make a pipe")]
    Pipe,
    /// Opening the PTY.
    #[error("open a PTY")]
    Pty,
    /// Handing descriptors to the warden (lost at the descriptor limit).
    #[error("pass descriptors")]
    PassDescriptors,
    /// Making the command's cgroup or setting its limits.
    #[error("prepare the cgroup")]
    Cgroup,
    /// clone(2).
    #[error("fork")]
    Fork,
    /// setsid(2), TIOCSCTTY, dup2(2), setrlimit(2) in the child.
    #[error("set up the child")]
    Setup,
    /// execve(2), for a reason that is neither a missing nor a forbidden file.
    #[error("exec")]
    Exec,
}

/// Why a process did not start. Nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// A path is missing.
    #[error("not found")]
    NotFound {
        /// Which.
        subject: SpawnSubject,
        /// The path.
        path: PathUri,
    },
    /// A path may not be executed or entered.
    #[error("permission denied")]
    PermissionDenied {
        /// Which.
        subject: SpawnSubject,
        /// The path.
        path: PathUri,
    },
    /// Another step failed.
    #[error("failed to {step}")]
    Failed {
        /// Which.
        step: StartStep,
        /// The error number.
        errno: i32,
    },
    /// It was ended before it ran.
    #[error("terminated while starting")]
    Terminated,
    /// The warden died meanwhile.
    #[error("the warden died")]
    WardenLost,
}

/// Why a write was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Nothing was written; try again when the process has read.
    #[error("stdin backlog is full")]
    BacklogFull {
        /// Bytes that wait.
        queued_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
}

/// Why stdin cannot be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CloseStdinError {
    /// A terminal has no end of file.
    #[error("stdin is a terminal")]
    Terminal,
    /// Started without a stdin pipe.
    #[error("stdin is not piped")]
    NotPiped,
}

/// Why a window cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResizeError {
    /// Pipes have none.
    #[error("not a terminal")]
    NotTerminal,
    /// The kernel refused.
    #[error("failed to set the window size: errno {0}")]
    System(i32),
}

/// Why a wait cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// A member of `until` is wrong.
    #[error("{member}: {reason}")]
    Invalid {
        /// Its path: `until.regex`.
        member: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// What a read found.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadPage {
    /// Chunks after the cursor, in order.
    pub chunks: Vec<(u64, Stream, Bytes)>,
    /// Last returned seq + 1, or the next seq to be made.
    pub next_seq: u64,
    /// Once exited.
    pub exit_code: Option<i32>,
    /// Once exited.
    pub cause: Option<ExitCause>,
    /// The signal that killed it.
    pub signal: Option<Signal>,
    /// All streams are at end.
    pub closed: bool,
    /// What went wrong with its output, if something did.
    pub failure: Option<String>,
    /// First chunk still retained.
    pub first_seq: Option<u64>,
    /// Bytes no longer retained.
    pub evicted_bytes: u64,
}

/// The right to act on a process, in the order the requests came. Dropped when the request has acted.
#[derive(Debug)]
pub struct Turn<'a>(std::marker::PhantomData<&'a ()>);

/// One process.
#[derive(Debug)]
pub struct Process {}

#[expect(unused_variables, reason = "skeleton")]
impl Process {
    /// Its name.
    pub fn id(&self) -> &ProcessId {
        unreachable!("skeleton")
    }

    /// On a terminal.
    pub fn is_terminal(&self) -> bool {
        unreachable!("skeleton")
    }

    /// Waits until the start is decided. Any number of callers; the same answer each time.
    pub async fn started(&self) -> Result<Started, StartError> {
        unreachable!("skeleton")
    }

    /// Waits until the start is decided and every earlier request that names this process has acted.
    /// First come, first served, from the first poll.
    pub async fn turn(&self) -> Result<Turn<'_>, StartError> {
        unreachable!("skeleton")
    }

    /// Queues bytes for stdin, and its end if `close`. Acts at once. A known `write_id` is accepted and
    /// written no second time.
    pub fn write(
        &self,
        bytes: Bytes,
        write_id: Option<&str>,
        close: bool,
    ) -> Result<WriteStatus, WriteError> {
        unreachable!("skeleton")
    }

    /// Queues the end of stdin, after what is queued.
    pub fn close_stdin(&self) -> Result<WriteStatus, CloseStdinError> {
        unreachable!("skeleton")
    }

    /// Changes the window; the foreground group gets SIGWINCH. After exit: nothing happens.
    pub fn resize(&self, size: TerminalSize) -> Result<(), ResizeError> {
        unreachable!("skeleton")
    }

    /// Signals the foreground group of a terminal, or the leader's group. After the end: nothing happens.
    pub fn signal(&self, signal: Signal) {
        unreachable!("skeleton")
    }

    /// Begins to end the whole tree, and says whether the leader had not yet exited. Works while starting,
    /// and after exited and closed.
    pub fn terminate(&self, grace: Option<Duration>) -> bool {
        unreachable!("skeleton")
    }

    /// What is retained after `after_seq`, whole chunks until `max_bytes`, at least one if there is one.
    pub fn read(&self, after_seq: u64, max_bytes: usize) -> ReadPage {
        unreachable!("skeleton")
    }

    /// Waits until an event after `after_seq` exists, the process is closed, or the session is ending.
    /// Cancel-safe.
    pub async fn event_after(&self, after_seq: u64) {
        unreachable!("skeleton")
    }

    /// Waits for a condition; checks it at once. Cancel-safe.
    pub async fn wait(
        &self,
        until: &WaitUntil,
        timeout: Option<Duration>,
    ) -> Result<WaitResponse, WaitError> {
        unreachable!("skeleton")
    }

    /// Its row in a list.
    pub fn info(&self) -> ProcessInfo {
        unreachable!("skeleton")
    }

    /// Its start reply has left: notifications may follow. Until then the subscriber is not called.
    pub fn open_notifications(self: &Arc<Self>) {
        unreachable!("skeleton")
    }

    /// The next notification, which counts as sent once it is returned: its bytes leave the back-pressure
    /// budget. `None`: nothing now; the subscriber will be called.
    pub fn next_notification(&self) -> Option<Notification> {
        unreachable!("skeleton")
    }
}
