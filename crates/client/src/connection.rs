//! The task that reads from the server and writes to it.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, BufReader};

use crate::Closed;
use crate::limits::{LINE_PREFIX_BYTES, READ_BUFFER_BYTES};
use crate::line_reader::LineReader;
use crate::router::Router;
use crate::shared::Shared;

/// The I/O of a connection: [`run`](Self::run) it on a task, since nothing moves without it.
#[must_use = "a connection does nothing until it is run"]
pub struct Connection<R, W> {
    shared: Arc<Shared>,
    router: Router,
    reader: R,
    writer: W,
    end: EndOnDrop,
}

impl<R, W> fmt::Debug for Connection<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// Fails whoever still waits when the connection is dropped, however that comes about.
struct EndOnDrop(Arc<Shared>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end(&Closed::Stopped);
    }
}

impl<R, W> Connection<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    pub(crate) fn new(shared: Arc<Shared>, router: Router, reader: R, writer: W) -> Self {
        Self {
            end: EndOnDrop(Arc::clone(&shared)),
            shared,
            router,
            reader,
            writer,
        }
    }

    /// Reads and writes until the server closes its side, and says why the connection ended.
    ///
    /// After [`Client::close`](crate::Client::close), or once the last handle is dropped, what is queued is
    /// written, the writer is dropped, and what the server still says is read to its end.
    pub async fn run(self) -> Closed {
        let Self {
            shared,
            mut router,
            reader,
            writer,
            end,
        } = self;
        let mut reading = pin!(read(&shared, &mut router, reader));
        let mut writing = pin!(shared.outgoing.write_to(writer));
        let mut is_writing = true;
        let why = loop {
            tokio::select! {
                why = &mut reading => break why,
                // A server that no longer reads may still have things to say.
                () = &mut writing, if is_writing => is_writing = false,
            }
        };
        shared.end(&why);
        drop(end);
        why
    }
}

async fn read<R: AsyncRead + Unpin>(shared: &Shared, router: &mut Router, reader: R) -> Closed {
    let reader = BufReader::with_capacity(READ_BUFFER_BYTES, reader);
    let mut lines = LineReader::new(reader, shared.limits.max_incoming_line_bytes, LINE_PREFIX_BYTES);
    loop {
        // Back-pressure: while consumers are behind, the server is not read, and blocks.
        shared.subscriptions.budget.room().await;
        match lines.next().await {
            Ok(Some(line)) => router.route(&line),
            Ok(None) => return Closed::ByServer,
            Err(error) => return Closed::Read(Arc::new(error)),
        }
    }
}
