//! zsh as a [`Dialect`].

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

use super::{capture, place, read, replay, startup};
use crate::Failure;
use crate::dialect::{CaptureCommand, Dialect, PhaseFiles, Try};
use crate::sections::{Frame, Sections};
use crate::state::{Captured, Replay, State, Transport};

/// zsh.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zsh;

impl Dialect for Zsh {
    fn capture(&self, shell: &Path, try_: Try, frame: &Frame, _: &Environment) -> CaptureCommand {
        let flags = match try_ {
            Try::Interactive => "-lic",
            Try::NonInteractive => "-lc",
        };
        let script = capture::script(frame, place::path());
        CaptureCommand {
            argv: vec![shell.into(), flags.into(), script],
            arg0: None,
            set: Environment::new(),
        }
    }

    /// zsh reads its interactive files between the others, and runs nothing of ours before it has read them all.
    fn phase_files(&self, environment: &Environment) -> PhaseFiles {
        let is_interactive = |path: &PathBuf| path.as_os_str().as_bytes().ends_with(b"zshrc");
        let (interactive, login) = startup::files(environment).into_iter().partition(is_interactive);
        PhaseFiles { interactive, login }
    }

    fn startup_files(&self, environment: &Environment) -> Vec<PathBuf> {
        startup::files(environment)
    }

    fn read(&self, sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
        read::read(sections, given)
    }

    fn keep(&self, own: &BTreeSet<String>, environment: &Environment) -> Environment {
        replay::keep(own, environment)
    }

    fn replay(
        &self,
        shell: &Path,
        state: &State,
        transport: Transport,
        script: &OsStr,
        arguments: &[OsString],
    ) -> Option<Replay> {
        replay::command(shell, state, transport, place::path(), script, arguments)
    }
}
