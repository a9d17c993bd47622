//! Feeds a process: what is written goes to its stdin at once if that takes it, else by a task that waits.

use std::sync::Arc;

use bytes::Bytes;
use exec_protocol::limits::{Limits, WRITES_AT_ONCE};
use exec_protocol::process::WriteStatus;
use rustix::io::{Errno, write};
use tokio::io::Interest;
use tokio::time::Instant;

use super::plumbing::{Polled, StdinEnd, polled};
use super::state::State;
use super::stdin_queue::{Admission, StdinQueue};
use super::{CloseStdinError, Process, WriteError};
use crate::Stdio;

/// A process's stdin: our end of it and what waits for it.
#[derive(Debug)]
pub(super) struct Stdin {
    queue: StdinQueue,
    end: StdinEnd,
    /// The client may write to it.
    kept: bool,
    /// A task waits until it can be written to.
    writing: bool,
}

/// Where writing stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flushed {
    /// Nothing waits.
    All,
    /// It is full.
    Full,
    /// It would take more.
    More,
}

impl Stdin {
    pub(super) fn new(end: StdinEnd, stdio: Stdio, limits: &Limits) -> Self {
        Self {
            queue: StdinQueue::new(limits.stdin_backlog_bytes, limits.remembered_write_ids),
            end,
            kept: match stdio {
                Stdio::Pipes { keep_stdin } => keep_stdin,
                Stdio::Terminal { .. } => true,
            },
            writing: false,
        }
    }

    /// Drops our end and what waits.
    pub(super) fn close(&mut self) {
        self.queue.close();
        self.end = StdinEnd::Closed;
    }

    /// Writes what waits; says where it stopped, and whether a byte was written.
    fn flush(&mut self) -> (Flushed, bool) {
        let mut wrote = false;
        for _ in 0..WRITES_AT_ONCE {
            let Some(front) = self.queue.front() else {
                if self.queue.at_end() {
                    self.close();
                }
                return (Flushed::All, wrote);
            };
            let result = match &self.end {
                StdinEnd::Closed => return (Flushed::All, wrote),
                StdinEnd::Pipe(fd) => write(fd, front),
                StdinEnd::Polled(fd) => write(fd.get_ref(), front),
            };
            match result {
                Ok(count) => {
                    wrote = true;
                    self.queue.written(count);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return (Flushed::Full, wrote),
                // EPIPE, or EIO of a terminal: nobody is left to read it. That is no harm to the process.
                Err(_) => {
                    self.close();
                    return (Flushed::All, wrote);
                }
            }
        }
        (Flushed::More, wrote)
    }

    /// Our end, known to the runtime.
    fn watched(&mut self) -> Option<Polled> {
        let fd = match std::mem::take(&mut self.end) {
            StdinEnd::Closed => return None,
            StdinEnd::Polled(fd) => fd,
            // Failure means no memory or no watches left: stdin ends, as it would at the descriptor limit.
            StdinEnd::Pipe(fd) => match polled(fd, Interest::WRITABLE) {
                Ok(fd) => fd,
                Err(_) => {
                    self.close();
                    return None;
                }
            },
        };
        self.end = StdinEnd::Polled(Arc::clone(&fd));
        Some(fd)
    }
}

impl Process {
    /// Queues bytes for stdin, and its end if `close`. Acts at once. A known `write_id` is accepted and
    /// written no second time. A terminal has no end of file: refuse `close` for one beforehand, here it is
    /// ignored.
    ///
    /// # Errors
    /// Too much waits already: nothing was queued, and every later write is refused too, until
    /// [`Process::refusal_answered`]. Call that when the refusal's reply has been queued: a client that had
    /// pipelined more writes must not see the second accepted and the first not.
    pub fn write(
        self: &Arc<Self>,
        bytes: Bytes,
        write_id: Option<&str>,
        close: bool,
    ) -> Result<WriteStatus, WriteError> {
        let mut inner = self.lock();
        if !inner.stdin.kept || matches!(inner.state, State::Failed(_)) {
            return Ok(WriteStatus::StdinClosed);
        }
        let close = close && !self.is_terminal();
        match inner.stdin.queue.push(bytes, write_id, close) {
            Admission::Known => Ok(WriteStatus::Accepted),
            Admission::Closed => Ok(WriteStatus::StdinClosed),
            Admission::Full { queued_bytes } => Err(WriteError::BacklogFull {
                queued_bytes: queued_bytes as u64,
                limit_bytes: self.session.limits.stdin_backlog_bytes as u64,
            }),
            Admission::Queued => {
                drop(inner);
                self.flush_stdin();
                Ok(WriteStatus::Accepted)
            }
        }
    }

    /// A refused write was answered: writes that come from now on are taken again.
    pub fn refusal_answered(&self) {
        self.lock().stdin.queue.refusal_answered();
    }

    /// Queues the end of stdin, after what is queued.
    ///
    /// # Errors
    /// It is a terminal, or was started without a stdin pipe.
    pub fn close_stdin(self: &Arc<Self>) -> Result<WriteStatus, CloseStdinError> {
        if self.is_terminal() {
            return Err(CloseStdinError::Terminal);
        }
        {
            let mut inner = self.lock();
            if !inner.stdin.kept {
                return Err(CloseStdinError::NotPiped);
            }
            if !inner.stdin.queue.end() {
                return Ok(WriteStatus::StdinClosed);
            }
        }
        self.flush_stdin();
        Ok(WriteStatus::Accepted)
    }

    /// Queues the input a command is given at its start, and the end after it unless stdin is kept.
    pub(super) fn feed_first(self: &Arc<Self>, input: Bytes) {
        {
            let mut inner = self.lock();
            let end = !inner.stdin.kept;
            inner.stdin.queue.push(input, None, end);
        }
        self.flush_stdin();
    }

    /// Writes what it can, and leaves the rest to a task.
    fn flush_stdin(self: &Arc<Self>) {
        let mut inner = self.lock();
        // The order is the writer's.
        if inner.stdin.writing {
            return;
        }
        let (flushed, wrote) = inner.stdin.flush();
        if wrote {
            inner.clock.input(Instant::now());
        }
        if flushed != Flushed::All
            && let Some(fd) = inner.stdin.watched()
        {
            inner.stdin.writing = true;
            drop(inner);
            tokio::spawn(write_stdin(Arc::clone(self), fd));
        }
    }
}

/// Writes what waits whenever stdin takes it, until nothing does.
async fn write_stdin(process: Arc<Process>, fd: Polled) {
    loop {
        let ready = tokio::select! {
            ready = fd.writable() => ready,
            () = process.stdin_stop.notified() => break,
        };
        let Ok(mut ready) = ready else {
            // The runtime is going.
            break;
        };
        let flushed = {
            let mut inner = process.lock();
            let (flushed, wrote) = inner.stdin.flush();
            if wrote {
                inner.clock.input(Instant::now());
            }
            if flushed == Flushed::All {
                inner.stdin.writing = false;
                return;
            }
            flushed
        };
        match flushed {
            // A terminal that nobody has open any more is full for good, and said to be ready for good.
            Flushed::Full if ready.ready().is_write_closed() => {
                process.lock().stdin.close();
                break;
            }
            Flushed::Full => ready.clear_ready(),
            Flushed::More | Flushed::All => tokio::task::yield_now().await,
        }
    }
    process.lock().stdin.writing = false;
}
