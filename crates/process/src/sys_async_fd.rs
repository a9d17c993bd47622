//! Descriptors that the runtime watches.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Has the tokio runtime watch a descriptor, which must be non-blocking. Must be called inside the runtime.
///
/// # Errors
/// epoll(7) does not take it (a file, a directory), or no memory or watches are left.
pub fn watch_fd(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open and gives the same number until it is dropped; the `AsyncFd` owns it, lends it
    // out by shared reference only, and so keeps it open and the same for its own life.
    let watched = unsafe { AsyncFd::register_with_interest(fd, interest) };
    Ok(watched?)
}
