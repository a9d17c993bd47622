//! Processes that no client sees: what a shell snapshot is captured with.

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use crate::launcher::Launcher;
use crate::process::{LaunchPaths, Plumbing, Polled, StdinEnd};
use crate::warden::{Exit, Launch, LaunchFailure, LaunchId};
use crate::{Command, InvalidCommand, Signal, StartError, StartRefused, Stdio};

/// Why a hidden process was not even asked for. Nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartHiddenError {
    /// As a start that a client asks for.
    #[error(transparent)]
    Refused(#[from] StartRefused),
    /// Its terminal cannot be made.
    #[error(transparent)]
    Terminal(#[from] StartError),
}

/// How the leader of a hidden process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It exited with that code.
    Exited(i32),
    /// That signal killed it.
    Killed(Signal),
    /// The warden died, and it with the warden.
    WardenLost,
    /// It never ran: [`Hidden::started`] says why.
    NotStarted,
}

/// A process with its tree that no client sees: without an id and without notifications, in no list and counted by
/// no limit. Its terminal is the caller's.
///
/// Dropped when its tree was neither killed nor left to itself, its tree is killed.
pub struct Hidden {
    record: Arc<Record>,
    terminal: Polled,
    launcher: Arc<dyn Launcher>,
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hidden")
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

/// What is known of it.
#[derive(Debug)]
struct Record {
    launch: LaunchId,
    progress: Mutex<Progress>,
    changed: Notify,
}

#[derive(Debug)]
struct Progress {
    /// How its start went, once that is decided.
    start: Option<Result<u32, StartError>>,
    /// How its leader ended, once it has.
    ended: Option<Ended>,
    /// What the leader was called in the end.
    comm: [u8; 16],
    /// Nothing of it is left.
    tree_ended: bool,
    /// What was asked of it last.
    asked: Asked,
    /// Until the start is decided.
    paths: Option<LaunchPaths>,
    /// Until the leader has ended: it must not be hung up on before it is killed, for then it would run its traps.
    terminal: Option<Polled>,
}

/// How it is to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// As it likes.
    Nothing,
    /// Its session is over, its helpers live on.
    Leave,
    /// Not at all.
    Kill,
}

impl Hidden {
    /// Makes it and what the warden is to start.
    pub(crate) fn make(
        id: LaunchId,
        command: Command,
        launcher: &Arc<dyn Launcher>,
    ) -> Result<(Self, Launch), StartHiddenError> {
        let prepared = command.prepare().map_err(StartRefused::from)?;
        check(&command).map_err(StartRefused::from)?;
        // Our own slave goes at once, so that the terminal ends when its last user does.
        let plumbing = Plumbing::new(command.stdio, false)?;
        let StdinEnd::Polled(terminal) = plumbing.stdin else {
            unreachable!("checked to be a terminal")
        };
        let launch = Launch::of(id, &command, prepared, plumbing.child);
        let record = Record {
            launch: id,
            progress: Mutex::new(Progress {
                start: None,
                ended: None,
                comm: [0; 16],
                tree_ended: false,
                asked: Asked::Nothing,
                paths: Some(LaunchPaths::of(&launch)),
                terminal: Some(Arc::clone(&terminal)),
            }),
            changed: Notify::new(),
        };
        let hidden = Self {
            record: Arc::new(record),
            terminal,
            launcher: Arc::clone(launcher),
        };
        Ok((hidden, launch))
    }

    /// Waits until the start is decided: its process id.
    ///
    /// # Errors
    /// It did not start, and nothing of it is left.
    pub async fn started(&self) -> Result<u32, StartError> {
        self.record.when(|progress| progress.start.clone()).await
    }

    /// Waits until its leader has ended; the same answer each time.
    pub async fn exited(&self) -> Ended {
        self.record.when(|progress| progress.ended).await
    }

    /// What its leader was called when it ended: the file name of the program that it was last, cut to 15 bytes. `None`:
    /// it has not ended, or this is not known.
    #[must_use]
    pub fn last_program(&self) -> Option<Vec<u8>> {
        let comm = self.record.lock().comm;
        let line_end = comm.iter().position(|byte| *byte == b'\n')?;
        Some(comm[..line_end].to_vec())
    }

    /// Waits until nothing of it is left, or the warden that knew it is lost.
    pub async fn tree_ended(&self) {
        self.record
            .when(|progress| progress.tree_ended.then_some(()))
            .await;
    }

    /// Our end of its terminal, non-blocking. A read that fails with EIO is its end: nobody has the other side open.
    pub fn terminal(&self) -> &AsyncFd<OwnedFd> {
        &self.terminal
    }

    /// SIGKILL to the whole tree, until nothing is left. At once; [`Hidden::tree_ended`] waits for it.
    pub fn kill(&self) {
        self.record.kill(&*self.launcher);
    }

    /// Ends it as closing its terminal would, but for the leader, which may do nothing more: it gets SIGKILL, what is
    /// left of its session SIGHUP and SIGCONT. What has a session of its own, or ignores SIGHUP, lives on until the
    /// session with the client ends. At once; [`Hidden::exited`] waits for the leader.
    pub fn leave_helpers(&self) {
        if self.record.ask(Asked::Leave) {
            self.launcher.leave_helpers(self.record.launch);
        }
    }

    /// [`Hidden::leave_helpers`], and what is left then: without the terminal, which ends.
    #[must_use]
    pub fn into_helpers(self) -> Helpers {
        self.leave_helpers();
        Helpers {
            record: Arc::clone(&self.record),
            launcher: Arc::clone(&self.launcher),
        }
    }
}

