//! A client's process id, made fit for a span.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use uuid::Uuid;

/// Length of a UUID in the form that is kept, with hyphens.
const HYPHENATED: usize = 36;

/// What a span says of a process id that the client chose: the id itself if it is a UUID, else a hash.
///
/// The hash is keyed with a number of this daemon's own, so an id that could be guessed cannot be found by trying.
/// Within one daemon the same id has the same hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessRef(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Uuid(Uuid),
    Hash(u64),
}

impl ProcessRef {
    /// Of that id.
    #[must_use]
    pub fn of(id: &str) -> Self {
        static KEY: OnceLock<RandomState> = OnceLock::new();
        let uuid = Uuid::try_parse(id).ok().filter(|_| id.len() == HYPHENATED);
        Self(match uuid {
            Some(uuid) => Kind::Uuid(uuid),
            None => Kind::Hash(KEY.get_or_init(RandomState::new).hash_one(id)),
        })
    }
}

impl fmt::Display for ProcessRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Uuid(uuid) => uuid.fmt(f),
            Kind::Hash(hash) => write!(f, "hash:{hash:016x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_shown_and_nothing_else_is() {
        let uuid = "0e3ad8a5-6ed6-4a6b-8c4d-2f6c9b1a7e55";
        assert_eq!(ProcessRef::of(uuid).to_string(), uuid);
        assert_eq!(ProcessRef::of(&uuid.to_uppercase()).to_string(), uuid);
        for id in [
            "secret",
            "",
            "0e3ad8a56ed64a6b8c4d2f6c9b1a7e55",
            &format!("{uuid} "),
        ] {
            let shown = ProcessRef::of(id).to_string();
            assert_eq!(shown.len(), "hash:".len() + 16, "{shown}");
            assert_eq!(shown, ProcessRef::of(id).to_string());
        }
        assert_ne!(ProcessRef::of("a"), ProcessRef::of("b"));
    }
}
