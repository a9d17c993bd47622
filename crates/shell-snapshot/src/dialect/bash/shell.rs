//! bash as a [`Dialect`].

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

use super::read::{self, Bare};
use super::{capture, limits, replay, startup};
use crate::Failure;
use crate::dialect::{CaptureCommand, Dialect, Try};
use crate::sections::{Frame, Sections};
use crate::state::{Captured, Replay, State, Transport};

/// GNU bash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bash;

impl Dialect for Bash {
    fn capture(&self, shell: &Path, try_: Try, frame: &Frame, environment: &Environment) -> CaptureCommand {
        capture::command(shell, try_, frame, environment)
    }

    fn startup_files(&self, environment: &Environment) -> Vec<PathBuf> {
        startup::files(environment)
    }

    fn read(&self, sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
        // Commands get this process's limits, but for that of descriptors: setting one that is so already does no harm.
        let content = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
        let bare = Bare {
            limits: limits::of_process(&content("/proc/self/limits")),
            umask: limits::umask_of_process(&content("/proc/self/status")),
            host: content("/proc/sys/kernel/hostname").trim_end().into(),
        };
        read::read(sections, given, &bare)
    }

    fn replay(
        &self,
        shell: &Path,
        state: &State,
        transport: Transport,
        script: &OsStr,
        arguments: &[OsString],
    ) -> Option<Replay> {
        Some(replay::command(shell, state, transport, script, arguments))
    }

    fn restated(&self, file: &[u8], stated: &Environment) -> Option<Vec<u8>> {
        replay::restated(file, stated)
    }
}
