//! The handle: calls, notifications, starts.

use std::fmt;
use std::sync::Arc;

use exec_protocol::envelope::write;
use exec_protocol::initialize::{InitializeParams, InitializeResponse, InitializedParams};
use exec_protocol::method::{self, Method, Notification};
use exec_protocol::{ExecParams, ExecResponse, ProcessId};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use crate::connection::Connection;
use crate::error::{CallError, Closed, NotifyError};
use crate::event::EventQueue;
use crate::pending::Answer;
use crate::process_events::ProcessEvents;
use crate::router::Router;
use crate::server_request::ServerRequestHandler;
use crate::shared::{Handle, Shared, request_line};
use crate::{ClientLimits, Stats};

/// A handle to a connection; clones share it.
///
/// When the last handle is gone ([`ProcessEvents`] hold one each) the connection is closed as by
/// [`close`](Self::close), and the server ends the session with every process in it.
#[derive(Clone)]
pub struct Client {
    handle: Arc<Handle>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Client {
    /// A client over any reader and writer, for a server that asks nothing, with the default limits.
    ///
    /// Nothing moves until the [`Connection`] is run, on a task of its own as a rule:
    /// `tokio::spawn(connection.run())`.
    pub fn connect<R, W>(reader: R, writer: W) -> (Self, Connection<R, W>)
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        Self::connect_with(reader, writer, None, ClientLimits::default())
    }

    /// The same, with a handler for the server's requests and limits.
    pub fn connect_with<R, W>(
        reader: R,
        writer: W,
        handler: Option<Box<dyn ServerRequestHandler>>,
        limits: ClientLimits,
    ) -> (Self, Connection<R, W>)
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let shared = Arc::new(Shared::new(limits));
        let router = Router::new(Arc::clone(&shared), handler);
        let connection = Connection::new(Arc::clone(&shared), router, reader, writer);
        let handle = Arc::new(Handle::new(shared));
        (Self { handle }, connection)
    }

    fn shared(&self) -> &Shared {
        self.handle.shared()
    }

    /// The handshake: `initialize`, then `initialized`.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn initialize(&self, params: &InitializeParams) -> Result<InitializeResponse, CallError> {
        self.shared()
            .subscriptions
            .tell_tree_ends(params.notify_tree_ended == Some(true));
        let response = self.call::<method::Initialize>(params).await?;
        match self.notify::<method::Initialized>(&InitializedParams {}).await {
            Ok(()) => Ok(response),
            Err(NotifyError::Closed(why)) => Err(why.into()),
            Err(NotifyError::Params { method, source }) => Err(CallError::Params { method, source }),
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// The request leaves when the future is first polled, unless [`ClientLimits::outgoing_bytes`] are queued
    /// already: then it waits its turn, in the order of first polls. A future that is dropped after that
    /// cancels the request (`$/cancelRequest`).
    ///
    /// # Errors
    /// [`CallError::Remote`] when the server says no; the others when there is no usable answer.
    pub async fn call<M: Method>(&self, params: &M::Params) -> Result<M::Result, CallError> {
        let shared = self.shared();
        let id = shared.next_id();
        let line = encode::<M>(id, params)?;
        let room = shared.outgoing.room(line.len()).await?;
        let call = Call::send(shared, id, None, || room.push(&line))?;
        drop(line);
        call.finish::<M>().await
    }

    /// Sends a notification: waits until it is queued, not until it has left.
    ///
    /// # Errors
    /// The connection has ended, or the params are not JSON.
    pub async fn notify<N: Notification>(&self, params: &N::Params) -> Result<(), NotifyError> {
        let mut line = Vec::new();
        write::notification(&mut line, N::NAME, params, None).map_err(|source| NotifyError::Params {
            method: N::NAME,
            source,
        })?;
        line.push(b'\n');
        let room = self.shared().outgoing.room(line.len()).await?;
        Ok(room.push(&line)?)
    }

    /// Starts a process. Its events are gathered from before the request leaves, so none is missed.
    ///
    /// A future that is dropped half-way leaves no process behind: the start is cancelled, and if the server
    /// had done it already, the process is terminated.
    ///
    /// # Errors
    /// As [`call`](Self::call); and [`CallError::ProcessIdInUse`] for an id this client uses already. To ask
    /// again with the same `startId`, `call::<Start>`: the first start's events go on.
    pub async fn start(&self, params: &ExecParams) -> Result<(ExecResponse, ProcessEvents), CallError> {
        let shared = self.shared();
        let id = shared.next_id();
        let line = encode::<method::Start>(id, params)?;
        let room = shared.outgoing.room(line.len()).await?;
        // No await from here until the request is queued: registered means sent.
        let process_id = &params.process_id;
        let queue = shared
            .subscriptions
            .register(process_id)
            .ok_or_else(|| CallError::ProcessIdInUse(process_id.clone()))?;
        let events = self.events(process_id.clone(), queue);
        let call = Call::send(shared, id, Some(process_id.clone()), || room.push(&line));
        let call = call.inspect_err(|_| shared.subscriptions.remove(process_id))?;
        drop(line);
        match call.finish::<method::Start>().await {
            Ok(response) => Ok((response, events)),
            Err(error) => {
                if matches!(error, CallError::Result { .. }) {
                    // It runs, and the caller will not know it.
                    shared.terminate_unwaited(process_id);
                }
                Err(error)
            }
        }
    }

    fn events(&self, process_id: ProcessId, queue: Arc<EventQueue>) -> ProcessEvents {
        ProcessEvents::new(process_id, queue, Arc::clone(&self.handle))
    }

    /// Closes this side: what is queued is written, then the server sees the end of its input, and ends the
    /// session. Answers that it still gives arrive; later calls fail.
    pub fn close(&self) {
        self.shared().outgoing.close();
    }

    /// What was ignored so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared().counters.snapshot()
    }
}

