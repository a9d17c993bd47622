//! Why there is no warden.

use std::fmt;
use std::io;

/// A warden could not be made, or could not begin.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {source}")]
pub struct WardenError {
    /// What failed.
    pub step: WardenStep,
    /// How.
    pub source: io::Error,
}

/// What a warden's beginning consists of: first in the daemon, then in the warden itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WardenStep {
    /// socketpair(2).
    Link,
    /// The daemon has one thread, as `/proc/self/task` tells.
    CountThreads,
    /// fork(2).
    Fork,
    /// The daemon's PR_SET_CHILD_SUBREAPER.
    Adopt,
    /// setrlimit(2).
    RaiseOpenFiles,
    /// fcntl(2) of its socket.
    KeepLink,
    /// open(2) of `/dev/null`.
    OpenNull,
    /// dup2(2) to its stdin, stdout and stderr.
    ReplaceStdio,
    /// signalfd(2).
    TakeSignals,
    /// The warden's PR_SET_CHILD_SUBREAPER.
    BecomeSubreaper,
    /// epoll_create1(2) and epoll_ctl(2).
    Watch,
    /// inotify_init1(2), pipe2(2) or mmap(2).
    Track,
}

impl WardenStep {
    /// Every step; its place here is its number between the warden and the daemon.
    pub(super) const ALL: [Self; 12] = [
        Self::Link,
        Self::CountThreads,
        Self::Fork,
        Self::Adopt,
        Self::RaiseOpenFiles,
        Self::KeepLink,
        Self::OpenNull,
        Self::ReplaceStdio,
        Self::TakeSignals,
        Self::BecomeSubreaper,
        Self::Watch,
        Self::Track,
    ];

    /// Wraps what failed in it.
    pub(super) fn failed(self) -> impl FnOnce(io::Error) -> WardenError {
        move |source| WardenError { step: self, source }
    }
}

impl fmt::Display for WardenStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Link => "cannot make a socket pair",
            Self::CountThreads => "cannot be sure to be the only thread (/proc/self/task)",
            Self::Fork => "cannot fork",
            Self::Adopt => "cannot become a subreaper",
            Self::RaiseOpenFiles => "cannot raise the limit of open files",
            Self::KeepLink => "the warden cannot keep its socket",
            Self::OpenNull => "the warden cannot open /dev/null",
            Self::ReplaceStdio => "the warden cannot put /dev/null in place of its stdio",
            Self::TakeSignals => "the warden cannot read signals",
            Self::BecomeSubreaper => "the warden cannot become a subreaper",
            Self::Watch => "the warden cannot watch its descriptors",
            Self::Track => "the warden cannot set up the tracking of process trees",
        })
    }
}

impl From<WardenError> for io::Error {
    fn from(error: WardenError) -> Self {
        Self::new(error.source.kind(), error)
    }
}
