//! Reads each line's envelope and sees that it is answered.
//!
//! Lines are handled in order. Each handler is polled once at once, so what it does before it first waits
//! happens in the order the requests came; if it waits, a task of its own goes on with it.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use exec_protocol::envelope::{Envelope, Invalid, Notification, Request, decode_params, find_id};
use exec_protocol::method::{CancelRequest, Initialized, Notification as _};
use exec_protocol::{ErrorKind, RpcError};
use exec_telemetry::RequestSpan;
use jsonrpsee::types::{Id, Params};
use jsonrpsee::{ConnectionId, Extensions, MethodCallback, MethodResponse};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::batch::{Batch, Destination};
use super::pending::Pending;
use super::router::{Call, Router, error_reply, reply};
use super::{Handshake, OutgoingRequests};
use crate::outbox::Outbox;
use crate::telemetry::{Measure, Probes, handed_down};
use crate::transport::line_buffer::Line;

/// Sends each message where it belongs.
pub(crate) struct Dispatcher {
    /// The methods there are.
    pub(crate) router: Router,
    /// The state of the connection.
    pub(crate) handshake: Arc<Handshake>,
    /// Where replies go.
    pub(crate) outbox: Arc<Outbox>,
    /// Requests in work.
    pub(crate) pending: Arc<Pending>,
    /// Requests of ours.
    pub(crate) outgoing: Arc<OutgoingRequests>,
    /// The longest line, for the error that says so.
    pub(crate) max_line_bytes: usize,
    /// Bytes of replies after which the rest of a batch is refused.
    pub(crate) max_batch_reply_bytes: usize,
    /// Messages that were ignored.
    pub(crate) ignored: AtomicU64,
    /// Where requests are measured.
    pub(crate) probes: Probes,
}

/// A handler at work.
type Work = Pin<Box<dyn Future<Output = MethodResponse> + Send>>;

/// Params of `$/cancelRequest`, the id as it came.
#[derive(Deserialize)]
struct CancelParams {
    id: Box<RawValue>,
}

impl Dispatcher {
    /// Handles a line, which had come at `arrived`, if anybody wants to know. Never waits. A blank line is nothing.
    pub(crate) fn handle(self: &Arc<Self>, line: Line<'_>, arrived: Option<Instant>) {
        match line {
            Line::Complete(line) if line.trim_ascii().is_empty() => {}
            Line::Complete(line) => match Envelope::parse(line) {
                Envelope::Batch(entries) => self.batch(&entries, arrived),
                envelope => self.message(envelope, || Destination::Line, arrived),
            },
            Line::TooLong(prefix) => {
                let limit_bytes = self.max_line_bytes as u64;
                let error = ErrorKind::LineTooLong { limit_bytes }
                    .into_error(format!("line too long: {limit_bytes} bytes at most"));
                self.refuse(find_id(prefix), &Destination::Line, &error);
            }
        }
    }

    fn batch(self: &Arc<Self>, entries: &[&RawValue], arrived: Option<Instant>) {
        let max = self.pending.max();
        if entries.len() > max {
            let error = limit_reached("maxPendingRequests", max, "a batch of too many entries");
            return self.refuse(None, &Destination::Line, &error);
        }
        let batch = Arc::new(Batch::default());
        for entry in entries {
            self.message(Envelope::parse_entry(entry), || batch.place(), arrived);
        }
        if let Some(whole) = batch.seal() {
            self.outbox.push(whole);
        }
    }

    /// Handles one message. `destination` is asked for only if there is something to answer.
    fn message(
        self: &Arc<Self>,
        envelope: Envelope<'_>,
        destination: impl FnOnce() -> Destination,
        arrived: Option<Instant>,
    ) {
        match envelope {
            Envelope::Request(request) => {
                let trace = request.trace.as_ref();
                let measure = Measure::begin(&self.probes, &request.method, trace, arrived);
                self.request(&request, destination(), measure);
            }
            Envelope::Notification(notification) => self.notification(&notification),
            Envelope::Response(response) => {
                if !self.outgoing.answer(response) {
                    self.ignore("a response that nobody waits for");
                }
            }
            Envelope::Invalid(Invalid { id, error }) => self.refuse(id, &destination(), &error),
            // A batch in a batch is invalid, and is read as that.
            Envelope::Batch(_) => self.ignore("a batch in a batch"),
        }
    }

    fn notification(&self, notification: &Notification<'_>) {
        match notification.method.as_ref() {
            Initialized::NAME => {
                if !self.handshake.complete() {
                    self.ignore("`initialized` out of turn");
                }
            }
            CancelRequest::NAME => match decode_params::<CancelParams>(notification.params) {
                Ok(params) => self.cancel(params.id.get()),
                Err(_) => self.ignore("`$/cancelRequest` without an id"),
            },
            method if self.router.method(method).is_some() => self.ignore("a request without an id"),
            _ => self.ignore("an unknown notification"),
        }
    }

