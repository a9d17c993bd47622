//! Of shell snapshots.

use std::time::Duration;

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
/// Bytes of state in one environment variable: execve(2) takes no string of more than 128 KiB.
pub const SNAPSHOT_ENVIRONMENT_CHUNK_BYTES: usize = 60 * 1024;
/// Parts that a compiled state of zsh may consist of besides its `.zshenv`: each is a file to open for every command.
pub const SNAPSHOT_COMPILED_PARTS: usize = 64;
/// Commands nested deeper than this in startup files of sh are not read; shells have such a limit in their stack.
pub const SNAPSHOT_DEFINITION_DEPTH: usize = 200;
/// Of a variable that is too large for any environment the environment brings so many bytes, and the state the whole:
/// what becomes of the one, by the policy and by the request, becomes of the other.
pub const SNAPSHOT_STAND_IN_BYTES: usize = 1024;
/// Functions of bash up to which a state is loaded on demand: from this many on bash gives its table more room, and
/// exported ones may come out in another order if some are away.
pub const SNAPSHOT_DEMAND_FUNCTIONS: usize = 1000;
/// Lines of bash that are left out up to which empty ones stand in their place: they are read faster than the command
/// that counts on.
pub const SNAPSHOT_EMPTY_LINES: usize = 100;
/// Aliases of bash that may lead to one another where a state is loaded on demand.
pub const SNAPSHOT_ALIAS_CHAIN: usize = 8;
/// How deep a script's constructs may nest where a state is loaded on demand: the scanner recurses.
pub const SNAPSHOT_SCRIPT_DEPTH: u32 = 40;
/// Longest script that is looked at for what it needs of a state, in bytes: what looking costs must not be noticed.
pub const SNAPSHOT_PROVEN_SCRIPT_BYTES: usize = 64 * 1024;
/// Largest state of fish that the environment carries, whatever else could, in bytes: fish cannot close a descriptor
/// that it inherited, and what it runs would inherit it too. Few are larger.
pub const SNAPSHOT_FISH_STATE_BYTES: usize = 256 * 1024;
/// The state pipe's size, if the system grants it, in bytes: a shell that need not wait for us writes faster.
pub const SNAPSHOT_PIPE_BYTES: usize = 1024 * 1024;
/// One read of state or of what is printed, in bytes.
pub const SNAPSHOT_READ_BYTES: usize = 64 * 1024;

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
