//! What a dialect knows of its shell.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use exec_process::environment::Environment;

use crate::Failure;
use crate::sections::{Frame, Sections};
use crate::state::{Captured, Replay, State, Transport};

/// Which of an attempt's tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Try {
    /// Startup as at a login terminal.
    Interactive,
    /// Startup of a login shell that is not interactive: only after the shell left, was replaced or was killed.
    NonInteractive,
}

/// The command that captures. It runs in the request's cwd on a PTY, its own session's controlling terminal, with
/// the frame's descriptor open for writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CaptureCommand {
    /// Program and arguments.
    pub(crate) argv: Vec<OsString>,
    /// The first argument as the shell sees it, if other than `argv[0]`.
    pub(crate) arg0: Option<OsString>,
    /// Laid over the request's environment.
    pub(crate) set: Environment,
}

/// Startup files by the phase they belong to, in the order they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PhaseFiles {
    /// Those that only an interactive shell reads.
    pub(crate) interactive: Vec<PathBuf>,
    /// Those that every login shell reads, before them and after them.
    pub(crate) login: Vec<PathBuf>,
}

/// One shell.
pub(crate) trait Dialect: Debug + Send + Sync {
    /// The command that starts the shell up and writes its state to the frame's descriptor, as
    /// [`Sections`] says. As soon as the files of a non-interactive login shell are done it writes the marker
    /// `login`, if it can tell.
    fn capture(&self, shell: &Path, try_: Try, frame: &Frame, environment: &Environment) -> CaptureCommand;

    /// The files whose opening tells how far a shell came that writes the marker `login` too late, or never.
    fn phase_files(&self, _environment: &Environment) -> PhaseFiles {
        PhaseFiles::default()
    }

    /// The startup files that shell would look for in that environment, in order, whether they exist or not.
    fn startup_files(&self, environment: &Environment) -> Vec<PathBuf>;

    /// Makes a snapshot of what was written. `given`: the environment the capture ran in.
    ///
    /// # Errors
    /// [`Failure::InvalidCapture`] if a section is missing or is not what the shell writes.
    fn read(&self, sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure>;

    /// What is laid over a command's environment so that the state leaves alone the variables that the request itself
    /// sets: `own`, from `environment`, as the command is to find it. A state that assigns no variable it might find
    /// there needs nothing.
    fn keep(&self, _own: &BTreeSet<String>, _environment: &Environment) -> Environment {
        Environment::new()
    }

    /// The command that restores a state and runs `script` with `arguments` (what follows the script in argv: `$0`,
    /// `$1` …). `None`: the state cannot travel that way.
    fn replay(
        &self,
        shell: &Path,
        state: &State,
        transport: Transport,
        script: &OsStr,
        arguments: &[OsString],
    ) -> Option<Replay>;

    /// A state's file, or a part of it, in which the variables that a request states itself have the values it states,
    /// where those of its environment are not what counts. `None`: it is right as it is.
    fn restated(&self, _file: &[u8], _stated: &Environment) -> Option<Vec<u8>> {
        None
    }
}
