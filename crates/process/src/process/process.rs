//! A process: its state, its ends of the streams, and the turns of its life.

use std::fmt;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use exec_protocol::exit::{ExitCause, Tree};
use exec_protocol::process::{Enforces, ProcessInfo, ProcessState, TerminalSize};
use exec_protocol::{ProcessId, Stream, milliseconds};
use tokio::sync::Notify;

use super::clock::SilenceClock;
use super::feed::Stdin;
use super::launch_paths::LaunchPaths;
use super::matcher::Matcher;
use super::output_log::OutputLog;
use super::plumbing::{Polled, set_size};
use super::session::Session;
use super::state::State;
use super::turn::{Turn, TurnQueue};
use super::{ResizeError, StartError, Started};
use crate::sys_pty::signal_foreground;
use crate::warden::{Launch, LaunchId};
use crate::{Signal, Stdio, Timeouts, sys};

/// One process.
pub struct Process {
    pub(super) id: ProcessId,
    pub(super) launch: LaunchId,
    pub(super) start_id: Option<String>,
    pub(super) stdio: Stdio,
    pub(super) timeouts: Timeouts,
    /// What holds each limit that was asked for.
    pub(super) limits: Option<Enforces>,
    pub(super) started_at: SystemTime,
    pub(super) session: Arc<Session>,
    pub(super) turns: TurnQueue,
    /// Something a read or a wait may look for has happened.
    pub(super) changed: Notify,
    /// Output was sent: its streams may be read again.
    pub(super) room: Notify,
    /// The clocks of silence run again, or need to no longer.
    pub(super) clock_moved: Notify,
    /// Stdin is closed: its writer goes.
    pub(super) stdin_stop: Notify,
    pub(super) inner: Mutex<Inner>,
}

/// What of a process changes.
pub(super) struct Inner {
    pub(super) state: State,
    pub(super) tree: Tree,
    pub(super) log: OutputLog,
    pub(super) clock: SilenceClock,
    pub(super) stdin: Stdin,
    /// What went wrong with its output.
    pub(super) failure: Option<String>,
    /// Patterns that are waited for.
    pub(super) matchers: Vec<(u64, Matcher)>,
    pub(super) next_matcher: u64,
    /// Its start reply has left.
    pub(super) opened: bool,
    /// The subscriber knows that there is something to send.
    pub(super) announced: bool,
    /// What `closed` said of the tree, once it was sent.
    pub(super) closed_said: Option<Tree>,
    /// The end of the tree is still to be told.
    pub(super) owes_tree_ended: bool,
    /// Output streams that are not at their end.
    pub(super) open_streams: Vec<(Stream, Polled)>,
    pub(super) terminal: Option<Polled>,
    /// Ours, until the leader has ended.
    pub(super) slave: Option<OwnedFd>,
    pub(super) paths: Option<LaunchPaths>,
    /// What the warden is to start, until it is handed over.
    pub(super) reserved: Option<Box<Launch>>,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("id", &self.id)
            .field("launch", &self.launch)
            .finish_non_exhaustive()
    }
}

/// Requests.
impl Process {
    /// Its name.
    pub fn id(&self) -> &ProcessId {
        &self.id
    }

