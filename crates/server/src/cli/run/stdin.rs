//! This process's stdin into the command's.

use std::io;
use std::time::Duration;

use exec_client::{CallError, Client};
use exec_protocol::limits::{
    RUN_BACKGROUND_POLL_MS, RUN_INPUT_AHEAD, RUN_READ_BYTES, RUN_WRITE_RETRY_MAX_MS, RUN_WRITE_RETRY_MS,
};
use exec_protocol::process::WriteStatus;
use exec_protocol::{ErrorKind, ProcessId};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use tokio::sync::mpsc;

use super::terminal::is_in_foreground;

/// The character that ends a terminal's input (^D).
const END_OF_TRANSMISSION: u8 = 4;

/// Starts to read. The thread ends at end of file, or when nobody takes what it read; a thread, because a
/// read of a file, or of a terminal that others share, can only block.
pub(super) fn read() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel(RUN_INPUT_AHEAD);
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            while let Some(chunk) = read_chunk() {
                if sender.blocking_send(chunk).is_err() {
                    return;
                }
            }
        })?;
    Ok(receiver)
}

/// The next bytes; `None` at the end.
fn read_chunk() -> Option<Vec<u8>> {
    let mut chunk = vec![0; RUN_READ_BYTES];
    loop {
        // Waiting is not reading: a background job that only waits is not stopped (SIGTTIN), and one whose
        // command never reads runs on, as it would without this process in between.
        match poll(&mut [PollFd::new(&stdin(), PollFlags::IN)], None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return None,
        }
        if !is_in_foreground() {
            // What is typed now is for another job. The kernel tells nobody when this changes.
            std::thread::sleep(Duration::from_millis(RUN_BACKGROUND_POLL_MS));
            continue;
        }
        match rustix::io::read(stdin(), &mut chunk) {
            Ok(0) => return None,
            Ok(length) => {
                chunk.truncate(length);
                return Some(chunk);
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
}

/// Feeds the command until either side is at its end.
pub(super) async fn feed(
    client: Client,
    process_id: ProcessId,
    is_terminal: bool,
    mut chunks: mpsc::Receiver<Vec<u8>>,
) {
    let mut last_byte = b'\n';
    while let Some(chunk) = chunks.recv().await {
        last_byte = chunk.last().copied().unwrap_or(last_byte);
        if !write(&client, &process_id, chunk).await {
            return;
        }
    }
    if is_terminal {
        // In the middle of a line the first one only hands over what there is of it.
        let count = if last_byte == b'\n' { 1 } else { 2 };
        write(&client, &process_id, vec![END_OF_TRANSMISSION; count]).await;
    } else {
        // A command that is gone needs no end of file.
        let _ = client.close_stdin(&process_id).await;
    }
}

/// Writes a chunk, one at a time, waiting while the command does not read. False when it reads no more.
async fn write(client: &Client, process_id: &ProcessId, chunk: Vec<u8>) -> bool {
    let mut retry = Duration::from_millis(RUN_WRITE_RETRY_MS);
    loop {
        match client.write(process_id, chunk.clone()).await {
            Ok(status) => return status == WriteStatus::Accepted,
            Err(error) if is_backlog_full(&error) => {
                tokio::time::sleep(retry).await;
                retry = (retry * 2).min(Duration::from_millis(RUN_WRITE_RETRY_MAX_MS));
            }
            Err(_) => return false,
        }
    }
}

fn is_backlog_full(error: &CallError) -> bool {
    matches!(error.kind(), Some(ErrorKind::StdinBacklogFull { .. }))
}
