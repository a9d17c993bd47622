//! The log of a process: every event it makes, numbered, until it is sent and no longer retained.

use std::collections::VecDeque;

use bytes::Bytes;
use exec_protocol::Stream;

use super::budget::cost;

/// A numbered event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// One counter for all events of a process, from 1, without gaps.
    pub(crate) seq: u64,
    /// What happened.
    pub(crate) event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// It printed something.
    Output {
        /// Where.
        stream: Stream,
        /// Of the first byte in its stream.
        offset: u64,
        /// The bytes.
        bytes: Bytes,
    },
    /// The leader ended.
    Exited,
    /// All streams are at end.
    Closed,
}

/// Events, with a cursor of what was sent. What was sent is retained up to a number of bytes and of chunks;
/// what was not sent is never evicted.
#[derive(Debug)]
pub(crate) struct OutputLog {
    entries: VecDeque<Entry>,
    next_seq: u64,
    /// Last event handed out for sending.
    sent: u64,
    retained_limit: usize,
    chunks_limit: usize,
    retained_bytes: usize,
    unsent_bytes: usize,
    unsent_cost: usize,
    evicted_bytes: u64,
    stdout_bytes: u64,
    stderr_bytes: u64,
    pty_bytes: u64,
}

/// A part of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogPage {
    /// Chunks, in order.
    pub(crate) chunks: Vec<(u64, Stream, Bytes)>,
    /// Last returned seq + 1 if there is more, else the next seq to be made.
    pub(crate) next_seq: u64,
}

