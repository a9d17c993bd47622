//! The cache: snapshots, failures that are remembered, captures under way.

use std::collections::VecDeque;
use std::sync::Arc;

use exec_protocol::limits::SnapshotLimits;
use tokio::sync::watch;
use tokio::time::Instant;

use super::key::{Home, Key};
use super::learned::Learned;
use super::lookup::{Flight, FlightId, Found, Outcome, Peeked};
use crate::freshness::Watched;
use crate::{Failed, Failure, Purpose, Request};

/// Whether two snapshots hold the same.
pub(crate) trait Alike {
    /// Whether they do.
    fn is_like(&self, other: &Self) -> bool;
}

/// Snapshots of type `S`, by key.
#[derive(Debug)]
pub(crate) struct Cache<S> {
    limits: SnapshotLimits,
    learned: Learned,
    /// The least recently used first.
    entries: VecDeque<Entry<S>>,
    /// The oldest first.
    timeouts: VecDeque<Timeout>,
    flights: Vec<UnderWay<S>>,
    next_flight: u64,
}

#[derive(Debug)]
struct Entry<S> {
    key: Key,
    state: State<S>,
    since: Instant,
    watched: Arc<Watched>,
}

#[derive(Debug)]
enum State<S> {
    Ready { snapshot: S, purpose: Purpose },
    Failed { failed: Failed, attempts: u32 },
}

/// Startup files that hung.
#[derive(Debug)]
struct Timeout {
    home: Home,
    failed: Failed,
    since: Instant,
    watched: Arc<Watched>,
}

#[derive(Debug)]
struct UnderWay<S> {
    id: FlightId,
    key: Key,
    purpose: Purpose,
    attempt: u32,
    outcome: watch::Sender<Outcome<S>>,
    /// Dropped by hand meanwhile: its outcome is for those who wait, and nobody else.
    detached: bool,
}

impl<S: Clone + Alike> Cache<S> {
    pub(crate) fn new(limits: SnapshotLimits) -> Self {
        Self {
            learned: Learned::new(limits.learned_names, limits.recheck),
            limits,
            entries: VecDeque::new(),
            timeouts: VecDeque::new(),
            flights: Vec::new(),
            next_flight: 0,
        }
    }

    /// The key of a request, without what was learned to make no difference.
    pub(crate) fn key(&self, request: &Request) -> Key {
        let key = Key::new(request);
        let names = self.learned.of(&key.home());
        key.without(&names)
    }

    /// What must be looked at before a lookup of that key: a stat of each file.
    pub(crate) fn watched(&self, key: &Key) -> Vec<Arc<Watched>> {
        let entry = self.entries.iter().filter(|entry| entry.key == *key);
        let home = key.home();
        let timeouts = self.timeouts.iter().filter(|timeout| timeout.home == home);
        entry
            .map(|entry| Arc::clone(&entry.watched))
            .chain(timeouts.map(|timeout| Arc::clone(&timeout.watched)))
            .collect()
    }

    /// These files are no longer as they were: forgets what was made of them, and failures too.
    pub(crate) fn changed(&mut self, watched: &Arc<Watched>) {
        // The files may name now what they did not when it was learned.
        let meant = |entry: &&Entry<S>| Arc::ptr_eq(&entry.watched, watched);
        let homes: Vec<Home> = self
            .entries
            .iter()
            .filter(meant)
            .map(|entry| entry.key.home())
            .collect();
        self.learned.forget(|home| homes.contains(home));
        self.entries.retain(|entry| !Arc::ptr_eq(&entry.watched, watched));
        self.timeouts
            .retain(|timeout| !Arc::ptr_eq(&timeout.watched, watched));
    }

    /// Looks a key up. If that finds nothing, a capture is under way from here on, for the one who asked to make;
    /// it must end with [`finish`](Self::finish) or [`abandon`](Self::abandon).
    pub(crate) fn find(&mut self, key: &Key, purpose: Purpose, now: Instant) -> Found<S> {
        match self.peek(key, now) {
            Peeked::Ready(snapshot, purpose) => Found::Ready(snapshot, purpose),
            Peeked::Pending(outcome, purpose) => Found::Pending(outcome, purpose),
            Peeked::Failed(failed) => Found::Failed(failed),
            Peeked::Missing { failures } => {
                let attempt = match purpose {
                    Purpose::Execution => failures + 1,
                    Purpose::Prewarm => 1,
                };
                Found::Missing(self.begin(key, purpose, attempt))
            }
        }
    }

