//! A keeper: one small process per command that is the command's subreaper. It shares the warden's memory
//! and runs raw system calls only, so it costs a kernel task and a few pages of stack.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use crate::sys::COMM_BYTES;
use crate::sys_child::{ChildPlan, arrange_descriptors, bind_to_parent, exit_raw, kept_child, step};
use crate::sys_raw::{call3, call5, clone_arguments, clone_with};

/// What a [`Record`] says.
pub(crate) mod kind {
    /// The leader executes.
    pub(crate) const STARTED: u32 = 1;
    /// It does not; the plan says why. Nothing is left.
    pub(crate) const FAILED: u32 = 2;
    /// The leader ended.
    pub(crate) const EXITED: u32 = 3;
    /// Nothing is left.
    pub(crate) const TREE_ENDED: u32 = 4;
}

/// What keepers write to the warden; far below PIPE_BUF, so records never mix.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Record {
    /// The launch.
    pub(crate) id: u64,
    /// Of [`kind`].
    pub(crate) kind: u32,
    /// Wait status of the leader.
    pub(crate) status: i32,
    /// CLOCK_MONOTONIC, nanoseconds.
    pub(crate) at: u64,
    /// User CPU time, microseconds.
    pub(crate) user_us: u64,
    /// System CPU time, microseconds.
    pub(crate) system_us: u64,
    /// Largest resident set, KiB.
    pub(crate) max_rss_kib: u64,
    /// EXITED: nothing is left.
    pub(crate) tree_ended: u32,
    /// The leader.
    pub(crate) pid: i32,
    /// EXITED, with an error: what the leader was called, as [`sys::comm`](crate::sys::comm) has it.
    pub(crate) comm: [u8; COMM_BYTES],
}

/// Bytes of a record on the pipe.
pub(crate) const RECORD_BYTES: usize = size_of::<Record>();

impl Record {
    /// Reads one as it came from the pipe.
    pub(crate) fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Self {
        // SAFETY: the record is plain integers without padding (8 + 4 + 4 + 4 × 8 + 4 + 4 + 16 bytes), for which
        // every bit pattern is valid; the read needs no alignment.
        unsafe { bytes.as_ptr().cast::<Self>().read_unaligned() }
    }
}

/// Waits for anything: WEXITED by waitid(2) and wait4(2) includes clones of every kind.
const ANY_CHILD: usize = 0x4000_0000; // __WALL

/// Runs a keeper.
///
/// # Safety
/// `argument` is a valid `ChildPlan` that lives until this process is dead; the process has its own
/// descriptor table and stack.
pub(crate) unsafe extern "C" fn keeper(argument: *mut c_void) -> ! {
    // SAFETY: `argument` points to a ChildPlan that `Keeper` in sys_spawn.rs holds in place until this process is
    // reaped, and leaks if it was killed; what changes in it meanwhile is atomic.
    let plan = unsafe { &*argument.cast::<ChildPlan>() };
    if !bind_to_parent(plan.parent.load(Ordering::SeqCst)) {
        exit_raw(127);
    }
    // SAFETY: prctl(PR_SET_CHILD_SUBREAPER) and getpid(2) take no pointer.
    let own = unsafe {
        call5(libc::SYS_prctl, libc::PR_SET_CHILD_SUBREAPER as usize, 1, 0, 0, 0);
        call3(libc::SYS_getpid, 0, 0, 0)
    };
    plan.parent.store(own as i32, Ordering::SeqCst);
    // SAFETY: cloned without CLONE_FILES, this process has a table of its own, and owns nothing in it.
    let arranged = unsafe { arrange_descriptors(plan) };
    if let Err(errno) = arranged {
        give_up(plan, step::SETUP, errno);
    }
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PARENT_SETTID | libc::SIGCHLD;
    // SAFETY: the child's stack is the plan's other one, 64 KiB, page-aligned, used by nobody else until the child
    // has executed or died; `argument` is the ChildPlan that kept_child takes and lives as long; kept_child makes
    // raw system calls only, so it allocates and locks nothing and touches no thread-local storage. The tid goes
    // to the plan's `leader`, four bytes that only the kernel writes.
    let leader = unsafe {
        clone_with(
            libc::SYS_clone,
            clone_arguments(
                flags as usize,
                plan.child_stack_top,
                plan.leader.as_ptr() as usize,
            ),
            kept_child,
            argument,
        )
    };
    if leader < 0 {
        give_up(plan, step::FORK, -leader as i32);
    }
    // What the command reads and writes is not the keeper's to hold open.
    for fd in 0..3 {
        // SAFETY: close(2) takes no pointer; the table is this process's own, and it uses only the report.
        unsafe { call3(libc::SYS_close, fd, 0, 0) };
    }
    for place in plan.places().iter().skip(1) {
        // SAFETY: close(2) takes no pointer; the table is this process's own, and the first place is the report.
        unsafe { call3(libc::SYS_close, place.target as usize, 0, 0) };
    }
    if plan.failed_step.load(Ordering::SeqCst) != step::NONE {
        plan.leader_reaped.store(true, Ordering::SeqCst);
        reap(leader, 0);
        send(
            plan,
            &Record {
                id: plan.id,
                kind: kind::FAILED,
                ..Record::default()
            },
        );
        exit_raw(0);
    }
    if plan.may_have_died() && died_before_exec(leader as u32) {
        plan.leader_reaped.store(true, Ordering::SeqCst);
        reap(leader, 0);
        give_up(plan, step::ENDED, libc::ECANCELED);
    }
    plan.executed.store(true, Ordering::SeqCst);
    send(
        plan,
        &Record {
            id: plan.id,
            kind: kind::STARTED,
            at: monotonic(),
            pid: leader as i32,
            ..Record::default()
        },
    );
    keep(plan, leader)
}

