//! How many bytes of events may wait for their consumers.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// One count for all processes of a connection. Anyone adds and gives back; one task waits.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
    /// Told when the count falls below the limit.
    below: Notify,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            used: AtomicUsize::new(0),
            below: Notify::new(),
        }
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::AcqRel);
    }

    pub(crate) fn give_back(&self, bytes: usize) {
        let before = self.used.fetch_sub(bytes, Ordering::AcqRel);
        if before >= self.limit && before - bytes < self.limit {
            // Kept for the one that waits if it has not begun to.
            self.below.notify_one();
        }
    }

    /// Waits while the limit is reached. What is added between two waits may go beyond it.
    pub(crate) async fn room(&self) {
        while self.used.load(Ordering::Acquire) >= self.limit {
            self.below.notified().await;
        }
    }
}
