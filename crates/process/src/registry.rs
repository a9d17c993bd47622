//! Which processes are known, and until when.
//!
//! A process is known from its start until its retention after `closed` is over. One whose tree still runs
//! stays known: somebody must be able to end it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant as SystemInstant};

use exec_protocol::ProcessId;
use exec_protocol::limits::{Limits, TRIM_BYTES, TRIM_DELAY_MS};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::hidden::HiddenSet;
use crate::process::{Lifecycle, Process};
use crate::sys;
use crate::warden::{Exit, LaunchFailure, LaunchId, WardenEvents};

/// The known processes.
#[derive(Debug)]
pub(crate) struct Registry {
    known: Mutex<Known>,
    /// Processes that no client sees.
    pub(crate) hidden: HiddenSet,
    /// A process has closed while none had.
    first_closed: Notify,
    /// A tree has ended.
    tree_ended: Notify,
}

#[derive(Debug)]
struct Known {
    /// By start.
    records: BTreeMap<LaunchId, Record>,
    by_id: HashMap<ProcessId, LaunchId>,
    /// In the order they closed, with the end of their retention. Records that are gone are skipped.
    closed: VecDeque<(LaunchId, Instant)>,
    closed_count: usize,
    closed_cost: usize,
    retention: Duration,
    max_closed: usize,
    max_closed_cost: usize,
    /// What forgotten logs took, since free memory was last given back.
    freed: usize,
    /// When to give it back, if that is enough.
    trim_at: Option<Instant>,
}

#[derive(Debug)]
struct Record {
    process: Arc<Process>,
    /// What its log takes, once it has closed.
    closed: Option<usize>,
    /// The warden has no more to report.
    tree_over: bool,
    /// Its retention is over, or its id is another's.
    forgotten: bool,
}

/// What a start finds under its id.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Nothing, or a process that is over.
    Free,
    /// The process of the same start.
    Same(Arc<Process>),
    /// A process that is not over.
    InUse,
}

