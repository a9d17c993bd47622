//! A process's events, as its starter takes them.

use std::fmt;
use std::sync::Arc;

use exec_protocol::process::{ClosedNotification, ExitedNotification, Stream};
use exec_protocol::{Base64, ProcessId};

use crate::Closed;
use crate::event::{EventQueue, ProcessEvent};
use crate::shared::Handle;

/// The events of one process: all of them, in order, from the first.
///
/// Take them. Events that nobody takes wait in memory; once those of all processes together hold
/// [`ClientLimits::event_buffer_bytes`](crate::ClientLimits::event_buffer_bytes), the connection is not read
/// until some are taken, and *everything* on it waits, the answers to calls too. So a task that holds events
/// and does not take them must not wait for a call whose answer may stand behind them. Dropping this is
/// always right for output nobody wants: the rest of it is discarded, and the process runs on.
pub struct ProcessEvents {
    process_id: ProcessId,
    queue: Arc<EventQueue>,
    _keeps_open: Arc<Handle>,
}

impl fmt::Debug for ProcessEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessEvents")
            .field("process_id", &self.process_id)
            .finish_non_exhaustive()
    }
}

impl Drop for ProcessEvents {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

/// All that a process said: see [`ProcessEvents::collect`].
#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    /// What it printed on descriptor 1.
    pub stdout: Vec<u8>,
    /// What it printed on descriptor 2.
    pub stderr: Vec<u8>,
    /// What its terminal showed.
    pub pty: Vec<u8>,
    /// Bytes that were over the bound, of all streams.
    pub omitted_bytes: u64,
    /// How its leader ended. `None`: the server never said.
    pub exited: Option<ExitedNotification>,
    /// How its streams ended. `None`: the server never said.
    pub closed: Option<ClosedNotification>,
}

impl ProcessEvents {
    pub(crate) fn new(process_id: ProcessId, queue: Arc<EventQueue>, keeps_open: Arc<Handle>) -> Self {
        Self {
            process_id,
            queue,
            _keeps_open: keeps_open,
        }
    }

    /// Whose.
    #[must_use]
    pub fn process_id(&self) -> &ProcessId {
        &self.process_id
    }

    /// The next event. `Ok(None)` after the last one: [`ProcessEvent::Closed`], or
    /// [`ProcessEvent::TreeEnded`] where the session was initialized with `notifyTreeEnded` and the tree
    /// outlived `closed`. Cancel-safe: an event is taken when it is returned.
    ///
    /// # Errors
    /// The connection ended before the last event.
    pub async fn next(&mut self) -> Result<Option<ProcessEvent>, Closed> {
        self.queue.next().await
    }

    /// Takes everything until [`ProcessEvent::Closed`], keeping the first `max_bytes` of the output.
    ///
    /// # Errors
    /// The connection ended first.
    pub async fn collect(mut self, max_bytes: usize) -> Result<Collected, Closed> {
        let mut all = Collected {
            stdout: Vec::new(),
            stderr: Vec::new(),
            pty: Vec::new(),
            omitted_bytes: 0,
            exited: None,
            closed: None,
        };
        let mut room = max_bytes;
        while let Some(event) = self.next().await? {
            match event {
                ProcessEvent::Output(output) => {
                    let Base64(bytes) = output.chunk;
                    let kept = &bytes[..bytes.len().min(room)];
                    room -= kept.len();
                    all.omitted_bytes += (bytes.len() - kept.len()) as u64;
                    match output.stream {
                        Stream::Stdout => all.stdout.extend_from_slice(kept),
                        Stream::Stderr => all.stderr.extend_from_slice(kept),
                        Stream::Pty => all.pty.extend_from_slice(kept),
                    }
                }
                ProcessEvent::Exited(exited) => all.exited = Some(exited),
                ProcessEvent::Closed(closed) => {
                    all.closed = Some(closed);
                    break;
                }
                ProcessEvent::TreeEnded => {}
            }
        }
        Ok(all)
    }
}