/// Reaps until nothing is left.
fn keep(plan: &ChildPlan, leader: isize) -> ! {
    loop {
        let Some((pid, with_error)) = next_dead() else {
            send(
                plan,
                &Record {
                    id: plan.id,
                    kind: kind::TREE_ENDED,
                    at: monotonic(),
                    ..Record::default()
                },
            );
            exit_raw(0)
        };
        if pid != leader {
            reap(pid, 0);
            continue;
        }
        let at = monotonic();
        plan.leader_reaped.store(true, Ordering::SeqCst);
        // A dead process is called what it was called until it is reaped.
        let mut comm = [0; COMM_BYTES];
        if with_error {
            read_proc(pid as u32, *b"comm", &mut comm);
        }
        let Some((_, status, usage)) = reap(pid, 0) else {
            continue;
        };
        // Zombies that came with it do not count as something left.
        let left = loop {
            match reap(-1, libc::WNOHANG) {
                Some((0, ..)) => break true,
                Some(_) => {}
                None => break false,
            }
        };
        send(
            plan,
            &Record {
                id: plan.id,
                kind: kind::EXITED,
                status,
                at,
                user_us: micros(&usage.ru_utime),
                system_us: micros(&usage.ru_stime),
                max_rss_kib: usage.ru_maxrss as u64,
                tree_ended: u32::from(!left),
                pid: leader as i32,
                comm,
            },
        );
        if !left {
            exit_raw(0);
        }
    }
}

fn give_up(plan: &ChildPlan, step: u32, errno: i32) -> ! {
    plan.failed_errno.store(errno, Ordering::SeqCst);
    plan.failed_step.store(step, Ordering::SeqCst);
    send(
        plan,
        &Record {
            id: plan.id,
            kind: kind::FAILED,
            ..Record::default()
        },
    );
    exit_raw(0)
}

fn send(plan: &ChildPlan, record: &Record) {
    loop {
        // SAFETY: write(2) reads RECORD_BYTES of a Record of that size, all of them initialised: it has no padding.
        let sent = unsafe {
            call3(
                libc::SYS_write,
                plan.report() as usize,
                std::ptr::from_ref(record) as usize,
                RECORD_BYTES,
            )
        };
        if sent != -(libc::EINTR as isize) {
            return;
        }
    }
}

/// Waits for a child to end, without reaping it: its process id, and whether it exited with an error. `None`: there is
/// no child.
fn next_dead() -> Option<(isize, bool)> {
    loop {
        // SAFETY: siginfo_t is integers and pointers, for which all zero is a value.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = (libc::WEXITED | libc::WNOWAIT) as usize | ANY_CHILD;
        // SAFETY: the kernel writes one siginfo_t, to one on this stack; the rusage pointer is NULL, which waitid(2)
        // takes for none.
        let done = unsafe {
            call5(
                libc::SYS_waitid,
                libc::P_ALL as usize,
                0,
                (&raw mut info) as usize,
                options,
                0,
            )
        };
        if done == 0 {
            // SAFETY: waitid(2) without WNOHANG succeeded, so it has filled the members for children.
            let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
            return Some((pid as isize, info.si_code == libc::CLD_EXITED && status != 0));
        }
        if done != -(libc::EINTR as isize) {
            return None;
        }
    }
}

