//! The bounded queue of replies, and the round of processes that have something to say.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use exec_process::{Process, Subscriber};
use exec_protocol::limits::{INTERACTIVE_CHUNK_BYTES, INTERACTIVE_MS, Limits};
use tokio::sync::Notify;

/// Done when the reply it belongs to was taken for writing.
pub(crate) type AfterReply = Arc<dyn Fn() + Send + Sync>;

/// A reply, ready to be written.
#[derive(Default)]
pub(crate) struct Reply {
    /// The whole line, with its newline.
    pub(crate) line: Vec<u8>,
    /// In order.
    pub(crate) after: Vec<AfterReply>,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Reply({} bytes, {} to do after it)",
            self.line.len(),
            self.after.len()
        )
    }
}

/// Has notifications to send: a process.
pub(crate) trait Source: Send + Sync + 'static {
    /// Appends the next notification as a line. After `Silent` it says so when it has another.
    fn write_next(&self, out: &mut Vec<u8>, tree_ended: bool) -> Turn;
}

/// What became of a source's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It wrote one line.
    Spoke,
    /// It has nothing to say now.
    Silent,
}

/// Everything that waits to leave. Replies are bounded here; processes bound their own output and are only
/// listed, each at most once.
pub(crate) struct Outbox {
    reply_queue_bytes: usize,
    write_batch_bytes: usize,
    state: Mutex<State>,
    /// Something to write, or the end.
    pub(super) work: Notify,
    /// Replies have left.
    room: Notify,
    /// Nothing waits and nothing is being written; or it never will be.
    drained: Notify,
    /// Stdout is gone.
    closed: Notify,
}

#[derive(Default)]
struct State {
    replies: VecDeque<Reply>,
    reply_bytes: usize,
    round: VecDeque<Arc<dyn Source>>,
    tree_ended: bool,
    writing: bool,
    closed: bool,
    stalled_since: Option<Instant>,
    last_reply: Option<Instant>,
}

impl Outbox {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            reply_queue_bytes: limits.reply_queue_bytes,
            write_batch_bytes: limits.write_batch_bytes,
            state: Mutex::default(),
            work: Notify::new(),
            room: Notify::new(),
            drained: Notify::new(),
            closed: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client wants to hear of trees that ended.
    pub(crate) fn notify_tree_ended(&self) {
        self.state().tree_ended = true;
    }

    /// Queues a reply, full or not: who makes large ones, or reads requests, waits for [`room`](Self::room)
    /// first. Once stdout is gone it is dropped.
    pub(crate) fn push(&self, reply: Reply) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.reply_bytes += reply.line.len();
        state.replies.push_back(reply);
        state.last_reply = Some(Instant::now());
        drop(state);
        self.work.notify_one();
    }

    /// Lists a process that has something to say.
    fn enlist(&self, source: Arc<dyn Source>) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.round.push_back(source);
        drop(state);
        self.work.notify_one();
    }

    /// Whether replies have reached their bound.
    pub(crate) fn is_full(&self) -> bool {
        self.state().reply_bytes >= self.reply_queue_bytes
    }

    /// Waits until replies are below their bound. Who comes on must queue its reply before it awaits again,
    /// or others that were let on as well overrun the bound.
    pub(crate) async fn room(&self) {
        self.until(&self.room, |state| state.reply_bytes < self.reply_queue_bytes)
            .await;
    }

    /// Waits until everything has been written, or stdout is gone.
    pub(crate) async fn drained(&self) {
        self.until(&self.drained, State::is_drained).await;
    }

    /// Waits until stdout is gone.
    pub(crate) async fn gone(&self) {
        self.until(&self.closed, |state| state.closed).await;
    }

    async fn until(&self, changed: &Notify, holds: impl Fn(&State) -> bool) {
        loop {
            let notified = changed.notified();
            if holds(&self.state()) {
                return;
            }
            notified.await;
        }
    }

    /// How long the write in progress has waited for the client to read.
    pub(crate) fn stalled_for(&self) -> Duration {
        self.state()
            .stalled_since
            .map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(super) fn set_stalled(&self, stalled: bool) {
        self.state().stalled_since = stalled.then(Instant::now);
    }

    /// Stdout is gone: drops what waits, and whatever comes.
    pub(super) fn close(&self) {
        let mut state = self.state();
        let round = std::mem::take(&mut state.round);
        let replies = std::mem::take(&mut state.replies);
        state.reply_bytes = 0;
        state.closed = true;
        state.writing = false;
        state.stalled_since = None;
        drop(state);
        // Not under the lock: dropping may drop a process.
        drop((round, replies));
        for waiting in [&self.room, &self.drained, &self.closed] {
            waiting.notify_waiters();
        }
    }

    /// Gathers lines for one write into `buffer`, which is empty: replies first, then one chunk of each
    /// process in turn, until the batch is full or nothing is left. While the client exchanges requests, output
    /// has a small batch: the next reply waits behind it.
    pub(crate) fn fill(&self, buffer: &mut Vec<u8>) {
        let output_batch = match self.is_interactive() {
            true => INTERACTIVE_CHUNK_BYTES.min(self.write_batch_bytes),
            false => self.write_batch_bytes,
        };
        while buffer.len() < self.write_batch_bytes {
            // No lock while a process or an `AfterReply` is called: both may call back.
            let mut state = self.state();
            if let Some(reply) = state.replies.pop_front() {
                state.reply_bytes -= reply.line.len();
                let has_room = state.reply_bytes < self.reply_queue_bytes;
                drop(state);
                if has_room {
                    self.room.notify_waiters();
                }
                self.take(reply, buffer);
            } else if buffer.len() >= output_batch {
                break;
            } else if let Some(source) = state.round.pop_front() {
                let tree_ended = state.tree_ended;
                drop(state);
                if source.write_next(buffer, tree_ended) == Turn::Spoke {
                    self.state().round.push_back(source);
                }
            } else {
                break;
            }
        }
        let mut state = self.state();
        state.writing = !buffer.is_empty();
        let drained = state.is_drained();
        drop(state);
        if drained {
            self.drained.notify_waiters();
        }
    }

    fn take(&self, reply: Reply, buffer: &mut Vec<u8>) {
        if buffer.is_empty() && reply.line.len() >= self.write_batch_bytes {
            // A large reply is a batch of its own, and need not be copied.
            *buffer = reply.line;
        } else {
            buffer.extend_from_slice(&reply.line);
        }
        for act in reply.after {
            act();
        }
    }

    pub(super) fn write_batch_bytes(&self) -> usize {
        self.write_batch_bytes
    }
}

