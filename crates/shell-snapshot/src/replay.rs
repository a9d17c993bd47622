//! A command, made to start with the user's shell state.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use exec_process::Inherited;
use exec_process::environment::Environment;

use crate::snapshot::Snapshot;
use crate::state::Transport;
use crate::{Failure, Request};

/// The descriptor that the state comes through. Shells let scripts use 3 to 9 by number; the first line of the state
/// closes it.
const DESCRIPTOR: i32 = 9;

/// What is run instead of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewritten {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// The first argument as the shell sees it, if other than `argv[0]`; `None`: as in the request.
    pub arg0: Option<OsString>,
    /// The whole environment.
    pub environment: Environment,
    /// What it inherits.
    pub inherited: Vec<Inherited>,
}

/// A command that a snapshot applies to: `[shell, "-lc", script, arguments…]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoginScript<'a> {
    pub(crate) script: &'a OsStr,
    pub(crate) arguments: &'a [OsString],
}

impl<'a> LoginScript<'a> {
    /// Reads an argv; `None`: no snapshot applies to it.
    pub(crate) fn read(argv: &'a [OsString], shell: &Path) -> Option<Self> {
        match argv {
            [program, flags, script, arguments @ ..]
                if program.as_bytes() == shell.as_os_str().as_bytes() && flags == "-lc" =>
            {
                Some(Self { script, arguments })
            }
            _ => None,
        }
    }

    /// The command with the state of a snapshot.
    ///
    /// # Errors
    /// No descriptor is left, or the shell cannot be given its state.
    pub(crate) fn restore(self, request: &Request, snapshot: &Snapshot) -> Result<Rewritten, Unrestored> {
        let replay = snapshot
            .dialect
            .replay(
                &request.path,
                &snapshot.state,
                Transport::File(DESCRIPTOR),
                self.script,
                self.arguments,
            )
            .ok_or(Unrestored::NoTransport)?;
        let descriptor = snapshot.file.open().map_err(|error| Unrestored::Descriptor(error.kind()))?;
        let mut environment = snapshot
            .difference
            .apply(&request.environment, request.overrides());
        for name in &replay.unset {
            environment.remove(name);
        }
        environment.extend(replay.set);
        Ok(Rewritten {
            argv: replay.argv,
            arg0: replay.arg0,
            environment,
            inherited: vec![Inherited {
                number: DESCRIPTOR,
                descriptor: Arc::new(descriptor),
            }],
        })
    }

    /// The command without any startup file, for a shell whose login files fail.
    pub(crate) fn bare(self, shell: &Path) -> Vec<OsString> {
        let head = [shell.as_os_str(), OsStr::new("-c"), self.script];
        let head = head.into_iter().map(OsStr::to_os_string);
        head.chain(self.arguments.iter().cloned()).collect()
    }
}

/// Why a command cannot be given a snapshot that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unrestored {
    /// The shell has no way to read it.
    #[error("the state cannot travel")]
    NoTransport,
    /// It could not be opened.
    #[error("the state could not be opened: {0}")]
    Descriptor(io::ErrorKind),
}

/// The line on the stderr of a command that runs bare.
pub(crate) fn bare_notice(failure: Failure) -> String {
    format!("exec-server: running without your shell's startup files: {failure}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_applies_to_login_scripts_of_that_shell() {
        let strings = |argv: &[&str]| -> Vec<OsString> { argv.iter().map(Into::into).collect() };
        for (argv, script) in [
            (&["/bin/bash", "-lc", "a"][..], Some("a")),
            (&["/bin/bash", "-lc", "a", "0", "1"], Some("a")),
            (&["/bin/bash", "-lc"], None),
            (&["/bin/bash", "-c", "a"], None),
            (&["/bin/sh", "-lc", "a"], None),
            (&["bash", "-lc", "a"], None),
            (&[], None),
        ] {
            let argv = strings(argv);
            let read = LoginScript::read(&argv, Path::new("/bin/bash"));
            assert_eq!(read.map(|read| read.script.to_str().unwrap()), script, "{argv:?}");
        }
        let argv = strings(&["/bin/bash", "-lc", "a", "0", "1"]);
        let read = LoginScript::read(&argv, Path::new("/bin/bash")).unwrap();
        let bare = read.bare(Path::new("/bin/bash"));
        assert_eq!(bare, strings(&["/bin/bash", "-c", "a", "0", "1"]));
    }
}
