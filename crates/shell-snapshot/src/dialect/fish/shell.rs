//! fish, as a dialect.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

use super::{capture, read, replay};
use crate::Failure;
use crate::dialect::{CaptureCommand, Dialect, Try};
use crate::sections::{Frame, Sections};
use crate::state::{Captured, Replay, State, Transport};

/// fish.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fish;

impl Dialect for Fish {
    fn capture(&self, shell: &Path, try_: Try, frame: &Frame, _: &Environment) -> CaptureCommand {
        capture::command(shell, try_, frame)
    }

    fn startup_files(&self, environment: &Environment) -> Vec<PathBuf> {
        capture::startup_files(environment)
    }

    fn read(&self, sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
        read::read(sections, given)
    }

    fn replay(
        &self,
        shell: &Path,
        state: &State,
        transport: Transport,
        script: &OsStr,
        arguments: &[OsString],
    ) -> Option<Replay> {
        replay::command(shell, state, transport, script, arguments)
    }
}
