//! Bytes to the client.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread;

use rustix::net::SendFlags;
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot};

use super::descriptor::{Direction, Endpoint};

/// Where lines go. Its owner is the only writer of stdout.
#[derive(Debug)]
pub(crate) enum Output {
    /// A pipe or a terminal.
    Pollable(AsyncFd<OwnedFd>),
    /// A socket.
    Socket(AsyncFd<OwnedFd>),
    /// A file or `/dev/null`: a write returns soon.
    File(OwnedFd),
    /// What only a blocking write can wait for.
    Thread(ThreadWriter),
}

impl Output {
    /// Writes to `fd`, whose description keeps its flags. Must be called inside the runtime.
    ///
    /// # Errors
    /// A descriptor that cannot be duplicated; no thread.
    pub(crate) fn new(fd: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(match Endpoint::new(fd, Direction::Out)? {
            Endpoint::Pollable(fd) => Self::Pollable(fd),
            Endpoint::Socket(fd) => Self::Socket(fd),
            Endpoint::File(fd) => Self::File(fd),
            Endpoint::Blocking(fd) => Self::Thread(ThreadWriter::start(fd)?),
        })
    }

    /// Writes what it can without waiting; `WouldBlock` if that is nothing.
    ///
    /// # Errors
    /// Nobody reads any more, or write(2) failed otherwise.
    pub(crate) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let result = match self {
                Self::Pollable(fd) => rustix::io::write(fd.get_ref(), bytes),
                Self::Socket(fd) => {
                    rustix::net::send(fd.get_ref(), bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
                }
                Self::File(fd) => rustix::io::write(fd, bytes),
                Self::Thread(_) => Err(rustix::io::Errno::WOULDBLOCK),
            };
            match result {
                Err(rustix::io::Errno::INTR) => {}
                result => return Ok(result?),
            }
        }
    }

    /// Waits until something can be written, and writes it.
    ///
    /// # Errors
    /// As [`write_now`](Self::write_now), but never `WouldBlock`.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Self::Thread(writer) = self {
            return writer.write(bytes).await;
        }
        loop {
            let result = self.write_now(bytes);
            let (Self::Pollable(fd) | Self::Socket(fd)) = &*self else {
                return result;
            };
            if !matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
                return result;
            }
            let mut guard = fd.writable().await?;
            // Readiness may be old: the write decides.
            match guard.try_io(|_| self.write_now(bytes)) {
                Ok(result) => return result,
                Err(_would_block) => {}
            }
        }
    }
}

/// A thread that blocks in write(2), one buffer at a time.
#[derive(Debug)]
pub(crate) struct ThreadWriter {
    buffers: mpsc::Sender<(Vec<u8>, oneshot::Sender<io::Result<()>>)>,
}

impl ThreadWriter {
    fn start(fd: OwnedFd) -> io::Result<Self> {
        let (buffers, mut taken) = mpsc::channel::<(Vec<u8>, oneshot::Sender<io::Result<()>>)>(1);
        thread::Builder::new().name("stdout".to_owned()).spawn(move || {
            let mut file = std::fs::File::from(fd);
            while let Some((bytes, done)) = taken.blocking_recv() {
                // Whoever asked may be gone; the next buffer comes or the channel closes.
                let _ = done.send(io::Write::write_all(&mut file, &bytes));
            }
        })?;
        Ok(Self { buffers })
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (done, result) = oneshot::channel();
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.buffers
            .send((bytes.to_vec(), done))
            .await
            .map_err(|_| gone())?;
        result.await.map_err(|_| gone())??;
        Ok(bytes.len())
    }
}
