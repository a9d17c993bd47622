//! Caps and timeouts of the client, each with its unit and its reason.
//!
//! These are the client's own; the daemon's are in [`exec_protocol::limits`] and reach a client in
//! `environmentInfo.protocol.limits`.

use std::time::Duration;

/// Bytes of events that wait for their consumers, all processes of a connection together, at which the
/// connection is no longer read. Large enough for every process of a busy session to be a few chunks behind,
/// small enough to be no concern in any client.
pub const EVENT_BUFFER_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of requests and notifications queued for the server at which the next call waits before it is sent.
pub const OUTGOING_BYTES: usize = 1024 * 1024;
/// Longest line taken from the server, in bytes; a longer one is skipped and the call it answers fails. File
/// contents travel in one line, in base64, so this is far above any line about processes.
pub const MAX_INCOMING_LINE_BYTES: usize = 256 * 1024 * 1024;
/// Bytes kept of a line over the cap, to find its `id` in.
pub const LINE_PREFIX_BYTES: usize = exec_protocol::limits::LINE_PREFIX_BYTES;
/// One read from the server, in bytes: a whole batch of notifications as the daemon writes it.
pub const READ_BUFFER_BYTES: usize = exec_protocol::limits::WRITE_BATCH_BYTES;
/// A buffer of lines, coming or going, that has grown beyond this is not kept for the next ones, in bytes.
pub const KEPT_BUFFER_BYTES: usize = 256 * 1024;
/// How long a daemon may take to end after its stdin was closed, in milliseconds: its own bound
/// (`sessionEndGraceMs` and the flush after it) several times over, for a loaded machine.
pub const DAEMON_CLOSE_MS: u64 = 10_000;

/// The limits a client runs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientLimits {
    /// See [`EVENT_BUFFER_BYTES`].
    pub event_buffer_bytes: usize,
    /// See [`OUTGOING_BYTES`].
    pub outgoing_bytes: usize,
    /// See [`MAX_INCOMING_LINE_BYTES`].
    pub max_incoming_line_bytes: usize,
    /// See [`DAEMON_CLOSE_MS`].
    pub daemon_close: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            event_buffer_bytes: EVENT_BUFFER_BYTES,
            outgoing_bytes: OUTGOING_BYTES,
            max_incoming_line_bytes: MAX_INCOMING_LINE_BYTES,
            daemon_close: Duration::from_millis(DAEMON_CLOSE_MS),
        }
    }
}
