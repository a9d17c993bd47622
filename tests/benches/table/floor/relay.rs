//! Read, encode, write: what moving a child's output to a client costs at least.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use base64_simd::{Out, STANDARD};

use crate::Error;

/// What a pipe holds, and servers read at once.
const READ_BYTES: usize = 64 * 1024;
const BEFORE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"process/output\",\"params\":{\"processId\":\"t\",\"seq\":1,\"stream\":\"stdout\",\"chunk\":\"";
const AFTER: &[u8] = b"\"}}\n";
const CLOSED: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"method\":\"process/closed\",\"params\":{\"processId\":\"t\",\"seq\":2}}\n";

/// Waits for a byte on stdin, then runs the command that the servers run and relays what it prints.
///
/// # Errors
/// The command does not start; a pipe fails.
pub(crate) fn relay(bytes: u64) -> Result<(), Error> {
    std::io::stdin().read_exact(&mut [0])?;
    let mut child = Command::new("/usr/bin/head")
        .args(["-c", &bytes.to_string(), "/dev/zero"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut from = child.stdout.take().ok_or("no stdout")?;
    let mut to = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let mut read = vec![0; READ_BYTES];
    let mut line = vec![0; BEFORE.len() + STANDARD.encoded_length(READ_BYTES) + AFTER.len()];
    line[..BEFORE.len()].copy_from_slice(BEFORE);
    loop {
        let count = from.read(&mut read)?;
        if count == 0 {
            break;
        }
        let encoded = STANDARD
            .encode(&read[..count], Out::from_slice(&mut line[BEFORE.len()..]))
            .len();
        let end = BEFORE.len() + encoded + AFTER.len();
        line[end - AFTER.len()..end].copy_from_slice(AFTER);
        to.write_all(&line[..end])?;
    }
    child.wait()?;
    to.write_all(CLOSED)?;
    // The bench reads the CPU time of this process before it lets it go.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
