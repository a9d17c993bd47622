//! The requests that could not be answered at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::batch::Destination;
use crate::telemetry::Measure;

/// A request in work.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its id, as it came.
    pub(crate) id: Arc<str>,
    /// Where its reply goes.
    pub(crate) destination: Destination,
    /// Measures it, until it is answered.
    pub(crate) measure: Measure,
    task: Option<AbortHandle>,
}

/// Names an entry. Request ids cannot: a client may use one twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The table of requests in work, bounded.
#[derive(Debug)]
pub(crate) struct Pending {
    max: usize,
    state: Mutex<State>,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    entries: BTreeMap<u64, Entry>,
}

impl Pending {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            state: Mutex::default(),
            emptied: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most that may be in work.
    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// Whether no more may be.
    pub(crate) fn is_full(&self) -> bool {
        self.state().entries.len() >= self.max
    }

    /// Enters a request.
    pub(crate) fn insert(&self, id: Arc<str>, destination: Destination, measure: Measure) -> Ticket {
        let mut state = self.state();
        let ticket = state.next;
        state.next += 1;
        state.entries.insert(
            ticket,
            Entry {
                id,
                destination,
                measure,
                task: None,
            },
        );
        Ticket(ticket)
    }

    /// Names the task that works on it.
    pub(crate) fn set_task(&self, ticket: Ticket, task: AbortHandle) {
        if let Some(entry) = self.state().entries.get_mut(&ticket.0) {
            entry.task = Some(task);
        }
    }

    /// Takes a request out: whoever gets it, answers it.
    pub(crate) fn take(&self, ticket: Ticket) -> Option<Entry> {
        let mut state = self.state();
        let entry = state.entries.remove(&ticket.0);
        self.tell_if_empty(&state);
        entry
    }

    /// Takes out every request of that id, and stops the work on it.
    pub(crate) fn cancel(&self, id: &str) -> Vec<Entry> {
        let mut state = self.state();
        let tickets: Vec<u64> = state
            .entries
            .iter()
            .filter(|(_, entry)| is_same_id(&entry.id, id))
            .map(|(ticket, _)| *ticket)
            .collect();
        let cancelled: Vec<Entry> = tickets.iter().filter_map(|t| state.entries.remove(t)).collect();
        self.tell_if_empty(&state);
        drop(state);
        for task in cancelled.iter().filter_map(|entry| entry.task.as_ref()) {
            task.abort();
        }
        cancelled
    }

    fn tell_if_empty(&self, state: &State) {
        if state.entries.is_empty() {
            self.emptied.notify_waiters();
        }
    }

    /// Waits until nothing is in work.
    pub(crate) async fn emptied(&self) {
        loop {
            let notified = self.emptied.notified();
            if self.state().entries.is_empty() {
                return;
            }
            notified.await;
        }
    }
}

/// Whether two ids, as raw JSON, are the same: to the letter, or as strings once escapes are read.
fn is_same_id(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let text = |raw: &str| {
        if raw.contains('\\') {
            serde_json::from_str(raw).ok()
        } else {
            Some(raw.strip_prefix('"')?.strip_suffix('"')?.to_owned())
        }
    };
    text(one).is_some_and(|one: String| text(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_as_text_or_as_strings() {
        for (one, other, same) in [
            ("1", "1", true),
            ("1", "1.0", false),
            ("1", "\"1\"", false),
            (r#""a""#, r#""a""#, true),
            (r#""a""#, r#""\u0061""#, true),
            (r#""\u0061""#, r#""b""#, false),
            (r#""\ud800""#, r#""a""#, false),
            ("18446744073709551616", "18446744073709551617", false),
        ] {
            assert_eq!(is_same_id(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn an_entry_is_answered_by_one_only() {
        let pending = Pending::new(2);
        let first = pending.insert("1".into(), Destination::Line, Measure::default());
        let second = pending.insert("1".into(), Destination::Line, Measure::default());
        assert!(pending.is_full());
        assert!(pending.take(first).is_some());
        assert!(pending.take(first).is_none());
        assert_eq!(pending.cancel("1").len(), 1);
        assert!(pending.take(second).is_none());
        assert!(pending.cancel("1").is_empty());
    }
}
