//! The output that all processes together may have read and not sent.

use std::sync::atomic::{AtomicUsize, Ordering};

use exec_protocol::limits::CHUNK_OVERHEAD_BYTES;
use tokio::sync::Notify;

/// What a chunk of so many bytes costs.
pub(crate) fn cost(bytes: usize) -> usize {
    bytes + CHUNK_OVERHEAD_BYTES
}

/// One budget for all processes of a session.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
    room: Notify,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            used: AtomicUsize::new(0),
            room: Notify::new(),
        }
    }

    /// Whether another chunk may be read. It may overshoot by that one chunk.
    pub(crate) fn has_room(&self) -> bool {
        self.used.load(Ordering::Relaxed) < self.limit
    }

    /// Wakes its waiters when room comes to be.
    pub(crate) fn room(&self) -> &Notify {
        &self.room
    }

    /// Takes `cost`.
    pub(crate) fn take(&self, cost: usize) {
        self.used.fetch_add(cost, Ordering::Relaxed);
    }

    /// Gives `cost` back.
    pub(crate) fn give_back(&self, cost: usize) {
        let before = self.used.fetch_sub(cost, Ordering::Relaxed);
        if before >= self.limit && before - cost < self.limit {
            self.room.notify_waiters();
        }
    }

    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}
