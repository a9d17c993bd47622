//! Every cap, timeout and buffer of the daemon and of `exec-server run`, with its unit and its reason.
//!
//! Code takes them from [`Limits`], so that tests can make them small; [`Limits::default`] is what the
//! daemon runs with. `docs/limits.md` lists the same names and values and is checked against this file.

use std::time::Duration;

/// Longest line accepted from the client, in bytes. Large enough for a 2 MiB argv with every byte escaped
/// (`\u0000`, × 6) and for file contents in base64; small enough that one line cannot hold the memory of a machine.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// Bytes kept of a line over the cap, to find its `id` in: an id stands near the front in every known client.
pub const LINE_PREFIX_BYTES: usize = 4096;
/// Processes known at once that have not closed. 1 000 live ones are a tested load; each costs up to 3 descriptors.
pub const MAX_PROCESSES: usize = 4096;
/// Closed processes kept readable at once; the oldest goes first, before its retention is over.
pub const MAX_CLOSED_PROCESSES: usize = 16_384;
/// Bytes of output kept by all closed processes together; the oldest record goes first.
pub const MAX_CLOSED_RETAINED_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of forgotten output after which the allocator is asked to give free memory back to the system: it keeps
/// what is in the middle of its heap otherwise.
pub const TRIM_BYTES: usize = 8 * 1024 * 1024;
/// From there until it is asked, in milliseconds: what is forgotten meanwhile goes along, and the milliseconds that
/// it takes are not taken more often.
pub const TRIM_DELAY_MS: u64 = 10_000;
/// Requests in work at once (long polls and waits mostly); and those of the daemon that its client has not answered.
pub const MAX_PENDING_REQUESTS: usize = 4096;
/// Output bytes a process keeps readable after they were sent; older ones are evicted and counted.
pub const RETAINED_BYTES: usize = 1024 * 1024;
/// Chunks a process keeps readable: bounds the overhead of output that comes a byte at a time.
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
/// How long replies and notifications may take to leave after the session ended, in milliseconds.
pub const SESSION_END_FLUSH_MS: u64 = 500;
/// Default `maxBytes` of a `process/read`.
pub const DEFAULT_READ_BYTES: usize = 1024 * 1024;
/// Longest match that `process/wait` finds, in bytes; a longer one is never told.
pub const MAX_MATCH_BYTES: usize = 65_536;
/// One read from a child's pipe or PTY, in bytes: a pipe holds 64 KiB.
pub const READ_CHUNK_BYTES: usize = 64 * 1024;
/// While the client exchanges requests: one read from a child's pipe, and the output gathered for one write to stdout,
/// in bytes. A reply waits behind what was written before it, and a flood's next chunk behind that reply.
pub const INTERACTIVE_CHUNK_BYTES: usize = 4096;
/// How long after a reply the client counts as exchanging requests, in milliseconds: longer than a request takes to
/// follow a reply, short enough that a flood nobody interrupts is soon moved in large pieces again.
pub const INTERACTIVE_MS: u64 = 10;
/// Unsent output of one process at which its pipes are no longer read, in bytes. What they hold when its leader ends
/// (64 KiB each, if it has not enlarged them) is read all the same, so that it precedes `process/exited`.
pub const PROCESS_UNSENT_BYTES: usize = 256 * 1024;
/// Unsent output of all processes together at which no pipe is read, in bytes; what is read at a leader's end comes
/// on top.
pub const TOTAL_UNSENT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of replies queued at which reading stdin stops.
pub const REPLY_QUEUE_BYTES: usize = 8 * 1024 * 1024;
/// Bytes gathered for one write to stdout.
pub const WRITE_BATCH_BYTES: usize = 256 * 1024;
/// Longest `processId`, in bytes.
pub const MAX_PROCESS_ID_BYTES: usize = 64 * 1024;
/// Deepest nesting of a JSON message; deeper ones are a parse error (serde_json's own bound).
pub const MAX_JSON_DEPTH: usize = 128;
/// Log lines waiting for a stderr that is not read; more are dropped and counted.
pub const LOG_QUEUE_LINES: usize = 1024;
/// How long the last log lines may take to reach stderr when the daemon goes, in milliseconds.
pub const LOG_FLUSH_MS: u64 = 100;
/// Connections to the scrape endpoint served at once: a few scrapers and people; more wait in the kernel's queue.
pub const SCRAPE_CONNECTIONS: usize = 8;
/// Longest head of a request to the scrape endpoint, in bytes: what web servers take.
pub const SCRAPE_REQUEST_BYTES: usize = 8192;
/// From a scrape's connection to its end, in milliseconds: half of what Prometheus waits, plenty for a page of 100 kB.
pub const SCRAPE_EXCHANGE_MS: u64 = 5_000;
/// Pause after a connection to the scrape endpoint that could not be accepted, in milliseconds: descriptors may be free
/// again by then, and no core is busy with asking.
pub const SCRAPE_ACCEPT_PAUSE_MS: u64 = 100;
/// How long the event loop may take to say that it lives, in milliseconds: a turn of it takes some of them at most.
pub const LIVENESS_MS: u64 = 1_000;
/// Bytes of an OTLP collector's answer that are read: it says how many items it refused, and why.
pub const OTLP_RESPONSE_BYTES: u64 = 64 * 1024;
/// How long one push to an OTLP collector may take, in milliseconds, where no variable says so: OpenTelemetry's own.
pub const OTLP_TIMEOUT_MS: u64 = 10_000;
/// How long pushing the last metrics and traces may take when the daemon ends, in milliseconds. What a collector has
/// not taken by then is lost.
pub const TELEMETRY_FLUSH_MS: u64 = 5_000;
/// One read from a stdin that epoll cannot wait for (a file, `/dev/null`), by a thread, in bytes.
pub const STDIN_READ_BYTES: usize = 64 * 1024;
/// Reads that this thread may be ahead of the dispatcher.
pub const STDIN_READS_AHEAD: usize = 2;
/// How long a warden may take to say that it is ready, in milliseconds: far beyond what a loaded machine needs.
pub const WARDEN_HELLO_MS: u64 = 10_000;
/// How long the daemon waits, in milliseconds, for a warden whose socket ended to be dead, before it goes on without
/// it: far longer than dying takes, and short enough that with the sweep after it (`WARDEN_SWEEP_MS`) it is within
/// `WARDEN_KILL_MS`.
pub const WARDEN_DEATH_MS: u64 = 500;
/// How long the daemon waits, in milliseconds, for what a lost warden had started to be gone, before it goes on
/// without it: a process that hangs in the kernel must not stop the session.
pub const WARDEN_SWEEP_MS: u64 = 1_000;
/// How long the daemon waits, in milliseconds, for a warden that it had to kill at the end of the session, the
/// sweep (`WARDEN_SWEEP_MS`) included: one that hangs in the kernel is left behind.
pub const WARDEN_KILL_MS: u64 = 1_500;
/// Descriptors that the warden leaves free for ending commands: starts fail before these are used up.
pub const WARDEN_SPARE_DESCRIPTORS: u64 = 8;
/// How often the CPU time of a command with `cpuSeconds` is looked at, in milliseconds: two reads of a file, ten
/// times a second, for such commands only.
pub const CPU_POLL_MS: u64 = 100;
/// SIGXCPU to SIGKILL, in milliseconds of CPU time or of time, whichever is over first: as setrlimit(2) with a
/// hard limit one second above the soft one.
pub const CPU_GRACE_MS: u64 = 1_000;
/// Longest message between daemon and warden, in bytes: execve(2) takes 6 MiB of strings at most, so nothing
/// longer could ever run.
pub const MAX_FRAME_BYTES: usize = 8 * 1024 * 1024;
/// Longest regex of a `process/wait`, in bytes: to read `(?i)\pL` takes 0.2 ms, so the worst text takes 0.15 s of a
/// thread of its own.
pub const REGEX_TEXT_BYTES: usize = 2048;
/// Memory that the regex of a `process/wait` may take once compiled, in bytes, and its lazily built automaton
/// too, both once for each direction; a larger one is refused. `\w+@\w+\.\w+` takes more than half of it.
pub const REGEX_BYTES: usize = 256 * 1024;
/// Waits for a regex at once, in all processes together: with the most that each may hold they take 160 MiB.
/// `limitReached` names it `maxRegexWaits`.
pub const MAX_REGEX_WAITS: usize = 128;
/// Emptied cgroups kept for the next command; each holds two descriptors, so an eighth of the descriptor limit at
/// most.
pub const POOLED_CGROUPS: usize = 64;
/// Stacks kept for the next command, 256 KiB of address space each and some pages of memory.
pub const POOLED_STACKS: usize = 32;
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
/// Lines handled before others have their turn: a client that pipelines must not hold up what it started.
pub const LINES_PER_TURN: usize = 64;
/// Tasks run before the event loop looks for readiness. Under a flood there is always one more task to run, and with
/// tokio's 61 a request would wait behind as many pieces of output.
pub const TASKS_BETWEEN_POLLS: u32 = 8;
/// Descriptors that the event loop opens at its start, and some to spare: a start without them is refused.
pub const EVENT_LOOP_DESCRIPTORS: usize = 8;
/// How many batches large the buffer of stdout may stay.
pub const KEPT_WRITE_BATCHES: usize = 2;
/// The buffer of stdin at first, in bytes: for a handshake, every page less is time before the first answer.
pub const FIRST_LINE_BUFFER_BYTES: usize = 4 * 1024;
/// The buffer of stdin as soon as more has come at once, while lines are small, in bytes: a pipe's worth.
pub const LINE_BUFFER_BYTES: usize = 64 * 1024;
/// Most descriptors of one message between daemon and warden; a start needs three.
pub const FRAME_DESCRIPTORS: usize = 8;
/// Room for one receive of daemon or warden, in bytes: a launch with an ordinary environment; longer messages have a
/// buffer of their length. Every page of it is touched when a warden starts.
pub const FRAME_READ_BYTES: usize = 8 * 1024;
/// Room for a file of proc(5) that is read whole, in bytes; a longer one takes more reads.
pub const PROC_READ_BYTES: usize = 16 * 1024;
/// Signals kept for a command that has not executed yet; more are dropped.
pub const HELD_SIGNALS: usize = 64;
/// Stack of a child between clone and exec, and of a keeper, in bytes. The code there needs a few kilobytes, in a
/// debug build some more; pages that are not touched cost nothing.
pub const STACK_BYTES: usize = 64 * 1024;
/// Below each stack, never accessible, in bytes: an overflow faults instead of overwriting a neighbour.
pub const STACK_GUARD_BYTES: usize = 64 * 1024;
/// From the first round of SIGKILL to the second, in milliseconds: a killed process needs a moment to die. Each
/// further one waits twice as long.
pub const KILL_ROUND_MS: u64 = 2;
/// Longest time between two rounds of SIGKILL, in milliseconds.
pub const KILL_ROUND_MAX_MS: u64 = 100;
/// Rounds of SIGKILL after which a keeper that has nobody left is no longer waited for: some 300 ms, where a working
/// one needs one.
pub const KEEPER_ROUNDS: u32 = 9;
/// Between two looks for processes that a dead keeper left, in milliseconds.
pub const STRAY_ROUND_MS: u64 = 10;
/// Between two looks whether a warden whose socket ended has died, and before the second attempt to start another, in
/// milliseconds; each further attempt waits twice as long.
pub const WARDEN_RETRY_MS: u64 = 2;
/// Longest time between two attempts to start a warden, in milliseconds.
pub const WARDEN_RETRY_MAX_MS: u64 = 1_000;
/// Between two rounds of the sweep for what a lost warden had started, in milliseconds.
pub const WARDEN_SWEEP_ROUND_MS: u64 = 2;
/// `exec-server run`: one read of its stdin, in bytes: what a pipe holds.
pub const RUN_READ_BYTES: usize = 64 * 1024;
/// `exec-server run`: chunks of input read ahead of the one on its way to the command: input that is never asked for
/// stays where it is.
pub const RUN_INPUT_AHEAD: usize = 1;
/// `exec-server run`: chunks of output on their way to a reader that is slower than the command.
pub const RUN_OUTPUT_AHEAD: usize = 4;
/// `exec-server run`: how soon a refused write is tried again, in milliseconds; each further attempt waits twice as
/// long.
pub const RUN_WRITE_RETRY_MS: u64 = 1;
/// `exec-server run`: longest time between two attempts of a write, in milliseconds.
pub const RUN_WRITE_RETRY_MAX_MS: u64 = 50;
/// `exec-server run`: how often a terminal that another job reads is looked at, while there is input on it, in
/// milliseconds.
pub const RUN_BACKGROUND_POLL_MS: u64 = 100;
/// `exec-server run`: how long what the command left behind may hold its output open before it is ended, in
/// milliseconds: long enough for the last `tee` of a pipeline to write what it has.
pub const RUN_LINGER_MS: u64 = 250;
/// `exec-server run`: how long after that the output may take to close, in milliseconds: the daemon's own ladder is
/// far shorter.
pub const RUN_CLOSE_MS: u64 = 10_000;
/// `exec-server run`: how long the daemon may take to signal the command before `run` stops or goes, in milliseconds.
pub const RUN_SIGNAL_MS: u64 = 200;
/// `exec-server run`: how long output may stand still, when the command was ended by its time limit or by a signal
/// that was to end `run` too, in milliseconds: a reader that takes nothing for so long must not keep it alive. What it
/// has not taken is dropped.
pub const RUN_OUTPUT_STALL_MS: u64 = 2_000;

