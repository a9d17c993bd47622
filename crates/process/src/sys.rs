//! System calls on processes and signals that rustix has no safe form of. Signals are sent by
//! number: rustix sends those it has a name for, and real-time signals have none.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// The process had one thread when this was made, and cannot send it to another.
#[derive(Debug)]
pub(crate) struct OneThread(std::marker::PhantomData<*const ()>);

impl OneThread {
    /// Counts.
    ///
    /// # Errors
    /// /proc, or `Unsupported`: there are more, whose locks a forked child would inherit for ever.
    pub(crate) fn check() -> io::Result<Self> {
        if std::fs::read_dir("/proc/self/task")?.count() == 1 {
            Ok(Self(std::marker::PhantomData))
        } else {
            let kind = io::ErrorKind::Unsupported;
            Err(io::Error::new(kind, "the process has more than one"))
        }
    }
}

/// fork(2) of a process that has one thread. `None` in the child.
///
/// # Errors
/// fork(2).
pub(crate) fn fork_single_threaded(_proof: &OneThread) -> io::Result<Option<i32>> {
    // SAFETY: the process has one thread (the proof says so, and this is it), so no lock is held by a thread the child lacks, and the child may
    // run any code.
    let pid = check(unsafe { libc::fork() })?;
    Ok((pid != 0).then_some(pid))
}

/// _exit(2): no destructors, no flushing.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit takes no pointer and does not return.
    unsafe { libc::_exit(code) }
}

/// All dispositions default, every signal blocked, and a descriptor (non-blocking) that reads SIGCHLD.
///
/// # Errors
/// sigprocmask(2) or signalfd(2).
pub(crate) fn take_signals() -> io::Result<OwnedFd> {
    for signal in 1..=64 {
        // The kernel's own struct sigaction, all zero: SIG_DFL, no flags, an empty mask. Not by signal(3), which
        // leaves out the two signals that libc keeps for itself: a parent may have ignored those too.
        let default = [0u64; 4];
        // SAFETY: reads one kernel sigaction, which is not longer than that; SIG_DFL runs no code. For SIGKILL
        // and SIGSTOP the call fails, which is harmless.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                std::ptr::null::<u64>(),
                8usize,
            );
        }
    }
    // SAFETY: sigset_t is plain data, initialised by sigfillset and sigemptyset before it is read.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        check(libc::sigprocmask(
            libc::SIG_SETMASK,
            &raw const all,
            std::ptr::null_mut(),
        ))?;
        let mut children: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut children);
        libc::sigaddset(&raw mut children, libc::SIGCHLD);
        let fd = check(libc::signalfd(
            -1,
            &raw const children,
            libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
        ))?;
        // The descriptor is new and nobody else's.
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// SIGCHLD is not blocked, whatever this process inherited.
pub(crate) fn unblock_sigchld() {
    // SAFETY: sigset_t is plain data, initialised by sigemptyset before it is read.
    unsafe {
        let mut children: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut children);
        libc::sigaddset(&raw mut children, libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const children, std::ptr::null_mut());
    }
}

/// Closes every descriptor above 2, whoever opened it. Only for a process that begins a new life.
pub(crate) fn close_above_stdio() {
    // SAFETY: close_range(2) takes no pointer; the callers hold no descriptor above 2 that they use again.
    if unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0u32) } == 0 {
        return;
    }
    // Before Linux 5.9.
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")
        .map(|entries| {
            entries
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
                .filter(|fd| *fd > 2)
                .collect()
        })
        .unwrap_or_default();
    for fd in open {
        // SAFETY: close(2) takes no pointer; the callers hold no descriptor above 2 that they use again. The
        // listing's own descriptor is among these and is closed already: closing it again fails, which is
        // harmless in a process of one thread that opens nothing meanwhile.
        unsafe {
            libc::close(fd);
        }
    }
}

/// A child that is dead and has been waited for.
#[derive(Debug)]
pub(crate) struct Reaped {
    /// Its process id, which may now name another process.
    pub(crate) pid: i32,
    /// Wait status.
    pub(crate) status: i32,
    /// User CPU time, of it and of what it waited for.
    pub(crate) user: Duration,
    /// System CPU time.
    pub(crate) system: Duration,
    /// Largest resident set, KiB.
    pub(crate) max_rss_kib: u64,
}

/// A child that is dead, not yet reaped: its process id, which is still its own, and whether it exited with an error.
pub(crate) fn dead_child() -> Option<(i32, bool)> {
    // SAFETY: siginfo_t is plain data; waitid writes one, and si_pid and si_status are in what it wrote.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
        if libc::waitid(libc::P_ALL, 0, &raw mut info, options) != 0 {
            return None;
        }
        let pid = info.si_pid();
        let with_error = info.si_code == libc::CLD_EXITED && info.si_status() != 0;
        (pid != 0).then_some((pid, with_error))
    }
}