/// What lives on of a hidden process that was left. Dropped, it lives on.
pub struct Helpers {
    record: Arc<Record>,
    launcher: Arc<dyn Launcher>,
}

impl fmt::Debug for Helpers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Helpers")
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

impl Helpers {
    /// Waits until none is left, or the warden that knew them is lost.
    pub async fn ended(&self) {
        self.record
            .when(|progress| progress.tree_ended.then_some(()))
            .await;
    }

    /// SIGKILL to all, until none is left. At once; [`Helpers::ended`] waits for it.
    pub fn kill(&self) {
        self.record.kill(&*self.launcher);
    }
}

/// What a hidden process has no use for is refused, not left out.
fn check(command: &Command) -> Result<(), InvalidCommand> {
    let refuse = |member: &str, reason: &str| {
        Err(InvalidCommand {
            member: member.to_owned(),
            reason: reason.to_owned(),
        })
    };
    if !matches!(command.stdio, Stdio::Terminal { .. }) {
        return refuse("stdio", "must be a terminal");
    }
    if !command.input.is_empty() {
        return refuse("input", "must be empty: write to the terminal");
    }
    if command.timeouts != crate::Timeouts::default() {
        return refuse("timeouts", "must be none: kill it");
    }
    Ok(())
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if self.record.lock().asked == Asked::Nothing {
            self.kill();
        }
    }
}

impl Record {
    fn kill(&self, launcher: &dyn Launcher) {
        if self.ask(Asked::Kill) {
            launcher.end(self.launch, Signal::KILL, Duration::ZERO);
        }
    }

    /// Notes what is asked; false: it has been asked for, or for more, or nothing is left.
    fn ask(&self, what: Asked) -> bool {
        let mut progress = self.lock();
        let is_new = match (progress.asked, what) {
            (Asked::Nothing, _) | (Asked::Leave, Asked::Kill) => !progress.tree_ended,
            _ => false,
        };
        if is_new {
            progress.asked = what;
        }
        is_new
    }

    async fn when<R>(&self, look: impl Fn(&Progress) -> Option<R>) -> R {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(seen) = look(&self.lock()) {
                return seen;
            }
            changed.await;
        }
    }

    fn update(&self, change: impl FnOnce(&mut Progress)) {
        // Dropped without the lock.
        let terminal = {
            let mut progress = self.lock();
            change(&mut progress);
            match progress.ended {
                Some(_) => progress.terminal.take(),
                None => None,
            }
        };
        drop(terminal);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn fail(&mut self, error: StartError) {
        self.start.get_or_insert(Err(error));
        self.ended.get_or_insert(Ended::NotStarted);
        self.tree_ended = true;
    }

    fn lose(&mut self) {
        if self.start.is_none() {
            return self.fail(StartError::WardenLost);
        }
        self.ended.get_or_insert(Ended::WardenLost);
        self.tree_ended = true;
    }
}

/// The hidden processes of which something may be running; what the warden reports of them.
#[derive(Debug, Default)]
pub(crate) struct HiddenSet(Mutex<BTreeMap<LaunchId, Arc<Record>>>);

impl HiddenSet {
    pub(crate) fn insert(&self, hidden: &Hidden) {
        let record = Arc::clone(&hidden.record);
        self.lock().insert(record.launch, record);
    }

    /// Nothing is running.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Ends them: with that grace what was left to itself, at once what nobody will look at any more.
    pub(crate) fn end(&self, launcher: &dyn Launcher, grace: Duration) {
        let records: Vec<Arc<Record>> = self.lock().values().cloned().collect();
        for record in records {
            let asked = record.lock().asked;
            match asked {
                Asked::Leave => launcher.end(record.launch, Signal::TERM, grace),
                Asked::Nothing | Asked::Kill => launcher.end(record.launch, Signal::KILL, Duration::ZERO),
            }
        }
    }

    pub(crate) fn started(&self, id: LaunchId, pid: u32) {
        if let Some(record) = self.get(id) {
            record.update(|progress| {
                progress.start.get_or_insert(Ok(pid));
                progress.paths = None;
            });
        }
    }

    pub(crate) fn failed(&self, id: LaunchId, failure: LaunchFailure) {
        if let Some(record) = self.remove(id) {
            record.update(|progress| {
                let error = match progress.paths.take() {
                    Some(paths) => paths.start_error(failure),
                    None => StartError::Terminated,
                };
                progress.fail(error);
            });
        }
    }

    pub(crate) fn exited(&self, id: LaunchId, exit: &Exit) {
        let record = match exit.tree_ended {
            true => self.remove(id),
            false => self.get(id),
        };
        if let Some(record) = record {
            let ended = match (exit.code, exit.signal) {
                (Some(code), _) => Ended::Exited(code),
                (None, signal) => Ended::Killed(signal.map_or(Signal::KILL, Signal::from_number)),
            };
            record.update(|progress| {
                progress.ended.get_or_insert(ended);
                progress.comm = exit.comm;
                progress.tree_ended = exit.tree_ended;
            });
        }
    }

    pub(crate) fn tree_ended(&self, id: LaunchId) {
        if let Some(record) = self.remove(id) {
            record.update(|progress| progress.tree_ended = true);
        }
    }

    pub(crate) fn lost(&self) {
        let lost = std::mem::take(&mut *self.lock());
        for record in lost.into_values() {
            record.update(Progress::lose);
        }
    }

    fn get(&self, id: LaunchId) -> Option<Arc<Record>> {
        self.lock().get(&id).cloned()
    }

    fn remove(&self, id: LaunchId) -> Option<Arc<Record>> {
        self.lock().remove(&id)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<LaunchId, Arc<Record>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
