//! One session: everything wired together, and how it ends.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use exec_process::ProcessTable;
use exec_process::environment::Environment;
use exec_process::warden::FirstWarden;
use exec_protocol::limits::{LINES_PER_TURN, Limits};
use exec_shell_snapshot::Snapshots;
use exec_telemetry::tags::Transport;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::dispatch::{Dispatcher, Handshake, OutgoingRequests, Pending};
use crate::facts::Facts;
use crate::handlers::{Handlers, register_all};
use crate::launch::Launcher;
use crate::outbox::{self, Outbox};
use crate::telemetry::{ExitSpans, Probes, ProcessObserver, SnapshotObserver};
use crate::transport::hangup::{Parent, other_side_gone};
use crate::transport::line_buffer::LineBuffer;
use crate::transport::stdin::Input;
use crate::transport::stdout::Output;

/// Why a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    EndOfInput,
    InputError,
    InputHungUp,
    Signal,
    OutputGone,
    ParentGone,
}

/// A session that runs.
pub(crate) struct Session {
    dispatcher: Arc<Dispatcher>,
    table: Arc<ProcessTable>,
    outbox: Arc<Outbox>,
    probes: Probes,
    flush: Duration,
    max_line_bytes: usize,
}

impl Session {
    /// Wires it together, while the warden prepares itself. Must be called inside the runtime.
    ///
    /// # Errors
    /// The warden's socket cannot be watched.
    pub(crate) fn start(
        warden: FirstWarden,
        limits: &Limits,
        facts: Facts,
        environment: Environment,
        output: Output,
        probes: Probes,
    ) -> io::Result<Self> {
        let outbox = Outbox::new(limits);
        let exits = Arc::new(ExitSpans::default());
        let subscriber: Arc<Outbox> = Arc::clone(&outbox);
        let observer = Arc::new(ProcessObserver {
            metrics: probes.metrics.clone(),
            exits: Arc::clone(&exits),
        });
        let table = ProcessTable::attach(warden, limits.clone(), subscriber, observer)?;
        let handshake = Arc::new(Handshake::new());
        let pending = Arc::new(Pending::new(limits.max_pending_requests));
        let observer = Arc::new(SnapshotObserver(probes.metrics.clone()));
        let snapshots = Snapshots::new(Arc::clone(&table), limits.snapshot.clone(), observer);
        let handlers = Arc::new(Handlers {
            snapshots,
            table: Arc::clone(&table),
            outbox: Arc::clone(&outbox),
            handshake: Arc::clone(&handshake),
            pending: Arc::clone(&pending),
            limits: limits.clone(),
            launcher: Launcher::new(environment),
            facts,
            exits,
            methods: OnceLock::new(),
        });
        let dispatcher = Arc::new(Dispatcher {
            router: register_all(&handlers),
            handshake,
            outbox: Arc::clone(&outbox),
            pending,
            outgoing: Arc::new(OutgoingRequests::new(limits.max_pending_requests)),
            max_line_bytes: limits.max_line_bytes,
            max_batch_reply_bytes: limits.reply_queue_bytes,
            ignored: AtomicU64::new(0),
            probes: probes.clone(),
        });
        tokio::spawn(outbox::write_to(Arc::clone(&outbox), output));
        Ok(Self {
            dispatcher,
            table,
            outbox,
            probes,
            flush: limits.session_end_flush,
            max_line_bytes: limits.max_line_bytes,
        })
    }

    /// Serves until the input ends, a signal comes or the client is gone; then ends everything.
    ///
    /// # Errors
    /// There is no warden: nothing was handled, and nothing is left to end.
    pub(crate) async fn run(self, mut input: Input, watch_parent: bool) -> io::Result<()> {
        let _open = self.probes.metrics.connection_accepted(Transport::Stdio);
        let mut signals = Signals::new();
        let parent = if watch_parent { Parent::watch() } else { None };
        let mut buffer = LineBuffer::new(self.max_line_bytes);
        let stdout = std::io::stdout();
        let reason = tokio::select! {
            // In this order: what has come is handled before an end that came with it.
            biased;
            reason = self.serve(&mut input, &mut buffer) => reason?,
            () = signals.next() => Reason::Signal,
            () = self.outbox.gone() => Reason::OutputGone,
            () = other_side_gone(stdout.as_fd()) => Reason::OutputGone,
            reason = self.orphaned(parent.as_ref()) => reason?,
        };
        tracing::info!(?reason, "the session ends");
        if reason == Reason::ParentGone {
            self.read_what_is_there(&mut input, &mut buffer);
        }
        // More signals change nothing: the end is on its way, and bounded.
        self.end().await;
        Ok(())
    }

