//! What can be told of snapshots: names and sizes, never a value.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use crate::inventory::Name;
use crate::snapshot::{ReplayKind, Snapshot};
use crate::{Availability, Failure, Inventory};

/// How large a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// How long its capture took.
    pub took: Duration,
    /// Bytes of state.
    pub state_bytes: u64,
    /// Bytes of environment.
    pub environment_bytes: u64,
    /// Functions.
    pub functions: usize,
    /// Aliases.
    pub aliases: usize,
    /// Variables, those exported among them.
    pub variables: usize,
}

/// What is cached for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// What a command would find now.
    pub availability: Availability,
    /// The failure that is remembered.
    pub failure: Option<Failure>,
    /// The snapshot.
    pub held: Option<Held>,
    /// Files whose change ends it, and whether they were there.
    pub watched: Vec<(PathBuf, bool)>,
}

/// A snapshot that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its size.
    pub summary: Summary,
    /// Since its capture.
    pub age: Duration,
    /// How it travels.
    pub replay: ReplayKind,
    /// It is of an interactive startup.
    pub interactive: bool,
    /// What it holds.
    pub inventory: Inventory,
    /// Variables that startup files exported or changed.
    pub exported: Vec<Name>,
    /// Variables that they took out of the environment.
    pub unset: Vec<Name>,
}

impl Summary {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self {
            took: snapshot.took,
            state_bytes: snapshot.state_bytes(),
            environment_bytes: snapshot.difference.bytes() as u64,
            functions: snapshot.inventory.functions.len(),
            aliases: snapshot.inventory.aliases.len(),
            variables: snapshot.inventory.variables.len() + snapshot.difference.set_names().count(),
        }
    }
}

impl Held {
    pub(super) fn of(snapshot: &Snapshot, since: Option<Instant>, now: Instant) -> Self {
        let names = |name: &OsStr| name.as_bytes().to_vec();
        Self {
            summary: Summary::of(snapshot),
            age: since.map(|since| now - since).unwrap_or_default(),
            replay: snapshot.replay,
            interactive: snapshot.interactive,
            inventory: snapshot.inventory.clone(),
            exported: snapshot.difference.set_names().map(names).collect(),
            unset: snapshot.difference.unset_names().map(names).collect(),
        }
    }
}