/// A child that was stopped since this was last asked; it is told once for each stop.
pub(crate) fn stopped_child(which: Children) -> Option<i32> {
    let (kind, id) = match which {
        Children::All => (libc::P_ALL, 0),
        Children::One(pid) => (libc::P_PID, pid.cast_unsigned()),
    };
    // SAFETY: siginfo_t is plain data; waitid writes one and si_pid is in what it wrote. Without WEXITED no
    // child is reaped.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WSTOPPED | libc::WNOHANG | libc::__WALL;
        if libc::waitid(kind, id, &raw mut info, options) != 0 {
            return None;
        }
        let pid = info.si_pid();
        (pid != 0).then_some(pid)
    }
}

/// Bytes of what a process is called: a line of at most 15, and NULs.
pub(crate) const COMM_BYTES: usize = 16;

/// What a process is called that is dead and not yet reaped: the file name of the program it was last, cut to 15 bytes,
/// and a line feed. All NUL: not known.
pub(crate) fn comm(pid: i32) -> [u8; COMM_BYTES] {
    let mut comm = [0; COMM_BYTES];
    if let Ok(text) = std::fs::read(format!("/proc/{pid}/comm")) {
        let length = text.len().min(COMM_BYTES);
        comm[..length].copy_from_slice(&text[..length]);
    }
    comm
}

/// Which children are asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Children {
    /// Every one.
    All,
    /// This one.
    One(i32),
}

/// Reaps that child, if it is dead; never waits.
pub(crate) fn reap(pid: i32) -> Option<Reaped> {
    let mut status = 0;
    // SAFETY: rusage is plain data; wait4 writes one int and one rusage.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        if libc::wait4(pid, &raw mut status, libc::WNOHANG | libc::__WALL, &raw mut usage) != pid {
            return None;
        }
        usage
    };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    Some(Reaped {
        pid,
        status,
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        max_rss_kib: usage.ru_maxrss as u64,
    })
}

/// Gives memory that is free in the heap back to the system, where the allocator has a way to.
pub(crate) fn return_free_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim takes no pointer and locks what it touches.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// kill(2) of one process.
///
/// # Errors
/// ESRCH, EPERM.
pub(crate) fn kill(pid: i32, signal: i32) -> io::Result<()> {
    if pid <= 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: kill(2) takes no pointer.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// kill(2) of a process group.
///
/// # Errors
/// ESRCH, EPERM.
pub(crate) fn kill_group(group: i32, signal: i32) -> io::Result<()> {
    if group <= 1 {
        // kill(2) takes -1 for every process there is.
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: kill(2) takes no pointer; `group` is above 1, so its negative names one process group.
    check(unsafe { libc::kill(-group, signal) }).map(drop)
}

/// pidfd_open(2).
///
/// # Errors
/// ESRCH, EMFILE, ENOSYS; EINVAL: no process has that number.
pub(crate) fn pidfd(pid: i32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid.max(0)).ok_or(Errno::INVAL)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// pidfd_send_signal(2) to the process.
///
/// # Errors
/// ESRCH, EPERM.
pub(crate) fn pidfd_kill(pidfd: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    pidfd_signal(pidfd, signal, 0)
}

/// pidfd_send_signal(2) to the process group that the process leads or led.
///
/// # Errors
/// ESRCH, EPERM; EINVAL before Linux 6.9.
pub(crate) fn pidfd_kill_group(pidfd: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    const PIDFD_SIGNAL_PROCESS_GROUP: u32 = 4;
    pidfd_signal(pidfd, signal, PIDFD_SIGNAL_PROCESS_GROUP)
}

fn pidfd_signal(pidfd: BorrowedFd<'_>, signal: i32, flags: u32) -> io::Result<()> {
    // SAFETY: the siginfo pointer is NULL, which is allowed.
    let done = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal,
            std::ptr::null::<libc::siginfo_t>(),
            flags,
        )
    };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Registers a descriptor with the runtime's reactor.
///
/// # Errors
/// epoll_ctl(2).
pub(crate) fn register(
    fd: std::sync::Arc<OwnedFd>,
) -> io::Result<tokio::io::unix::AsyncFd<std::sync::Arc<OwnedFd>>> {
    // SAFETY: an OwnedFd behind an Arc gives the same descriptor each time and keeps it open for as long as
    // the AsyncFd holds the Arc; nobody can replace it.
    Ok(unsafe { tokio::io::unix::AsyncFd::register(fd) }?)
}
