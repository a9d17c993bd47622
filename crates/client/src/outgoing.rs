//! Lines on their way to the server: one bounded buffer, written by one task.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, Semaphore};

use crate::Closed;

/// The buffer. Lines go out in the order they were pushed.
#[derive(Debug)]
pub(crate) struct Outgoing {
    state: Mutex<State>,
    /// Told when there is something to write, or the end.
    ready: Notify,
    /// Bytes that may still be queued; fair, so calls leave in the order they were first polled.
    room: Semaphore,
    capacity: u32,
}

#[derive(Debug)]
struct State {
    lines: Vec<u8>,
    /// Taken from `room`, to be given back when `lines` are written.
    taken: usize,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Open,
    /// What is queued is still written.
    Closing,
    Closed(Closed),
}

/// Room for one line, taken before anything is registered for its answer.
pub(crate) struct Room<'a> {
    outgoing: &'a Outgoing,
    permit: tokio::sync::SemaphorePermit<'a>,
}

impl Room<'_> {
    /// Queues the line. Errors when the connection ended meanwhile.
    pub(crate) fn push(self, line: &[u8]) -> Result<(), Closed> {
        let mut state = self.outgoing.lock();
        state.refuse_unless_open()?;
        state.taken += self.permit.num_permits();
        self.permit.forget();
        state.lines.extend_from_slice(line);
        drop(state);
        self.outgoing.ready.notify_one();
        Ok(())
    }
}

impl State {
    fn refuse_unless_open(&self) -> Result<(), Closed> {
        match &self.phase {
            Phase::Open => Ok(()),
            Phase::Closing => Err(Closed::ByClient),
            Phase::Closed(why) => Err(why.clone()),
        }
    }
}

impl Outgoing {
    pub(crate) fn new(capacity_bytes: usize) -> Self {
        let capacity = u32::try_from(capacity_bytes.clamp(1, Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Self {
            state: Mutex::new(State {
                lines: Vec::new(),
                taken: 0,
                phase: Phase::Open,
            }),
            ready: Notify::new(),
            room: Semaphore::new(capacity as usize),
            capacity,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `len` bytes may be queued. A line longer than the whole buffer waits until that is empty.
    pub(crate) async fn room(&self, len: usize) -> Result<Room<'_>, Closed> {
        let wanted = u32::try_from(len).unwrap_or(u32::MAX).min(self.capacity);
        match self.room.acquire_many(wanted).await {
            Ok(permit) => Ok(Room {
                outgoing: self,
                permit,
            }),
            Err(_) => Err(self.lock().refuse_unless_open().err().unwrap_or(Closed::Stopped)),
        }
    }

    /// Queues a line outside the bound: for cancels and for answers to the server, of which there is at most
    /// one for each message that was itself bounded. Dropped when the connection has ended.
    pub(crate) fn push_now(&self, line: &[u8]) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Open) {
            state.lines.extend_from_slice(line);
            drop(state);
            self.ready.notify_one();
        }
    }

    /// No line after this one; what is queued is written, then the writer is dropped.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Open) {
            state.phase = Phase::Closing;
        }
        drop(state);
        self.room.close();
        self.ready.notify_one();
    }

    /// No line after this one, and none of the queued ones either.
    pub(crate) fn fail(&self, why: Closed) {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Closed(_)) {
            state.phase = Phase::Closed(why);
        }
        state.lines = Vec::new();
        drop(state);
        self.room.close();
        self.ready.notify_one();
    }

    /// Takes what is queued into `lines` (empty), and says how much of `room` it held; `None` at the end.
    async fn take(&self, lines: &mut Vec<u8>) -> Option<usize> {
        loop {
            {
                let mut state = self.lock();
                if !state.lines.is_empty() {
                    std::mem::swap(&mut state.lines, lines);
                    return Some(std::mem::take(&mut state.taken));
                }
                if !matches!(state.phase, Phase::Open) {
                    return None;
                }
            }
            self.ready.notified().await;
        }
    }

    /// Writes until the end; then `writer` is shut down and dropped, which is what a pipe's other end sees.
    pub(crate) async fn write_to<W: AsyncWrite + Unpin>(&self, mut writer: W) {
        let mut lines = Vec::new();
        while let Some(taken) = self.take(&mut lines).await {
            let written = async {
                writer.write_all(&lines).await?;
                writer.flush().await
            };
            if let Err(error) = written.await {
                self.fail(Closed::Write(Arc::new(error)));
                return;
            }
            self.room.add_permits(taken);
            lines.clear();
            lines.shrink_to(crate::limits::KEPT_BUFFER_BYTES);
        }
        // A peer that is gone already is no news here.
        let _ = writer.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn lines_leave_in_order_and_the_end_follows() {
        let outgoing = Outgoing::new(1024);
        let (theirs, ours) = tokio::io::duplex(4);
        let reading = async {
            let mut theirs = theirs;
            let mut all = String::new();
            theirs.read_to_string(&mut all).await.expect("read");
            all
        };
        let sending = async {
            for line in ["one\n", "two\n", "three\n"] {
                let room = outgoing.room(line.len()).await.expect("open");
                room.push(line.as_bytes()).expect("open");
            }
            outgoing.push_now(b"four\n");
            outgoing.close();
        };
        let (all, (), ()) = tokio::join!(reading, sending, outgoing.write_to(ours));
        assert_eq!(all, "one\ntwo\nthree\nfour\n");
        assert!(matches!(outgoing.room(1).await, Err(Closed::ByClient)));
    }

    #[tokio::test]
    async fn a_full_buffer_makes_the_next_line_wait_until_it_is_written() {
        let outgoing = Outgoing::new(8);
        outgoing
            .room(8)
            .await
            .expect("open")
            .push(b"1234567\n")
            .expect("open");
        {
            let mut next = std::pin::pin!(outgoing.room(100));
            let waker = std::task::Waker::noop();
            let mut context = std::task::Context::from_waker(waker);
            assert!(next.as_mut().poll(&mut context).is_pending());
        }
        let (mut theirs, ours) = tokio::io::duplex(64);
        let sending = async {
            // Longer than the buffer: it may go once the buffer is empty.
            outgoing
                .room(100)
                .await
                .expect("open")
                .push(b"long\n")
                .expect("open");
            outgoing.close();
        };
        tokio::join!(sending, outgoing.write_to(ours));
        let mut all = String::new();
        theirs.read_to_string(&mut all).await.expect("read");
        assert_eq!(all, "1234567\nlong\n");
    }

    #[tokio::test]
    async fn a_failed_write_fails_whoever_waits() {
        let outgoing = Outgoing::new(8);
        outgoing
            .room(8)
            .await
            .expect("open")
            .push(b"1234567\n")
            .expect("open");
        let (theirs, ours) = tokio::io::duplex(1);
        drop(theirs);
        let (waited, ()) = tokio::join!(outgoing.room(8), outgoing.write_to(ours));
        assert!(matches!(waited.err(), Some(Closed::Write(_))));
    }
}