    /// Handles lines, once the warden is ready.
    async fn serve(&self, input: &mut Input, buffer: &mut LineBuffer) -> io::Result<Reason> {
        self.table.ready().await?;
        Ok(self.read(input, buffer).await)
    }

    /// Waits until the parent is gone, and what it has left can be handled.
    async fn orphaned(&self, parent: Option<&Parent>) -> io::Result<Reason> {
        gone(parent).await;
        self.table.ready().await?;
        Ok(Reason::ParentGone)
    }

    /// Handles lines until the input ends.
    async fn read(&self, input: &mut Input, buffer: &mut LineBuffer) -> Reason {
        // What lines are in the buffer became whole with the last bytes read.
        let mut arrived = None;
        loop {
            let mut lines = 0;
            while let Some(line) = buffer.next_line() {
                self.dispatcher.handle(line, arrived);
                lines += 1;
                if self.outbox.is_full() {
                    // A client that does not read is not read from; but one that is gone is noticed.
                    tokio::select! {
                        () = self.outbox.room() => {}
                        () = input.hung_up() => return Reason::InputHungUp,
                    }
                } else if lines % LINES_PER_TURN == 0 {
                    tokio::task::yield_now().await;
                }
            }
            match input.read(buffer.room()).await {
                Ok(0) => {
                    if let Some(line) = buffer.finish() {
                        self.dispatcher.handle(line, arrived);
                    }
                    return Reason::EndOfInput;
                }
                Ok(count) => {
                    buffer.filled(count);
                    arrived = self.probes.metrics.is_on().then(Instant::now);
                }
                Err(error) => {
                    tracing::warn!(kind = ?error.kind(), "stdin cannot be read");
                    return Reason::InputError;
                }
            }
        }
    }

    /// Handles what a parent that has ended left in stdin, which another process may hold open. At most one
    /// line of the largest size: whoever else writes there is not our client.
    fn read_what_is_there(&self, input: &mut Input, buffer: &mut LineBuffer) {
        let mut left = self.max_line_bytes;
        loop {
            while let Some(line) = buffer.next_line() {
                self.dispatcher.handle(line, None);
            }
            match input.read_available(buffer.room()) {
                Ok(Some(count)) if count > 0 && left > 0 => {
                    buffer.filled(count);
                    left = left.saturating_sub(count);
                }
                _ => break,
            }
        }
        if let Some(line) = buffer.finish() {
            self.dispatcher.handle(line, None);
        }
    }

    /// Ends every process, answers what waits, and flushes for a while, all at the same time.
    async fn end(&self) {
        self.dispatcher.handshake.end();
        self.dispatcher.outgoing.end();
        // Reads answer their state, waits that the session is ending.
        self.table.begin_ending();
        self.table.end().await;
        // A client that reads gets the last notifications. One that has not read all the while gets no more
        // time than it had.
        let left = self.flush.saturating_sub(self.outbox.stalled_for());
        let flushed = async {
            self.dispatcher.pending.emptied().await;
            self.outbox.drained().await;
        };
        if tokio::time::timeout(left, flushed).await.is_err() {
            tracing::info!("the client did not read the last messages");
        }
    }
}

async fn gone(parent: Option<&Parent>) {
    match parent {
        Some(parent) => parent.gone().await,
        None => std::future::pending().await,
    }
}

/// SIGTERM and SIGINT.
struct Signals {
    term: Option<Signal>,
    int: Option<Signal>,
}

impl Signals {
    fn new() -> Self {
        let listen = |kind: SignalKind| {
            signal(kind)
                .inspect_err(|error| tracing::warn!(kind = ?error.kind(), "a signal cannot be caught"))
                .ok()
        };
        Self {
            term: listen(SignalKind::terminate()),
            int: listen(SignalKind::interrupt()),
        }
    }

    /// Waits for one.
    async fn next(&mut self) {
        tokio::select! {
            () = next(self.term.as_mut()) => {}
            () = next(self.int.as_mut()) => {}
        }
    }
}

async fn next(signal: Option<&mut Signal>) {
    let came = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if came.is_none() {
        std::future::pending().await
    }
}