fn encode<M: Method>(id: u64, params: &M::Params) -> Result<Vec<u8>, CallError> {
    request_line(id, M::NAME, params).map_err(|source| CallError::Params {
        method: M::NAME,
        source,
    })
}

/// A request that was sent; cancels it when dropped before its answer.
struct Call<'a> {
    shared: &'a Shared,
    id: u64,
    starts: Option<ProcessId>,
    answer: oneshot::Receiver<Answer>,
    is_answered: bool,
}

impl<'a> Call<'a> {
    /// Registers the request, then sends it.
    fn send(
        shared: &'a Shared,
        id: u64,
        starts: Option<ProcessId>,
        push: impl FnOnce() -> Result<(), Closed>,
    ) -> Result<Self, Closed> {
        let answer = shared.pending.insert(id, starts.clone())?;
        push().inspect_err(|_| shared.pending.forget(id))?;
        Ok(Self {
            shared,
            id,
            starts,
            answer,
            is_answered: false,
        })
    }

    async fn finish<M: Method>(mut self) -> Result<M::Result, CallError> {
        let answer = (&mut self.answer).await;
        self.is_answered = true;
        match answer {
            Ok(Answer::Result(result)) => decode(M::NAME, &result),
            Ok(Answer::Error(error)) => Err(CallError::Remote(error)),
            Ok(Answer::TooLong) => Err(CallError::AnswerTooLong {
                limit_bytes: self.shared.limits.max_incoming_line_bytes,
            }),
            Err(_) => Err(self.shared.pending.ended().unwrap_or(Closed::Stopped).into()),
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        // Closed first: from here on the answer is either here, or finds nobody and is dealt with there.
        self.answer.close();
        match self.answer.try_recv() {
            Ok(Answer::Result(_)) => {
                if let Some(process_id) = &self.starts {
                    self.shared.terminate_unwaited(process_id);
                }
            }
            Ok(Answer::Error(_) | Answer::TooLong) => {}
            Err(_) => self.shared.cancel(self.id),
        }
    }
}

fn decode<T: DeserializeOwned>(method: &'static str, result: &RawValue) -> Result<T, CallError> {
    serde_json::from_str(result.get()).map_err(|source| CallError::Result { method, source })
}
