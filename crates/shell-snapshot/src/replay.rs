//! A command, made to start with the user's shell state.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use exec_process::environment::Environment;
use exec_process::{Inherited, Rewrite};

use crate::environment::execve;
use crate::sealed::SealedFile;
use crate::snapshot::{ReplayKind, Snapshot};
use crate::state::Transport;
use crate::{Failure, Request, ShellKind};

/// The descriptor that the state comes through. Shells let scripts use 3 to 9 by number; the first line of the state
/// closes it.
pub(crate) const DESCRIPTOR: i32 = 9;

/// A command that a snapshot applies to: `[shell, "-lc", script, arguments…]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoginScript<'a> {
    script: &'a OsStr,
    arguments: &'a [OsString],
    /// What the request says the shell is to see in place of the first.
    arg0: Option<&'a OsStr>,
}

impl<'a> LoginScript<'a> {
    /// Reads an argv; `None`: no snapshot applies to it.
    pub(crate) fn read(argv: &'a [OsString], arg0: Option<&'a OsStr>, shell: &Path) -> Option<Self> {
        match argv {
            [program, flags, script, arguments @ ..]
                if program.as_bytes() == shell.as_os_str().as_bytes() && flags == "-lc" =>
            {
                Some(Self {
                    script,
                    arguments,
                    arg0,
                })
            }
            _ => None,
        }
    }

    /// The command with the state of a snapshot.
    ///
    /// # Errors
    /// No descriptor is left, or the shell cannot be given its state.
    pub(crate) fn restore(self, request: &Request, snapshot: &Snapshot) -> Result<Rewrite, Unrestored> {
        let transport = match snapshot.replay {
            ReplayKind::File => Transport::File(DESCRIPTOR),
            ReplayKind::Environment => Transport::Environment,
        };
        let replay = snapshot
            .dialect
            .replay(
                &request.path,
                &snapshot.state,
                transport,
                self.script,
                self.arguments,
            )
            .ok_or(Unrestored::NoTransport)?;
        let inherited = match &snapshot.file {
            Some(whole) => {
                let file = replay.file.as_ref().unwrap_or(&snapshot.state.file);
                let restated = snapshot.dialect.restated(file, &request.stated());
                let open = match restated.as_ref().or(replay.file.as_ref()) {
                    Some(part) => SealedFile::new(part).and_then(|part| part.open()),
                    None => whole.open(),
                };
                let descriptor = open.map_err(|error| Unrestored::Descriptor(error.kind()))?;
                vec![Inherited {
                    number: DESCRIPTOR,
                    descriptor: Arc::new(descriptor),
                }]
            }
            None => Vec::new(),
        };
        let mut environment = snapshot
            .difference
            .apply(&request.environment, request.overrides());
        for name in &replay.unset {
            environment.remove(name);
        }
        // With a policy these are overrides, and win over what startup files made of them.
        let kept = match request.policy {
            Some(_) => snapshot.dialect.keep(&request.env_names, &environment),
            None => Environment::new(),
        };
        environment.extend(replay.set);
        environment.extend(kept);
        if !execve::takes_arguments(&replay.argv) {
            return Err(Unrestored::TooLarge);
        }
        let excess = |environment: &Environment| {
            execve::taken(&replay.argv, environment).saturating_sub(execve::room())
        };
        let too_much = excess(&environment);
        if too_much > 0 {
            let left_out = snapshot
                .difference
                .withdraw(&mut environment, &request.environment, too_much);
            if excess(&environment) > 0 {
                return Err(Unrestored::TooLarge);
            }
            tracing::warn!(
                shell = request.shell.name(),
                left_out,
                "a command's environment with all of its snapshot would be larger than a program can be given"
            );
        }
        Ok(Rewrite {
            argv: replay.argv,
            arg0: replay.arg0.or_else(|| self.arg0.map(OsStr::to_os_string)),
            environment,
            inherited,
            notice: Bytes::new(),
        })
    }

    /// The command without any startup file, in the request's environment. One line on its stderr says so: whatever
    /// of the user's it misses has a reason. The daemon writes it, for the shell itself could not without a trace in
    /// the script.
    pub(crate) fn bare(self, request: &Request, failure: Failure) -> Rewrite {
        // fish reads its configuration for every script, and zsh the zshenv that may well be what failed.
        let flags = match request.shell {
            ShellKind::Bash | ShellKind::Sh => "-c",
            ShellKind::Zsh => "-fc",
            ShellKind::Fish => "-Nc",
        };
        let head = [request.path.as_os_str(), OsStr::new(flags), self.script];
        let head = head.into_iter().map(OsStr::to_os_string);
        Rewrite {
            argv: head.chain(self.arguments.iter().cloned()).collect(),
            arg0: self.arg0.map(OsStr::to_os_string),
            environment: request.environment.clone(),
            inherited: Vec::new(),
            notice: format!("exec-server: running without your shell's startup files: {failure}\n").into(),
        }
    }
}

/// Why a command cannot be given a snapshot that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unrestored {
    /// The shell has no way to read it.
    #[error("the state cannot travel")]
    NoTransport,
    /// With it, the command is more than execve(2) takes.
    #[error("the command with it is larger than a program can be given")]
    TooLarge,
    /// It could not be opened.
    #[error("the state could not be opened: {0}")]
    Descriptor(io::ErrorKind),
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
            let read = LoginScript::read(&argv, None, Path::new("/bin/bash"));
            assert_eq!(read.map(|read| read.script.to_str().unwrap()), script, "{argv:?}");
        }
    }
}
