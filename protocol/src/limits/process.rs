//! Of processes: how many, what is kept of them, how they are read, fed, watched and ended.

/// Processes known at once that have not closed. 1 000 live ones are a tested load; each costs up to 3 descriptors.
pub const MAX_PROCESSES: usize = 4096;
/// Closed processes kept readable at once; the oldest goes first, before its retention is over.
pub const MAX_CLOSED_PROCESSES: usize = 16_384;
/// Bytes of output kept by all closed processes together; the oldest record goes first.
pub const MAX_CLOSED_RETAINED_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of forgotten output after which the allocator is asked to give free memory back to the system: it keeps
/// what is in the middle of its heap otherwise.
pub const TRIM_BYTES: usize = 8 * 1024 * 1024;
/// From [`TRIM_BYTES`] freed until the allocator is asked to give them back, in milliseconds: that takes milliseconds,
/// so what is freed meanwhile goes along.
pub const TRIM_DELAY_MS: u64 = 10_000;
/// Output bytes a process keeps readable after they were sent; older ones are evicted and counted.
pub const RETAINED_BYTES: usize = 1024 * 1024;
/// Chunks a process keeps readable after they were sent: bounds the overhead of output that comes a byte at a time.
pub const RETAINED_CHUNKS: usize = 8192;
/// How long a process stays readable after `process/closed`, in milliseconds.
pub const RETENTION_MS: u64 = 30_000;
/// Bytes queued for a process's stdin at which the next write is refused.
pub const STDIN_BACKLOG_BYTES: usize = 1024 * 1024;
/// `writeId`s remembered per process for exactly-once writes; the oldest is forgotten first.
pub const REMEMBERED_WRITE_IDS: usize = 4096;
/// Longest `waitMs` of a `process/read`, in milliseconds; longer ones are capped.
pub const MAX_WAIT_MS: u64 = 300_000;
/// SIGTERM to SIGKILL where the client names no grace, in milliseconds.
pub const DEFAULT_GRACE_MS: u64 = 2_000;
/// SIGTERM to SIGKILL for everything that runs when the session ends, in milliseconds.
pub const SESSION_END_GRACE_MS: u64 = 500;
/// From SIGKILL until everything must be gone when the session ends, in milliseconds, and then once more until the
/// warden must be gone: beyond it the daemon kills the warden and what it had.
pub const SESSION_END_KILL_MS: u64 = 1_000;
/// Default `maxBytes` of a `process/read`.
pub const DEFAULT_READ_BYTES: usize = 1024 * 1024;
/// Longest match that `process/wait` finds, in bytes; a longer one is never told.
pub const MAX_MATCH_BYTES: usize = 65_536;
/// One read from a child's pipe or PTY, in bytes: a pipe holds 64 KiB.
pub const READ_CHUNK_BYTES: usize = 64 * 1024;
/// Unsent output of one process at which its pipes are no longer read, in bytes. What they hold when its leader ends
/// (64 KiB each, if it has not enlarged them) is read all the same, so that it precedes `process/exited`.
pub const PROCESS_UNSENT_BYTES: usize = 256 * 1024;
/// Unsent events of one process at which its pipes are no longer read: bounds the overhead of output that comes a byte
/// at a time.
pub const PROCESS_UNSENT_EVENTS: usize = 8192;
/// Unsent output of all processes together at which no pipe is read, in bytes; what is read at a leader's end comes
/// on top.
pub const TOTAL_UNSENT_BYTES: usize = 16 * 1024 * 1024;
/// Most descriptors that a process is given besides 0–2: a shell snapshot needs one, and each has its place in a child's
/// plan, where nothing can be allocated.
pub const MAX_INHERITED: usize = 2;
/// Highest number that one of them may have: below the limit of open files that systems have by themselves. Where
/// commands have a lower one, dup3(2) fails beyond it.
pub const MAX_INHERITED_NUMBER: i32 = 1023;
/// Longest `processId`, in bytes.
pub const MAX_PROCESS_ID_BYTES: usize = 64 * 1024;
/// Longest regex of a `process/wait`, in bytes: to read `(?i)\pL` takes 0.2 ms, so the worst text takes 0.15 s of a
/// thread of its own.
pub const REGEX_TEXT_BYTES: usize = 2048;
/// Memory that the regex of a `process/wait` may take once compiled, in bytes, and its lazily built automaton
/// too, both once for each direction; a larger one is refused. `\w+@\w+\.\w+` takes more than half of it.
pub const REGEX_BYTES: usize = 256 * 1024;
/// Waits for a regex at once, in all processes together: with the most that each may hold they take 160 MiB.
/// `limitReached` names it `maxRegexWaits`.
pub const MAX_REGEX_WAITS: usize = 128;
/// Reads of one stream before others have their turn: tokio's own budget does not see system calls.
pub const READS_AT_ONCE: usize = 4;
/// Most that one read of a terminal gives, in bytes: the buffer of its line discipline.
pub const TERMINAL_READ_BYTES: usize = 4096;
/// Empty read buffers kept for the next reader; a few streams are read at once.
pub const SPARE_READ_BUFFERS: usize = 8;
/// Writes to one stdin before others have their turn: a reader that keeps up would hold the daemon for good.
pub const WRITES_AT_ONCE: usize = 16;
/// What a remembered `writeId` may take on average, in bytes: a client that names its writes with documents must not
/// fill the memory.
pub const WRITE_ID_BYTES: usize = 256;
/// What a chunk of output counts for beside its bytes, in bytes: its place in the log and its allocation. Without it a
/// flood of single bytes would hold a hundred times the memory it is counted for.
pub const CHUNK_OVERHEAD_BYTES: usize = 128;
