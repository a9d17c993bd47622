//! What the daemon is told of a launch.

use std::mem;
use std::time::Instant;

use exec_protocol::exit::Usage;

use super::launch::LaunchId;

/// A step that failed in the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedStep {
    /// Descriptors were lost on the way (MSG_CTRUNC).
    PassDescriptors,
    /// The cgroup could not be made or limited.
    Cgroup,
    /// pipe2(2): the pipe that tells of the exec.
    StatusPipe,
    /// mmap(2): the memory that the child begins in.
    Stack,
    /// clone(2).
    Fork,
    /// Session, terminal, descriptors, rlimits.
    Setup,
    /// chdir(2).
    Cwd,
    /// execve(2) of `programs[i]`; `exists`: the file is there, so ENOENT means its interpreter.
    Exec {
        /// Index in `programs`.
        program: u16,
        /// The file exists.
        exists: bool,
    },
    /// Ended before exec.
    Ended,
}

impl FailedStep {
    /// Every step, execve(2) without its particulars; its place here is its number between the warden and the daemon.
    pub(super) const ALL: [Self; 9] = [
        Self::PassDescriptors,
        Self::Cgroup,
        Self::StatusPipe,
        Self::Stack,
        Self::Fork,
        Self::Setup,
        Self::Cwd,
        Self::Exec {
            program: 0,
            exists: false,
        },
        Self::Ended,
    ];

    /// Its place in [`Self::ALL`].
    pub(super) fn number(self) -> u8 {
        let same = |other: &Self| mem::discriminant(other) == mem::discriminant(&self);
        let place = Self::ALL.iter().position(same);
        place
            .and_then(|place| u8::try_from(place).ok())
            .unwrap_or(u8::MAX)
    }
}

/// Why a launch failed. Nothing of it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchFailure {
    /// Where.
    pub step: FailedStep,
    /// errno.
    pub errno: i32,
}

/// How a leader ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exit {
    /// Exit code, if it exited.
    pub code: Option<i32>,
    /// Signal, if one killed it.
    pub signal: Option<i32>,
    /// Resource use.
    pub usage: Usage,
    /// The cgroup counted an OOM kill.
    pub out_of_memory: bool,
    /// When (CLOCK_MONOTONIC).
    pub at: Instant,
    /// Nothing it started is left.
    pub tree_ended: bool,
    /// What it was called in the end: a line, padded with NULs; all NUL: not known.
    pub comm: [u8; 16],
}

/// What the warden reports. Called on the runtime's thread, in order per launch:
/// `started` or `failed`; then `exited`; then `tree_ended`, unless `exited` said it.
pub trait WardenEvents: Send + Sync + 'static {
    /// It executes. `at`: CLOCK_MONOTONIC.
    fn started(&self, id: LaunchId, pid: u32, at: Instant);
    /// It does not.
    fn failed(&self, id: LaunchId, failure: LaunchFailure);
    /// The leader ended.
    fn exited(&self, id: LaunchId, exit: Exit);
    /// Nothing it started is left.
    fn tree_ended(&self, id: LaunchId);
    /// The warden died; everything it had started is dead or dying, and nothing more is reported for the
    /// launches before this call. A new warden takes over by itself.
    fn lost(&self);
}
