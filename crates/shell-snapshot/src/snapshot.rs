//! One snapshot: what a capture found, ready to be given to commands.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use exec_process::environment::Environment;
use exec_protocol::limits::SnapshotLimits;

use crate::cache::Alike;
use crate::dialect::Dialect;
use crate::environment::Difference;
use crate::environment::execve::takes_variable;
use crate::inventory::LeftOut;
use crate::replay::DESCRIPTOR;
use crate::sealed::SealedFile;
use crate::sections::Sections;
use crate::state::{Captured, State, Transport};
use crate::{Failure, Inventory};

/// A snapshot.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Who made it, and makes replays of it.
    pub(crate) dialect: &'static dyn Dialect,
    /// The environment.
    pub(crate) difference: Difference,
    /// The rest.
    pub(crate) state: State,
    /// How it gets to a command.
    pub(crate) replay: ReplayKind,
    /// The state as a file, where it is replayed from one.
    pub(crate) file: Option<SealedFile>,
    /// What it holds.
    pub(crate) inventory: Inventory,
    /// It is of an interactive startup.
    pub(crate) interactive: bool,
    /// How long its capture took.
    pub(crate) took: Duration,
}

impl dyn Dialect {
    /// Whether a state of this kind is to be replayed from a file.
    fn can_read_file(&self, state: &State) -> bool {
        let transport = Transport::File(DESCRIPTOR);
        let nothing = OsStr::new("");
        self.replay(Path::new(""), state, transport, nothing, &[])
            .is_some()
    }
}

/// How the state gets to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayKind {
    /// In a sealed file without a name.
    File,
    /// In environment variables, where a sandbox lets no descriptor be opened by path.
    Environment,
}

/// A complete capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Capture {
    /// Up to its end marker.
    pub(crate) stream: Vec<u8>,
    /// What frames it.
    pub(crate) nonce: String,
    /// The environment that the startup files were given.
    pub(crate) given: Environment,
    /// How its state is to be replayed.
    pub(crate) replay: ReplayKind,
    /// It is of an interactive startup.
    pub(crate) interactive: bool,
}

impl Snapshot {
    /// Reads a complete capture. Takes its time with a large one.
    ///
    /// # Errors
    /// It is not what the shell writes, or it is too large.
    pub(crate) fn read(
        dialect: &'static dyn Dialect,
        capture: &Capture,
        limits: &SnapshotLimits,
        took: Duration,
    ) -> Result<Self, Failure> {
        let sections = Sections::read(&capture.stream, &capture.nonce)?;
        let mut captured = dialect.read(&sections, &capture.given)?;
        captured.leave_out_what_no_program_is_given();
        let difference = Difference::between(&capture.given, &captured.environment);
        if difference.bytes() > limits.environment_bytes {
            return Err(Failure::EnvironmentTooLarge);
        }
        let state = captured.state;
        let max = match capture.replay {
            ReplayKind::File => limits.state_bytes,
            ReplayKind::Environment => limits.state_environment_bytes.saturating_sub(difference.bytes()),
        };
        if state.bytes(capture.replay) > max {
            return Err(Failure::StateTooLarge);
        }
        // Not every shell can close a descriptor: it may prefer its environment.
        let replay = match capture.replay {
            ReplayKind::File if dialect.can_read_file(&state) => ReplayKind::File,
            ReplayKind::File | ReplayKind::Environment => ReplayKind::Environment,
        };
        let file = match replay {
            // No descriptor or no memory is left: then it cannot be read either.
            ReplayKind::File => Some(SealedFile::new(&state.file).map_err(|_| Failure::ReadFailed)?),
            ReplayKind::Environment => None,
        };
        Ok(Self {
            dialect,
            difference,
            state,
            replay,
            file,
            inventory: captured.inventory,
            interactive: capture.interactive,
            took,
        })
    }

    /// Bytes of state.
    pub(crate) fn state_bytes(&self) -> u64 {
        self.state.bytes(self.replay) as u64
    }
}

impl Alike for Arc<Snapshot> {
    fn is_like(&self, other: &Self) -> bool {
        self.difference == other.difference && self.state == other.state && self.inventory == other.inventory
    }
}

impl Captured {
    /// What a shell holds and execve(2) does not take, and the state does not bring either.
    fn leave_out_what_no_program_is_given(&mut self) {
        let left_out = &mut self.inventory.left_out;
        self.environment.retain(|name, value| {
            let takes = takes_variable(name.as_bytes(), value.as_bytes());
            if !takes {
                left_out.push(LeftOut {
                    what: [b"variable ", name.as_bytes()].concat(),
                    why: "it is exported, and larger than what a program can be given in one variable",
                });
            }
            takes
        });
    }
}

impl State {
    /// What travels, in bytes.
    fn bytes(&self, replay: ReplayKind) -> usize {
        match replay {
            ReplayKind::Environment if !self.text.is_empty() => self.text.len(),
            ReplayKind::File | ReplayKind::Environment => self.file.len(),
        }
    }
}
