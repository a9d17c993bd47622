//! The turns of a process's life, as the warden and its streams report them.

use std::sync::Arc;
use std::time::Instant as SystemInstant;

use exec_protocol::Stream;
use exec_protocol::exit::Tree;
use tokio::time::Instant;
use tracing::warn;

use super::launch_paths::LaunchPaths;
use super::process::Process;
#[cfg(test)]
use super::session::Session;
use super::state::{IllegalTransition, State};
use super::timers::watch_timeouts;
use super::{StartError, Started};
use crate::warden::{Exit, LaunchFailure, LaunchId};

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
        if done.is_ok() {
            self.session.observer.started(self);
        }
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
        self.read_what_is_left();
        let done = self.update(|inner| {
            inner.state.exit(exit)?;
            inner.slave = None;
            inner.log.push_exited();
            if exit.tree_ended {
                inner.tree = Tree::Ended;
            }
            Ok(())
        });
        if done.is_ok() {
            self.tell_exit();
        }
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
        self.read_what_is_left();
        let lost = self.update(|inner| {
            if inner.tree == Tree::Running {
                inner.tree = Tree::Unknown;
            }
            // One that had exited stays as it ended.
            let lost = inner.state.lose(SystemInstant::now()).is_ok();
            if lost {
                inner.slave = None;
                inner.log.push_exited();
            }
            lost
        });
        if lost {
            self.tell_exit();
        }
        self.close_if_done();
    }

    /// For whoever counts.
    fn tell_exit(self: &Arc<Self>) {
        let outcome = self.lock().state.outcome().copied();
        if let Some(outcome) = outcome {
            let observer = &self.session.observer;
            observer.exited(self, outcome.exit_code, outcome.duration);
        }
    }

    /// A stream is at its end.
    pub(super) fn on_end_of_stream(self: &Arc<Self>, stream: Stream, failure: Option<String>) {
        self.update(|inner| {
            inner.open_streams.retain(|(open, _)| *open != stream);
            if failure.is_some() {
                inner.failure = failure;
            }
        });
        self.close_if_done();
    }

    /// The session is ending: wakes reads and waits, and fails a start that waits to be launched.
    pub(crate) fn on_session_ending(self: &Arc<Self>) {
        self.cancel_reserved();
        self.changed.notify_waiters();
    }

    /// No longer retains what was sent.
    pub(crate) fn forget_output(&self) {
        self.lock().log.forget_sent();
    }

    pub(super) fn fail(self: &Arc<Self>, error: impl FnOnce(Option<LaunchPaths>) -> StartError) {
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
}
