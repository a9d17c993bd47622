//! One snapshot: what a capture found, ready to be given to commands.

use std::time::Duration;

use exec_process::environment::Environment;
use exec_protocol::limits::SnapshotLimits;

use crate::dialect::Dialect;
use crate::environment::Difference;
use crate::sealed::SealedFile;
use crate::sections::Sections;
use crate::state::State;
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
    /// The state as a file.
    pub(crate) file: SealedFile,
    /// What it holds.
    pub(crate) inventory: Inventory,
    /// How long its capture took.
    pub(crate) took: Duration,
}

impl Snapshot {
    /// Reads a complete capture. Takes its time with a large one.
    ///
    /// # Errors
    /// It is not what the shell writes, or it is too large.
    pub(crate) fn read(
        dialect: &'static dyn Dialect,
        stream: &[u8],
        nonce: &str,
        given: &Environment,
        limits: &SnapshotLimits,
        took: Duration,
    ) -> Result<Self, Failure> {
        let sections = Sections::read(stream, nonce)?;
        let captured = dialect.read(&sections, given)?;
        let difference = Difference::between(given, &captured.environment);
        if difference.bytes() > limits.environment_bytes {
            return Err(Failure::EnvironmentTooLarge);
        }
        if captured.state.file.len() > limits.state_bytes {
            return Err(Failure::StateTooLarge);
        }
        // No descriptor or no memory is left: then it cannot be read either.
        let file = SealedFile::new(&captured.state.file).map_err(|_| Failure::ReadFailed)?;
        Ok(Self {
            dialect,
            difference,
            state: captured.state,
            file,
            inventory: captured.inventory,
            took,
        })
    }

    /// Bytes of state.
    pub(crate) fn state_bytes(&self) -> u64 {
        self.state.file.len() as u64
    }
}
