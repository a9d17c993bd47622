//! Which shells there are.

use super::bash::Bash;
use super::contract::Dialect;
use super::fish::Fish;
use super::sh::Sh;
use super::zsh::Zsh;

/// The shells by the name a request gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ShellKind {
    /// GNU bash.
    Bash,
    /// zsh.
    Zsh,
    /// A POSIX shell: dash, busybox ash, mksh, or bash under that name.
    Sh,
    /// fish.
    Fish,
}

impl ShellKind {
    /// The shell of a request's `shellSnapshot.shell.name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "bash" => Self::Bash,
            "zsh" => Self::Zsh,
            "sh" => Self::Sh,
            "fish" => Self::Fish,
            _ => return None,
        })
    }

    /// Its name in requests, metrics and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Sh => "sh",
            Self::Fish => "fish",
        }
    }
}

/// How to capture and restore a shell.
pub(crate) fn dialect_of(shell: ShellKind) -> &'static dyn Dialect {
    match shell {
        ShellKind::Bash => &Bash,
        ShellKind::Zsh => &Zsh,
        ShellKind::Sh => &Sh,
        ShellKind::Fish => &Fish,
    }
}
