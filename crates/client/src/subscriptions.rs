//! Which process's events go into which queue.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exec_protocol::ProcessId;

use crate::Closed;
use crate::budget::Budget;
use crate::event::{EventQueue, ProcessEvent};

/// What became of an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Queued, or dropped because its consumer is gone.
    Delivered,
    /// The same; and at least one before it never came.
    AfterGap,
    /// No such process was started here, or it is over.
    Unclaimed,
}

/// A process this client started.
#[derive(Debug)]
struct Subscription {
    queue: Arc<EventQueue>,
    /// Only the end of its tree may still come; its id is free.
    closed: bool,
}

/// The queues by process, until the last event of each.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    state: Mutex<State>,
    pub(crate) budget: Arc<Budget>,
}

#[derive(Debug, Default)]
struct State {
    by_process: HashMap<ProcessId, Subscription>,
    /// The session asked to be told when a tree ended after `closed`.
    tree_ends_are_told: bool,
    ended: Option<Closed>,
}

impl Subscriptions {
    pub(crate) fn new(event_buffer_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            budget: Arc::new(Budget::new(event_buffer_bytes)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `process/treeEnded` is to be waited for.
    pub(crate) fn tell_tree_ends(&self, told: bool) {
        self.lock().tree_ends_are_told = told;
    }

    /// Registers a process about to be started; `None` if one of that id has not closed.
    pub(crate) fn register(&self, id: &ProcessId) -> Option<Arc<EventQueue>> {
        let queue = Arc::new(EventQueue::new(Arc::clone(&self.budget)));
        let mut state = self.lock();
        if let Some(why) = &state.ended {
            queue.cut(why.clone());
            return Some(queue);
        }
        let subscription = Subscription {
            queue: Arc::clone(&queue),
            closed: false,
        };
        match state.by_process.entry(id.clone()) {
            Entry::Vacant(vacant) => {
                vacant.insert(subscription);
            }
            Entry::Occupied(occupied) if !occupied.get().closed => return None,
            Entry::Occupied(mut occupied) => {
                // The old record is dropped by the server too, so its tree's end is told no more.
                occupied.insert(subscription).queue.complete();
            }
        }
        Some(queue)
    }

    /// The process did not start.
    pub(crate) fn remove(&self, id: &ProcessId) {
        if let Some(subscription) = self.lock().by_process.remove(id) {
            subscription.queue.complete();
        }
    }

    pub(crate) fn deliver(&self, id: &ProcessId, event: ProcessEvent) -> Delivery {
        let mut state = self.lock();
        let tree_ends_are_told = state.tree_ends_are_told;
        let Entry::Occupied(mut occupied) = state.by_process.entry(id.clone()) else {
            return Delivery::Unclaimed;
        };
        // The end of a tree whose id was taken over by the process that starts now.
        if event == ProcessEvent::TreeEnded && !occupied.get().closed {
            return Delivery::Unclaimed;
        }
        let is_last = match &event {
            ProcessEvent::Output(_) | ProcessEvent::Exited(_) => false,
            ProcessEvent::Closed(closed) => {
                occupied.get_mut().closed = true;
                let tree_may_live = closed
                    .tree
                    .is_some_and(|tree| tree != exec_protocol::exit::Tree::Ended);
                !(tree_ends_are_told && tree_may_live)
            }
            ProcessEvent::TreeEnded => true,
        };
        let queue = Arc::clone(&occupied.get().queue);
        if is_last {
            occupied.remove();
        }
        drop(state);
        let in_order = queue.push(event);
        if is_last {
            queue.complete();
        }
        if in_order {
            Delivery::Delivered
        } else {
            Delivery::AfterGap
        }
    }

    /// The connection ended.
    pub(crate) fn end(&self, why: &Closed) {
        let mut state = self.lock();
        state.ended.get_or_insert_with(|| why.clone());
        let by_process = std::mem::take(&mut state.by_process);
        drop(state);
        for subscription in by_process.into_values() {
            subscription.queue.cut(why.clone());
        }
    }
}