    fn cancel(&self, id: &str) {
        let error = ErrorKind::RequestCancelled.into_error("cancelled");
        for entry in self.pending.cancel(id) {
            entry
                .destination
                .deliver(&self.outbox, error_reply(Some(&entry.id), &error));
            entry.measure.answered(false);
        }
    }

    fn request(self: &Arc<Self>, request: &Request<'_>, destination: Destination, measure: Measure) {
        let id: Arc<str> = request.id.get().into();
        let refuse = |error: &RpcError, measure: Measure| {
            destination.deliver(&self.outbox, error_reply(Some(&id), error));
            measure.answered(false);
        };
        let mut work = match self.work(request, &id, &destination, measure.span()) {
            Ok(work) => work,
            Err(error) => return refuse(&error, measure),
        };
        // Unconstrained: a spent budget must not make a handler wait that could act in its turn.
        let first = pin!(tokio::task::unconstrained(&mut work)).poll(&mut Context::from_waker(Waker::noop()));
        match first {
            Poll::Ready(response) => {
                let success = response.is_success();
                destination.deliver(&self.outbox, reply(&id, response));
                measure.answered(success);
            }
            Poll::Pending if self.pending.is_full() => {
                let error = limit_reached(
                    "maxPendingRequests",
                    self.pending.max(),
                    "too many requests in work",
                );
                refuse(&error, measure);
            }
            Poll::Pending => self.spawn(id, destination, measure, work),
        }
    }

    /// What is to be done for a request, unless it is refused.
    fn work(
        &self,
        request: &Request<'_>,
        id: &Arc<str>,
        destination: &Destination,
        span: RequestSpan,
    ) -> Result<Work, RpcError> {
        if let Destination::Batch(batch, _) = destination
            && batch.bytes() >= self.max_batch_reply_bytes
        {
            let max = self.max_batch_reply_bytes;
            return Err(limit_reached(
                "replyQueueBytes",
                max,
                "the replies of this batch are too large",
            ));
        }
        let Some((name, callback)) = self.router.method(&request.method) else {
            return Err(unknown_method(&request.method));
        };
        self.handshake.admit(name)?;
        let mut extensions = Extensions::new();
        extensions.insert(Call {
            id: Arc::clone(id),
            trace: handed_down(&span, request.trace.as_ref()),
            span,
            in_batch: matches!(destination, Destination::Batch(..)),
        });
        let params = Params::new(request.params.map(RawValue::get));
        let MethodCallback::Async(callback) = callback else {
            // The router registers no other.
            return Err(RpcError::internal("not callable"));
        };
        let connection = ConnectionId::default();
        Ok(callback(
            Id::Null,
            params.into_owned(),
            connection,
            usize::MAX,
            extensions,
        ))
    }

    fn spawn(
        self: &Arc<Self>,
        id: Arc<str>,
        destination: Destination,
        measure: Measure,
        work: impl Future<Output = MethodResponse> + Send + 'static,
    ) {
        let ticket = self.pending.insert(id, destination, measure);
        let pending = Arc::clone(&self.pending);
        let outbox = Arc::clone(&self.outbox);
        let task = tokio::spawn(async move {
            let response = work.await;
            // Nothing to take: it was cancelled and answered meanwhile.
            if let Some(entry) = pending.take(ticket) {
                let success = response.is_success();
                entry.destination.deliver(&outbox, reply(&entry.id, response));
                entry.measure.answered(success);
            }
        });
        self.pending.set_task(ticket, task.abort_handle());
    }

    /// Refuses what is not a request.
    fn refuse(&self, id: Option<&RawValue>, destination: &Destination, error: &RpcError) {
        let measure = Measure::begin(&self.probes, "", None, None);
        destination.deliver(&self.outbox, error_reply(id.map(RawValue::get), error));
        measure.answered(false);
    }

    /// Counts a message that is not answered, and warns. What it said is not logged.
    fn ignore(&self, what: &'static str) {
        let count = self.ignored.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(count, "ignored {what}");
    }
}

/// A limit of the daemon that a request ran into.
pub(crate) fn limit_reached(limit: &str, value: usize, message: &str) -> RpcError {
    let kind = ErrorKind::LimitReached {
        limit: limit.to_owned(),
        value: value as u64,
    };
    kind.into_error(format!("{message}: {value} at most"))
}

fn unknown_method(method: &str) -> RpcError {
    let shown: String = method.chars().take(80).collect();
    let message = match exec_protocol::method::NOTIFICATIONS.contains(&method) {
        true => format!("{shown:?} is a notification: send it without `id`"),
        false => format!("unknown method {shown:?}"),
    };
    RpcError::method_not_found(message)
}

#[cfg(test)]
#[path = "dispatcher_tests.rs"]
mod tests;
