//! The session's processes, by id.

use std::sync::Arc;

use exec_protocol::ProcessId;
use exec_protocol::environment::TreeTracking;
use exec_protocol::limits::Limits;
use exec_protocol::process::{Enforces, ProcessInfo};

use crate::process::{Process, Subscriber};
use crate::warden::FirstWarden;
use crate::{Command, InvalidCommand};

/// Why a start was refused before anything was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartRefused {
    /// A process of that id has not closed.
    #[error("process id in use")]
    IdInUse,
    /// Too many processes.
    #[error("too many processes")]
    LimitReached {
        /// The limit's name on the wire.
        limit: &'static str,
        /// Its value.
        value: u64,
    },
    /// The command cannot be started as given.
    #[error(transparent)]
    Invalid(#[from] InvalidCommand),
    /// A resource limit that nothing here can enforce: its member, `limits.memoryBytes`.
    #[error("{0} cannot be enforced here")]
    Unenforceable(&'static str),
    /// The session is ending.
    #[error("the session is ending")]
    Ending,
}

/// The session's processes.
#[derive(Debug)]
pub struct ProcessTable {}

#[expect(unused_variables, reason = "skeleton")]
impl ProcessTable {
    /// A table whose processes the given warden starts. Must be called inside the tokio runtime.
    pub fn new(warden: FirstWarden, limits: Limits, subscriber: Arc<dyn Subscriber>) -> Arc<Self> {
        unreachable!("skeleton")
    }

    /// Takes the id and hands the command to the warden, all at once: a request that comes later finds the
    /// process. The outcome is [`Process::started`]; a process that did not start is forgotten at once, its
    /// id free. The same id and `start_id` again give the same process.
    pub fn start(
        &self,
        id: ProcessId,
        start_id: Option<String>,
        command: Command,
    ) -> Result<Arc<Process>, StartRefused> {
        unreachable!("skeleton")
    }

    /// The process of that id, while it is known.
    pub fn get(&self, id: &str) -> Option<Arc<Process>> {
        unreachable!("skeleton")
    }

    /// Every known process, by start.
    pub fn list(&self) -> Vec<ProcessInfo> {
        unreachable!("skeleton")
    }

    /// What can enforce which limit here.
    pub fn enforces(&self) -> Enforces {
        unreachable!("skeleton")
    }

    /// How descendants are known here.
    pub fn tree_tracking(&self) -> TreeTracking {
        unreachable!("skeleton")
    }

    /// The session ends: refuses new starts, wakes every read and wait. At once.
    pub fn begin_ending(&self) {
        unreachable!("skeleton")
    }

    /// Ends every process with its tree (cause clientGone) with the session-end grace, waits until all are
    /// gone, and lets the warden go; bounded. Does not wait for notifications to be taken.
    pub async fn end(&self) {
        unreachable!("skeleton")
    }
}
