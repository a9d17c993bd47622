//! The POSIX shells, as one dialect.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

use super::{ash, capture, mksh, replay};
use crate::Failure;
use crate::dialect::bash::Bash;
use crate::dialect::{CaptureCommand, Dialect, Try};
use crate::sections::{Frame, Sections};
use crate::state::{Captured, Replay, State, Transport};

/// The shells that go by the name of `sh`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sh;

impl Dialect for Sh {
    fn capture(&self, shell: &Path, try_: Try, frame: &Frame, _: &Environment) -> CaptureCommand {
        capture::command(shell, try_, frame)
    }

    fn startup_files(&self, environment: &Environment) -> Vec<PathBuf> {
        capture::startup_files(environment)
    }

    fn read(&self, sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
        if sections.has("shopt") {
            Bash.read(sections, given)
        } else if sections.has("parameters") {
            mksh::read(sections, given)
        } else {
            ash::read(sections, given)
        }
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

    fn restated(&self, file: &[u8], stated: &Environment) -> Option<Vec<u8>> {
        // The others take from their environment all that they take from a state.
        let is_bash = !file.starts_with(replay::CLOSE);
        is_bash.then(|| Bash.restated(file, stated)).flatten()
    }
}
