//! Which names occur in startup files.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The names that occur, as hashes: two names may have the same, and then one is taken to occur that does not, which
/// does no harm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mentioned {
    hashes: BTreeSet<u64>,
    /// Something was not read.
    incomplete: bool,
}

impl Mentioned {
    /// Reads a text; `whole`: all of it.
    pub(super) fn read(&mut self, text: &[u8], whole: bool) {
        let is_name = |byte: &u8| *byte == b'_' || byte.is_ascii_alphanumeric();
        let names = text.split(|byte| !is_name(byte)).filter(|name| !name.is_empty());
        self.hashes.extend(names.map(hash));
        self.incomplete |= !whole;
    }

    /// A text could not be read.
    pub(super) fn miss(&mut self) {
        self.incomplete = true;
    }

    /// Whether a name may occur.
    pub(super) fn may_hold(&self, name: &[u8]) -> bool {
        self.incomplete || self.hashes.contains(&hash(name))
    }
}

/// A hash that is the same for as long as the daemon runs.
pub(super) fn hash(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words() {
        let mut mentioned = Mentioned::default();
        mentioned.read(b"echo ${COUNT:-1} \"$A_B\"; export C=1", true);
        for name in ["COUNT", "A_B", "C"] {
            assert!(mentioned.may_hold(name.as_bytes()), "{name}");
        }
        for name in ["COUN", "COUNTER", "A", "B"] {
            assert!(!mentioned.may_hold(name.as_bytes()), "{name}");
        }
        mentioned.read(b"", false);
        assert!(mentioned.may_hold(b"COUNTER"));
    }
}
