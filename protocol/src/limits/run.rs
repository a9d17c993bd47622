//! Of `exec-server run`.

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
