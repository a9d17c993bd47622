//! What a process has to say, and the queue it waits in.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exec_protocol::process::{ClosedNotification, ExitedNotification, OutputNotification};
use tokio::sync::Notify;

use crate::Closed;
use crate::budget::Budget;

/// One notification about a process.
#[derive(Debug, Clone, PartialEq)]
pub enum ProcessEvent {
    /// Bytes it printed.
    Output(OutputNotification),
    /// The leader ended; output may still follow.
    Exited(ExitedNotification),
    /// All output streams are at end.
    Closed(ClosedNotification),
    /// After [`ProcessEvent::Closed`]: the last thing it started is gone.
    TreeEnded,
}

impl ProcessEvent {
    /// Its number among the events of its process, if it is a numbered one.
    #[must_use]
    pub fn seq(&self) -> Option<u64> {
        match self {
            Self::Output(output) => Some(output.seq),
            Self::Exited(exited) => Some(exited.seq),
            Self::Closed(closed) => Some(closed.seq),
            Self::TreeEnded => None,
        }
    }

    /// Memory it holds, roughly.
    fn cost(&self) -> usize {
        let bytes = match self {
            Self::Output(output) => output.chunk.0.len() + output.process_id.len(),
            Self::Exited(_) | Self::Closed(_) | Self::TreeEnded => 0,
        };
        bytes + size_of::<Self>()
    }
}

/// How a stream of events ends.
#[derive(Debug, Clone)]
enum End {
    /// Everything was said.
    Complete,
    /// The connection ended first.
    Cut(Closed),
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<ProcessEvent>,
    last_seq: u64,
    end: Option<End>,
    /// The consumer is gone: nothing is kept for it.
    abandoned: bool,
}

/// Events of one process between the connection's task and their consumer.
#[derive(Debug)]
pub(crate) struct EventQueue {
    state: Mutex<State>,
    budget: Arc<Budget>,
    /// Told when there is an event, or the end.
    ready: Notify,
}

impl EventQueue {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self {
            state: Mutex::default(),
            budget,
            ready: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an event, unless nobody takes it any more. False when its number is not the next one.
    pub(crate) fn push(&self, event: ProcessEvent) -> bool {
        let mut state = self.lock();
        let in_order = event.seq().is_none_or(|seq| {
            let before = std::mem::replace(&mut state.last_seq, seq);
            before.checked_add(1) == Some(seq)
        });
        if !state.abandoned && state.end.is_none() {
            self.budget.add(event.cost());
            state.events.push_back(event);
            drop(state);
            self.ready.notify_one();
        }
        in_order
    }

    /// Nothing follows what is queued.
    pub(crate) fn complete(&self) {
        self.end(End::Complete);
    }

    /// The connection ended: nothing follows what is queued, though it should have.
    pub(crate) fn cut(&self, why: Closed) {
        self.end(End::Cut(why));
    }

    fn end(&self, end: End) {
        self.lock().end.get_or_insert(end);
        self.ready.notify_one();
    }

    /// Drops what is queued, and whatever comes.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.abandoned = true;
        let events = std::mem::take(&mut state.events);
        drop(state);
        self.budget
            .give_back(events.iter().map(ProcessEvent::cost).sum::<usize>());
    }

    /// The next event; `Ok(None)` after the last. For one consumer. Cancel-safe.
    pub(crate) async fn next(&self) -> Result<Option<ProcessEvent>, Closed> {
        loop {
            {
                let mut state = self.lock();
                if let Some(event) = state.events.pop_front() {
                    drop(state);
                    self.budget.give_back(event.cost());
                    return Ok(Some(event));
                }
                match &state.end {
                    Some(End::Complete) => return Ok(None),
                    Some(End::Cut(why)) => return Err(why.clone()),
                    None => {}
                }
            }
            self.ready.notified().await;
        }
    }
}
