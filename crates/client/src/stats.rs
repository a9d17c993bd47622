//! What the client ignored: a server may say more than a client knows, and that must be visible.

use std::sync::atomic::{AtomicU64, Ordering};

/// Messages a client ignored since it was connected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Notifications of a method this client does not know.
    pub unknown_notifications: u64,
    /// Notifications about a process that was not started through [`Client::start`](crate::Client::start),
    /// or is over.
    pub unclaimed_notifications: u64,
    /// Notifications that a known method does not take.
    pub invalid_notifications: u64,
    /// Notifications whose `seq` was not the one after the last: the server lost some.
    pub sequence_gaps: u64,
    /// Responses to no pending request.
    pub unsolicited_responses: u64,
    /// Lines that are not a message.
    pub invalid_lines: u64,
    /// Lines over the cap.
    pub oversized_lines: u64,
}

/// One count of [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts behind [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) unknown_notifications: Counter,
    pub(crate) unclaimed_notifications: Counter,
    pub(crate) invalid_notifications: Counter,
    pub(crate) sequence_gaps: Counter,
    pub(crate) unsolicited_responses: Counter,
    pub(crate) invalid_lines: Counter,
    pub(crate) oversized_lines: Counter,
}

impl Counters {
    pub(crate) fn snapshot(&self) -> Stats {
        Stats {
            unknown_notifications: self.unknown_notifications.get(),
            unclaimed_notifications: self.unclaimed_notifications.get(),
            invalid_notifications: self.invalid_notifications.get(),
            sequence_gaps: self.sequence_gaps.get(),
            unsolicited_responses: self.unsolicited_responses.get(),
            invalid_lines: self.invalid_lines.get(),
            oversized_lines: self.oversized_lines.get(),
        }
    }
}
