//! How requests about a process fail: one type for each.

use exec_protocol::PathUri;
use exec_protocol::error::SpawnSubject;
use exec_protocol::process::Enforces;

use crate::InvalidCommand;

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
    /// pipe2(2), in the warden: the pipe that tells it of the exec.
    #[error("make the status pipe")]
    StatusPipe,
    /// mmap(2), in the warden: the memory that the child begins in.
    #[error("map the stack")]
    Stack,
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

impl StartStep {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Pty => "pty",
            Self::PassDescriptors => "passDescriptors",
            Self::Cgroup => "cgroup",
            Self::StatusPipe => "statusPipe",
            Self::Stack => "stack",
            Self::Fork => "fork",
            Self::Setup => "setup",
            Self::Exec => "exec",
        }
    }
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
    /// What it was rewritten to, after it was asked for, cannot be started.
    #[error(transparent)]
    Invalid(#[from] InvalidCommand),
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
    /// As many as may be wait for a regex.
    #[error("at most {value} waits may use a regex")]
    LimitReached {
        /// The name of the limit.
        limit: &'static str,
        /// Its value.
        value: u64,
    },
}
