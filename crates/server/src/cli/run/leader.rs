//! The command's own process, watched beside its events: those come only as fast as its output is taken.

use std::future::pending;
use std::os::fd::OwnedFd;

use exec_process::watch_fd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What is known of the process.
#[derive(Debug)]
pub(super) enum Leader {
    /// Readable once it has ended.
    Watched(AsyncFd<OwnedFd>),
    /// It was over before it could be watched.
    Ended,
    /// A kernel without pidfds, or no descriptor left: its events must do.
    Unknown,
}

impl Leader {
    /// Watches the process with this id, right after its start.
    pub(super) fn watch(pid: Option<u32>) -> Self {
        let pid = pid
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        let Some(pid) = pid else {
            return Self::Unknown;
        };
        match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(descriptor) => watch_fd(descriptor, Interest::READABLE).map_or(Self::Unknown, Self::Watched),
            Err(Errno::SRCH) => Self::Ended,
            Err(_) => Self::Unknown,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Watched(descriptor) => {
                let now = Timespec::default();
                let mut polled = [PollFd::new(descriptor.get_ref(), PollFlags::IN)];
                poll(&mut polled, Some(&now)) == Ok(1)
            }
            Self::Ended => true,
            Self::Unknown => false,
        }
    }

    /// Waits for its end; for ever where that is not seen. Cancel-safe.
    pub(super) async fn ended(&self) {
        match self {
            Self::Watched(descriptor) => {
                if descriptor.readable().await.is_err() {
                    pending().await
                }
            }
            Self::Ended => {}
            Self::Unknown => pending().await,
        }
    }
}
