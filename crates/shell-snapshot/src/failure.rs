//! Why there is no snapshot.

/// Why a capture failed: the closed set that clients, metrics and logs are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Failure {
    /// No dialect for that shell.
    #[error("the shell is not one that can be captured")]
    UnsupportedShell,
    /// The request's argv is not one a snapshot applies to.
    #[error("there is no command to capture for")]
    MissingCommand,
    /// The shell could not be started.
    #[error("the shell could not be started")]
    SpawnFailed,
    /// The shell ended without writing its state: it left (`exit 0`), became another program or was killed.
    #[error("the shell ended without its state")]
    MissingOutput,
    /// The state could not be read.
    #[error("the state could not be read")]
    ReadFailed,
    /// More was written than a capture may be.
    #[error("the state is larger than a capture may be")]
    CaptureTooLarge,
    /// How the shell ended could not be learned.
    #[error("the end of the shell could not be learned")]
    WaitFailed,
    /// A startup file ended the shell with a status other than 0.
    #[error("a startup file ended the shell with an error")]
    NonzeroExit,
    /// The startup files did not come to an end in time.
    #[error("the startup files did not come to an end in time")]
    Timeout,
    /// What was written is not a state.
    #[error("what was written is not a state")]
    InvalidCapture,
    /// The environment is larger than a snapshot may hold.
    #[error("the environment is larger than a snapshot may hold")]
    EnvironmentTooLarge,
    /// The state is larger than a snapshot may hold.
    #[error("the state is larger than a snapshot may hold")]
    StateTooLarge,
}

impl Failure {
    /// Its name on the wire, in metrics and in logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UnsupportedShell => "unsupported_shell",
            Self::MissingCommand => "missing_command",
            Self::SpawnFailed => "spawn_failed",
            Self::MissingOutput => "missing_output",
            Self::ReadFailed => "read_failed",
            Self::CaptureTooLarge => "capture_too_large",
            Self::WaitFailed => "wait_failed",
            Self::NonzeroExit => "nonzero_exit",
            Self::Timeout => "timeout",
            Self::InvalidCapture => "invalid_capture",
            Self::EnvironmentTooLarge => "environment_too_large",
            Self::StateTooLarge => "state_too_large",
        }
    }
}

/// An attempt at a capture that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed {
    /// Why.
    pub failure: Failure,
    /// The shell got past the files that a login shell reads which is not interactive: as such it starts.
    pub past_login: bool,
}