    /// On a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(self.stdio, Stdio::Terminal { .. })
    }

    /// Waits until the start is decided. Any number of callers; the same answer each time.
    ///
    /// # Errors
    /// It did not start.
    pub async fn started(&self) -> Result<Started, StartError> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(result) = self.lock().state.start_result() {
                return result;
            }
            changed.await;
        }
    }

    /// Waits until the start is decided and every earlier request that names this process has acted.
    /// First come, first served, from the first poll.
    ///
    /// # Errors
    /// It did not start.
    pub async fn turn(&self) -> Result<Turn<'_>, StartError> {
        let turn = self.turns.turn().await;
        match self.lock().state.start_result() {
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => Ok(turn),
        }
    }

    /// Changes the window; the foreground group gets SIGWINCH. After exit: nothing happens.
    ///
    /// # Errors
    /// It has pipes, or the kernel refused.
    pub fn resize(&self, size: TerminalSize) -> Result<(), ResizeError> {
        if !self.is_terminal() {
            return Err(ResizeError::NotTerminal);
        }
        let inner = self.lock();
        match &inner.terminal {
            Some(master) if inner.state.outcome().is_none() => {
                set_size(master.get_ref(), size).map_err(|errno| ResizeError::System(errno.raw_os_error()))
            }
            _ => Ok(()),
        }
    }

    /// Signals the foreground group of a terminal, or the leader's group. Before the start is decided (wait for
    /// [`Process::turn`]) and after the end: nothing happens.
    pub fn signal(&self, signal: Signal) {
        let inner = self.lock();
        let State::Running { .. } = inner.state else {
            return;
        };
        if let Some(master) = &inner.terminal
            && signal_terminal(master, signal)
        {
            return;
        }
        drop(inner);
        self.session.launcher.signal(self.launch, signal);
    }

    /// Begins to end the whole tree, and says whether the leader had not yet exited. Works while starting, then
    /// without grace (a start that waits to be launched fails at once), and after exited and closed.
    pub fn terminate(self: &Arc<Self>, grace: Option<Duration>) -> bool {
        self.end(
            ExitCause::Terminated,
            grace.unwrap_or(self.session.limits.default_grace),
        )
    }

    /// Begins to end the whole tree for a reason; true if the leader had not yet exited.
    pub(crate) fn end(self: &Arc<Self>, cause: ExitCause, grace: Duration) -> bool {
        let (running, left) = {
            let mut inner = self.lock();
            (inner.state.begin_ending(cause), inner.tree == Tree::Running)
        };
        if !self.cancel_reserved() && (running || left) {
            self.session.launcher.end(self.launch, Signal::TERM, grace);
        }
        running
    }

    /// Its row in a list.
    pub fn info(&self) -> ProcessInfo {
        let inner = self.lock();
        let outcome = inner.state.outcome();
        let pid = inner.state.start_result().and_then(Result::ok);
        ProcessInfo {
            process_id: self.id.clone(),
            pid: pid.map(|started| started.pid),
            state: inner.state.name().unwrap_or(ProcessState::Closed),
            tty: self.is_terminal(),
            started_at_ms: self
                .started_at
                .duration_since(UNIX_EPOCH)
                .map_or(0, milliseconds::floor),
            exit_code: outcome.map(|outcome| outcome.exit_code),
            cause: outcome.map(|outcome| outcome.cause),
            next_seq: inner.log.next_seq(),
            output_bytes: inner.log.logged_bytes(None),
            tree: inner.tree,
        }
    }
}

/// Through the terminal where the kernel does that, else to the group it names; false: there is none.
fn signal_terminal(master: &Polled, signal: Signal) -> bool {
    use std::os::fd::AsFd;

    let master = master.get_ref();
    // 0: no group is in the foreground, and the call above would have reached nobody.
    let Ok(group) = rustix::termios::tcgetpgrp(master) else {
        return false;
    };
    signal_foreground(master.as_fd(), signal).is_ok()
        || sys::kill_group(group.as_raw_pid(), signal.number()).is_ok()
}

impl Process {
    /// Never held across an await, nor while something else is called.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something that others look for: wakes them, and the subscriber if there is something to send.
    pub(super) fn update<R>(self: &Arc<Self>, change: impl FnOnce(&mut Inner) -> R) -> R {
        let (result, announce) = {
            let mut inner = self.lock();
            let result = change(&mut inner);
            (result, inner.needs_announcement())
        };
        self.changed.notify_waiters();
        if announce {
            self.session.subscriber.ready(self);
        }
        result
    }
}

impl Inner {
    /// Whether a stream may still bring something; `None`: any.
    pub(super) fn is_open(&self, stream: Option<Stream>) -> bool {
        match stream {
            Some(stream) => self.open_streams.iter().any(|(open, _)| *open == stream),
            None => !self.open_streams.is_empty(),
        }
    }

    /// Whether the subscriber is to be told; notes that it is.
    pub(super) fn needs_announcement(&mut self) -> bool {
        let has_some = self.log.has_unsent() || self.owes_tree_ended;
        let tell = self.opened && !self.announced && has_some;
        self.announced |= tell;
        tell
    }

    pub(super) fn drop_descriptors(&mut self) {
        self.stdin.close();
        self.terminal = None;
        self.slave = None;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.session.budget.give_back(inner.log.unsent_cost());
    }
}
