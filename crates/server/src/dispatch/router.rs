//! Methods by name, and their typed handlers behind jsonrpsee's callbacks.
//!
//! A callback always gets the placeholder id null: jsonrpsee's `Id` knows no negative, fractional or large
//! number. The id as it came is spliced into the reply.

use std::sync::Arc;

use exec_protocol::RpcError;
use exec_protocol::envelope::{Trace, decode_params_text, write};
use exec_protocol::method::Method;
use exec_telemetry::RequestSpan;
use jsonrpsee::types::{ErrorObject, Id};
use jsonrpsee::{Extensions, MethodCallback, MethodResponse, Methods, ResponsePayload};
use serde_json::value::RawValue;

use crate::outbox::{AfterReply, Reply};

/// How every reply of jsonrpsee begins; null is the placeholder.
const PLACEHOLDER_HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":null"#;

/// What a handler knows of its request beside the params.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The id, as it came.
    pub(crate) id: Arc<str>,
    /// The trace context that its commands get.
    pub(crate) trace: Option<Trace>,
    /// Its span, for the steps of its work.
    pub(crate) span: RequestSpan,
    /// It is one of a batch, which waits for all its answers.
    pub(crate) in_batch: bool,
}

/// A handler's result.
pub(crate) struct Answer<T> {
    /// On the wire.
    pub(crate) result: T,
    /// Done when the reply was taken for writing.
    pub(crate) after: Option<AfterReply>,
}

impl<T> From<T> for Answer<T> {
    fn from(result: T) -> Self {
        Self { result, after: None }
    }
}

/// A handler's refusal.
pub(crate) struct Refusal {
    /// On the wire.
    pub(crate) error: RpcError,
    /// Done when the reply was taken for writing.
    pub(crate) after: Option<AfterReply>,
}

impl From<RpcError> for Refusal {
    fn from(error: RpcError) -> Self {
        Self { error, after: None }
    }
}

/// Rides in a response's extensions.
#[derive(Clone)]
struct After(AfterReply);

/// A whole line that takes the place of the response it rides in.
#[derive(Clone)]
struct Line(Vec<u8>);

/// The methods of the server.
#[derive(Debug, Default)]
pub(crate) struct Router(Methods);

impl Router {
    /// Registers a method. `handler` gets the state, what is known of the call, and the params.
    pub(crate) fn register<M, S, H, F, A>(&mut self, state: &Arc<S>, handler: H)
    where
        M: Method<Result: Clone>,
        S: Send + Sync + 'static,
        H: Fn(Arc<S>, Call, M::Params) -> F + Copy + Send + Sync + 'static,
        F: Future<Output = Result<A, Refusal>> + Send + 'static,
        A: Into<Answer<M::Result>> + 'static,
    {
        self.insert::<M, _, _, _, _>(state, handler, |answer: A| {
            let Answer { result, after } = answer.into();
            let payload = ResponsePayload::success(result);
            (MethodResponse::response(Id::Null, payload, usize::MAX), after)
        });
    }

    /// Registers a method whose handler writes the whole line of its reply: large results go round jsonrpsee,
    /// which parses each reply again.
    pub(crate) fn register_written<M, S, H, F>(&mut self, state: &Arc<S>, handler: H)
    where
        M: Method,
        S: Send + Sync + 'static,
        H: Fn(Arc<S>, Call, M::Params) -> F + Copy + Send + Sync + 'static,
        F: Future<Output = Result<Vec<u8>, Refusal>> + Send + 'static,
    {
        self.insert::<M, _, _, _, _>(state, handler, |line| {
            let mut extensions = Extensions::new();
            extensions.insert(Line(line));
            (MethodResponse::notification().with_extensions(extensions), None)
        });
    }

    fn insert<M, S, H, F, A>(
        &mut self,
        state: &Arc<S>,
        handler: H,
        respond: fn(A) -> (MethodResponse, Option<AfterReply>),
    ) where
        M: Method,
        S: Send + Sync + 'static,
        H: Fn(Arc<S>, Call, M::Params) -> F + Copy + Send + Sync + 'static,
        F: Future<Output = Result<A, Refusal>> + Send + 'static,
        A: 'static,
    {
        let state = Arc::clone(state);
        let callback = MethodCallback::Async(Arc::new(move |_, params, _, _, mut extensions| {
            let state = Arc::clone(&state);
            Box::pin(async move {
                let Some(call) = extensions.remove::<Call>() else {
                    return MethodResponse::error(Id::Null, to_object(RpcError::internal("no call")));
                };
                let outcome = match decode_params_text(params.as_str()) {
                    Ok(params) => handler(state, call, params).await,
                    Err(error) => Err(error.into()),
                };
                let (mut response, after) = match outcome {
                    Ok(answer) => respond(answer),
                    Err(refusal) => (
                        MethodResponse::error(Id::Null, to_object(refusal.error)),
                        refusal.after,
                    ),
                };
                if let Some(after) = after {
                    response.extensions_mut().insert(After(after));
                }
                response
            })
        }));
        // A name comes once: the catalogue's names are distinct, and a test registers them all.
        let _ = self.0.verify_and_insert(M::NAME, callback);
    }

    /// The callback of a method, with the name it was registered under.
    pub(crate) fn method(&self, name: &str) -> Option<(&'static str, &MethodCallback)> {
        self.0.method_with_name(name)
    }

    /// The names of all methods, sorted.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.0.method_names().collect();
        names.sort_unstable();
        names
    }
}

/// The reply to `id` that a callback's response is.
pub(crate) fn reply(id: &str, mut response: MethodResponse) -> Reply {
    let extensions = response.extensions_mut();
    let after = extensions
        .remove::<After>()
        .map(|after| after.0)
        .into_iter()
        .collect();
    if let Some(Line(line)) = extensions.remove() {
        return Reply { line, after };
    }
    let json = response.as_json().get().as_bytes();
    let Some(rest) = json.strip_prefix(PLACEHOLDER_HEAD) else {
        return error_reply(Some(id), &RpcError::internal("the reply could not be written"));
    };
    let head = PLACEHOLDER_HEAD.len() - "null".len();
    let mut line = Vec::with_capacity(json.len() + id.len());
    line.extend_from_slice(&PLACEHOLDER_HEAD[..head]);
    line.extend_from_slice(id.as_bytes());
    line.extend_from_slice(rest);
    line.push(b'\n');
    Reply { line, after }
}

/// The reply that an error is; `None`: the id could not be read.
pub(crate) fn error_reply(id: Option<&str>, error: &RpcError) -> Reply {
    let id: Option<&RawValue> = id.and_then(|id| serde_json::from_str(id).ok());
    let mut line = Vec::new();
    write::error(&mut line, id, error);
    line.push(b'\n');
    Reply {
        line,
        after: Vec::new(),
    }
}

fn to_object(error: RpcError) -> ErrorObject<'static> {
    ErrorObject::owned(error.code, error.message, error.data)
}
