//! Moves a stream from its pipe or PTY into the log.
//!
//! Back-pressure is here: while too much is read and not sent, of this process or of all together, nothing is
//! read. The pipe fills and the child blocks in write(2), as in a pipeline; nothing is ever dropped.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use exec_protocol::Stream;
use exec_protocol::limits::READ_CHUNK_BYTES;
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};
use tokio::time::Instant;

use super::Process;
use super::budget::cost;
use super::plumbing::Polled;

/// Reads of one stream before others have their turn: tokio's own budget does not see system calls.
const READS_AT_ONCE: usize = 4;

/// Where reading stopped.
#[derive(Debug)]
enum Stopped {
    /// All that was there is read.
    Drained,
    /// Nothing was there.
    Empty,
    /// More may be there.
    More,
    /// Too much is not sent.
    NoRoom,
    /// Nothing follows; an error, if one ended it.
    End(Option<String>),
}

/// Reads a stream to its end.
pub(super) async fn pump(process: Arc<Process>, stream: Stream, fd: Polled) {
    let failure = loop {
        if !process.has_room() {
            process.hold_until_room().await;
        }
        let mut ready = match fd.readable().await {
            Ok(ready) => ready,
            Err(error) => break Some(error.to_string()),
        };
        match process.read_some(stream, &fd) {
            // At its end and yet empty: somebody has opened it again from outside. It will be ready for good,
            // so to wait for more would be to spin.
            Stopped::Empty if ready.ready().is_read_closed() => break None,
            Stopped::Drained | Stopped::Empty => ready.clear_ready(),
            Stopped::More => tokio::task::yield_now().await,
            Stopped::NoRoom => {}
            Stopped::End(failure) => break failure,
        }
    };
    // Before `closed`, which promises that no descriptor is left.
    drop(fd);
    process.on_end_of_stream(stream, failure);
}

impl Process {
    fn read_some(self: &Arc<Self>, stream: Stream, fd: &Polled) -> Stopped {
        for _ in 0..READS_AT_ONCE {
            if !self.has_room() {
                return Stopped::NoRoom;
            }
            let mut buffer = self.session.buffer();
            match read(fd.get_ref(), spare_capacity(&mut buffer)) {
                Ok(0) => {
                    self.session.recycle(buffer);
                    return Stopped::End(None);
                }
                Ok(count) => {
                    // A large read hands its buffer over, a small one must not keep 64 KiB alive.
                    let bytes = if count >= READ_CHUNK_BYTES / 2 {
                        Bytes::from(buffer)
                    } else {
                        let bytes = Bytes::copy_from_slice(&buffer);
                        self.session.recycle(buffer);
                        bytes
                    };
                    self.on_output(stream, bytes);
                    // A pipe gives all it has. A terminal gives a line or a page at a time.
                    if count < READ_CHUNK_BYTES && stream != Stream::Pty {
                        return Stopped::Drained;
                    }
                }
                Err(errno) => {
                    self.session.recycle(buffer);
                    match errno {
                        Errno::INTR => {}
                        Errno::AGAIN => return Stopped::Empty,
                        // So a PTY says that nobody has its other side open.
                        Errno::IO if stream == Stream::Pty => return Stopped::End(None),
                        errno => {
                            return Stopped::End(Some(format!(
                                "failed to read {}: {errno}",
                                stream.as_str()
                            )));
                        }
                    }
                }
            }
        }
        Stopped::More
    }

    /// Logs a chunk, and lets the patterns that are waited for see it.
    pub(super) fn on_output(self: &Arc<Self>, stream: Stream, bytes: Bytes) {
        self.session.budget.take(cost(bytes.len()));
        self.update(|inner| {
            inner.clock.output(stream, Instant::now());
            let offset = inner.log.push_output(stream, bytes.clone());
            for (_, matcher) in &mut inner.matchers {
                matcher.feed(stream, offset, &bytes);
            }
        });
    }

    fn has_room(&self) -> bool {
        self.session.budget.has_room() && self.has_own_room(&self.lock())
    }

    /// Waits until this process may be read again; meanwhile its clocks of silence stand still.
    async fn hold_until_room(&self) {
        self.lock().clock.hold(Instant::now());
        loop {
            let mut own = pin!(self.room.notified());
            let mut shared = pin!(self.session.budget.room().notified());
            own.as_mut().enable();
            shared.as_mut().enable();
            if self.has_room() {
                break;
            }
            tokio::select! {
                () = own => {}
                () = shared => {}
            }
        }
        self.lock().clock.release(Instant::now());
        self.clock_moved.notify_waiters();
        self.changed.notify_waiters();
    }
}
