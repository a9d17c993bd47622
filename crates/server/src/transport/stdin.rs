//! Bytes from the client.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;

use exec_protocol::limits::{STDIN_READ_BYTES, STDIN_READS_AHEAD};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

use super::descriptor::{Direction, Endpoint};
use super::hangup;

/// Where lines come from.
#[derive(Debug)]
pub(crate) struct Input {
    source: Source,
    /// For the hang-up watch.
    watched: OwnedFd,
}

#[derive(Debug)]
enum Source {
    Pollable(AsyncFd<OwnedFd>),
    Socket(AsyncFd<OwnedFd>),
    Thread(ThreadReader),
}

impl Input {
    /// Reads from `fd`, whose description keeps its flags. Must be called inside the runtime.
    ///
    /// # Errors
    /// A descriptor that cannot be duplicated; no thread.
    pub(crate) fn new(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let watched = fd.try_clone_to_owned()?;
        let source = match Endpoint::new(fd, Direction::In)? {
            Endpoint::Pollable(fd) => Source::Pollable(fd),
            Endpoint::Socket(fd) => Source::Socket(fd),
            Endpoint::File(fd) | Endpoint::Blocking(fd) => Source::Thread(ThreadReader::start(fd)?),
        };
        Ok(Self { source, watched })
    }

    /// Reads into `room`, which is not empty; 0 at the end of input. Cancel-safe.
    ///
    /// # Errors
    /// read(2) failed.
    pub(crate) async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::Pollable(fd) => read_when_ready(fd, |fd| rustix::io::read(fd, &mut *room)).await,
            Source::Socket(fd) => read_when_ready(fd, |fd| receive(fd, room)).await,
            Source::Thread(reader) => reader.read(room).await,
        }
    }

    /// Reads what is there without waiting: `None` if nothing is.
    ///
    /// # Errors
    /// read(2) failed.
    pub(crate) fn read_available(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match &mut self.source {
            Source::Pollable(fd) => available(rustix::io::read(fd.get_ref(), room)),
            Source::Socket(fd) => available(receive(fd.get_ref(), room)),
            Source::Thread(reader) => reader.read_available(room),
        }
    }

    /// Waits until no writer is left, though what they wrote is not read.
    pub(crate) async fn hung_up(&self) {
        hangup::other_side_gone(self.watched.as_fd()).await;
    }
}

async fn read_when_ready(
    fd: &AsyncFd<OwnedFd>,
    mut read: impl FnMut(&OwnedFd) -> rustix::io::Result<usize>,
) -> io::Result<usize> {
    loop {
        let mut guard = fd.readable().await?;
        match read(guard.get_inner()) {
            Err(Errno::WOULDBLOCK) => guard.clear_ready(),
            Err(Errno::INTR) => {}
            result => return end_if_gone(result.map_err(Into::into)),
        }
    }
}

/// A socket's description is not our own: the flag of the call says not to wait.
fn receive(fd: &OwnedFd, room: &mut [u8]) -> rustix::io::Result<usize> {
    rustix::net::recv(fd, room, RecvFlags::DONTWAIT).map(|(count, _)| count)
}

fn available(result: rustix::io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Err(Errno::WOULDBLOCK) => Ok(None),
        result => end_if_gone(result.map_err(Into::into)).map(Some),
    }
}

/// A terminal that hung up and a peer that vanished are the end of input.
fn end_if_gone(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if is_hangup(&error) => Ok(0),
        result => result,
    }
}

fn is_hangup(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionReset || error.raw_os_error() == Some(Errno::IO.raw_os_error())
}

/// A thread that blocks in read(2), some reads ahead of its taker.
#[derive(Debug)]
struct ThreadReader {
    reads: mpsc::Receiver<io::Result<Vec<u8>>>,
    /// Taken from the channel, not yet given out.
    current: Vec<u8>,
    given: usize,
}

impl ThreadReader {
    fn start(fd: OwnedFd) -> io::Result<Self> {
        let (sender, reads) = mpsc::channel(STDIN_READS_AHEAD);
        thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            loop {
                let mut bytes = vec![0; STDIN_READ_BYTES];
                let read = match rustix::io::read(&fd, &mut bytes[..]) {
                    Err(Errno::INTR) => continue,
                    result => result,
                };
                let more = matches!(read, Ok(count) if count > 0);
                let read = read.map_err(io::Error::from).map(|count| {
                    bytes.truncate(count);
                    bytes
                });
                // The end is the closed channel.
                let tell = more || read.is_err();
                if (tell && sender.blocking_send(read).is_err()) || !more {
                    return;
                }
            }
        })?;
        Ok(Self {
            reads,
            current: Vec::new(),
            given: 0,
        })
    }

    async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.given == self.current.len() {
            let Some(read) = self.reads.recv().await else {
                return Ok(0);
            };
            self.take(read)?;
        }
        Ok(self.give(room))
    }

    fn read_available(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        if self.given == self.current.len() {
            match self.reads.try_recv() {
                Ok(read) => self.take(read)?,
                Err(mpsc::error::TryRecvError::Empty) => return Ok(None),
                Err(mpsc::error::TryRecvError::Disconnected) => return Ok(Some(0)),
            }
        }
        Ok(Some(self.give(room)))
    }

    fn take(&mut self, read: io::Result<Vec<u8>>) -> io::Result<()> {
        self.current = match read {
            Err(error) if is_hangup(&error) => Vec::new(),
            read => read?,
        };
        self.given = 0;
        Ok(())
    }

    fn give(&mut self, room: &mut [u8]) -> usize {
        let left = &self.current[self.given..];
        let count = left.len().min(room.len());
        room[..count].copy_from_slice(&left[..count]);
        self.given += count;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{OFlags, fcntl_getfl};
    use std::io::{Write, pipe};
    use std::os::unix::net::UnixStream;

    async fn read_all(mut input: Input) -> Vec<u8> {
        let mut all = Vec::new();
        let mut room = [0; 1000];
        loop {
            match input.read(&mut room).await.unwrap() {
                0 => return all,
                count => all.extend_from_slice(&room[..count]),
            }
        }
    }

    #[tokio::test]
    async fn a_pipe_keeps_its_flags() {
        let (reader, mut writer) = pipe().unwrap();
        let input = Input::new(reader.as_fd()).unwrap();
        assert!(matches!(input.source, Source::Pollable(_)));
        writer.write_all(b"hello").unwrap();
        drop(writer);
        assert_eq!(read_all(input).await, b"hello");
        assert!(!fcntl_getfl(&reader).unwrap().contains(OFlags::NONBLOCK));
    }

    #[tokio::test]
    async fn a_socket_keeps_its_flags() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut input = Input::new(ours.as_fd()).unwrap();
        assert_eq!(input.read_available(&mut [0; 8]).unwrap(), None);
        theirs.write_all(b"hello").unwrap();
        drop(theirs);
        assert_eq!(read_all(input).await, b"hello");
        assert!(!fcntl_getfl(&ours).unwrap().contains(OFlags::NONBLOCK));
    }

    #[tokio::test]
    async fn files_and_dev_null_are_read_by_a_thread() {
        let mut file = tempfile::tempfile().unwrap();
        let text = b"line\n".repeat(100_000);
        file.write_all(&text).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        assert!(read_all(Input::new(file.as_fd()).unwrap()).await == text);
        let null = std::fs::File::open("/dev/null").unwrap();
        let input = Input::new(null.as_fd()).unwrap();
        assert!(matches!(input.source, Source::Thread(_)));
        assert_eq!(read_all(input).await, b"");
    }
}
