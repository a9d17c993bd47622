//! How stdin and stdout can be used without changing what others see of them.
//!
//! `O_NONBLOCK` belongs to the open file description, which a shell, a parent or the other end of a terminal
//! may share: it is never set on one that was given to us. Pipes and terminals are opened again instead, which
//! makes a description of our own; sockets have a flag for each call.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use exec_process::watch_fd;
use rustix::fs::{FileType, Mode, OFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To us.
    In,
    /// From us.
    Out,
}

/// A descriptor by the way it can be used.
#[derive(Debug)]
pub(crate) enum Endpoint {
    /// A pipe or a terminal: an own, non-blocking description.
    Pollable(AsyncFd<OwnedFd>),
    /// A socket: `MSG_DONTWAIT` on each call.
    Socket(AsyncFd<OwnedFd>),
    /// A regular file or a device that epoll refuses: calls return soon.
    File(OwnedFd),
    /// Something that can only be waited for by blocking: a pipe that may not be opened again.
    Blocking(OwnedFd),
}

impl Endpoint {
    /// Looks at a descriptor and picks the way. Must be called inside the runtime.
    ///
    /// # Errors
    /// A descriptor that is none, or no descriptor left to duplicate it.
    pub(crate) fn new(fd: BorrowedFd<'_>, direction: Direction) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode);
        let interest = match direction {
            Direction::In => Interest::READABLE,
            Direction::Out => Interest::WRITABLE,
        };
        match kind {
            FileType::Socket => {
                let own = fd.try_clone_to_owned()?;
                Ok(Self::Socket(watch_fd(own, interest)?))
            }
            FileType::Fifo | FileType::CharacterDevice => Ok(open_again(fd, direction)
                .and_then(|own| watch_fd(own, interest))
                .map_or_else(|_| Self::without_epoll(fd, kind), |fd| Ok(Self::Pollable(fd)))?),
            _ => Ok(Self::File(fd.try_clone_to_owned()?)),
        }
    }

    fn without_epoll(fd: BorrowedFd<'_>, kind: FileType) -> io::Result<Self> {
        let own = fd.try_clone_to_owned()?;
        // /dev/null and its like never make a caller wait; a terminal does.
        if kind == FileType::CharacterDevice && !rustix::termios::isatty(fd) {
            Ok(Self::File(own))
        } else {
            Ok(Self::Blocking(own))
        }
    }
}

fn open_again(fd: BorrowedFd<'_>, direction: Direction) -> io::Result<OwnedFd> {
    let access = match direction {
        Direction::In => OFlags::RDONLY,
        Direction::Out => OFlags::WRONLY,
    };
    // NOCTTY: opening a terminal must not make it ours.
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}
