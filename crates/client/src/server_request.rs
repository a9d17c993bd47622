//! Requests from the server to this client.

use std::sync::Arc;

use exec_protocol::RpcError;
use exec_protocol::envelope::write;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::outgoing::Outgoing;

/// Answers the server's requests.
///
/// Called on the connection's task, so it must not block: hand a request that takes time to another task or
/// a channel. Every `FnMut(ServerRequest)` is one.
pub trait ServerRequestHandler: Send + 'static {
    /// Answers `request`, now or later. One that is dropped without an answer is answered `-32601`.
    fn handle(&mut self, request: ServerRequest);
}

impl<F: FnMut(ServerRequest) + Send + 'static> ServerRequestHandler for F {
    fn handle(&mut self, request: ServerRequest) {
        self(request);
    }
}

/// A request from the server, to be answered once.
#[derive(Debug)]
pub struct ServerRequest {
    method: String,
    params: Option<Box<RawValue>>,
    id: Box<RawValue>,
    /// `None` once answered.
    outgoing: Option<Arc<Outgoing>>,
}

impl ServerRequest {
    pub(crate) fn new(
        method: String,
        params: Option<Box<RawValue>>,
        id: Box<RawValue>,
        outgoing: Arc<Outgoing>,
    ) -> Self {
        Self {
            method,
            params,
            id,
            outgoing: Some(outgoing),
        }
    }

    /// Which method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Its params, for [`decode_params`](exec_protocol::envelope::decode_params).
    #[must_use]
    pub fn params(&self) -> Option<&RawValue> {
        self.params.as_deref()
    }

    /// Sends the answer. A result that is not JSON (a map with keys that are no strings) becomes `-32603`.
    pub fn answer<T: Serialize>(mut self, answer: Result<T, RpcError>) {
        let mut line = Vec::new();
        let error = match answer {
            Ok(result) => match write::response(&mut line, &self.id, &result) {
                Ok(()) => None,
                Err(error) => Some(RpcError::internal(format!(
                    "failed to encode the result: {error}"
                ))),
            },
            Err(error) => Some(error),
        };
        if let Some(error) = error {
            write::error(&mut line, Some(&self.id), &error);
        }
        self.send(line);
    }

    fn send(&mut self, mut line: Vec<u8>) {
        if let Some(outgoing) = self.outgoing.take() {
            line.push(b'\n');
            outgoing.push_now(&line);
        }
    }
}

impl Drop for ServerRequest {
    fn drop(&mut self) {
        if self.outgoing.is_some() {
            let message = format!("this client does not answer {}", self.method);
            let mut line = Vec::new();
            write::error(&mut line, Some(&self.id), &RpcError::method_not_found(message));
            self.send(line);
        }
    }
}
