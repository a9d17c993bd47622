//! Notices that the client is gone though nothing is read or written.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use exec_process::watch_fd;
use rustix::process::{Pid, PidfdFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Waits until the other side of a pipe, socket or terminal has left, whatever bytes still wait in it: the
/// last writer of a pipe we read, the last reader of one we write. For ever where that cannot be known: a
/// file, `/dev/null`.
pub(crate) async fn other_side_gone(fd: BorrowedFd<'_>) {
    if watch(fd).await.is_none() {
        std::future::pending().await
    }
}

/// `None`: cannot be watched.
async fn watch(fd: BorrowedFd<'_>) -> Option<()> {
    // A duplicate, since epoll takes a descriptor once. Errors and hang-ups come with any interest; priority
    // is one that ordinary bytes do not wake.
    let own = fd.try_clone_to_owned().ok()?;
    let watched = watch_fd(own, Interest::PRIORITY).ok()?;
    loop {
        let any = Interest::PRIORITY | Interest::ERROR;
        let mut guard = watched.ready(any.add(Interest::WRITABLE)).await.ok()?;
        let ready = guard.ready();
        if ready.is_error() || ready.is_read_closed() || ready.is_write_closed() {
            return Some(());
        }
        guard.clear_ready();
    }
}

/// The process that started the daemon.
#[derive(Debug)]
pub(crate) struct Parent(AsyncFd<OwnedFd>);

impl Parent {
    /// `None` if there is none to watch: it lives outside this pid namespace, or it is init, which adopts.
    pub(crate) fn watch() -> Option<Self> {
        let parent = rustix::process::getppid().filter(|pid| *pid != Pid::INIT)?;
        let pidfd = rustix::process::pidfd_open(parent, PidfdFlags::empty()).ok()?;
        watch_fd(pidfd, Interest::READABLE).ok().map(Self)
    }

    /// Waits until it has ended.
    pub(crate) async fn gone(&self) {
        // An error means that the runtime goes away, and nobody waits any more.
        let _ = self.0.readable().await;
    }
}

impl AsFd for Parent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_ref().as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Write, pipe};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    async fn is_gone(fd: BorrowedFd<'_>) -> bool {
        tokio::time::timeout(Duration::from_millis(50), other_side_gone(fd))
            .await
            .is_ok()
    }

    #[tokio::test]
    async fn a_pipe_whose_writer_left_is_gone_though_bytes_wait() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"unread").unwrap();
        assert!(!is_gone(reader.as_fd()).await);
        drop(writer);
        assert!(is_gone(reader.as_fd()).await);
    }

    #[tokio::test]
    async fn a_pipe_whose_reader_left_is_gone() {
        let (reader, writer) = pipe().unwrap();
        assert!(!is_gone(writer.as_fd()).await);
        drop(reader);
        assert!(is_gone(writer.as_fd()).await);
    }

    #[tokio::test]
    async fn a_socket_is_gone_when_the_peer_closed_not_when_it_wrote() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"x").unwrap();
        assert!(!is_gone(ours.as_fd()).await);
        drop(theirs);
        assert!(is_gone(ours.as_fd()).await);
    }

    #[tokio::test]
    async fn a_file_is_never_gone() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(!is_gone(null.as_fd()).await);
    }
}
