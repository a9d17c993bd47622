//! Captures: a user's shell, run once so that it writes its state down.

mod attempt;
mod helpers;
mod phase;
mod run;
mod stream;
mod terminal;

#[cfg(test)]
pub(crate) use attempt::Attempt;
pub(crate) use attempt::{Attempts, ShellAttempts};

/// Set in a capture's environment, so that a careful user can guard a line of a startup file.
pub(crate) const GUARD: &str = "EXEC_SERVER_SNAPSHOT";
