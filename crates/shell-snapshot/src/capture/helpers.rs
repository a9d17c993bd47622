//! What captures left alive on purpose.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exec_process::{Helpers, Hidden};

/// The captures of which helpers live on, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Alive(Mutex<VecDeque<Arc<Helpers>>>);

impl Alive {
    /// Leaves a capture's helpers alone. Of more captures than `max`, the oldest's are ended.
    pub(super) fn leave(self: &Arc<Self>, hidden: Hidden, max: usize) {
        let helpers = Arc::new(hidden.into_helpers());
        let mut alive = self.lock();
        alive.push_back(Arc::clone(&helpers));
        let beyond = alive.len().saturating_sub(max);
        let ended: Vec<Arc<Helpers>> = alive.drain(..beyond).collect();
        drop(alive);
        for helpers in ended {
            helpers.kill();
            tracing::warn!(
                max,
                "what an early capture of a shell had started was ended: too many have helpers"
            );
        }
        let this = Arc::clone(self);
        tokio::spawn(async move {
            helpers.ended().await;
            this.lock().retain(|alive| !Arc::ptr_eq(alive, &helpers));
        });
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Helpers>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