    /// The same, and nothing is begun.
    pub(crate) fn peek(&mut self, key: &Key, now: Instant) -> Peeked<S> {
        self.expire(now);
        let under_way = self
            .flights
            .iter()
            .find(|flight| flight.key == *key && !flight.detached);
        if let Some(flight) = under_way {
            return Peeked::Pending(flight.outcome.subscribe(), flight.purpose);
        }
        let mut failures = 0;
        if let Some(at) = self.entries.iter().position(|entry| entry.key == *key)
            && let Some(entry) = self.entries.remove(at)
        {
            self.entries.push_back(entry);
            if let Some(entry) = self.entries.back() {
                match &entry.state {
                    State::Ready { snapshot, purpose } => return Peeked::Ready(snapshot.clone(), *purpose),
                    State::Failed { failed, attempts } => {
                        let is_shared = now < entry.since + self.limits.retry;
                        if is_shared || *attempts >= self.limits.attempts {
                            return Peeked::Failed(*failed);
                        }
                        failures = *attempts;
                    }
                }
            }
        }
        let home = key.home();
        match self.timeouts.iter().find(|timeout| timeout.home == home) {
            Some(timeout) => Peeked::Failed(timeout.failed),
            None => Peeked::Missing { failures },
        }
    }

    /// Since when an entry is as it is.
    pub(crate) fn entry_since(&self, key: &Key) -> Option<Instant> {
        let entry = self.entries.iter().find(|entry| entry.key == *key)?;
        Some(entry.since)
    }

    fn begin(&mut self, key: &Key, purpose: Purpose, attempt: u32) -> Flight<S> {
        let id = FlightId(self.next_flight);
        self.next_flight += 1;
        let (sender, outcome) = watch::channel(None);
        self.flights.push(UnderWay {
            id,
            key: key.clone(),
            purpose,
            attempt,
            outcome: sender,
            detached: false,
        });
        Flight { id, attempt, outcome }
    }

    /// Ends a capture: tells those who wait, and remembers what is to be remembered. `watched`: the startup files as
    /// they were before it.
    pub(crate) fn finish(
        &mut self,
        id: FlightId,
        result: Result<S, Failed>,
        watched: &Arc<Watched>,
        now: Instant,
    ) {
        let Some(mut flight) = self.take_flight(id) else {
            return;
        };
        if !flight.detached {
            match &result {
                Ok(snapshot) => {
                    self.learn(&flight.key, snapshot, watched, now);
                    let names = self.learned.of(&flight.key.home());
                    flight.key = flight.key.without(&names);
                    let state = State::Ready {
                        snapshot: snapshot.clone(),
                        purpose: flight.purpose,
                    };
                    self.insert(&flight.key, state, watched, now);
                }
                Err(failed) if failed.failure == Failure::Timeout => {
                    self.remember_timeout(&flight.key, *failed, watched, now);
                }
                Err(failed) if flight.purpose == Purpose::Execution => {
                    let state = State::Failed {
                        failed: *failed,
                        attempts: flight.attempt,
                    };
                    self.insert(&flight.key, state, watched, now);
                }
                // Whoever asked for it is told; it is no command's attempt.
                Err(_) => {}
            }
        }
        flight.outcome.send_replace(Some(result));
    }

