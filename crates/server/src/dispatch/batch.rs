//! Where a reply goes: a line of its own, or the array of its batch.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::outbox::{Outbox, Reply};

/// Where a reply goes.
#[derive(Debug, Clone)]
pub(crate) enum Destination {
    /// A line of its own.
    Line,
    /// A place in a batch's array.
    Batch(Arc<Batch>, usize),
}

impl Destination {
    /// Sends a reply there.
    pub(crate) fn deliver(&self, outbox: &Outbox, reply: Reply) {
        match self {
            Self::Line => outbox.push(reply),
            Self::Batch(batch, place) => {
                if let Some(whole) = batch.fill(*place, reply) {
                    outbox.push(whole);
                }
            }
        }
    }
}

/// Gathers the replies of a batch; the array leaves when all are there.
#[derive(Default)]
pub(crate) struct Batch(Mutex<State>);

#[derive(Default)]
struct State {
    replies: Vec<Option<Reply>>,
    filled: usize,
    bytes: usize,
    sealed: bool,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        write!(f, "Batch({} of {} replies)", state.filled, state.replies.len())
    }
}

impl Batch {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of the replies so far.
    pub(crate) fn bytes(&self) -> usize {
        self.state().bytes
    }

    /// A place for one more reply.
    pub(crate) fn place(self: &Arc<Self>) -> Destination {
        let mut state = self.state();
        state.replies.push(None);
        Destination::Batch(Arc::clone(self), state.replies.len() - 1)
    }

    /// No more places come. The array, if it is whole already; `None` also if there is nothing to answer.
    pub(crate) fn seal(&self) -> Option<Reply> {
        let mut state = self.state();
        state.sealed = true;
        state.whole()
    }

    /// Puts a reply in its place. The array, once it is whole.
    fn fill(&self, place: usize, reply: Reply) -> Option<Reply> {
        let mut state = self.state();
        state.bytes += reply.line.len();
        state.filled += 1;
        state.replies[place] = Some(reply);
        state.whole()
    }
}

impl State {
    fn whole(&mut self) -> Option<Reply> {
        if !self.sealed || self.filled < self.replies.len() || self.replies.is_empty() {
            return None;
        }
        let mut whole = Reply {
            line: Vec::with_capacity(self.bytes + 2),
            after: Vec::new(),
        };
        whole.line.push(b'[');
        for reply in self.replies.drain(..).flatten() {
            if whole.line.len() > 1 {
                whole.line.push(b',');
            }
            whole.line.extend_from_slice(reply.line.trim_ascii_end());
            whole.after.extend(reply.after);
        }
        whole.line.extend_from_slice(b"]\n");
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(line: &str) -> Reply {
        Reply {
            line: line.into(),
            after: Vec::new(),
        }
    }

    fn fill(destination: &Destination, line: &str) -> Option<String> {
        let Destination::Batch(batch, place) = destination else {
            panic!()
        };
        batch
            .fill(*place, reply(line))
            .map(|whole| String::from_utf8(whole.line).unwrap())
    }

    #[test]
    fn the_array_leaves_when_all_are_answered_in_the_order_asked() {
        let batch = Arc::new(Batch::default());
        let (one, two) = (batch.place(), batch.place());
        assert_eq!(fill(&two, "{2}\n"), None);
        assert!(batch.seal().is_none());
        assert_eq!(fill(&one, "{1}\n").as_deref(), Some("[{1},{2}]\n"));
    }

    #[test]
    fn answers_that_come_at_once_leave_with_the_seal() {
        let batch = Arc::new(Batch::default());
        assert_eq!(fill(&batch.place(), "{1}\n"), None);
        assert_eq!(batch.seal().unwrap().line, b"[{1}]\n");
    }

    #[test]
    fn notifications_only_are_answered_with_nothing() {
        assert!(Batch::default().seal().is_none());
    }
}
