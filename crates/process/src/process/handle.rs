//! A process: its state, its ends of the streams, and the turns of its life.

use std::fmt;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as SystemInstant, SystemTime, UNIX_EPOCH};

use exec_protocol::exit::{ExitCause, Tree};
use exec_protocol::process::{Enforces, ProcessInfo, ProcessState, TerminalSize};
use exec_protocol::{ProcessId, Stream};
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::warn;

use super::clock::SilenceClock;
use super::failure::LaunchPaths;
use super::feed::Stdin;
use super::matcher::Matcher;
use super::output_log::OutputLog;
use super::plumbing::{Plumbing, Polled, set_size};
use super::pump::pump;
use super::session::Session;
use super::state::{IllegalTransition, State};
use super::timers::watch_timeouts;
use super::turn::{Turn, TurnQueue};
use super::{ResizeError, StartError, Started};
use crate::sys_pty::{signal_foreground, signal_group};
use crate::warden::{Exit, Launch, LaunchFailure, LaunchId};
use crate::{Command, InvalidCommand, Signal, Stdio, Timeouts};

/// One process.
pub struct Process {
    pub(super) id: ProcessId,
    pub(super) launch: LaunchId,
    pub(super) start_id: Option<String>,
    pub(super) stdio: Stdio,
    pub(super) timeouts: Timeouts,
    /// What holds each limit that was asked for.
    limits: Option<Enforces>,
    started_at: SystemTime,
    pub(super) session: Arc<Session>,
    turns: TurnQueue,
    /// Something a read or a wait may look for has happened.
    pub(super) changed: Notify,
    /// Output was sent: its streams may be read again.
    pub(super) room: Notify,
    /// The clocks of silence run again, or need to no longer.
    pub(super) clock_moved: Notify,
    /// Stdin is closed: its writer goes.
    pub(super) stdin_stop: Notify,
    inner: Mutex<Inner>,
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
    open_streams: Vec<Stream>,
    terminal: Option<Polled>,
    /// Ours, until the leader has ended.
    slave: Option<OwnedFd>,
    paths: Option<LaunchPaths>,
}

/// A process to be made.
#[derive(Debug)]
pub(crate) struct NewProcess {
    /// Its name.
    pub(crate) id: ProcessId,
    /// Names the launch.
    pub(crate) launch: LaunchId,
    /// The name of its start.
    pub(crate) start_id: Option<String>,
    /// What to run.
    pub(crate) command: Command,
    /// What holds each limit that was asked for.
    pub(crate) limits: Option<Enforces>,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("id", &self.id)
            .field("launch", &self.launch)
            .finish_non_exhaustive()
    }
}

impl NewProcess {
    /// Makes the process and what the warden is to start. `Launch` is `None` when the start has failed already.
    pub(crate) fn make(
        self,
        session: Arc<Session>,
    ) -> Result<(Arc<Process>, Option<Launch>), InvalidCommand> {
        let command = self.command;
        let prepared = command.prepare()?;
        let plumbing = Plumbing::new(command.stdio, !command.input.is_empty());
        let (state, plumbing) = match plumbing {
            Ok(plumbing) => (State::new(), Some(plumbing)),
            Err(error) => (State::Failed(error), None),
        };
        let terminal = matches!(command.stdio, Stdio::Terminal { .. });
        let failed = plumbing.is_none();
        let Plumbing {
            outputs,
            stdin,
            child_stdin,
            child_output,
            slave,
        } = plumbing.unwrap_or_default();
        let limits = &session.limits;
        let process = Arc::new(Process {
            id: self.id,
            launch: self.launch,
            start_id: self.start_id,
            stdio: command.stdio,
            timeouts: command.timeouts,
            limits: self.limits,
            started_at: SystemTime::now(),
            turns: if failed {
                TurnQueue::default()
            } else {
                TurnQueue::taken()
            },
            changed: Notify::new(),
            room: Notify::new(),
            clock_moved: Notify::new(),
            stdin_stop: Notify::new(),
            inner: Mutex::new(Inner {
                state,
                tree: if failed { Tree::Ended } else { Tree::Running },
                log: OutputLog::new(limits.retained_bytes, limits.retained_chunks),
                clock: SilenceClock::new(Instant::now()),
                stdin: Stdin::new(stdin, command.stdio, limits),
                failure: None,
                matchers: Vec::new(),
                next_matcher: 0,
                opened: false,
                announced: false,
                closed_said: None,
                owes_tree_ended: false,
                open_streams: outputs.iter().map(|(stream, _)| *stream).collect(),
                terminal: terminal
                    .then(|| outputs.first().map(|(_, master)| Arc::clone(master)))
                    .flatten(),
                slave,
                paths: Some(LaunchPaths {
                    programs: prepared.programs.clone(),
                    cwd: command.cwd,
                }),
            }),
            session,
        });
        if failed {
            return Ok((process, None));
        }
        if !command.input.is_empty() {
            process.feed_first(command.input);
        }
        for (stream, fd) in outputs {
            tokio::spawn(pump(Arc::clone(&process), stream, fd));
        }
        let launch = Launch {
            id: process.launch,
            programs: prepared.programs,
            argv: prepared.argv,
            environment: prepared.environment,
            cwd: prepared.cwd,
            stdin: child_stdin,
            output: child_output,
            terminal,
            limits: command.limits,
        };
        Ok((process, Some(launch)))
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

    /// Signals the foreground group of a terminal, or the leader's group. After the end: nothing happens.
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

    /// Begins to end the whole tree, and says whether the leader had not yet exited. Works while starting,
    /// and after exited and closed.
    pub fn terminate(&self, grace: Option<Duration>) -> bool {
        self.end(
            ExitCause::Terminated,
            grace.unwrap_or(self.session.limits.default_grace),
        )
    }

    /// Begins to end the whole tree for a reason; true if the leader had not yet exited.
    pub(crate) fn end(&self, cause: ExitCause, grace: Duration) -> bool {
        let (running, left) = {
            let mut inner = self.lock();
            (inner.state.begin_ending(cause), inner.tree == Tree::Running)
        };
        if running || left {
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
                .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
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
    signal_foreground(master.as_fd(), signal).is_ok() || signal_group(group, signal).is_ok()
}

/// Turns of its life.
impl Process {
    /// Names its launch.
    pub(crate) fn launch_id(&self) -> LaunchId {
        self.launch
    }

    /// What it shares with the others.
    #[cfg(test)]
    pub(crate) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session)
    }

    /// How many patterns are waited for.
    #[cfg(test)]
    pub(crate) fn pattern_count(&self) -> usize {
        self.lock().matchers.len()
    }

    /// The name of its start.
    pub(crate) fn start_id(&self) -> Option<&str> {
        self.start_id.as_deref()
    }

    /// Its `closed` was sent: its id is free.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().closed_said.is_some()
    }

