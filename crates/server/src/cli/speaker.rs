//! What a person is told on stderr.

use std::error::Error;
use std::io::Write;

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// `exec-server run`.
    Run,
    /// `exec-server snapshot`.
    Snapshot,
}

impl Speaker {
    /// Says something in one line.
    pub(super) fn says(self, message: &str) {
        let name = match self {
            Self::Run => "run",
            Self::Snapshot => "snapshot",
        };
        // A stderr that is gone cannot be told.
        let _ = writeln!(std::io::stderr(), "exec-server {name}: {message}");
    }
}

/// An error and its causes, in one line.
pub(super) fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    message
}
