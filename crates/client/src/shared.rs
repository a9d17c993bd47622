//! What the handles and the connection's task share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use exec_protocol::ProcessId;
use exec_protocol::envelope::write;
use exec_protocol::method::{self, Method as _, Notification as _};
use exec_protocol::process::TerminateParams;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::outgoing::Outgoing;
use crate::pending::PendingTable;
use crate::stats::Counters;
use crate::subscriptions::Subscriptions;
use crate::{ClientLimits, Closed};

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) limits: ClientLimits,
    pub(crate) outgoing: Arc<Outgoing>,
    pub(crate) pending: PendingTable,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) counters: Counters,
    last_id: AtomicU64,
}

impl Shared {
    pub(crate) fn new(limits: ClientLimits) -> Self {
        Self {
            outgoing: Arc::new(Outgoing::new(limits.outgoing_bytes)),
            pending: PendingTable::default(),
            subscriptions: Subscriptions::new(limits.event_buffer_bytes),
            counters: Counters::default(),
            last_id: AtomicU64::new(0),
            limits,
        }
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The connection is over: everyone who waits is told, and everyone who comes.
    pub(crate) fn end(&self, why: &Closed) {
        self.outgoing.fail(why.clone());
        self.pending.end(why);
        self.subscriptions.end(why);
    }

    /// Tells the server that nobody waits for this answer.
    pub(crate) fn cancel(&self, id: u64) {
        let params = method::CancelParams { id: id.into() };
        let mut line = Vec::new();
        if write::notification(&mut line, method::CancelRequest::NAME, &params, None).is_ok() {
            line.push(b'\n');
            self.outgoing.push_now(&line);
        }
    }

    /// Ends a process whose start was dropped after the server had done it.
    pub(crate) fn terminate_unwaited(&self, process_id: &ProcessId) {
        let params = TerminateParams {
            process_id: process_id.clone(),
            grace_ms: None,
        };
        let id = self.next_id();
        if let Ok(line) = request_line(id, method::Terminate::NAME, &params)
            && self.pending.insert(id, None).is_ok()
        {
            self.outgoing.push_now(&line);
        }
    }
}

/// Closes the connection when the last of them is dropped.
#[derive(Debug)]
pub(crate) struct Handle(Arc<Shared>);

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.outgoing.close();
    }
}

/// A request and its newline.
pub(crate) fn request_line(id: u64, method: &str, params: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let id = RawValue::from_string(id.to_string())?;
    let mut line = Vec::new();
    write::request(&mut line, &id, method, params, None)?;
    line.push(b'\n');
    Ok(line)
}
