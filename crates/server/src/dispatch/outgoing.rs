//! Requests of ours to the client, and its answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use exec_protocol::RpcError;
use exec_protocol::envelope::{Outcome, Response, write};
use exec_protocol::method::Method;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::oneshot;

use crate::outbox::{Outbox, Reply};

/// Why a request of ours has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// The client answered with an error.
    #[error("the client refused: {}", .0.message)]
    Refused(RpcError),
    /// The client's result is not of its type, or ours could not be written.
    #[error("a result of the wrong shape: {0}")]
    Shape(#[from] serde_json::Error),
    /// As many are unanswered as may be.
    #[error("the client has not answered {0} requests")]
    TooMany(usize),
    /// The connection ended before the answer.
    #[error("the client is gone")]
    Gone,
}

type Answered = oneshot::Sender<Result<Box<RawValue>, RpcError>>;

/// The requests of ours that the client has not answered, bounded. An entry is removed when its caller stops
/// waiting.
#[derive(Debug)]
pub(crate) struct OutgoingRequests {
    max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    waiting: HashMap<u64, Answered>,
}

impl OutgoingRequests {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            state: Mutex::default(),
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The client refused, answered nonsense, leaves too many unanswered, or is gone.
    #[cfg_attr(not(test), expect(dead_code, reason = "approvals will ask the client"))]
    pub(crate) async fn send<M: Method>(
        self: &Arc<Self>,
        outbox: &Outbox,
        params: &M::Params,
    ) -> Result<M::Result, RequestError> {
        let (answered, answer) = oneshot::channel();
        let number = self.with(|state| {
            if state.waiting.len() >= self.max {
                return Err(RequestError::TooMany(self.max));
            }
            state.last += 1;
            state.waiting.insert(state.last, answered);
            Ok(state.last)
        })?;
        let _forget = Forget {
            requests: self,
            number,
        };
        let mut reply = Reply::default();
        write::request(&mut reply.line, &to_raw_value(&number)?, M::NAME, params, None)?;
        reply.line.push(b'\n');
        outbox.push(reply);
        let result = answer.await.map_err(|_| RequestError::Gone)?;
        Ok(serde_json::from_str(
            result.map_err(RequestError::Refused)?.get(),
        )?)
    }

    /// Hands an answer to whoever waits for it. False: nobody does.
    pub(crate) fn answer(&self, response: Response<'_>) -> bool {
        let waiting = response
            .id
            .get()
            .parse()
            .ok()
            .and_then(|number: u64| self.with(|state| state.waiting.remove(&number)));
        let result = match response.outcome {
            Outcome::Result(result) => Ok(result.to_owned()),
            Outcome::Error(error) => Err(error),
        };
        waiting.is_some_and(|waiting| waiting.send(result).is_ok())
    }

    /// The connection ends: nothing will be answered any more.
    pub(crate) fn end(&self) {
        self.with(|state| state.waiting.clear());
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Forgets a request whose caller stopped waiting.
struct Forget<'a> {
    requests: &'a OutgoingRequests,
    number: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.requests.with(|state| state.waiting.remove(&self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exec_protocol::envelope::Envelope;
    use exec_protocol::limits::Limits;
    use exec_protocol::method::{Empty, GetEnvironmentStatus};

    fn answer(requests: &OutgoingRequests, line: &str) -> bool {
        match Envelope::parse(line.as_bytes()) {
            Envelope::Response(response) => requests.answer(response),
            other => panic!("{other:?}"),
        }
    }

    fn setup() -> (Arc<OutgoingRequests>, Arc<Outbox>) {
        (
            Arc::new(OutgoingRequests::new(2)),
            Outbox::new(&Limits::default()),
        )
    }

    #[tokio::test]
    async fn answers_find_their_requests_whatever_the_order() {
        let (requests, outbox) = setup();
        let send = || requests.send::<GetEnvironmentStatus>(&outbox, &Empty {});
        let answers = async {
            tokio::task::yield_now().await;
            assert!(!answer(&requests, r#"{"id":"1","result":{}}"#));
            assert!(!answer(&requests, r#"{"id":3,"result":{}}"#));
            assert!(answer(
                &requests,
                r#"{"id":2,"error":{"code":-1,"message":"no"}}"#
            ));
            assert!(answer(&requests, r#"{"id":1,"result":{"status":"ready"}}"#));
            assert!(!answer(&requests, r#"{"id":1,"result":{}}"#));
        };
        let (first, second, ()) = tokio::join!(send(), send(), answers);
        assert_eq!(first.unwrap().status, "ready");
        assert!(matches!(second, Err(RequestError::Refused(error)) if error.message == "no"));
    }

    #[tokio::test]
    async fn the_end_of_the_connection_ends_the_wait() {
        let (requests, outbox) = setup();
        let end = async {
            tokio::task::yield_now().await;
            requests.end();
        };
        let (result, ()) = tokio::join!(requests.send::<GetEnvironmentStatus>(&outbox, &Empty {}), end);
        assert!(matches!(result, Err(RequestError::Gone)));
    }

    #[tokio::test]
    async fn a_caller_that_stops_waiting_is_forgotten() {
        let (requests, outbox) = setup();
        {
            let mut sent = Box::pin(requests.send::<GetEnvironmentStatus>(&outbox, &Empty {}));
            assert!(futures_poll(sent.as_mut()).is_pending());
            assert_eq!(requests.with(|state| state.waiting.len()), 1);
        }
        assert_eq!(requests.with(|state| state.waiting.len()), 0);
    }

    #[tokio::test]
    async fn a_client_that_answers_nothing_is_asked_no_more() {
        let (requests, outbox) = setup();
        let send = || Box::pin(requests.send::<GetEnvironmentStatus>(&outbox, &Empty {}));
        let (mut first, mut second) = (send(), send());
        assert!(futures_poll(first.as_mut()).is_pending());
        assert!(futures_poll(second.as_mut()).is_pending());
        assert!(matches!(send().await, Err(RequestError::TooMany(2))));
        drop(first);
        assert!(futures_poll(send().as_mut()).is_pending());
    }

    fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
        future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }
}