impl OutputLog {
    /// An empty log that retains so many bytes and chunks of what was sent.
    pub(crate) fn new(retained_limit: usize, chunks_limit: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            next_seq: 1,
            sent: 0,
            retained_limit,
            chunks_limit,
            retained_bytes: 0,
            unsent_bytes: 0,
            unsent_cost: 0,
            evicted_bytes: 0,
            stdout_bytes: 0,
            stderr_bytes: 0,
            pty_bytes: 0,
        }
    }

    /// Logs a chunk and gives the offset of its first byte.
    pub(crate) fn push_output(&mut self, stream: Stream, bytes: Bytes) -> u64 {
        let count = self.stream_counter(stream);
        let offset = *count;
        *count += bytes.len() as u64;
        self.retained_bytes += bytes.len();
        self.unsent_bytes += bytes.len();
        self.unsent_cost += cost(bytes.len());
        self.push(Event::Output {
            stream,
            offset,
            bytes,
        });
        offset
    }

    /// Logs the leader's end.
    pub(crate) fn push_exited(&mut self) {
        self.push(Event::Exited);
    }

    /// Logs the end of all streams.
    pub(crate) fn push_closed(&mut self) {
        self.push(Event::Closed);
    }

    /// The next event to send, which counts as sent.
    pub(crate) fn take_unsent(&mut self) -> Option<Entry> {
        if self.sent + 1 >= self.next_seq {
            return None;
        }
        let entry = self.entries.get(self.index_after(self.sent))?.clone();
        self.sent = entry.seq;
        if let Event::Output { bytes, .. } = &entry.event {
            self.unsent_bytes -= bytes.len();
            self.unsent_cost -= cost(bytes.len());
        }
        self.evict();
        Some(entry)
    }

    /// Whether something is not sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.sent + 1 < self.next_seq
    }

    /// Retained chunks after `after_seq`: whole ones while they fit `max_bytes`, at least one if there is one.
    pub(crate) fn page(&self, after_seq: u64, max_bytes: usize) -> LogPage {
        let mut chunks: Vec<(u64, Stream, Bytes)> = Vec::new();
        let mut total = 0;
        for entry in self.entries.range(self.index_after(after_seq)..) {
            let Event::Output { stream, bytes, .. } = &entry.event else {
                continue;
            };
            if !chunks.is_empty() && total + bytes.len() > max_bytes {
                let next_seq = chunks.last().map_or(self.next_seq, |(seq, ..)| seq + 1);
                return LogPage { chunks, next_seq };
            }
            total += bytes.len();
            chunks.push((entry.seq, *stream, bytes.clone()));
        }
        LogPage {
            chunks,
            next_seq: self.next_seq,
        }
    }

    /// Retained chunks, in order, with their offsets.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (Stream, u64, &Bytes)> {
        self.entries.iter().filter_map(|entry| match &entry.event {
            Event::Output {
                stream,
                offset,
                bytes,
            } => Some((*stream, *offset, bytes)),
            Event::Exited | Event::Closed => None,
        })
    }

    /// The next number to be given.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Number of the first retained chunk.
    pub(crate) fn first_seq(&self) -> Option<u64> {
        let is_output = |entry: &&Entry| matches!(entry.event, Event::Output { .. });
        self.entries.iter().find(is_output).map(|entry| entry.seq)
    }

    /// Bytes no longer retained.
    pub(crate) fn evicted_bytes(&self) -> u64 {
        self.evicted_bytes
    }

    /// Bytes logged, of one stream or of all.
    pub(crate) fn logged_bytes(&self, stream: Option<Stream>) -> u64 {
        match stream {
            Some(Stream::Stdout) => self.stdout_bytes,
            Some(Stream::Stderr) => self.stderr_bytes,
            Some(Stream::Pty) => self.pty_bytes,
            None => self.stdout_bytes + self.stderr_bytes + self.pty_bytes,
        }
    }

    /// Bytes not sent.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.unsent_bytes
    }

    /// Events not sent.
    pub(crate) fn unsent_events(&self) -> usize {
        usize::try_from(self.next_seq - 1 - self.sent).unwrap_or(usize::MAX)
    }

    /// What the unsent chunks cost of the shared budget.
    pub(crate) fn unsent_cost(&self) -> usize {
        self.unsent_cost
    }

    /// What the retained chunks cost in memory.
    pub(crate) fn retained_cost(&self) -> usize {
        self.retained_bytes + self.entries.len() * cost(0)
    }

    /// No longer retains what was sent.
    pub(crate) fn forget_sent(&mut self) {
        self.retained_limit = 0;
        self.chunks_limit = 0;
        self.evict();
        self.entries.shrink_to_fit();
    }

    fn push(&mut self, event: Event) {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.entries.push_back(Entry { seq, event });
        self.evict();
    }

    fn evict(&mut self) {
        while self.retained_bytes > self.retained_limit || self.entries.len() > self.chunks_limit {
            if self.entries.front().is_none_or(|entry| entry.seq > self.sent) {
                break;
            }
            let Some(entry) = self.entries.pop_front() else {
                break;
            };
            if let Event::Output { bytes, .. } = entry.event {
                self.retained_bytes -= bytes.len();
                self.evicted_bytes += bytes.len() as u64;
            }
        }
    }

    /// Where the first entry after `seq` stands: entries have no gaps.
    fn index_after(&self, seq: u64) -> usize {
        let first = self.entries.front().map_or(self.next_seq, |entry| entry.seq);
        let index = usize::try_from((seq.saturating_add(1)).saturating_sub(first)).unwrap_or(usize::MAX);
        index.min(self.entries.len())
    }

    fn stream_counter(&mut self, stream: Stream) -> &mut u64 {
        match stream {
            Stream::Stdout => &mut self.stdout_bytes,
            Stream::Stderr => &mut self.stderr_bytes,
            Stream::Pty => &mut self.pty_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Print(Stream, Vec<u8>),
        Send,
        Read { after: u64, max: usize },
    }

    fn step() -> impl Strategy<Value = Step> {
        let stream = prop_oneof![Just(Stream::Stdout), Just(Stream::Stderr)];
        prop_oneof![
            3 => (stream, prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(s, b)| Step::Print(s, b)),
            2 => Just(Step::Send),
            1 => (0..60u64, 1..100usize).prop_map(|(after, max)| Step::Read { after, max }),
        ]
    }

    /// The log as a plain list of everything that ever happened.
    #[derive(Default)]
    struct Model {
        chunks: Vec<(Stream, u64, Vec<u8>)>,
        sent: usize,
    }

    proptest! {
        #[test]
        fn nothing_is_lost_doubled_or_reordered(
            steps in prop::collection::vec(step(), 0..80),
            retained in 0..200usize,
            chunks in 0..10usize,
        ) {
            let mut log = OutputLog::new(retained, chunks);
            let mut model = Model::default();
            for step in steps {
                match step {
                    Step::Print(stream, bytes) => {
                        let offset = model.chunks.iter().filter(|c| c.0 == stream).map(|c| c.2.len() as u64).sum();
                        prop_assert_eq!(log.push_output(stream, bytes.clone().into()), offset);
                        model.chunks.push((stream, offset, bytes));
                    }
                    Step::Send => {
                        let want = model.chunks.get(model.sent).map(|(stream, offset, bytes)| Entry {
                            seq: model.sent as u64 + 1,
                            event: Event::Output { stream: *stream, offset: *offset, bytes: bytes.clone().into() },
                        });
                        model.sent += usize::from(want.is_some());
                        prop_assert_eq!(log.take_unsent(), want);
                    }
                    Step::Read { after, max } => {
                        let page = log.page(after, max);
                        let first = log.first_seq().unwrap_or(log.next_seq());
                        let begin = first.max(after + 1);
                        for (index, (seq, stream, bytes)) in page.chunks.iter().enumerate() {
                            prop_assert_eq!(*seq, begin + index as u64);
                            let (model_stream, _, model_bytes) = &model.chunks[*seq as usize - 1];
                            prop_assert_eq!((stream, bytes.as_ref()), (model_stream, model_bytes.as_slice()));
                        }
                        let total: usize = page.chunks.iter().map(|c| c.2.len()).sum();
                        prop_assert!(total <= max || page.chunks.len() == 1);
                        prop_assert_eq!(page.chunks.is_empty(), begin >= log.next_seq());
                        if let Some((last, ..)) = page.chunks.last() {
                            prop_assert_eq!(page.next_seq, last + 1);
                        } else {
                            prop_assert_eq!(page.next_seq, log.next_seq());
                        }
                    }
                }
                let total: usize = model.chunks.iter().map(|c| c.2.len()).sum();
                let unsent: usize = model.chunks[model.sent..].iter().map(|c| c.2.len()).sum();
                let held: usize = log.chunks().map(|(_, _, bytes)| bytes.len()).sum();
                prop_assert_eq!(log.logged_bytes(None), total as u64);
                prop_assert_eq!(log.unsent_bytes(), unsent);
                prop_assert_eq!(log.evicted_bytes() + held as u64, total as u64, "loss is counted");
                prop_assert!(held <= retained.max(unsent), "only what is not sent goes over the limit");
                prop_assert!(log.chunks().count() <= chunks.max(log.unsent_events()));
            }
        }
    }

    #[test]
    fn a_page_that_ends_before_the_log_leads_to_the_rest() {
        let mut log = OutputLog::new(100, 10);
        for text in ["abc", "de", "f"] {
            log.push_output(Stream::Stdout, Bytes::from_static(text.as_bytes()));
        }
        log.push_exited();
        let page = log.page(0, 5);
        assert_eq!((page.chunks.len(), page.next_seq), (2, 3));
        let page = log.page(page.next_seq - 1, 5);
        assert_eq!(
            (page.chunks.len(), page.next_seq),
            (1, 5),
            "the exit has a number too"
        );
        assert_eq!(log.page(u64::MAX, 1).next_seq, 5);
    }
}
