//! Requests that wait for their answers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use exec_protocol::{ProcessId, RpcError};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::Closed;

/// What came back for a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Its result, unparsed.
    Result(Box<RawValue>),
    /// The server's error.
    Error(RpcError),
    /// A line over the cap.
    TooLong,
}

/// A request that was sent. It stays until it is answered, also when nobody waits any more.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) answer: oneshot::Sender<Answer>,
    /// For a start: which process.
    pub(crate) starts: Option<ProcessId>,
}

/// The table of sent requests by id.
#[derive(Debug, Default)]
pub(crate) struct PendingTable {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    by_id: HashMap<u64, Pending>,
    ended: Option<Closed>,
}

impl PendingTable {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(
        &self,
        id: u64,
        starts: Option<ProcessId>,
    ) -> Result<oneshot::Receiver<Answer>, Closed> {
        let (answer, receiver) = oneshot::channel();
        let mut state = self.lock();
        if let Some(why) = &state.ended {
            return Err(why.clone());
        }
        state.by_id.insert(id, Pending { answer, starts });
        Ok(receiver)
    }

    /// Takes the request that an answer's id names.
    pub(crate) fn take(&self, id: &RawValue) -> Option<Pending> {
        let id: u64 = id.get().parse().ok()?;
        self.lock().by_id.remove(&id)
    }

    /// Forgets a request that was never sent.
    pub(crate) fn forget(&self, id: u64) {
        self.lock().by_id.remove(&id);
    }

    /// Why the connection ended, if it has.
    pub(crate) fn ended(&self) -> Option<Closed> {
        self.lock().ended.clone()
    }

    /// The connection ended: fails every request, and every later one.
    pub(crate) fn end(&self, why: &Closed) {
        let mut state = self.lock();
        state.ended.get_or_insert_with(|| why.clone());
        // Dropping the senders tells the callers, who then ask `ended`.
        let pending = std::mem::take(&mut state.by_id);
        drop(state);
        drop(pending);
    }
}