/// wait4(2): pid (0: none has ended), status, usage. `None`: no such child.
fn reap(pid: isize, options: i32) -> Option<(isize, i32, libc::rusage)> {
    loop {
        let mut status = 0;
        // SAFETY: rusage is integers, for which all zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one int and one rusage, to those on this stack.
        let done = unsafe {
            call5(
                libc::SYS_wait4,
                pid as usize,
                (&raw mut status) as usize,
                options as usize | ANY_CHILD,
                (&raw mut usage) as usize,
                0,
            )
        };
        if done >= 0 {
            return Some((done, status, usage));
        }
        if done != -(libc::EINTR as isize) {
            return None;
        }
    }
}

fn monotonic() -> u64 {
    // SAFETY: timespec is integers, for which all zero is a value.
    let mut now: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one timespec, to the one on this stack.
    unsafe {
        call3(
            libc::SYS_clock_gettime,
            libc::CLOCK_MONOTONIC as usize,
            (&raw mut now) as usize,
            0,
        );
    }
    (now.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec as u64)
}

fn micros(time: &libc::timeval) -> u64 {
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000)
        .wrapping_add(time.tv_usec as u64)
}

/// PF_FORKNOEXEC in the flags of a stat line: never executed a program since it was forked.
pub(crate) const FORK_NO_EXEC: u64 = 0x40;

/// The leader is dead or dying and never executed anything.
fn died_before_exec(pid: u32) -> bool {
    let mut text = [0u8; 512];
    let length = read_proc(pid, *b"stat", &mut text);
    let Some(text) = text.get(..length) else {
        return false;
    };
    stat_flags(text).is_some_and(|flags| flags & FORK_NO_EXEC != 0)
}

/// Reads the beginning of a file of `/proc/PID`: so many bytes. 0: it cannot be read.
fn read_proc(pid: u32, file: [u8; 4], text: &mut [u8]) -> usize {
    let mut path = *b"/proc/0000000000/....\0";
    for (offset, byte) in file.iter().enumerate() {
        path[17 + offset] = *byte;
    }
    let mut rest = pid;
    // Leading zeroes are not allowed there: write the digits from the right, then begin at the first one.
    let mut first = 16;
    while rest > 0 && first > 6 {
        first -= 1;
        path[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // "/proc/" goes right in front of the digits.
    let start = first - 6;
    for (offset, byte) in b"/proc/".iter().enumerate() {
        path[start + offset] = *byte;
    }
    // SAFETY: openat(2) reads the path from `start` to the NUL at its end; read(2) writes at most the buffer's
    // length; close(2) closes the descriptor that was opened just now and is nobody else's.
    let length = unsafe {
        let fd = call5(
            libc::SYS_openat,
            libc::AT_FDCWD as usize,
            path.as_ptr() as usize + start,
            (libc::O_RDONLY | libc::O_CLOEXEC) as usize,
            0,
            0,
        );
        if fd < 0 {
            return 0;
        }
        let length = call3(
            libc::SYS_read,
            fd as usize,
            text.as_mut_ptr() as usize,
            text.len(),
        );
        call3(libc::SYS_close, fd as usize, 0, 0);
        length
    };
    length.max(0) as usize
}

/// Field 9 of a stat line; the name in field 2 may hold anything, so counting begins after its last `)`.
pub(crate) fn stat_flags(stat: &[u8]) -> Option<u64> {
    let mut name_end = stat.len();
    loop {
        name_end = name_end.checked_sub(1)?;
        if stat.get(name_end) == Some(&b')') {
            break;
        }
    }
    let mut field = 2;
    let mut value: u64 = 0;
    for byte in stat.get(name_end.wrapping_add(1)..)? {
        if *byte == b' ' {
            if field == 9 {
                return Some(value);
            }
            field += 1;
        } else if field == 9 {
            value = value
                .wrapping_mul(10)
                .wrapping_add(u64::from(byte.wrapping_sub(b'0')));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::stat_flags;

    #[test]
    fn flags_are_found_behind_any_name() {
        assert_eq!(
            stat_flags(b"7 (a) b) c) S 1 7 7 0 -1 4194624 105 0"),
            Some(4_194_624)
        );
        assert_eq!(stat_flags(b"7 (a"), None);
        assert_eq!(stat_flags(b"7 (a) S 1"), None);
    }
}