    /// Learns from a snapshot that is equal to another one, whose key differs in one variable that no startup file
    /// names: that variable makes no difference.
    fn learn(&mut self, key: &Key, snapshot: &S, watched: &Watched, now: Instant) {
        let lone = self.entries.iter().find_map(|entry| match &entry.state {
            State::Ready { snapshot: other, .. } if other.is_like(snapshot) => entry.key.lone_difference(key),
            State::Ready { .. } | State::Failed { .. } => None,
        });
        let home = key.home();
        let Some(name) = lone.filter(|name| !watched.mentions(name)) else {
            return;
        };
        if !self.learned.learn(&home, &name, now) {
            return;
        }
        let names = [name];
        let entries = std::mem::take(&mut self.entries);
        // Of those whose keys are equal now, the one used last stays.
        for mut entry in entries {
            if entry.key.home() == home {
                entry.key = entry.key.without(&names);
            }
            self.entries.retain(|earlier| earlier.key != entry.key);
            self.entries.push_back(entry);
        }
        for flight in &mut self.flights {
            if flight.key.home() == home {
                flight.key = flight.key.clone().without(&names);
            }
        }
    }

    /// Whether what was learned of that key's startup files is to be looked at again: by a capture in the background,
    /// whose outcome goes to [`rechecked`](Self::rechecked).
    pub(crate) fn take_recheck(&mut self, key: &Key, now: Instant) -> bool {
        self.learned.take_due(&key.home(), now)
    }

    /// What such a capture yielded: if it is not what is cached, nothing that was learned holds.
    pub(crate) fn rechecked(&mut self, key: &Key, snapshot: &S) {
        let cached = self.entries.iter().find(|entry| entry.key == *key);
        let Some(State::Ready { snapshot: cached, .. }) = cached.map(|entry| &entry.state) else {
            return;
        };
        if !cached.is_like(snapshot) {
            let home = key.home();
            self.learned.forget(|of| *of == home);
            self.entries.retain(|entry| entry.key.home() != home);
        }
    }

    /// Ends a capture that nobody makes any more: those who wait see its end without an outcome.
    pub(crate) fn abandon(&mut self, id: FlightId) {
        self.take_flight(id);
    }

    fn take_flight(&mut self, id: FlightId) -> Option<UnderWay<S>> {
        let at = self.flights.iter().position(|flight| flight.id == id)?;
        Some(self.flights.swap_remove(at))
    }

    fn insert(&mut self, key: &Key, state: State<S>, watched: &Arc<Watched>, now: Instant) {
        self.entries.retain(|entry| entry.key != *key);
        self.entries.push_back(Entry {
            key: key.clone(),
            state,
            since: now,
            watched: Arc::clone(watched),
        });
        while self.entries.len() > self.limits.entries {
            self.entries.pop_front();
        }
    }

    /// Startup files that hang do so in every directory: whoever waits for another capture of them waits no longer.
    fn remember_timeout(&mut self, key: &Key, failed: Failed, watched: &Arc<Watched>, now: Instant) {
        let home = key.home();
        for flight in &self.flights {
            if flight.key.home() == home {
                flight.outcome.send_replace(Some(Err(failed)));
            }
        }
        self.timeouts.retain(|timeout| timeout.home != home);
        self.timeouts.push_back(Timeout {
            home,
            failed,
            since: now,
            watched: Arc::clone(watched),
        });
        while self.timeouts.len() > self.limits.timeouts {
            self.timeouts.pop_front();
        }
    }

    /// Forgets everything, or everything of one scope; gives the number of snapshots and failures forgotten. What
    /// is under way is not stored.
    pub(crate) fn invalidate(&mut self, scope: Option<&str>) -> usize {
        let is_meant = |of: &str| scope.is_none_or(|scope| scope == of);
        let before = self.entries.len() + self.timeouts.len();
        self.entries.retain(|entry| !is_meant(entry.key.scope()));
        self.timeouts.retain(|timeout| !is_meant(&timeout.home.scope));
        self.learned.forget(|home| is_meant(&home.scope));
        for flight in &mut self.flights {
            flight.detached |= is_meant(flight.key.scope());
        }
        before - self.entries.len() - self.timeouts.len()
    }

    fn expire(&mut self, now: Instant) {
        let limits = &self.limits;
        self.entries.retain(|entry| {
            let age = match entry.state {
                State::Ready { .. } => limits.max_age,
                State::Failed { .. } => limits.failure,
            };
            now < entry.since + age
        });
        self.timeouts
            .retain(|timeout| now < timeout.since + limits.failure);
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
