//! Signals to the foreground process group of a terminal.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::process::Pid;

use crate::Signal;

/// Signals the foreground group through the terminal itself, so that no group can change in between. The kernel
/// takes SIGINT, SIGQUIT and SIGTSTP only.
pub(crate) fn signal_foreground(master: BorrowedFd<'_>, signal: Signal) -> io::Result<()> {
    // SAFETY: TIOCSIG takes its argument by value and touches no memory of ours; `master` is open for the call.
    let result = unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSIG, signal.number()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Signals a process group.
pub(crate) fn signal_group(group: Pid, signal: Signal) -> io::Result<()> {
    let group = group.as_raw_nonzero().get();
    if group <= 1 {
        // kill(2) takes -1 for every process there is.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: kill(2) touches no memory; `group` is above 1, so its negative names one process group.
    let result = unsafe { libc::kill(-group, signal.number()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