impl State {
    fn is_drained(&self) -> bool {
        self.closed || (!self.writing && self.replies.is_empty() && self.round.is_empty())
    }
}

impl Subscriber for Outbox {
    fn ready(&self, process: &Arc<Process>) {
        self.enlist(Arc::clone(process) as Arc<dyn Source>);
    }

    fn is_interactive(&self) -> bool {
        self.state()
            .last_reply
            .is_some_and(|last| last.elapsed() < Duration::from_millis(INTERACTIVE_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Says its name so many times.
    struct Speaker(&'static str, AtomicUsize);

    impl Source for Speaker {
        fn write_next(&self, out: &mut Vec<u8>, _: bool) -> Turn {
            let left = self.1.load(Ordering::Relaxed);
            if left == 0 {
                return Turn::Silent;
            }
            self.1.store(left - 1, Ordering::Relaxed);
            out.extend_from_slice(self.0.as_bytes());
            Turn::Spoke
        }
    }

    fn speaker(name: &'static str, times: usize) -> Arc<dyn Source> {
        Arc::new(Speaker(name, AtomicUsize::new(times)))
    }

    fn outbox(reply_queue_bytes: usize, write_batch_bytes: usize) -> Arc<Outbox> {
        Outbox::new(&Limits {
            reply_queue_bytes,
            write_batch_bytes,
            ..Limits::default()
        })
    }

    fn filled(outbox: &Outbox) -> String {
        let mut buffer = Vec::new();
        outbox.fill(&mut buffer);
        String::from_utf8(buffer).unwrap()
    }

    fn reply(line: &str) -> Reply {
        Reply {
            line: line.into(),
            after: Vec::new(),
        }
    }

    #[test]
    fn replies_go_first_and_processes_take_turns() {
        let outbox = outbox(100, 100);
        outbox.enlist(speaker("a", 4));
        outbox.enlist(speaker("b", 1));
        outbox.enlist(speaker("c", 2));
        outbox.push(reply("R"));
        outbox.push(reply("S"));
        assert_eq!(filled(&outbox), "RSabcacaa");
        assert_eq!(filled(&outbox), "");
    }

    #[test]
    fn a_flood_delays_a_reply_by_one_batch_at_most() {
        let outbox = outbox(100, 4);
        outbox.enlist(speaker("f", 1000));
        assert_eq!(filled(&outbox), "ffff");
        outbox.push(reply("R"));
        outbox.enlist(speaker("b", 1));
        assert_eq!(filled(&outbox), "Rfbf");
    }

    #[test]
    fn a_process_that_opens_with_its_reply_comes_after_it() {
        let outbox = outbox(100, 100);
        outbox.enlist(speaker("a", 1));
        let opened = Arc::downgrade(&outbox);
        let open: AfterReply = Arc::new(move || {
            opened.upgrade().unwrap().enlist(speaker("n", 1));
        });
        outbox.push(Reply {
            line: "R".into(),
            after: vec![open],
        });
        outbox.push(reply("S"));
        assert_eq!(filled(&outbox), "RSan");
    }

    #[test]
    fn while_replies_are_asked_for_output_comes_in_small_batches() {
        let outbox = outbox(1 << 20, 1 << 20);
        let line = "x".repeat(1000).leak();
        outbox.enlist(speaker(line, 100));
        outbox.push(reply("R"));
        assert!(outbox.is_interactive());
        let first = filled(&outbox);
        assert!(first.starts_with('R'));
        assert!(
            first.len() < INTERACTIVE_CHUNK_BYTES + line.len(),
            "{}",
            first.len()
        );
        // As if the client had been silent for a while.
        outbox.state().last_reply = None;
        assert!(filled(&outbox).len() > 90_000);
    }

    #[tokio::test]
    async fn replies_are_bounded_and_make_room_when_taken() {
        let outbox = outbox(4, 2);
        outbox.push(reply("abc"));
        assert!(!outbox.is_full());
        outbox.push(reply("d"));
        assert!(outbox.is_full());
        let waits = Arc::clone(&outbox);
        let waiting = tokio::spawn(async move { waits.room().await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        assert_eq!(filled(&outbox), "abc");
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn once_stdout_is_gone_nothing_waits() {
        let outbox = outbox(1, 1);
        outbox.push(reply("abc"));
        outbox.close();
        outbox.push(reply("abc"));
        outbox.enlist(speaker("a", 1));
        outbox.room().await;
        outbox.drained().await;
        outbox.gone().await;
        assert_eq!(filled(&outbox), "");
    }
}