/// `exec-server snapshot`: longest record of a shell's trace, in bytes: a time, a line and a path, which the system
/// lets have 4096.
pub const TRACE_RECORD_BYTES: usize = 8 * 1024;

/// Longest `shellSnapshot.scopeId`, in bytes: a name, not a place for data.
pub const MAX_SCOPE_ID_BYTES: usize = 256;
/// Snapshots cached at once; the least recently used goes first. A client has a handful of directories in work.
pub const SNAPSHOT_ENTRIES: usize = 16;
/// Startup files that hung, remembered at once; the oldest goes first.
pub const SNAPSHOT_TIMEOUTS: usize = 64;
/// Captures that run at once; more wait for one to end. Each is a shell with all its startup files.
pub const SNAPSHOT_CAPTURES: usize = 16;
/// Captures of which helpers live on (`ssh-agent`), at once; those of the oldest are ended. Some for each snapshot
/// cached, and for those that were captured anew since.
pub const SNAPSHOT_HELPERS: usize = 64;
/// How long one attempt at a capture may take, in milliseconds: the slowest startup files in use take a few seconds.
pub const SNAPSHOT_ATTEMPT_MS: u64 = 10_000;
/// The share of it that the interactive try has, in milliseconds: what is left is enough for a login shell that does
/// not hang.
pub const SNAPSHOT_INTERACTIVE_MS: u64 = 8_000;
/// Attempts at a capture that fails otherwise than by hanging.
pub const SNAPSHOT_ATTEMPTS: u32 = 3;
/// How long commands share a failed attempt, in milliseconds, before one of them tries again.
pub const SNAPSHOT_RETRY_MS: u64 = 1_000;
/// How long a failure is remembered once it is not tried again, in milliseconds.
pub const SNAPSHOT_FAILURE_MS: u64 = 300_000;
/// Greatest age of a snapshot, in milliseconds: what startup files read through a variable or a program cannot be
/// watched.
pub const SNAPSHOT_MAX_AGE_MS: u64 = 3_600_000;
/// Bytes that a capture may write: functions with which a shell still starts in bearable time, twice over.
pub const SNAPSHOT_CAPTURE_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of state that a snapshot may hold.
pub const SNAPSHOT_STATE_BYTES: usize = 4 * 1024 * 1024;
/// The same where the state travels in the environment, less the environment itself, in bytes: execve(2) takes no
/// more than a quarter of the stack.
pub const SNAPSHOT_STATE_ENVIRONMENT_BYTES: usize = 512 * 1024;
/// Bytes of environment that a snapshot may hold.
pub const SNAPSHOT_ENVIRONMENT_BYTES: usize = 512 * 1024;
/// How often a capture's terminal says that its input has ended, in milliseconds: a startup file that reads a line
/// waits for that long.
pub const SNAPSHOT_END_OF_INPUT_MS: u64 = 30;
/// Terminal queries answered in one capture: a startup file asks a few.
pub const SNAPSHOT_TERMINAL_ANSWERS: usize = 256;
/// Startup files watched for one snapshot; each is looked at whenever a command asks.
pub const SNAPSHOT_WATCHED_FILES: usize = 256;
/// Bytes of a startup file that are searched for the names of files it reads.
pub const SNAPSHOT_SEARCHED_BYTES: usize = 256 * 1024;
/// Variables remembered to make no difference to captures: the few that a client counts its calls with, for each
/// shell in use.
pub const SNAPSHOT_LEARNED_NAMES: usize = 64;
/// How often that is found out again, in milliseconds: by a capture in the background.
pub const SNAPSHOT_RECHECK_MS: u64 = 600_000;

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
    /// See [`TOTAL_UNSENT_BYTES`].
    pub total_unsent_bytes: usize,
    /// See [`REPLY_QUEUE_BYTES`].
    pub reply_queue_bytes: usize,
    /// See [`WRITE_BATCH_BYTES`].
    pub write_batch_bytes: usize,
    /// Those of shell snapshots.
    pub snapshot: SnapshotLimits,
}

