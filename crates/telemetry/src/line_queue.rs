//! A bounded, lossy, counted queue of log lines, with a thread that may block behind it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Where lines go: stderr, or a test's buffer. Writing may block.
pub(crate) type Sink = Box<dyn Write + Send>;
/// Makes the line that tells how many lines were lost.
pub(crate) type LossLine = fn(u64) -> String;

/// Takes lines without ever blocking. The thread behind it starts at the first line: a daemon that logs
/// nothing pays nothing.
pub(crate) struct LineQueue {
    sender: OnceLock<Option<SyncSender<Vec<u8>>>>,
    sink: Mutex<Option<Sink>>,
    capacity: usize,
    loss_line: LossLine,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    lost: AtomicU64,
    queued: Mutex<u64>,
    written: Condvar,
}

impl Counts {
    fn change(&self, delta: impl FnOnce(u64) -> u64) {
        let mut queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
        *queued = delta(*queued);
        if *queued == 0 {
            self.written.notify_all();
        }
    }
}

impl LineQueue {
    pub(crate) fn new(sink: Sink, capacity: usize, loss_line: LossLine) -> Self {
        Self {
            sender: OnceLock::new(),
            sink: Mutex::new(Some(sink)),
            capacity,
            loss_line,
            counts: Arc::default(),
        }
    }

    /// Queues a line with its newline, or counts it as lost. Never blocks.
    pub(crate) fn push(&self, line: Vec<u8>) {
        let sender = self.sender.get_or_init(|| self.start());
        let counts = &self.counts;
        counts.change(|queued| queued + 1);
        let sent = sender
            .as_ref()
            .is_some_and(|sender| sender.try_send(line).is_ok());
        if !sent {
            // Full, or the thread could not be started.
            counts.change(|queued| queued.saturating_sub(1));
            counts.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lines lost and not yet told.
    pub(crate) fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }

    /// Waits until everything queued is written, at most `bound`.
    pub(crate) fn flush(&self, bound: Duration) {
        let deadline = Instant::now() + bound;
        let mut queued = self.counts.queued.lock().unwrap_or_else(PoisonError::into_inner);
        while *queued > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queued = self
                .counts
                .written
                .wait_timeout(queued, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn start(&self) -> Option<SyncSender<Vec<u8>>> {
        let sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let (sender, receiver) = sync_channel(self.capacity);
        let counts = Arc::clone(&self.counts);
        let loss_line = self.loss_line;
        thread::Builder::new()
            .name("log-writer".to_owned())
            .spawn(move || write_lines(&receiver, sink, &counts, loss_line))
            .ok()
            .map(|_| sender)
    }
}

/// Writes lines until the queue is gone. An error of the sink loses the line and nothing else: stderr may be
/// a pipe whose reader has left, and that is no reason to stop.
fn write_lines(lines: &Receiver<Vec<u8>>, mut sink: Sink, counts: &Counts, loss_line: LossLine) {
    for line in lines {
        let _: io::Result<()> = sink.write_all(&line);
        let lost = counts.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let _: io::Result<()> = sink.write_all(loss_line(lost).as_bytes());
        }
        counts.change(|queued| queued.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sink that blocks until it is given a permit for each line, and shows what was written.
    struct Gate {
        permits: Receiver<()>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.permits.recv().map_err(io::Error::other)?;
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stderr_that_is_not_read_loses_lines_counted_and_blocks_nobody() {
        let (permit, permits) = std::sync::mpsc::channel();
        let written = Arc::new(Mutex::new(Vec::new()));
        let gate = Gate {
            permits,
            written: Arc::clone(&written),
        };
        let queue = LineQueue::new(Box::new(gate), 2, |n| format!("lost {n}\n"));
        // At most one line is in the thread's hand and two wait: of ten, at least seven are lost.
        for i in 0..10 {
            queue.push(format!("{i}\n").into_bytes());
        }
        let lost = queue.lost();
        assert!((7..=8).contains(&lost), "{lost}");
        for _ in 0..20 {
            permit.send(()).unwrap();
        }
        queue.flush(Duration::from_secs(10));
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert!(text.starts_with(&format!("0\nlost {lost}\n")), "{text}");
        assert_eq!(queue.lost(), 0);
    }

    #[test]
    fn no_thread_before_the_first_line() {
        let queue = LineQueue::new(Box::new(io::sink()), 2, |_| String::new());
        assert!(queue.sender.get().is_none());
        queue.push(b"x\n".to_vec());
        assert!(queue.sender.get().is_some_and(Option::is_some));
        queue.flush(Duration::from_secs(10));
        assert_eq!(queue.lost(), 0);
    }

    #[test]
    fn a_sink_that_fails_stops_nothing() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let queue = LineQueue::new(Box::new(Broken), 1, |_| String::new());
        for _ in 0..3 {
            queue.push(b"x\n".to_vec());
            queue.flush(Duration::from_secs(10));
        }
        assert_eq!(queue.lost(), 0);
    }
}
