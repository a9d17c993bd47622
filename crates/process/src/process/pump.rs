//! Moves a stream from its pipe or PTY into the log.
//!
//! Back-pressure is here: while too much is read and not sent, of this process or of all together, nothing is
//! read. The pipe fills and the child blocks in write(2), as in a pipeline; nothing is ever dropped. One reading
//! is not held back: that of what the leader left in its pipes when it ended.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use exec_protocol::Stream;
use exec_protocol::limits::{INTERACTIVE_CHUNK_BYTES, READ_CHUNK_BYTES, READS_AT_ONCE, TERMINAL_READ_BYTES};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread, read};
use tokio::time::Instant;

use super::Process;
use super::budget::cost;
use super::plumbing::Polled;

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

/// Why a stream is no longer held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    /// It may be read again.
    UntilRoom,
    /// There is nothing to read, and nothing follows.
    UntilItsEnd,
}

/// Whether nobody has the other side open, and nothing is left to read.
fn is_at_end(fd: &Polled) -> bool {
    let mut look = [PollFd::new(fd.get_ref(), PollFlags::IN)];
    let now = Timespec::default();
    poll(&mut look, Some(&now)).is_ok() && look[0].revents() == PollFlags::HUP
}

/// Reads a stream to its end.
pub(super) async fn pump(process: Arc<Process>, stream: Stream, fd: Polled) {
    let failure = loop {
        if !process.has_room() && process.hold_until_room(&fd).await == Held::UntilItsEnd {
            break None;
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
    // Before `closed`, which promises that no descriptor is left: the process drops the other one.
    drop(fd);
    process.on_end_of_stream(stream, failure);
}

impl Process {
    fn read_some(self: &Arc<Self>, stream: Stream, fd: &Polled) -> Stopped {
        // Small pieces in short turns while the client waits for replies: what it asks for stands behind them.
        let interactive = self.session.subscriber.is_interactive();
        let (reads, at_most) = match interactive {
            true => (1, INTERACTIVE_CHUNK_BYTES),
            false => (READS_AT_ONCE, READ_CHUNK_BYTES),
        };
        for _ in 0..reads {
            if !self.has_room() {
                return Stopped::NoRoom;
            }
            let mut buffer = match interactive {
                true => Vec::with_capacity(at_most),
                false => self.session.buffer(),
            };
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
                    if count < at_most && stream != Stream::Pty {
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

    /// Reads what the streams hold at the leader's end, so that what it printed is numbered before `exited`, which
    /// waits for nobody: not for a client that does not read either. So this may go beyond the room there is, by
    /// as much as the pipes hold. What others write from now on is not looked for.
    ///
    /// Nothing is read by a pump meanwhile: both run on the runtime's one thread, and neither awaits.
    pub(super) fn read_what_is_left(self: &Arc<Self>) {
        let streams = self.lock().open_streams.clone();
        for (stream, fd) in streams {
            let (mut left, at_once) = match stream {
                Stream::Stdout | Stream::Stderr => {
                    let held = ioctl_fionread(fd.get_ref()).unwrap_or(0);
                    (usize::try_from(held).unwrap_or(usize::MAX), READ_CHUNK_BYTES)
                }
                // The kernel does not count what is on its way through the terminal; a read waits for that. It
                // is some 12 KiB at most.
                Stream::Pty => (READ_CHUNK_BYTES, TERMINAL_READ_BYTES),
            };
            while left > 0 {
                let mut buffer = Vec::with_capacity(left.min(at_once));
                match read(fd.get_ref(), spare_capacity(&mut buffer)) {
                    Ok(count) if count > 0 => {
                        left = left.saturating_sub(count);
                        self.on_output(stream, Bytes::from(buffer.into_boxed_slice()));
                    }
                    Err(Errno::INTR) => {}
                    // Empty, or at its end, which its pump will find.
                    Ok(_) | Err(_) => break,
                }
            }
        }
        // A pump that waits for room looks whether its stream is at its end: it needs no room for that.
        self.room.notify_waiters();
    }

    /// Logs a chunk, and lets the patterns that are waited for see it.
    pub(super) fn on_output(self: &Arc<Self>, stream: Stream, bytes: Bytes) {
        self.session.budget.take(cost(bytes.len()));
        self.session.observer.output(stream, bytes.len());
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

    /// Waits until this process may be read again, or there is nothing more to read; meanwhile its clocks of
    /// silence stand still.
    async fn hold_until_room(&self, fd: &Polled) -> Held {
        self.lock().clock.hold(Instant::now());
        let held = loop {
            let mut own = pin!(self.room.notified());
            let mut shared = pin!(self.session.budget.room().notified());
            own.as_mut().enable();
            shared.as_mut().enable();
            if self.has_room() {
                break Held::UntilRoom;
            }
            if is_at_end(fd) {
                break Held::UntilItsEnd;
            }
            tokio::select! {
                () = own => {}
                () = shared => {}
            }
        };
        self.lock().clock.release(Instant::now());
        self.clock_moved.notify_waiters();
        self.changed.notify_waiters();
        held
    }
}