impl Registry {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            known: Mutex::new(Known {
                records: BTreeMap::new(),
                by_id: HashMap::new(),
                closed: VecDeque::new(),
                closed_count: 0,
                closed_cost: 0,
                retention: limits.retention,
                max_closed: limits.max_closed_processes,
                max_closed_cost: limits.max_closed_retained_bytes,
                freed: 0,
                trim_at: None,
            }),
            hidden: HiddenSet::default(),
            first_closed: Notify::new(),
            tree_ended: Notify::new(),
        }
    }

    /// What is known under an id.
    pub(crate) fn take(&self, id: &str, start_id: Option<&str>) -> Taken {
        match self.get(id) {
            None => Taken::Free,
            Some(process) if start_id.is_some() && process.start_id() == start_id => Taken::Same(process),
            Some(process) if process.is_over() => Taken::Free,
            Some(_) => Taken::InUse,
        }
    }

    /// Adds a process; one that is over loses its id to it.
    pub(crate) fn insert(&self, process: &Arc<Process>) {
        let mut known = self.lock();
        let launch = process.launch_id();
        if let Some(before) = known.by_id.insert(process.id().clone(), launch) {
            known.forget(before);
        }
        known.records.insert(
            launch,
            Record {
                process: Arc::clone(process),
                closed: None,
                tree_over: false,
                forgotten: false,
            },
        );
    }

    /// The process of an id.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Process>> {
        let known = self.lock();
        let launch = known.by_id.get(id)?;
        known
            .records
            .get(launch)
            .map(|record| Arc::clone(&record.process))
    }

    /// Those that have an id, by start.
    pub(crate) fn list(&self) -> Vec<Arc<Process>> {
        let known = self.lock();
        let has_id =
            |record: &&Record| known.by_id.get(record.process.id()) == Some(&record.process.launch_id());
        known
            .records
            .values()
            .filter(has_id)
            .map(|record| Arc::clone(&record.process))
            .collect()
    }

    /// Those of which something may be running.
    pub(crate) fn trees(&self) -> Vec<Arc<Process>> {
        let known = self.lock();
        known
            .records
            .values()
            .filter(|record| !record.tree_over)
            .map(|record| Arc::clone(&record.process))
            .collect()
    }

    /// How many have not closed, or have something running.
    pub(crate) fn live(&self) -> usize {
        let known = self.lock();
        known.records.len() - known.closed_count
    }

    /// Waits until nothing is running.
    pub(crate) async fn all_ended(&self) {
        loop {
            let mut tree_ended = pin!(self.tree_ended.notified());
            tree_ended.as_mut().enable();
            if self.trees().is_empty() && self.hidden.is_empty() {
                return;
            }
            tree_ended.await;
        }
    }

    /// Forgets processes whose retention is over. Runs until its task is aborted.
    pub(crate) async fn expire(registry: Weak<Self>) {
        loop {
            let Some(registry) = registry.upgrade() else {
                return;
            };
            let mut first_closed = pin!(registry.first_closed.notified());
            first_closed.as_mut().enable();
            let now = Instant::now();
            let (due, trim) = {
                let mut known = registry.lock();
                (known.expire(now), known.trim(now))
            };
            if trim == Trim::Now {
                sys::return_free_memory();
            }
            let trim_at = match trim {
                Trim::At(at) => Some(at),
                Trim::Now | Trim::No => None,
            };
            match due.into_iter().chain(trim_at).min() {
                Some(due) => sleep_until(due).await,
                None => first_closed.await,
            }
        }
    }

    fn process(&self, launch: LaunchId) -> Option<Arc<Process>> {
        let known = self.lock();
        known
            .records
            .get(&launch)
            .map(|record| Arc::clone(&record.process))
    }

    fn tree_over(&self, launch: LaunchId) {
        self.lock().tree_over(launch);
        self.tree_ended.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether free memory is to be given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trim {
    No,
    Now,
    At(Instant),
}

impl Known {
    /// Decides it; once it is `Now`, that counts as done.
    fn trim(&mut self, now: Instant) -> Trim {
        if self.freed < TRIM_BYTES {
            return Trim::No;
        }
        let at = *self
            .trim_at
            .get_or_insert(now + Duration::from_millis(TRIM_DELAY_MS));
        if at > now {
            return Trim::At(at);
        }
        self.freed = 0;
        self.trim_at = None;
        Trim::Now
    }

    /// It did not start, or is forgotten.
    fn remove(&mut self, launch: LaunchId) {
        if let Some(record) = self.records.remove(&launch) {
            self.freed += record.closed.unwrap_or(0);
            if let Some(cost) = record.closed
                && record.tree_over
            {
                self.closed_count -= 1;
                self.closed_cost -= cost;
            }
            let id = record.process.id();
            if self.by_id.get(id) == Some(&launch) {
                self.by_id.remove(id);
            }
        }
    }

    fn close(&mut self, launch: LaunchId, cost: usize) {
        let Some(record) = self.records.get_mut(&launch) else {
            return;
        };
        record.closed = Some(cost);
        if record.tree_over {
            self.closed_count += 1;
            self.closed_cost += cost;
        }
        self.closed.push_back((launch, Instant::now() + self.retention));
        self.evict();
    }

    fn tree_over(&mut self, launch: LaunchId) {
        let Some(record) = self.records.get_mut(&launch) else {
            return;
        };
        if std::mem::replace(&mut record.tree_over, true) {
            return;
        }
        if let Some(cost) = record.closed {
            self.closed_count += 1;
            self.closed_cost += cost;
            if record.forgotten {
                self.remove(launch);
            }
            self.evict();
        }
    }

    /// Its retention is over, or its id is another's: it goes, unless its tree still runs.
    fn forget(&mut self, launch: LaunchId) {
        let Some(record) = self.records.get_mut(&launch) else {
            return;
        };
        record.forgotten = true;
        if record.closed.is_some() && record.tree_over {
            self.remove(launch);
        } else {
            record.process.forget_output();
            if record.closed.is_some() {
                record.closed = Some(0);
            }
        }
    }

    /// Forgets the oldest while there are too many, or they take too much.
    fn evict(&mut self) {
        while self.closed_count > self.max_closed || self.closed_cost > self.max_closed_cost {
            let Some((launch, _)) = self.closed.pop_front() else {
                break;
            };
            self.forget(launch);
        }
    }

    /// Forgets what is due, and says when the next is.
    fn expire(&mut self, now: Instant) -> Option<Instant> {
        while let Some((launch, due)) = self.closed.front().copied() {
            let Some(record) = self.records.get(&launch) else {
                self.closed.pop_front();
                continue;
            };
            if due > now {
                return Some(due);
            }
            self.closed.pop_front();
            if record.process.is_over() {
                self.forget(launch);
            } else {
                // A client that is behind has not been told of the end; the id stays taken until it is.
                self.closed.push_back((launch, now + self.retention));
            }
        }
        None
    }
}

impl Lifecycle for Registry {
    fn closed(&self, process: &Arc<Process>, retained_cost: usize) {
        self.lock().close(process.launch_id(), retained_cost);
        self.first_closed.notify_waiters();
    }

    fn abandoned(&self, process: &Process) {
        self.lock().remove(process.launch_id());
        self.tree_ended.notify_waiters();
    }
}

impl WardenEvents for Registry {
    fn started(&self, id: LaunchId, pid: u32, at: SystemInstant) {
        if let Some(process) = self.process(id) {
            process.on_started(pid, at);
        } else {
            self.hidden.started(id, pid);
        }
    }

    fn failed(&self, id: LaunchId, failure: LaunchFailure) {
        if let Some(process) = self.process(id) {
            // Before anybody learns of it: the id is free by then.
            self.lock().remove(id);
            process.on_failed(failure);
        } else {
            self.hidden.failed(id, failure);
        }
        self.tree_ended.notify_waiters();
    }

    fn exited(&self, id: LaunchId, exit: Exit) {
        if let Some(process) = self.process(id) {
            if exit.tree_ended {
                self.tree_over(id);
            }
            process.on_exited(&exit);
        } else {
            self.hidden.exited(id, &exit);
            self.tree_ended.notify_waiters();
        }
    }

    fn tree_ended(&self, id: LaunchId) {
        if let Some(process) = self.process(id) {
            self.tree_over(id);
            process.on_tree_ended();
        } else {
            self.hidden.tree_ended(id);
            self.tree_ended.notify_waiters();
        }
    }

    fn lost(&self) {
        self.hidden.lost();
        // The warden knew nothing of those that wait to be launched: another will start them.
        for process in self.trees().iter().filter(|process| !process.is_reserved()) {
            let launch = process.launch_id();
            if process.is_starting() {
                self.lock().remove(launch);
            } else {
                self.tree_over(launch);
            }
            process.on_lost();
        }
        self.tree_ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_once_for_what_is_forgotten_together() {
        let registry = Registry::new(&Limits::default());
        let mut known = registry.lock();
        let now = Instant::now();
        known.freed = TRIM_BYTES - 1;
        assert_eq!(known.trim(now), Trim::No);
        known.freed += 1;
        let at = now + Duration::from_millis(TRIM_DELAY_MS);
        assert_eq!(known.trim(now), Trim::At(at));
        known.freed += TRIM_BYTES;
        let between = now + Duration::from_millis(TRIM_DELAY_MS / 2);
        assert_eq!(known.trim(between), Trim::At(at), "not put off");
        assert_eq!(known.trim(at), Trim::Now);
        assert_eq!(known.trim(at), Trim::No);
    }
}
