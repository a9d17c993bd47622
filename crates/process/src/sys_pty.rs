//! Signals to the foreground process group of a terminal.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

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
