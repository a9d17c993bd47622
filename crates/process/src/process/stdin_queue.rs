//! What waits for a process's stdin, in order.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use exec_protocol::limits::WRITE_ID_BYTES;

/// Bytes that wait for stdin, its end, and the names of the writes it has taken.
#[derive(Debug)]
pub(crate) struct StdinQueue {
    chunks: VecDeque<Bytes>,
    queued_bytes: usize,
    limit_bytes: usize,
    /// Its end is queued behind the bytes.
    ending: bool,
    /// Nothing can be written any more.
    closed: bool,
    /// A write was refused, and the refusal is not answered yet.
    refusing: bool,
    write_ids: WriteIds,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Taken whole.
    Queued,
    /// Taken before under the same name.
    Known,
    /// Stdin is closed, or its end is queued.
    Closed,
    /// Too much waits.
    Full {
        /// Bytes that wait.
        queued_bytes: usize,
    },
}

impl StdinQueue {
    /// An empty queue that takes a chunk while fewer than `limit_bytes` wait.
    pub(crate) fn new(limit_bytes: usize, remembered_write_ids: usize) -> Self {
        Self {
            chunks: VecDeque::new(),
            queued_bytes: 0,
            limit_bytes,
            ending: false,
            closed: false,
            refusing: false,
            write_ids: WriteIds::new(remembered_write_ids),
        }
    }

    /// Takes a chunk, and the end after it if `end`, or none of both.
    pub(crate) fn push(&mut self, bytes: Bytes, write_id: Option<&str>, end: bool) -> Admission {
        if write_id.is_some_and(|id| self.write_ids.contains(id)) {
            return Admission::Known;
        }
        if self.closed || self.ending {
            return Admission::Closed;
        }
        if self.refusing || self.queued_bytes >= self.limit_bytes {
            self.refusing = true;
            return Admission::Full {
                queued_bytes: self.queued_bytes,
            };
        }
        if let Some(id) = write_id {
            self.write_ids.insert(id);
        }
        self.queued_bytes += bytes.len();
        if !bytes.is_empty() {
            self.chunks.push_back(bytes);
        }
        self.ending = end;
        Admission::Queued
    }

    /// Queues the end; false if it was queued or reached before.
    pub(crate) fn end(&mut self) -> bool {
        let open = !(self.closed || self.ending);
        self.ending = true;
        open
    }

    /// Takes writes again after a refusal.
    pub(crate) fn refusal_answered(&mut self) {
        self.refusing = false;
    }

    /// The bytes to write next.
    pub(crate) fn front(&self) -> Option<&Bytes> {
        self.chunks.front()
    }

    /// So many bytes of the front were written.
    pub(crate) fn written(&mut self, count: usize) {
        let Some(front) = self.chunks.front_mut() else {
            return;
        };
        let count = count.min(front.len());
        front.advance(count);
        self.queued_bytes -= count;
        if front.is_empty() {
            self.chunks.pop_front();
        }
    }

    /// All bytes were written and the end is next.
    pub(crate) fn at_end(&self) -> bool {
        self.ending && self.chunks.is_empty()
    }

    /// Nothing can be written any more; what waits is dropped.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.queued_bytes = 0;
        self.chunks = VecDeque::new();
    }
}

/// The last names of writes, so that none is written twice.
#[derive(Debug)]
struct WriteIds {
    limit: usize,
    bytes: usize,
    order: VecDeque<Arc<str>>,
    known: HashSet<Arc<str>>,
}

impl WriteIds {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: 0,
            order: VecDeque::new(),
            known: HashSet::new(),
        }
    }

    fn contains(&self, id: &str) -> bool {
        self.known.contains(id)
    }

    fn insert(&mut self, id: &str) {
        let id: Arc<str> = id.into();
        self.bytes += id.len();
        self.order.push_back(Arc::clone(&id));
        self.known.insert(id);
        while self.order.len() > self.limit || self.bytes > self.limit * WRITE_ID_BYTES {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            self.bytes -= oldest.len();
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> StdinQueue {
        StdinQueue::new(4, 2)
    }

    fn bytes(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    /// Writes at most `count` bytes at a time until nothing is left.
    fn drain(queue: &mut StdinQueue, count: usize) -> Vec<u8> {
        let mut written = Vec::new();
        while let Some(front) = queue.front() {
            let part = &front[..count.min(front.len())];
            written.extend_from_slice(part);
            let part = part.len();
            queue.written(part);
        }
        written
    }

    #[test]
    fn partial_writes_keep_the_order_and_the_end_comes_last() {
        let mut queue = queue();
        assert_eq!(queue.push(bytes("abc"), None, false), Admission::Queued);
        assert_eq!(queue.push(bytes(""), None, false), Admission::Queued);
        assert_eq!(queue.push(bytes("de"), None, true), Admission::Queued);
        assert!(!queue.at_end());
        assert_eq!(drain(&mut queue, 2), b"abcde");
        assert!(queue.at_end());
        assert_eq!(queue.push(bytes("x"), None, false), Admission::Closed);
        assert!(!queue.end(), "twice");
    }

    #[test]
    fn a_chunk_is_taken_whole_or_not_at_all() {
        let mut queue = queue();
        assert_eq!(queue.push(bytes("abc"), None, false), Admission::Queued);
        assert_eq!(
            queue.push(bytes("a long one"), None, false),
            Admission::Queued,
            "3 < 4"
        );
        let full = Admission::Full { queued_bytes: 13 };
        assert_eq!(queue.push(bytes("x"), Some("w"), true), full);
        assert_eq!(drain(&mut queue, 64), b"abca long one");
        assert!(!queue.at_end(), "the end of a refused write is refused too");
    }

    #[test]
    fn after_a_refusal_nothing_is_taken_until_it_is_answered() {
        let mut queue = queue();
        queue.push(bytes("abcd"), None, false);
        assert_eq!(
            queue.push(bytes("1"), None, false),
            Admission::Full { queued_bytes: 4 }
        );
        drain(&mut queue, 64);
        assert_eq!(
            queue.push(bytes("2"), None, false),
            Admission::Full { queued_bytes: 0 }
        );
        queue.refusal_answered();
        assert_eq!(queue.push(bytes("3"), None, false), Admission::Queued);
        assert_eq!(drain(&mut queue, 64), b"3");
    }

    #[test]
    fn a_name_is_written_once_while_it_is_remembered() {
        let mut queue = queue();
        queue.push(bytes("a"), Some("1"), false);
        assert_eq!(queue.push(bytes("a"), Some("1"), false), Admission::Known);
        queue.push(bytes("b"), Some("2"), false);
        queue.push(bytes("c"), Some("3"), false);
        assert_eq!(drain(&mut queue, 64), b"abc");
        assert_eq!(
            queue.push(bytes("a"), Some("1"), false),
            Admission::Queued,
            "forgotten"
        );
    }

    #[test]
    fn a_refused_name_may_be_tried_again() {
        let mut queue = queue();
        queue.push(bytes("abcd"), None, false);
        assert!(matches!(
            queue.push(bytes("x"), Some("w"), false),
            Admission::Full { .. }
        ));
        drain(&mut queue, 64);
        queue.refusal_answered();
        assert_eq!(queue.push(bytes("x"), Some("w"), false), Admission::Queued);
    }

    #[test]
    fn a_known_name_is_accepted_after_the_close() {
        let mut queue = queue();
        queue.push(bytes("a"), Some("1"), true);
        queue.close();
        assert_eq!(queue.push(bytes("a"), Some("1"), true), Admission::Known);
        assert_eq!(queue.push(bytes("a"), Some("2"), false), Admission::Closed);
    }
}
