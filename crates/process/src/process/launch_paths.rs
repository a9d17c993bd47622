//! Why a start failed, from what the warden reports.

use std::ffi::{CString, OsStr};
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use exec_protocol::PathUri;
use exec_protocol::error::SpawnSubject;

use super::{StartError, StartStep};
use crate::warden::{FailedStep, Launch, LaunchFailure};

/// The paths of a launch, kept until its start is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaunchPaths {
    /// Tried in order.
    pub(crate) programs: Vec<CString>,
    /// Working directory, absolute.
    pub(crate) cwd: PathBuf,
}

/// What the kernel reads of a script's first line: the size of `bprm->buf`.
const SHEBANG_BYTES: u64 = 256;

impl LaunchPaths {
    /// Those of `launch`.
    pub(crate) fn of(launch: &Launch) -> Self {
        Self {
            programs: launch.programs.clone(),
            cwd: PathBuf::from(OsStr::from_bytes(launch.cwd.as_bytes())),
        }
    }

    /// Tells a failure of the warden's as an answer to `process/start`.
    pub(crate) fn start_error(&self, failure: LaunchFailure) -> StartError {
        let LaunchFailure { step, errno } = failure;
        let failed = |step| StartError::Failed { step, errno };
        match step {
            FailedStep::Ended => StartError::Terminated,
            FailedStep::PassDescriptors => failed(StartStep::PassDescriptors),
            FailedStep::Cgroup => failed(StartStep::Cgroup),
            FailedStep::StatusPipe => failed(StartStep::StatusPipe),
            FailedStep::Stack => failed(StartStep::Stack),
            FailedStep::Fork => failed(StartStep::Fork),
            FailedStep::Setup => failed(StartStep::Setup),
            FailedStep::Cwd => {
                path_error(errno, SpawnSubject::Cwd, &self.cwd).unwrap_or_else(|| failed(StartStep::Setup))
            }
            FailedStep::Exec { program, exists } => {
                let program = self.program(program.into());
                let (subject, path) = match (errno, exists) {
                    (libc::ENOENT, true) => {
                        let interpreter = self.interpreter(&program);
                        (SpawnSubject::Interpreter, interpreter.unwrap_or(program))
                    }
                    _ => (SpawnSubject::Program, program),
                };
                path_error(errno, subject, &path).unwrap_or_else(|| failed(StartStep::Exec))
            }
        }
    }

    fn program(&self, index: usize) -> PathBuf {
        let program = self.programs.get(index).or(self.programs.last());
        let program = program.map_or(&b""[..], |program| program.as_bytes());
        self.cwd.join(OsStr::from_bytes(program))
    }

    /// The interpreter a script names; it has just been tried, so its file is at hand.
    fn interpreter(&self, script: &Path) -> Option<PathBuf> {
        let mut head = Vec::new();
        // A FIFO in its place must not hold us.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(script)
            .ok()?;
        file.take(SHEBANG_BYTES).read_to_end(&mut head).ok()?;
        let line = head.split(|byte| *byte == b'\n').next()?;
        let name = line
            .strip_prefix(b"#!")?
            .trim_ascii()
            .split(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
            .next()
            .filter(|name| !name.is_empty())?;
        Some(self.cwd.join(OsStr::from_bytes(name)))
    }
}

fn path_error(errno: i32, subject: SpawnSubject, path: &Path) -> Option<StartError> {
    let path = PathUri::from_path(path)?;
    match errno {
        libc::ENOENT | libc::ENOTDIR => Some(StartError::NotFound { subject, path }),
        libc::EACCES | libc::EPERM => Some(StartError::PermissionDenied { subject, path }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(cwd: &Path, programs: &[&str]) -> LaunchPaths {
        LaunchPaths {
            programs: programs
                .iter()
                .map(|program| CString::new(*program).expect("no NUL"))
                .collect(),
            cwd: cwd.to_owned(),
        }
    }

    #[test]
    fn each_failure_says_which_path() {
        use SpawnSubject::*;
        let directory = tempfile::tempdir().expect("a directory");
        let script = directory.path().join("script");
        std::fs::write(&script, "#! /no/such/interpreter -x\necho\n").expect("written");
        let paths = paths(directory.path(), &["/a/x", "rel/x", "script", "/b/x"]);
        let not_found = |subject, path: &Path| StartError::NotFound {
            subject,
            path: PathUri::from_path(path).expect("absolute"),
        };
        let denied = |subject, path: &Path| StartError::PermissionDenied {
            subject,
            path: PathUri::from_path(path).expect("absolute"),
        };
        let exec = |program, exists| FailedStep::Exec { program, exists };
        let cwd = directory.path();
        for (step, errno, want) in [
            (FailedStep::Cwd, libc::ENOENT, not_found(Cwd, cwd)),
            (FailedStep::Cwd, libc::ENOTDIR, not_found(Cwd, cwd)),
            (FailedStep::Cwd, libc::EACCES, denied(Cwd, cwd)),
            (
                exec(0, false),
                libc::ENOENT,
                not_found(Program, Path::new("/a/x")),
            ),
            (
                exec(1, false),
                libc::ENOTDIR,
                not_found(Program, &cwd.join("rel/x")),
            ),
            (
                exec(2, true),
                libc::ENOENT,
                not_found(Interpreter, Path::new("/no/such/interpreter")),
            ),
            (
                exec(0, true),
                libc::ENOENT,
                not_found(Interpreter, Path::new("/a/x")),
            ),
            (exec(3, true), libc::EACCES, denied(Program, Path::new("/b/x"))),
            (exec(9, false), libc::EACCES, denied(Program, Path::new("/b/x"))),
            (
                exec(0, true),
                libc::E2BIG,
                StartError::Failed {
                    step: StartStep::Exec,
                    errno: libc::E2BIG,
                },
            ),
            (
                FailedStep::StatusPipe,
                libc::EMFILE,
                StartError::Failed {
                    step: StartStep::StatusPipe,
                    errno: libc::EMFILE,
                },
            ),
            (
                FailedStep::Stack,
                libc::ENOMEM,
                StartError::Failed {
                    step: StartStep::Stack,
                    errno: libc::ENOMEM,
                },
            ),
            (
                FailedStep::Fork,
                libc::EAGAIN,
                StartError::Failed {
                    step: StartStep::Fork,
                    errno: libc::EAGAIN,
                },
            ),
            (FailedStep::Ended, 0, StartError::Terminated),
        ] {
            assert_eq!(
                paths.start_error(LaunchFailure { step, errno }),
                want,
                "{step:?} {errno}"
            );
        }
    }
}
