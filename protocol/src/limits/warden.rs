//! Of the warden: its messages, its memory, the ladder, and how long it is waited for.

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
/// Between two looks whether a warden whose socket ended has died, and before the second attempt to start another, in
/// milliseconds; each further attempt waits twice as long.
pub const WARDEN_RETRY_MS: u64 = 2;
/// Longest time between two attempts to start a warden, in milliseconds.
pub const WARDEN_RETRY_MAX_MS: u64 = 1_000;
/// Between two rounds of the sweep for what a lost warden had started, in milliseconds.
pub const WARDEN_SWEEP_ROUND_MS: u64 = 2;
/// How often the CPU time of a command with `cpuSeconds` is looked at, in milliseconds: two reads of a file, ten
/// times a second, for such commands only.
pub const CPU_POLL_MS: u64 = 100;
/// SIGXCPU to SIGKILL, in milliseconds of CPU time or of time, whichever is over first: as setrlimit(2) with a
/// hard limit one second above the soft one.
pub const CPU_GRACE_MS: u64 = 1_000;
/// Longest message between daemon and warden, in bytes: execve(2) takes 6 MiB of strings at most, so nothing
/// longer could ever run.
pub const MAX_FRAME_BYTES: usize = 8 * 1024 * 1024;
/// Emptied cgroups kept for the next command; each holds two descriptors, so an eighth of the descriptor limit at
/// most.
pub const POOLED_CGROUPS: usize = 64;
/// Stacks kept for the next command, 256 KiB of address space each and some pages of memory.
pub const POOLED_STACKS: usize = 32;
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
/// Walks over a keeper's descendants in one round of SIGKILL: a child is forked before its parent is killed or not at all,
/// so that one is enough unless it is outrun.
pub const KILL_WALKS: u32 = 8;
/// Ancestors that are followed to see whether a process belongs to a tree. /proc changes while it is read: what it tells
/// may be a circle.
pub const MAX_ANCESTORS: u32 = 4096;
/// Looks for processes of a session that were forked while it was hung up. One that got the signal forks no more before
/// it acts on it, so a second look finds what the first was too early for; the others are for those that ignore it and
/// go on forking.
pub const HANG_UP_LOOKS: u32 = 8;
/// Between two looks for processes that a dead keeper left, in milliseconds.
pub const STRAY_ROUND_MS: u64 = 10;
