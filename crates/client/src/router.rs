//! Where a line from the server goes.

use std::sync::Arc;

use exec_protocol::ProcessId;
use exec_protocol::envelope::{Envelope, Notification, Outcome, Request, Response, decode_params, find_id};
use exec_protocol::method::{self, Notification as _};
use exec_protocol::process::{
    ClosedNotification, ExitedNotification, OutputNotification, TreeEndedNotification,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::event::ProcessEvent;
use crate::line_reader::Line;
use crate::pending::Answer;
use crate::server_request::{ServerRequest, ServerRequestHandler};
use crate::shared::Shared;
use crate::subscriptions::Delivery;

/// Hands each message to whoever waits for it. Never fails: what nobody waits for is counted.
pub(crate) struct Router {
    shared: Arc<Shared>,
    handler: Option<Box<dyn ServerRequestHandler>>,
}

impl Router {
    pub(crate) fn new(shared: Arc<Shared>, handler: Option<Box<dyn ServerRequestHandler>>) -> Self {
        Self { shared, handler }
    }

    pub(crate) fn route(&mut self, line: &Line<'_>) {
        match line {
            Line::Whole(line) => self.route_message(Envelope::parse(line), line),
            Line::Oversized(prefix) => {
                self.shared.counters.oversized_lines.add_one();
                if let Some(id) = find_id(prefix) {
                    self.answer(id, Answer::TooLong);
                }
            }
        }
    }

    fn route_message(&mut self, message: Envelope<'_>, line: &[u8]) {
        match message {
            Envelope::Notification(notification) => self.notify(&notification),
            Envelope::Response(Response { id, outcome }) => self.answer(
                id,
                match outcome {
                    Outcome::Result(result) => Answer::Result(result.to_owned()),
                    Outcome::Error(error) => Answer::Error(error),
                },
            ),
            Envelope::Request(Request {
                id, method, params, ..
            }) => {
                let request = ServerRequest::new(
                    method.into_owned(),
                    params.map(RawValue::to_owned),
                    id.to_owned(),
                    Arc::clone(&self.shared.outgoing),
                );
                match &mut self.handler {
                    Some(handler) => handler.handle(request),
                    // Its drop answers it.
                    None => drop(request),
                }
            }
            Envelope::Batch(entries) => {
                for entry in entries {
                    self.route_message(Envelope::parse_entry(entry), &[]);
                }
            }
            // An empty line between messages is nothing.
            Envelope::Invalid(_) if line.trim_ascii().is_empty() => {}
            Envelope::Invalid(_) => self.shared.counters.invalid_lines.add_one(),
        }
    }

    fn answer(&self, id: &RawValue, answer: Answer) {
        let Some(pending) = self.shared.pending.take(id) else {
            self.shared.counters.unsolicited_responses.add_one();
            return;
        };
        let has_started = matches!(answer, Answer::Result(_));
        if let Some(process_id) = &pending.starts
            && !has_started
        {
            self.shared.subscriptions.remove(process_id);
        }
        // Nobody waits for a call that was dropped; a process that it started must not be left.
        if pending.answer.send(answer).is_err()
            && has_started
            && let Some(process_id) = &pending.starts
        {
            self.shared.terminate_unwaited(process_id);
        }
    }

    fn notify(&self, notification: &Notification<'_>) {
        let params = notification.params;
        match &*notification.method {
            method::Output::NAME => self.event(params, |output: OutputNotification| {
                (output.process_id.clone(), ProcessEvent::Output(output))
            }),
            method::Exited::NAME => self.event(params, |exited: ExitedNotification| {
                (exited.process_id.clone(), ProcessEvent::Exited(exited))
            }),
            method::Closed::NAME => self.event(params, |closed: ClosedNotification| {
                (closed.process_id.clone(), ProcessEvent::Closed(closed))
            }),
            method::TreeEnded::NAME => self.event(params, |ended: TreeEndedNotification| {
                (ended.process_id, ProcessEvent::TreeEnded)
            }),
            _ => self.shared.counters.unknown_notifications.add_one(),
        }
    }

    fn event<P: DeserializeOwned>(
        &self,
        params: Option<&RawValue>,
        event: impl FnOnce(P) -> (ProcessId, ProcessEvent),
    ) {
        let counters = &self.shared.counters;
        let Ok(params) = decode_params(params) else {
            counters.invalid_notifications.add_one();
            return;
        };
        let (process_id, event) = event(params);
        match self.shared.subscriptions.deliver(&process_id, event) {
            Delivery::Delivered => {}
            Delivery::AfterGap => counters.sequence_gaps.add_one(),
            Delivery::Unclaimed => counters.unclaimed_notifications.add_one(),
        }
    }
}
