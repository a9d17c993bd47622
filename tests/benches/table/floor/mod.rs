//! What no server can beat: the same work without one.

pub(crate) mod null_server;
pub(crate) mod posix_spawn;
pub(crate) mod relay;

use crate::Error;

/// The command that runs this program as one of its floors.
///
/// # Errors
/// The program does not know where it is.
pub(crate) fn command(arguments: &[&str]) -> Result<Vec<String>, Error> {
    let here = std::env::current_exe()?.to_string_lossy().into_owned();
    Ok(std::iter::once(here)
        .chain(arguments.iter().map(|&argument| argument.to_owned()))
        .collect())
}
