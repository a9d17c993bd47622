//! Signals by name.

/// A signal number that the kernel knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(i32);

/// A name that is no signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal {0:?}, expected `interrupt`, a POSIX name such as `SIGTERM`, or `SIGRTMIN+n`")]
pub struct InvalidSignal(pub String);

impl Signal {
    /// SIGTERM.
    pub const TERM: Self = Self(libc::SIGTERM);
    /// SIGINT.
    pub const INT: Self = Self(libc::SIGINT);
    /// SIGKILL.
    pub const KILL: Self = Self(libc::SIGKILL);

    /// Reads `interrupt`, `SIGTERM`, `SIGRTMIN+3`, `SIGRTMAX-1`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(name: &str) -> Result<Self, InvalidSignal> {
        let _ = name;
        unreachable!("skeleton")
    }

    /// The number.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// Its name: `SIGTERM`, `SIGRTMIN+3`.
    #[must_use]
    pub fn name(self) -> String {
        unreachable!("skeleton")
    }
}
