//! Variables that differ from call to call and make no difference to a capture: a client's own counter, say.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use tokio::time::Instant;

use super::key::Home;

/// What shells and the programs in startup files look at without naming it: never learned, whatever captures show.
const NEVER: &[&str] = &[
    "PATH",
    "HOME",
    "ZDOTDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "ENV",
    "SHELL",
    "SHELLOPTS",
    "TERM",
    "COLORTERM",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "FPATH",
    "CDPATH",
    "IFS",
    "DISPLAY",
    "POSIXLY_CORRECT",
];

/// The same by how they begin.
const NEVER_PREFIXES: &[&str] = &["LC_", "BASH", "ZSH", "PS", "fish_", "LD_"];

/// Whether a variable may be learned at all.
fn may_be_learned(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let is_named = NEVER.iter().any(|known| bytes == known.as_bytes());
    let is_of_a_family = NEVER_PREFIXES
        .iter()
        .any(|prefix| bytes.starts_with(prefix.as_bytes()));
    !is_named && !is_of_a_family
}

/// The variables that were learned.
#[derive(Debug)]
pub(super) struct Learned {
    /// The oldest first.
    names: VecDeque<Name>,
    max: usize,
    recheck: Duration,
}

#[derive(Debug)]
struct Name {
    home: Home,
    name: OsString,
    checked: Instant,
}

impl Learned {
    /// At most `max` of them, looked at again every `recheck`.
    pub(super) fn new(max: usize, recheck: Duration) -> Self {
        Self {
            names: VecDeque::new(),
            max,
            recheck,
        }
    }

    /// Those of one home.
    pub(super) fn of(&self, home: &Home) -> Vec<OsString> {
        let names = self.names.iter().filter(|name| name.home == *home);
        names.map(|name| name.name.clone()).collect()
    }

    /// Adds one; false: it is one that must not be.
    pub(super) fn learn(&mut self, home: &Home, name: &OsStr, now: Instant) -> bool {
        if !may_be_learned(name) {
            return false;
        }
        self.names.push_back(Name {
            home: home.clone(),
            name: name.to_owned(),
            checked: now,
        });
        while self.names.len() > self.max {
            self.names.pop_front();
        }
        true
    }

    /// Whether it is time to look at those of a home again; if so, that counts as done.
    pub(super) fn take_due(&mut self, home: &Home, now: Instant) -> bool {
        let mut due = false;
        for name in self.names.iter_mut().filter(|name| name.home == *home) {
            due |= now >= name.checked + self.recheck;
        }
        if due {
            for name in self.names.iter_mut().filter(|name| name.home == *home) {
                name.checked = now;
            }
        }
        due
    }

    /// Forgets those of the homes that are meant.
    pub(super) fn forget(&mut self, is_meant: impl Fn(&Home) -> bool) {
        self.names.retain(|name| !is_meant(&name.home));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shells_read_unasked_is_never_learned() {
        for name in ["PATH", "LC_ALL", "BASH_ENV", "TERM", "ZDOTDIR"] {
            assert!(!may_be_learned(OsStr::new(name)), "{name}");
        }
        for name in ["CODEX_SESSION_ID", "CALL_COUNT", "TERMINAL"] {
            assert!(may_be_learned(OsStr::new(name)), "{name}");
        }
    }
}
