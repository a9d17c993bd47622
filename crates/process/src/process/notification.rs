//! What a process tells: its notifications, and pages of its log.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use exec_protocol::Stream;
use exec_protocol::exit::{ExitCause, Tree, Usage};

use super::Process;
use crate::Signal;

/// Told when a process has notifications to send.
pub trait Subscriber: Send + Sync + 'static {
    /// `process` has at least one notification; called once until [`Process::next_notification`] has
    /// returned `None` again. Must not call back into the process.
    fn ready(&self, process: &Arc<Process>);

    /// Whether the client exchanges requests just now: then output is read in small chunks, so that a reply
    /// waits behind little. Called for every read.
    fn is_interactive(&self) -> bool {
        false
    }
}

/// Counts what becomes of processes. Called where nothing is locked; must not wait.
pub trait Observer: Send + Sync + 'static {
    /// `process` executes.
    fn started(&self, process: &Arc<Process>);

    /// So many bytes of a process's output were read.
    fn output(&self, stream: Stream, bytes: usize);

    /// The leader of `process`, which had started, ended: so, and so long after its exec.
    fn exited(&self, process: &Arc<Process>, exit_code: i32, duration: Duration);
}

/// Nobody counts.
#[derive(Debug, Clone, Copy)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn started(&self, _process: &Arc<Process>) {}
    fn output(&self, _stream: Stream, _bytes: usize) {}
    fn exited(&self, _process: &Arc<Process>, _exit_code: i32, _duration: Duration) {}
}

/// What a process has to say, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Notification {
    /// Bytes it printed.
    Output {
        /// Number.
        seq: u64,
        /// Where from.
        stream: Stream,
        /// Of the first byte in its stream.
        offset: u64,
        /// The bytes.
        bytes: Bytes,
    },
    /// The leader ended.
    Exited {
        /// Number.
        seq: u64,
        /// Exit code, or 128 + signal.
        exit_code: i32,
        /// The signal that killed it.
        signal: Option<Signal>,
        /// Why.
        cause: ExitCause,
        /// From exec to exit.
        duration: Duration,
        /// Resource use, where known.
        usage: Option<Usage>,
    },
    /// All streams are at end.
    Closed {
        /// Number.
        seq: u64,
        /// Bytes read from it, all of which were told before this: output is held back, never dropped.
        output_bytes: u64,
        /// What is left of its tree.
        tree: Tree,
    },
    /// After `Closed` with a tree that had not ended: now it has.
    TreeEnded,
}

/// What a read found.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadPage {
    /// Chunks after the cursor, in order.
    pub chunks: Vec<(u64, Stream, Bytes)>,
    /// Last returned seq + 1, or the next seq to be made.
    pub next_seq: u64,
    /// Once exited.
    pub exit_code: Option<i32>,
    /// Once exited.
    pub cause: Option<ExitCause>,
    /// The signal that killed it.
    pub signal: Option<Signal>,
    /// All streams are at end.
    pub closed: bool,
    /// What went wrong with its output, if something did.
    pub failure: Option<String>,
    /// First chunk still retained.
    pub first_seq: Option<u64>,
    /// Bytes no longer retained.
    pub evicted_bytes: u64,
}
