//! A server that does nothing: the round trip that two pipes and two context switches cost.

use std::io::Write;

use memchr::memmem;

use crate::Error;
use crate::lines::Lines;

/// Answers every request on stdin with `{}` until the end of input.
///
/// # Errors
/// stdout's.
pub(crate) fn serve() -> Result<(), Error> {
    let mut lines = Lines::new(std::io::stdin().lock());
    // Not line-buffered: one write(2) for an answer.
    let mut stdout = std::fs::File::from(std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned()?);
    let mut answer = Vec::new();
    while let Ok(line) = lines.next() {
        let Some(at) = memmem::find(line, b"\"id\":") else {
            continue;
        };
        let id = &line[at + 5..];
        let end = id
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(id.len());
        answer.clear();
        answer.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        answer.extend_from_slice(&id[..end]);
        answer.extend_from_slice(b",\"result\":{}}\n");
        stdout.write_all(&answer)?;
    }
    Ok(())
}
