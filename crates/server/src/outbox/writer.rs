//! The one task that writes stdout.

use std::io;
use std::sync::Arc;

use exec_protocol::limits::KEPT_WRITE_BATCHES;

use super::Outbox;
use crate::transport::stdout::Output;

/// Writes what comes until stdout is gone. Each write is whole lines, as many as a batch holds.
pub(crate) async fn write_to(outbox: Arc<Outbox>, mut output: Output) {
    let mut buffer = Vec::new();
    loop {
        outbox.fill(&mut buffer);
        if buffer.is_empty() {
            outbox.work.notified().await;
            continue;
        }
        if let Err(error) = write_all(&outbox, &mut output, &buffer).await {
            tracing::info!(kind = ?error.kind(), "stdout is gone");
            outbox.close();
            return;
        }
        buffer.clear();
        if buffer.capacity() > outbox.write_batch_bytes() * KEPT_WRITE_BATCHES {
            buffer = Vec::new();
        }
        // A client that reads as fast as we write must not keep everything else from running.
        tokio::task::yield_now().await;
    }
}

async fn write_all(outbox: &Outbox, output: &mut Output, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = match output.write_now(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                outbox.set_stalled(true);
                let written = output.write(bytes).await;
                outbox.set_stalled(false);
                written?
            }
            result => result?,
        };
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Reply;
    use super::*;
    use exec_protocol::limits::Limits;
    use std::io::{Read, pipe};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    fn reply(byte: u8, length: usize) -> Reply {
        Reply {
            line: vec![byte; length],
            after: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_slow_reader_gets_everything_in_order() {
        let (mut reader, writer) = pipe().unwrap();
        let outbox = Outbox::new(&Limits::default());
        let output = Output::new(writer.as_fd()).unwrap();
        drop(writer);
        let task = tokio::spawn(write_to(Arc::clone(&outbox), output));
        for byte in 0..20 {
            outbox.push(reply(byte, 100_000));
        }
        let read = tokio::task::spawn_blocking(move || {
            let mut all = vec![0; 2_000_000];
            reader.read_exact(&mut all).unwrap();
            (all, reader)
        });
        let (all, reader) = read.await.unwrap();
        assert!(
            all.iter()
                .enumerate()
                .all(|(i, byte)| usize::from(*byte) == i / 100_000)
        );
        outbox.drained().await;
        drop(reader);
        outbox.push(reply(0, 1));
        outbox.gone().await;
        task.await.unwrap();
    }

    #[tokio::test]
    async fn a_reader_that_never_reads_is_a_stall_and_blocks_nobody() {
        let (theirs, ours) = UnixStream::pair().unwrap();
        let outbox = Outbox::new(&Limits::default());
        let task = tokio::spawn(write_to(Arc::clone(&outbox), Output::new(ours.as_fd()).unwrap()));
        outbox.push(reply(b'x', 10_000_000));
        while outbox.stalled_for().is_zero() {
            tokio::task::yield_now().await;
        }
        drop(theirs);
        outbox.gone().await;
        task.await.unwrap();
    }
}