    /// Its start is not decided.
    pub(crate) fn is_starting(&self) -> bool {
        matches!(self.lock().state, State::Starting { .. })
    }

    /// It executes.
    pub(crate) fn on_started(self: &Arc<Self>, pid: u32, at: SystemInstant) {
        let started = Started {
            pid,
            limits: self.limits,
        };
        let done = self.update(|inner| {
            inner.state.start(started, at)?;
            inner.paths = None;
            inner.clock.input(Instant::now());
            Ok(())
        });
        self.check(done);
        self.turns.release();
        if self.timeouts.total.is_some() || self.timeouts.idle.is_some() {
            tokio::spawn(watch_timeouts(Arc::clone(self), Instant::from_std(at)));
        }
    }

    /// It does not execute.
    pub(crate) fn on_failed(self: &Arc<Self>, failure: LaunchFailure) {
        self.fail(|paths| match paths {
            Some(paths) => paths.start_error(failure),
            None => StartError::Terminated,
        });
    }

    /// Its leader ended.
    pub(crate) fn on_exited(self: &Arc<Self>, exit: &Exit) {
        let done = self.update(|inner| {
            inner.state.exit(exit)?;
            inner.slave = None;
            inner.log.push_exited();
            if exit.tree_ended {
                inner.tree = Tree::Ended;
            }
            Ok(())
        });
        self.check(done);
        self.close_if_done();
    }

    /// Nothing it started is left.
    pub(crate) fn on_tree_ended(self: &Arc<Self>) {
        self.update(|inner| {
            inner.tree = Tree::Ended;
            inner.owes_tree_ended = inner.closed_said.is_some_and(|said| said != Tree::Ended);
        });
    }

    /// The warden that knew it is gone.
    pub(crate) fn on_lost(self: &Arc<Self>) {
        if self.is_starting() {
            self.fail(|_| StartError::WardenLost);
            return;
        }
        self.update(|inner| {
            if inner.tree == Tree::Running {
                inner.tree = Tree::Unknown;
            }
            // One that had exited stays as it ended.
            if inner.state.lose(SystemInstant::now()).is_ok() {
                inner.slave = None;
                inner.log.push_exited();
            }
        });
        self.close_if_done();
    }

    /// A stream is at its end.
    pub(super) fn on_end_of_stream(self: &Arc<Self>, stream: Stream, failure: Option<String>) {
        self.update(|inner| {
            inner.open_streams.retain(|open| *open != stream);
            if failure.is_some() {
                inner.failure = failure;
            }
        });
        self.close_if_done();
    }

    /// The session is ending: wakes reads and waits.
    pub(crate) fn on_session_ending(&self) {
        self.changed.notify_waiters();
    }

    /// No longer retains what was sent.
    pub(crate) fn forget_output(&self) {
        self.lock().log.forget_sent();
    }

    fn fail(self: &Arc<Self>, error: impl FnOnce(Option<LaunchPaths>) -> StartError) {
        let done = self.update(|inner| {
            let error = error(inner.paths.take());
            inner.state.fail(error)?;
            inner.tree = Tree::Ended;
            inner.drop_descriptors();
            Ok(())
        });
        self.check(done);
        self.stdin_stop.notify_one();
        self.turns.release();
    }

    /// exited and every stream at its end: closed.
    fn close_if_done(self: &Arc<Self>) {
        let retained_cost = self.update(|inner| {
            if !inner.open_streams.is_empty() || inner.state.close().is_err() {
                return None;
            }
            inner.log.push_closed();
            inner.drop_descriptors();
            Some(inner.log.retained_cost())
        });
        let Some(retained_cost) = retained_cost else {
            return;
        };
        self.stdin_stop.notify_one();
        self.clock_moved.notify_waiters();
        if let Some(lifecycle) = self.session.lifecycle.upgrade() {
            lifecycle.closed(self, retained_cost);
        }
    }

    /// A report out of order is the warden's fault: it is told, and the process stays as it was.
    fn check(&self, done: Result<(), IllegalTransition>) {
        if let Err(error) = done {
            warn!(%error, "the warden reported out of order");
        }
    }

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
            Some(stream) => self.open_streams.contains(&stream),
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

    fn drop_descriptors(&mut self) {
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
