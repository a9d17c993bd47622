//! Of the connection: lines, requests in work, replies and what the event loop does for them.

/// Longest line accepted from the client, in bytes. Large enough for a 2 MiB argv with every byte escaped
/// (`\u0000`, × 6) and for file contents in base64; small enough that one line cannot hold the memory of a machine.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// Bytes kept of a line over the cap, to find its `id` in: an id stands near the front in every known client.
pub const LINE_PREFIX_BYTES: usize = 4096;
/// Deepest nesting of a JSON message; deeper ones are a parse error (serde_json's own bound).
pub const MAX_JSON_DEPTH: usize = 128;
/// Requests in work at once (long polls and waits mostly); and those of the daemon that its client has not answered.
pub const MAX_PENDING_REQUESTS: usize = 4096;
/// Lines handled before others have their turn: a client that pipelines must not hold up what it started.
pub const LINES_PER_TURN: usize = 64;
/// Tasks run before the event loop looks for readiness. Under a flood there is always one more task to run, and with
/// tokio's 61 a request would wait behind as many pieces of output.
pub const TASKS_BETWEEN_POLLS: u32 = 8;
/// One read from a stdin that epoll cannot wait for (a file, `/dev/null`), by a thread, in bytes.
pub const STDIN_READ_BYTES: usize = 64 * 1024;
/// Reads that this thread may be ahead of the dispatcher.
pub const STDIN_READS_AHEAD: usize = 2;
/// The buffer of stdin at first, in bytes: for a handshake, every page less is time before the first answer.
pub const FIRST_LINE_BUFFER_BYTES: usize = 4 * 1024;
/// The buffer of stdin as soon as more has come at once, while lines are small, in bytes: a pipe's worth.
pub const LINE_BUFFER_BYTES: usize = 64 * 1024;
/// Bytes of replies queued at which reading stdin stops.
pub const REPLY_QUEUE_BYTES: usize = 8 * 1024 * 1024;
/// Bytes gathered for one write to stdout.
pub const WRITE_BATCH_BYTES: usize = 256 * 1024;
/// How many batches large the buffer of stdout may stay.
pub const KEPT_WRITE_BATCHES: usize = 2;
/// How long after a reply the client counts as exchanging requests, in milliseconds: longer than a request takes to
/// follow a reply, short enough that a flood nobody interrupts is soon moved in large pieces again.
pub const INTERACTIVE_MS: u64 = 10;
/// While the client exchanges requests: one read from a child's pipe, and the output gathered for one write to stdout,
/// in bytes. A reply waits behind what was written before it, and a flood's next chunk behind that reply.
pub const INTERACTIVE_CHUNK_BYTES: usize = 4096;
/// Descriptors that the event loop opens at its start, and some to spare: a start without them is refused.
pub const EVENT_LOOP_DESCRIPTORS: usize = 8;
/// How long replies and notifications may take to leave after the session ended, in milliseconds.
pub const SESSION_END_FLUSH_MS: u64 = 500;
