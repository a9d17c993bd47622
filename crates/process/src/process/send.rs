//! What a process tells: notifications pushed to the subscriber, pages pulled by reads.

use std::pin::pin;
use std::sync::Arc;

use exec_protocol::exit::Tree;

use super::budget::cost;
use super::output_log::{Entry, Event};
use super::process::Inner;
use super::state::State;
use super::{Notification, Process, ReadPage};

impl Process {
    /// Its start reply has left: notifications may follow. Until then the subscriber is not called.
    pub fn open_notifications(self: &Arc<Self>) {
        self.update(|inner| inner.opened = true);
    }

    /// The next notification, which counts as sent once it is returned: its bytes leave the back-pressure
    /// budget. `None`: nothing now; the subscriber will be called.
    pub fn next_notification(&self) -> Option<Notification> {
        let mut inner = self.lock();
        if !inner.opened {
            return None;
        }
        let Some(entry) = inner.log.take_unsent() else {
            if std::mem::take(&mut inner.owes_tree_ended) {
                return Some(Notification::TreeEnded);
            }
            inner.announced = false;
            return None;
        };
        if let Event::Output { bytes, .. } = &entry.event {
            self.session.budget.give_back(cost(bytes.len()));
        }
        let notification = inner.tell(entry);
        let room = self.has_own_room(&inner);
        drop(inner);
        if room {
            self.room.notify_waiters();
        }
        notification
    }

    /// What is retained after `after_seq`: whole chunks while they fit `max_bytes`, at least one if there is one.
    pub fn read(&self, after_seq: u64, max_bytes: usize) -> ReadPage {
        let inner = self.lock();
        let page = inner.log.page(after_seq, max_bytes);
        let outcome = inner.state.outcome();
        ReadPage {
            chunks: page.chunks,
            next_seq: page.next_seq,
            exit_code: outcome.map(|outcome| outcome.exit_code),
            cause: outcome.map(|outcome| outcome.cause),
            signal: outcome.and_then(|outcome| outcome.signal),
            closed: matches!(inner.state, State::Closed { .. }),
            failure: inner.failure.clone(),
            first_seq: inner.log.first_seq(),
            evicted_bytes: inner.log.evicted_bytes(),
        }
    }

    /// Waits until an event after `after_seq` exists, the process is closed, or the session is ending.
    /// Cancel-safe.
    pub async fn event_after(&self, after_seq: u64) {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let inner = self.lock();
                let over = matches!(inner.state, State::Closed { .. } | State::Failed(_));
                if over || inner.log.next_seq() > after_seq.saturating_add(1) || self.session.is_ending() {
                    return;
                }
            }
            changed.await;
        }
    }

    /// Whether this process may have more of its output read, as far as it goes by itself.
    pub(super) fn has_own_room(&self, inner: &Inner) -> bool {
        let limits = &self.session.limits;
        inner.log.unsent_bytes() < limits.process_unsent_bytes
            && inner.log.unsent_events() < limits.process_unsent_events
    }
}

impl Inner {
    /// A logged event as it is told: the numbers of `closed` are those of the moment it is sent.
    fn tell(&mut self, entry: Entry) -> Option<Notification> {
        let seq = entry.seq;
        match entry.event {
            Event::Output {
                stream,
                offset,
                bytes,
            } => Some(Notification::Output {
                seq,
                stream,
                offset,
                bytes,
            }),
            Event::Exited => {
                let outcome = self.state.outcome()?;
                Some(Notification::Exited {
                    seq,
                    exit_code: outcome.exit_code,
                    signal: outcome.signal,
                    cause: outcome.cause,
                    duration: outcome.duration,
                    usage: outcome.usage,
                })
            }
            Event::Closed => {
                let tree: Tree = self.tree;
                self.closed_said = Some(tree);
                Some(Notification::Closed {
                    seq,
                    output_bytes: self.log.logged_bytes(None),
                    tree,
                })
            }
        }
    }
}
