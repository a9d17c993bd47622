//! Those that a daemon can be given other values of.

use std::time::Duration;

use super::process::{
    DEFAULT_GRACE_MS, MAX_CLOSED_PROCESSES, MAX_CLOSED_RETAINED_BYTES, MAX_MATCH_BYTES, MAX_PROCESSES,
    MAX_REGEX_WAITS, MAX_WAIT_MS, PROCESS_UNSENT_BYTES, PROCESS_UNSENT_EVENTS, REMEMBERED_WRITE_IDS,
    RETAINED_BYTES, RETAINED_CHUNKS, RETENTION_MS, SESSION_END_GRACE_MS, STDIN_BACKLOG_BYTES,
    TOTAL_UNSENT_BYTES,
};
use super::snapshot::SnapshotLimits;
use super::wire::{
    MAX_LINE_BYTES, MAX_PENDING_REQUESTS, REPLY_QUEUE_BYTES, SESSION_END_FLUSH_MS, WRITE_BATCH_BYTES,
};

/// The limits a daemon runs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// See [`MAX_LINE_BYTES`].
    pub max_line_bytes: usize,
    /// See [`MAX_PROCESSES`].
    pub max_processes: usize,
    /// See [`MAX_CLOSED_PROCESSES`].
    pub max_closed_processes: usize,
    /// See [`MAX_CLOSED_RETAINED_BYTES`].
    pub max_closed_retained_bytes: usize,
    /// See [`MAX_PENDING_REQUESTS`].
    pub max_pending_requests: usize,
    /// See [`RETAINED_BYTES`].
    pub retained_bytes: usize,
    /// See [`RETAINED_CHUNKS`].
    pub retained_chunks: usize,
    /// See [`RETENTION_MS`].
    pub retention: Duration,
    /// See [`STDIN_BACKLOG_BYTES`].
    pub stdin_backlog_bytes: usize,
    /// See [`REMEMBERED_WRITE_IDS`].
    pub remembered_write_ids: usize,
    /// See [`MAX_WAIT_MS`].
    pub max_wait: Duration,
    /// See [`DEFAULT_GRACE_MS`].
    pub default_grace: Duration,
    /// See [`SESSION_END_GRACE_MS`].
    pub session_end_grace: Duration,
    /// See [`SESSION_END_FLUSH_MS`].
    pub session_end_flush: Duration,
    /// See [`MAX_MATCH_BYTES`].
    pub max_match_bytes: usize,
    /// See [`MAX_REGEX_WAITS`].
    pub max_regex_waits: usize,
    /// See [`PROCESS_UNSENT_BYTES`].
    pub process_unsent_bytes: usize,
    /// See [`PROCESS_UNSENT_EVENTS`].
    pub process_unsent_events: usize,
    /// See [`TOTAL_UNSENT_BYTES`].
    pub total_unsent_bytes: usize,
    /// See [`REPLY_QUEUE_BYTES`].
    pub reply_queue_bytes: usize,
    /// See [`WRITE_BATCH_BYTES`].
    pub write_batch_bytes: usize,
    /// Those of shell snapshots.
    pub snapshot: SnapshotLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_line_bytes: MAX_LINE_BYTES,
            max_processes: MAX_PROCESSES,
            max_closed_processes: MAX_CLOSED_PROCESSES,
            max_closed_retained_bytes: MAX_CLOSED_RETAINED_BYTES,
            max_pending_requests: MAX_PENDING_REQUESTS,
            retained_bytes: RETAINED_BYTES,
            retained_chunks: RETAINED_CHUNKS,
            retention: Duration::from_millis(RETENTION_MS),
            stdin_backlog_bytes: STDIN_BACKLOG_BYTES,
            remembered_write_ids: REMEMBERED_WRITE_IDS,
            max_wait: Duration::from_millis(MAX_WAIT_MS),
            default_grace: Duration::from_millis(DEFAULT_GRACE_MS),
            session_end_grace: Duration::from_millis(SESSION_END_GRACE_MS),
            session_end_flush: Duration::from_millis(SESSION_END_FLUSH_MS),
            max_match_bytes: MAX_MATCH_BYTES,
            max_regex_waits: MAX_REGEX_WAITS,
            process_unsent_bytes: PROCESS_UNSENT_BYTES,
            process_unsent_events: PROCESS_UNSENT_EVENTS,
            total_unsent_bytes: TOTAL_UNSENT_BYTES,
            reply_queue_bytes: REPLY_QUEUE_BYTES,
            write_batch_bytes: WRITE_BATCH_BYTES,
            snapshot: SnapshotLimits::default(),
        }
    }
}
