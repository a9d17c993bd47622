//! What the processes of a session share.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use exec_protocol::limits::{Limits, READ_CHUNK_BYTES, SPARE_READ_BUFFERS};

use super::budget::Budget;
use super::regexes::Regexes;
use super::{Observer, Process, Subscriber};
use crate::launcher::Launcher;

/// Told about turns in a process's life. Called with no lock of the process held.
pub(crate) trait Lifecycle: Send + Sync + 'static {
    /// It has closed, and its log takes so much memory.
    fn closed(&self, process: &Arc<Process>, retained_cost: usize);
    /// It will never be launched, and nobody has been told.
    fn abandoned(&self, process: &Process);
}

/// What the processes of a session share.
pub(crate) struct Session {
    /// The daemon's limits.
    pub(crate) limits: Limits,
    /// Starts and ends them.
    pub(crate) launcher: Arc<dyn Launcher>,
    /// Sends what they tell.
    pub(crate) subscriber: Arc<dyn Subscriber>,
    /// Counts them.
    pub(crate) observer: Arc<dyn Observer>,
    /// Knows them.
    pub(crate) lifecycle: Weak<dyn Lifecycle>,
    /// Output read and not sent, of all of them.
    pub(crate) budget: Budget,
    /// Compiles what is waited for.
    pub(crate) regexes: Regexes,
    ending: AtomicBool,
    spare: Mutex<Vec<Vec<u8>>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("launcher", &self.launcher)
            .field("budget", &self.budget)
            .field("ending", &self.ending)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// A session that has just begun.
    pub(crate) fn new(
        limits: Limits,
        launcher: Arc<dyn Launcher>,
        subscriber: Arc<dyn Subscriber>,
        observer: Arc<dyn Observer>,
        lifecycle: Weak<dyn Lifecycle>,
    ) -> Self {
        Self {
            budget: Budget::new(limits.total_unsent_bytes),
            regexes: Regexes::new(limits.max_regex_waits, limits.max_match_bytes),
            limits,
            launcher,
            subscriber,
            observer,
            lifecycle,
            ending: AtomicBool::new(false),
            spare: Mutex::new(Vec::new()),
        }
    }

    /// Whether the session is ending.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// From now on it is.
    pub(crate) fn begin_ending(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// An empty buffer for one read.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(READ_CHUNK_BYTES))
    }

    /// Takes a buffer back.
    pub(crate) fn recycle(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE_READ_BUFFERS && buffer.capacity() == READ_CHUNK_BYTES {
            spare.push(buffer);
        }
    }
}
