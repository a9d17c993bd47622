//! The session's processes, by id.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use exec_protocol::ProcessId;
use exec_protocol::environment::TreeTracking;
use exec_protocol::exit::ExitCause;
use exec_protocol::limits::{Limits, SESSION_END_KILL_MS};
use exec_protocol::process::{Enforces, ProcessInfo, ResourceLimits};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::launcher::Launcher;
use crate::process::{Lifecycle, NewProcess, Observer, Process, Session, Subscriber};
use crate::registry::{Registry, Taken};
use crate::warden::{FirstWarden, LaunchId, Warden, WardenEvents};
use crate::{Command, Hidden, InvalidCommand, Reserved, StartHiddenError};

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
pub struct ProcessTable {
    session: Arc<Session>,
    registry: Arc<Registry>,
    next_launch: AtomicU64,
    expiry: JoinHandle<()>,
}

impl fmt::Debug for ProcessTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessTable")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl ProcessTable {
    /// A table whose processes the given warden starts, once it is [`ready`](Self::ready). Must be called inside
    /// the tokio runtime.
    ///
    /// # Errors
    /// The warden's socket cannot be registered.
    pub fn attach(
        warden: FirstWarden,
        limits: Limits,
        subscriber: Arc<dyn Subscriber>,
        observer: Arc<dyn Observer>,
    ) -> io::Result<Arc<Self>> {
        Self::with_launcher(limits, subscriber, observer, |events| {
            let warden: Arc<dyn Launcher> = Arc::new(Warden::attach(warden, events)?);
            Ok(warden)
        })
    }

    pub(crate) fn with_launcher<E>(
        limits: Limits,
        subscriber: Arc<dyn Subscriber>,
        observer: Arc<dyn Observer>,
        launcher: impl FnOnce(Arc<dyn WardenEvents>) -> Result<Arc<dyn Launcher>, E>,
    ) -> Result<Arc<Self>, E> {
        let registry = Arc::new(Registry::new(&limits));
        let events: Arc<dyn WardenEvents> = registry.clone();
        let launcher = launcher(events)?;
        let weak = Arc::downgrade(&registry);
        let lifecycle: Weak<dyn Lifecycle> = weak.clone();
        Ok(Arc::new(Self {
            session: Arc::new(Session::new(limits, launcher, subscriber, observer, lifecycle)),
            registry,
            next_launch: AtomicU64::new(1),
            expiry: tokio::spawn(Registry::expire(weak)),
        }))
    }

    /// Waits until commands can be started, and it is known what limits can be enforced.
    ///
    /// # Errors
    /// Never will they; see [`Warden::ready`].
    pub async fn ready(&self) -> io::Result<()> {
        self.session.launcher.ready().await
    }

    /// Takes the id and hands the command to the warden, all at once: [`ProcessTable::reserve`] and
    /// [`Reserved::launch`]. The outcome is [`Process::started`]; a process that did not start is forgotten at once, its
    /// id free. The same id and `start_id` again give the same process.
    ///
    /// # Errors
    /// Nothing was done.
    pub fn start(
        &self,
        id: ProcessId,
        start_id: Option<String>,
        command: Command,
    ) -> Result<Arc<Process>, StartRefused> {
        let reserved = self.reserve(id, start_id, command)?;
        let process = Arc::clone(reserved.process());
        reserved.launch(None);
        Ok(process)
    }

    /// Takes the id: a request that comes later finds the process, and acts once it is launched. A start that fails
    /// meanwhile is forgotten at once, its id free. The same id and `start_id` again give the same process.
    ///
    /// # Errors
    /// Nothing was done.
    pub fn reserve(
        &self,
        id: ProcessId,
        start_id: Option<String>,
        command: Command,
    ) -> Result<Reserved, StartRefused> {
        match self.registry.take(&id, start_id.as_deref()) {
            Taken::Same(process) => return Ok(Reserved::repeated(process)),
            Taken::InUse => return Err(StartRefused::IdInUse),
            Taken::Free => {}
        }
        if self.session.is_ending() {
            return Err(StartRefused::Ending);
        }
        let limits = held_limits(&command.limits, &self.session.launcher.enforces())?;
        let max_processes = self.session.limits.max_processes;
        if self.registry.live() >= max_processes {
            return Err(StartRefused::LimitReached {
                limit: "maxProcesses",
                value: max_processes as u64,
            });
        }
        let new = NewProcess {
            id,
            launch: self.launch_id(),
            start_id,
            command,
            limits,
        };
        let process = new.make(Arc::clone(&self.session))?;
        if process.is_reserved() {
            self.registry.insert(&process);
        }
        Ok(Reserved::new(process))
    }

    /// Starts a process that no client sees, on a terminal that is the caller's; it is tracked and ended as every
    /// other. The outcome is [`Hidden::started`].
    ///
    /// # Errors
    /// Nothing was done. Refused as a start is (but by no number of processes), and if the command is not on a
    /// terminal, or has an input or timeouts.
    pub fn start_hidden(&self, command: Command) -> Result<Hidden, StartHiddenError> {
        if self.session.is_ending() {
            return Err(StartRefused::Ending.into());
        }
        let launcher = &self.session.launcher;
        held_limits(&command.limits, &launcher.enforces())?;
        let (hidden, launch) = Hidden::make(self.launch_id(), command, launcher)?;
        self.registry.hidden.insert(&hidden);
        launcher.launch(launch);
        Ok(hidden)
    }

    fn launch_id(&self) -> LaunchId {
        LaunchId(self.next_launch.fetch_add(1, Ordering::Relaxed))
    }

    /// The process of that id, while it is known.
    pub fn get(&self, id: &str) -> Option<Arc<Process>> {
        self.registry.get(id)
    }

    /// Every known process, by start.
    pub fn list(&self) -> Vec<ProcessInfo> {
        let processes = self.registry.list();
        processes.iter().map(|process| process.info()).collect()
    }

    /// What can enforce which limit here.
    pub fn enforces(&self) -> Enforces {
        self.session.launcher.enforces()
    }

    /// How descendants are known here.
    pub fn tree_tracking(&self) -> TreeTracking {
        self.session.launcher.tree_tracking()
    }

    /// The session ends: refuses new starts, fails those that wait to be launched, wakes every read and wait. At once.
    pub fn begin_ending(&self) {
        self.session.begin_ending();
        for process in self.registry.list() {
            process.on_session_ending();
        }
    }

    /// Ends every process with its tree, hidden ones too (cause clientGone) with the session-end grace, waits until all are
    /// gone, and lets the warden go; bounded. Does not wait for notifications to be taken.
    pub async fn end(&self) {
        self.begin_ending();
        let grace = self.session.limits.session_end_grace;
        for process in self.registry.trees() {
            process.end(ExitCause::ClientGone, grace);
        }
        self.registry.hidden.end(&*self.session.launcher, grace);
        let kill = Duration::from_millis(SESSION_END_KILL_MS);
        // What is left after that, if anything, the warden ends when it goes.
        let _ = timeout(grace + kill, self.registry.all_ended()).await;
        self.session.launcher.shutdown(kill).await;
    }
}

impl Drop for ProcessTable {
    fn drop(&mut self) {
        self.expiry.abort();
    }
}

/// What holds each limit that is asked for; `None`: none is.
fn held_limits(asked: &ResourceLimits, by: &Enforces) -> Result<Option<Enforces>, StartRefused> {
    let mut held = Enforces::default();
    for (member, asked, by, held) in [
        (
            "limits.memoryBytes",
            asked.memory_bytes,
            by.memory_bytes,
            &mut held.memory_bytes,
        ),
        (
            "limits.cpuSeconds",
            asked.cpu_seconds,
            by.cpu_seconds,
            &mut held.cpu_seconds,
        ),
        (
            "limits.processes",
            asked.processes,
            by.processes,
            &mut held.processes,
        ),
        (
            "limits.openFiles",
            asked.open_files,
            by.open_files,
            &mut held.open_files,
        ),
    ] {
        if asked.is_some() {
            *held = Some(by.ok_or(StartRefused::Unenforceable(member))?);
        }
    }
    Ok((*asked != ResourceLimits::default()).then_some(held))
}
