//! Shows every line that passes through a reader or a writer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::show::{Direction, Screen};

/// A reader or a writer with someone listening.
pub(crate) struct Tap<T> {
    inner: T,
    screen: Screen,
    line: Vec<u8>,
}

impl<T> Tap<T> {
    pub(crate) fn new(inner: T, screen: &Screen) -> Self {
        Self {
            inner,
            screen: screen.clone(),
            line: Vec::new(),
        }
    }

    fn passed(&mut self, direction: Direction, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                self.screen.message(direction, &self.line);
                self.line.clear();
            } else {
                self.line.push(*byte);
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Tap<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        self.passed(Direction::FromServer, &buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Tap<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(context, bytes))?;
        self.passed(Direction::ToServer, &bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
