//! Snapshots for commands: looked up, waited for, or captured.

use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exec_process::{ProcessTable, Rewrite};
use exec_protocol::limits::SnapshotLimits;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::description::{Description, Held, Summary};
use super::flight;
use crate::cache::{Cache, Found, Key, Peeked};
use crate::capture::{Attempts, ShellAttempts};
use crate::observer::{Availability, CommandPrepared, Follower, Observer, Outcome, Purpose};
use crate::replay::LoginScript;
use crate::snapshot::Snapshot;
use crate::{Failed, Failure, Request};

/// The snapshots of a session.
#[derive(Debug)]
pub struct Snapshots {
    shared: Arc<Shared>,
}

/// What captures and those who wait for them share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) limits: SnapshotLimits,
    pub(super) attempts: Box<dyn Attempts>,
    pub(super) observer: Arc<dyn Observer>,
    /// For captures that run.
    pub(super) room: Semaphore,
    cache: Mutex<Cache<Arc<Snapshot>>>,
}

/// What becomes of a command that asked for a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub enum Prepared {
    /// It runs as it is, with the shell's normal startup.
    Unmodified,
    /// It runs with the user's shell state.
    Restored(Rewrite),
    /// It runs without startup files, which fail, and says so on its stderr.
    Bare(Rewrite),
}

/// What a lookup came to.
struct Acquired {
    availability: Availability,
    result: Result<Arc<Snapshot>, Failed>,
}

impl Snapshots {
    /// Snapshots whose captures run as hidden processes of that table.
    #[must_use]
    pub fn new(table: Arc<ProcessTable>, limits: SnapshotLimits, observer: Arc<dyn Observer>) -> Self {
        let attempts = ShellAttempts::new(table, limits.clone());
        Self::with_attempts(Box::new(attempts), limits, observer)
    }

    pub(super) fn with_attempts(
        attempts: Box<dyn Attempts>,
        limits: SnapshotLimits,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let shared = Arc::new(Shared {
            attempts,
            observer,
            room: Semaphore::new(limits.captures),
            cache: Mutex::new(Cache::new(limits.clone())),
            limits,
        });
        Self { shared }
    }

    /// Prepares a command: looks its snapshot up, waiting for a capture if there must be one. Never fails: a command
    /// that cannot be given a snapshot runs without.
    pub async fn prepare(
        &self,
        request: Request,
        argv: &[OsString],
        arg0: Option<&OsStr>,
        follower: &dyn Follower,
    ) -> Prepared {
        let began = Instant::now();
        let request = Arc::new(request);
        let Some(script) = LoginScript::read(argv, arg0, &request.path) else {
            self.tell(Availability::Unavailable, Outcome::Fallback, began);
            return Prepared::Unmodified;
        };
        let acquired = self.acquire(&request, Purpose::Execution, follower).await;
        let wait = Instant::now();
        let prepared = match acquired.result {
            Ok(snapshot) => match script.restore(&request, &snapshot) {
                Ok(rewritten) => Prepared::Restored(rewritten),
                Err(error) => {
                    tracing::warn!(
                        shell = request.shell.name(),
                        "a snapshot could not be used: {error}"
                    );
                    Prepared::Unmodified
                }
            },
            Err(failed) if failed.past_login => Prepared::Unmodified,
            Err(failed) => Prepared::Bare(script.bare(&request, failed.failure)),
        };
        let outcome = match prepared {
            Prepared::Restored(_) => Outcome::Used,
            Prepared::Unmodified | Prepared::Bare(_) => Outcome::Fallback,
        };
        self.shared.observer.command_prepared(&CommandPrepared {
            availability: acquired.availability,
            outcome,
            wait: wait - began,
        });
        prepared
    }

    /// Makes the snapshot of a request, unless it is there.
    ///
    /// # Errors
    /// The capture failed. That is not remembered, unless it hung.
    pub async fn prewarm(&self, request: Request, follower: &dyn Follower) -> Result<Summary, Failure> {
        let acquired = self.acquire(&Arc::new(request), Purpose::Prewarm, follower).await;
        match acquired.result {
            Ok(snapshot) => Ok(Summary::of(&snapshot)),
            Err(failed) => Err(failed.failure),
        }
    }

    /// Says what is cached for a request.
    pub async fn describe(&self, request: Request) -> Description {
        let key = self.shared.cache().key(&request);
        self.look(&key).await;
        let now = Instant::now();
        let mut cache = self.shared.cache();
        let peeked = cache.peek(&key, now);
        let since = cache.entry_since(&key);
        let watched = cache.watched(&key);
        drop(cache);
        let mut description = Description {
            availability: Availability::OnDemand,
            failure: None,
            held: None,
            watched: watched
                .first()
                .map(|watched| {
                    watched
                        .files()
                        .map(|(path, there)| (path.to_owned(), there))
                        .collect()
                })
                .unwrap_or_default(),
        };
        match peeked {
            Peeked::Ready(snapshot, purpose) => {
                description.availability = ready(purpose);
                description.held = Some(Held::of(&snapshot, since, now));
            }
            Peeked::Pending(_, purpose) => description.availability = under_way(purpose),
            Peeked::Failed(failed) => {
                description.availability = Availability::Unavailable;
                description.failure = Some(failed.failure);
            }
            Peeked::Missing { .. } => {}
        }
        description
    }