/// The limits of shell snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// See [`SNAPSHOT_ENTRIES`].
    pub entries: usize,
    /// See [`SNAPSHOT_TIMEOUTS`].
    pub timeouts: usize,
    /// See [`SNAPSHOT_CAPTURES`].
    pub captures: usize,
    /// See [`SNAPSHOT_HELPERS`].
    pub helpers: usize,
    /// See [`SNAPSHOT_ATTEMPT_MS`].
    pub attempt: Duration,
    /// See [`SNAPSHOT_INTERACTIVE_MS`].
    pub interactive: Duration,
    /// See [`SNAPSHOT_ATTEMPTS`].
    pub attempts: u32,
    /// See [`SNAPSHOT_RETRY_MS`].
    pub retry: Duration,
    /// See [`SNAPSHOT_FAILURE_MS`].
    pub failure: Duration,
    /// See [`SNAPSHOT_MAX_AGE_MS`].
    pub max_age: Duration,
    /// See [`SNAPSHOT_CAPTURE_BYTES`].
    pub capture_bytes: usize,
    /// See [`SNAPSHOT_STATE_BYTES`].
    pub state_bytes: usize,
    /// See [`SNAPSHOT_STATE_ENVIRONMENT_BYTES`].
    pub state_environment_bytes: usize,
    /// See [`SNAPSHOT_ENVIRONMENT_BYTES`].
    pub environment_bytes: usize,
    /// See [`SNAPSHOT_END_OF_INPUT_MS`].
    pub end_of_input: Duration,
    /// See [`SNAPSHOT_TERMINAL_ANSWERS`].
    pub terminal_answers: usize,
    /// See [`SNAPSHOT_WATCHED_FILES`].
    pub watched_files: usize,
    /// See [`SNAPSHOT_SEARCHED_BYTES`].
    pub searched_bytes: usize,
    /// See [`SNAPSHOT_LEARNED_NAMES`].
    pub learned_names: usize,
    /// See [`SNAPSHOT_RECHECK_MS`].
    pub recheck: Duration,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self {
            entries: SNAPSHOT_ENTRIES,
            timeouts: SNAPSHOT_TIMEOUTS,
            captures: SNAPSHOT_CAPTURES,
            helpers: SNAPSHOT_HELPERS,
            attempt: Duration::from_millis(SNAPSHOT_ATTEMPT_MS),
            interactive: Duration::from_millis(SNAPSHOT_INTERACTIVE_MS),
            attempts: SNAPSHOT_ATTEMPTS,
            retry: Duration::from_millis(SNAPSHOT_RETRY_MS),
            failure: Duration::from_millis(SNAPSHOT_FAILURE_MS),
            max_age: Duration::from_millis(SNAPSHOT_MAX_AGE_MS),
            capture_bytes: SNAPSHOT_CAPTURE_BYTES,
            state_bytes: SNAPSHOT_STATE_BYTES,
            state_environment_bytes: SNAPSHOT_STATE_ENVIRONMENT_BYTES,
            environment_bytes: SNAPSHOT_ENVIRONMENT_BYTES,
            end_of_input: Duration::from_millis(SNAPSHOT_END_OF_INPUT_MS),
            terminal_answers: SNAPSHOT_TERMINAL_ANSWERS,
            watched_files: SNAPSHOT_WATCHED_FILES,
            searched_bytes: SNAPSHOT_SEARCHED_BYTES,
            learned_names: SNAPSHOT_LEARNED_NAMES,
            recheck: Duration::from_millis(SNAPSHOT_RECHECK_MS),
        }
    }
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
            total_unsent_bytes: TOTAL_UNSENT_BYTES,
            reply_queue_bytes: REPLY_QUEUE_BYTES,
            write_batch_bytes: WRITE_BATCH_BYTES,
            snapshot: SnapshotLimits::default(),
        }
    }
}
