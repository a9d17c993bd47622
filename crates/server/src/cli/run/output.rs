//! What the command prints onto this process's stdout and stderr.

use std::io;

use exec_protocol::Stream;
use exec_protocol::limits::RUN_OUTPUT_AHEAD;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::{stderr, stdout};
use tokio::sync::{mpsc, oneshot};

/// A thread that writes, so that a pager nobody scrolls does not keep signals from the command.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) chunks: Chunks,
    pub(super) end: End,
}

/// The way in.
#[derive(Debug)]
pub(super) struct Chunks(mpsc::Sender<(Stream, Vec<u8>)>);

/// How the thread ended.
#[derive(Debug)]
pub(super) struct End(oneshot::Receiver<io::Result<()>>);

impl Output {
    pub(super) fn start() -> io::Result<Self> {
        let (chunks, mut receiver) = mpsc::channel::<(Stream, Vec<u8>)>(RUN_OUTPUT_AHEAD);
        let (sender, end) = oneshot::channel();
        std::thread::Builder::new()
            .name("stdout".to_owned())
            .spawn(move || {
                let mut result = Ok(());
                while let Some((stream, bytes)) = receiver.blocking_recv() {
                    result = write_all(stream, &bytes);
                    if result.is_err() {
                        break;
                    }
                }
                // Nobody waits when this process is about to exit.
                let _ = sender.send(result);
            })?;
        Ok(Self {
            chunks: Chunks(chunks),
            end: End(end),
        })
    }

    /// Waits until everything is written.
    pub(super) async fn finish(self) -> io::Result<()> {
        let Self { chunks, end } = self;
        drop(chunks);
        end.0.await.unwrap_or(Ok(()))
    }
}

impl Chunks {
    /// Waits until a chunk can be taken; for ever if writing failed. Cancel-safe.
    pub(super) async fn room(&self) {
        if self.0.reserve().await.is_err() {
            std::future::pending().await
        }
    }

    /// Whether it is the reader that is waited for.
    pub(super) fn are_held_up(&self) -> bool {
        self.0.capacity() == 0
    }

    /// Takes a chunk, once there is [`room`](Self::room) for it.
    pub(super) fn push(&self, stream: Stream, bytes: Vec<u8>) {
        // There is room, or the thread has failed, which `End::failure` tells.
        let _ = self.0.try_send((stream, bytes));
    }
}

impl End {
    /// Waits for a write to fail. Cancel-safe.
    pub(super) async fn failure(&mut self) -> io::Error {
        match (&mut self.0).await {
            Ok(Err(error)) => error,
            // The thread ends otherwise only when there is nothing more to write.
            Ok(Ok(())) | Err(_) => std::future::pending().await,
        }
    }
}

/// Straight to the descriptor: no buffer between, and none that another part of the process holds locked.
fn write_all(stream: Stream, mut bytes: &[u8]) -> io::Result<()> {
    let descriptor = match stream {
        Stream::Stdout | Stream::Pty => stdout(),
        Stream::Stderr => stderr(),
    };
    while !bytes.is_empty() {
        match rustix::io::write(descriptor, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            // Someone else made the shared description non-blocking.
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::new(&descriptor, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
