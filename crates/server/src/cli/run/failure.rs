//! Why a command was not run, or not to its end: the message and the exit code.

use std::fmt;
use std::io;
use std::path::PathBuf;

use exec_client::{CallError, Closed, SpawnError};
use exec_protocol::ErrorKind;
use exec_protocol::error::SpawnSubject;

use crate::cli::user_shell::NoShell;

/// It could not be run at all, as `env` and `timeout` say it.
const NOT_RUN: u8 = 125;
/// The program is there and cannot be executed.
const NOT_EXECUTABLE: u8 = 126;
/// The program is not there.
const NOT_FOUND: u8 = 127;

/// Why there is no exit code of the command to pass on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("argument {index} of the command is not UTF-8, which the protocol cannot carry")]
    ArgumentNotUtf8 { index: usize },
    #[error("failed to find the current directory")]
    CurrentDirectory(#[source] io::Error),
    #[error("not a directory's name: {0:?}")]
    BadDirectory(PathBuf),
    #[error("failed to make a runtime")]
    Runtime(#[source] io::Error),
    #[error("failed to catch signals")]
    Signals(#[source] io::Error),
    #[error("failed to start a thread")]
    Thread(#[source] io::Error),
    #[error("failed to set up the terminal")]
    Terminal(#[source] io::Error),
    #[error(transparent)]
    Shell(#[from] NoShell),
    #[error(transparent)]
    Spawn(SpawnError),
    #[error("failed to speak with the daemon")]
    Handshake(#[source] CallError),
    #[error("{}", StartMessage { program, error })]
    Start { program: String, error: CallError },
    #[error("the daemon ended before the command did")]
    DaemonEnded(#[source] Closed),
    #[error("failed to write what the command printed")]
    Output(#[source] io::Error),
}

/// A start error in one line that names the path.
struct StartMessage<'a> {
    program: &'a str,
    error: &'a CallError,
}

impl fmt::Display for StartMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program;
        match self.error.kind() {
            Some(ErrorKind::SpawnNotFound { subject, path }) => {
                let path = path.as_path().display();
                match subject {
                    SpawnSubject::Program => write!(f, "{program}: not found"),
                    SpawnSubject::Cwd => write!(f, "{path}: no such directory"),
                    SpawnSubject::Interpreter => write!(f, "{program}: its interpreter {path} is not found"),
                }
            }
            Some(ErrorKind::SpawnPermissionDenied { subject, path }) => {
                let path = path.as_path().display();
                match subject {
                    SpawnSubject::Program => write!(f, "{program}: permission denied"),
                    SpawnSubject::Cwd => write!(f, "{path}: permission denied"),
                    SpawnSubject::Interpreter => {
                        write!(f, "{program}: permission denied for its interpreter {path}")
                    }
                }
            }
            _ => write!(f, "{program}: {}", self.error),
        }
    }
}

impl Failure {
    pub(super) fn exit_code(&self) -> u8 {
        let Self::Start { error, .. } = self else {
            return NOT_RUN;
        };
        match error.kind() {
            Some(
                ErrorKind::SpawnNotFound {
                    subject: SpawnSubject::Cwd,
                    ..
                }
                | ErrorKind::SpawnPermissionDenied {
                    subject: SpawnSubject::Cwd,
                    ..
                },
            ) => NOT_RUN,
            Some(ErrorKind::SpawnNotFound { .. }) => NOT_FOUND,
            Some(ErrorKind::SpawnPermissionDenied { .. }) => NOT_EXECUTABLE,
            _ => NOT_RUN,
        }
    }
}

#[cfg(test)]
mod tests {
    use exec_protocol::PathUri;

    use super::*;
    use crate::cli::speaker::with_causes;

    #[test]
    fn start_errors_name_the_path_and_have_the_shells_codes() {
        let path = || PathUri::from_path("/a b".as_ref()).expect("absolute");
        use SpawnSubject::{Cwd, Interpreter, Program};
        let not_found = |subject| ErrorKind::SpawnNotFound {
            subject,
            path: path(),
        };
        let denied = |subject| ErrorKind::SpawnPermissionDenied {
            subject,
            path: path(),
        };
        let failed = ErrorKind::SpawnFailed {
            step: "fork".to_owned(),
            errno: "EAGAIN".to_owned(),
        };
        for (kind, code, message) in [
            (not_found(Program), 127, "x: not found"),
            (not_found(Cwd), 125, "/a b: no such directory"),
            (
                not_found(Interpreter),
                127,
                "x: its interpreter /a b is not found",
            ),
            (denied(Program), 126, "x: permission denied"),
            (denied(Cwd), 125, "/a b: permission denied"),
            (
                denied(Interpreter),
                126,
                "x: permission denied for its interpreter /a b",
            ),
            (failed, 125, "x: said by the daemon"),
        ] {
            let failure = Failure::Start {
                program: "x".to_owned(),
                error: CallError::Remote(kind.into_error("said by the daemon")),
            };
            assert_eq!((failure.exit_code(), &*with_causes(&failure)), (code, message));
        }
    }
}