    /// Forgets what is cached for a scope, or everything; gives the number of snapshots and failures forgotten.
    pub fn invalidate(&self, scope: Option<&str>) -> usize {
        self.shared.cache().invalidate(scope)
    }

    fn tell(&self, availability: Availability, outcome: Outcome, began: Instant) {
        self.shared.observer.command_prepared(&CommandPrepared {
            availability,
            outcome,
            wait: began.elapsed(),
        });
    }

    /// Forgets what was made of files that have changed since.
    async fn look(&self, key: &Key) {
        let watched = self.shared.cache().watched(key);
        if watched.is_empty() {
            return;
        }
        // Mostly so, and a thread would cost more than all the rest.
        if watched.iter().all(|watched| watched.is_same_at_a_glance()) {
            return;
        }
        // A file may lie on a disk that does not answer: nobody else waits for it.
        let looked = tokio::task::spawn_blocking(move || {
            let mut watched = watched;
            watched.retain(|watched| watched.has_changed());
            watched
        });
        let changed = looked.await.unwrap_or_default();
        let mut cache = self.shared.cache();
        for watched in &changed {
            cache.changed(watched);
        }
    }

    fn find(&self, request: &Arc<Request>, purpose: Purpose) -> Found<Arc<Snapshot>> {
        let now = Instant::now();
        let mut cache = self.shared.cache();
        // Anew: what was learned may have been forgotten by a look.
        let key = cache.key(request);
        let found = cache.find(&key, purpose, now);
        let recheck = matches!(found, Found::Ready(..)) && cache.take_recheck(&key, now);
        drop(cache);
        if recheck {
            flight::recheck(&self.shared, key, Arc::clone(request));
        }
        found
    }

    async fn acquire(&self, request: &Arc<Request>, purpose: Purpose, follower: &dyn Follower) -> Acquired {
        // As it was found at first.
        let mut found_at_first = None;
        loop {
            let key = self.shared.cache().key(request);
            self.look(&key).await;
            let found = self.find(request, purpose);
            let (availability, outcome, made_for) = match found {
                Found::Ready(snapshot, made_for) => {
                    return Acquired {
                        availability: *found_at_first.get_or_insert(ready(made_for)),
                        result: Ok(snapshot),
                    };
                }
                Found::Failed(failed) => {
                    return Acquired {
                        availability: *found_at_first.get_or_insert(Availability::Unavailable),
                        result: Err(failed),
                    };
                }
                Found::Pending(outcome, made_for) => (under_way(made_for), outcome, made_for),
                Found::Missing(flight) => {
                    let task = flight::Task {
                        attempt: flight.attempt,
                        purpose,
                        request: Arc::clone(request),
                        follower: follower.capture_began(),
                    };
                    flight::launch(&self.shared, flight.id, task);
                    (Availability::OnDemand, flight.outcome, purpose)
                }
            };
            let availability = *found_at_first.get_or_insert(availability);
            let result = landed(outcome).await;
            let is_anothers = made_for == Purpose::Prewarm && purpose == Purpose::Execution;
            match result {
                // It was the prewarm's failure: this command captures at once. A shell that hangs hangs.
                Err(failed) if is_anothers && failed.failure != Failure::Timeout => {}
                result => return Acquired { availability, result },
            }
        }
    }
}

impl Shared {
    pub(super) fn cache(&self) -> MutexGuard<'_, Cache<Arc<Snapshot>>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a capture.
async fn landed(
    mut outcome: watch::Receiver<Option<Result<Arc<Snapshot>, Failed>>>,
) -> Result<Arc<Snapshot>, Failed> {
    let landed = outcome.wait_for(Option::is_some).await;
    let result = landed.ok().and_then(|result| result.clone());
    // Nobody makes it any more: the shell may well start as it does without.
    result.unwrap_or(Err(Failed {
        failure: Failure::WaitFailed,
        past_login: true,
    }))
}

fn ready(made_for: Purpose) -> Availability {
    match made_for {
        Purpose::Prewarm => Availability::PrewarmReady,
        Purpose::Execution => Availability::CacheHit,
    }
}

fn under_way(made_for: Purpose) -> Availability {
    match made_for {
        Purpose::Prewarm => Availability::PrewarmPending,
        Purpose::Execution => Availability::CapturePending,
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
