//! From what went wrong with a process to its error on the wire: the one place that chooses.

use exec_process::{
    CloseStdinError, InvalidCommand, InvalidSignal, ResizeError, StartError, StartRefused, WaitError,
    WriteError,
};
use exec_protocol::error::SpawnSubject;
use exec_protocol::{ErrorKind, PathUri, RpcError};
use rustix::io::Errno;

use super::snapshot::wire_failure;
use crate::launch::LaunchError;

/// What can go wrong.
#[derive(Debug)]
pub(super) enum Failure {
    Refused(StartRefused),
    Start(StartError),
    Launch(LaunchError),
    Write(WriteError),
    CloseStdin(CloseStdinError),
    Resize(ResizeError),
    Signal(InvalidSignal),
    Wait(WaitError),
    Snapshot(exec_shell_snapshot::Failure),
}

macro_rules! failures {
    ($($variant:ident: $error:ty;)*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

failures! {
    Refused: StartRefused;
    Start: StartError;
    Launch: LaunchError;
    Write: WriteError;
    CloseStdin: CloseStdinError;
    Resize: ResizeError;
    Signal: InvalidSignal;
    Wait: WaitError;
    Snapshot: exec_shell_snapshot::Failure;
}

/// The error on the wire.
pub(super) fn rpc_error(failure: impl Into<Failure>) -> RpcError {
    match failure.into() {
        Failure::Refused(refused) => refused_start(refused),
        Failure::Start(error) => failed_start(error),
        Failure::Launch(LaunchError::Invalid(invalid)) => invalid_command(invalid),
        Failure::Launch(LaunchError::Unsupported { member, reason }) => ErrorKind::Unsupported {
            member: member.to_owned(),
        }
        .into_error(format!("unsupported: {reason}")),
        Failure::Write(WriteError::BacklogFull {
            queued_bytes,
            limit_bytes,
        }) => ErrorKind::StdinBacklogFull {
            queued_bytes,
            limit_bytes,
        }
        .into_error(format!(
            "stdin backlog is full, nothing was written: {queued_bytes} bytes wait, the limit is \
                 {limit_bytes}; write again when the process has read"
        )),
        Failure::CloseStdin(CloseStdinError::Terminal) => ErrorKind::StdinIsTerminal
            .into_error("stdin is a terminal, which has no end of file: write the EOF character (0x04)"),
        Failure::CloseStdin(CloseStdinError::NotPiped) => {
            ErrorKind::StdinNotPiped.into_error("stdin is not piped: start with `pipeStdin`")
        }
        Failure::Resize(ResizeError::NotTerminal) => {
            ErrorKind::NotTerminal.into_error("not a terminal: start with `tty` to have a window")
        }
        Failure::Resize(error @ ResizeError::System(_)) => RpcError::internal(error.to_string()),
        Failure::Signal(error) => RpcError::invalid_param("signal", error.to_string()),
        Failure::Wait(WaitError::Invalid { member, reason }) => RpcError::invalid_param(member, reason),
        Failure::Wait(error @ WaitError::LimitReached { limit, value }) => ErrorKind::LimitReached {
            limit: limit.to_owned(),
            value,
        }
        .into_error(format!("too many waits: {error}")),
        Failure::Snapshot(failure) => ErrorKind::SnapshotFailed {
            reason: wire_failure(failure),
        }
        .into_error(format!("the shell's state could not be captured: {failure}")),
    }
}

fn invalid_command(InvalidCommand { member, reason }: InvalidCommand) -> RpcError {
    RpcError::invalid_param(member, reason)
}

fn refused_start(refused: StartRefused) -> RpcError {
    match refused {
        StartRefused::IdInUse => {
            ErrorKind::ProcessIdInUse.into_error("process id in use: the process of that id has not closed")
        }
        StartRefused::LimitReached { limit, value } => ErrorKind::LimitReached {
            limit: limit.to_owned(),
            value,
        }
        .into_error(format!("too many processes: {value} at most")),
        StartRefused::Invalid(invalid) => invalid_command(invalid),
        StartRefused::Unenforceable(member) => ErrorKind::Unenforceable {
            member: member.to_owned(),
        }
        .into_error(format!("{member} cannot be enforced on this machine")),
        StartRefused::Ending => ErrorKind::WrongState {
            state: "ending".to_owned(),
        }
        .into_error("the session is ending"),
    }
}

fn failed_start(error: StartError) -> RpcError {
    match error {
        StartError::NotFound { subject, path } => {
            let message = format!("{} not found: {}", name(subject), shown(&path));
            ErrorKind::SpawnNotFound { subject, path }.into_error(message)
        }
        StartError::PermissionDenied { subject, path } => {
            let message = format!("permission denied: {} {}", name(subject), shown(&path));
            ErrorKind::SpawnPermissionDenied { subject, path }.into_error(message)
        }
        StartError::Failed { step, errno } => {
            let code = errno_name(errno);
            let message = format!("failed to {step}: {code}");
            ErrorKind::SpawnFailed {
                step: step.name().to_owned(),
                errno: code,
            }
            .into_error(message)
        }
        StartError::Invalid(error) => invalid_command(error),
        StartError::Terminated => {
            ErrorKind::TerminatedWhileStarting.into_error("terminated before it could run")
        }
        StartError::WardenLost => ErrorKind::WardenLost
            .into_error("the helper that starts processes died; it is replaced, try again"),
    }
}

fn name(subject: SpawnSubject) -> &'static str {
    match subject {
        SpawnSubject::Program => "program",
        SpawnSubject::Cwd => "working directory",
        SpawnSubject::Interpreter => "interpreter of the program",
    }
}

fn shown(path: &PathUri) -> String {
    path.as_path().to_string_lossy().into_owned()
}

/// The names of the error numbers that a start can meet.
fn errno_name(errno: i32) -> String {
    let known = [
        (Errno::PERM, "EPERM"),
        (Errno::NOENT, "ENOENT"),
        (Errno::SRCH, "ESRCH"),
        (Errno::INTR, "EINTR"),
        (Errno::IO, "EIO"),
        (Errno::NXIO, "ENXIO"),
        (Errno::TOOBIG, "E2BIG"),
        (Errno::NOEXEC, "ENOEXEC"),
        (Errno::BADF, "EBADF"),
        (Errno::CHILD, "ECHILD"),
        (Errno::AGAIN, "EAGAIN"),
        (Errno::NOMEM, "ENOMEM"),
        (Errno::ACCESS, "EACCES"),
        (Errno::FAULT, "EFAULT"),
        (Errno::BUSY, "EBUSY"),
        (Errno::EXIST, "EEXIST"),
        (Errno::NODEV, "ENODEV"),
        (Errno::NOTDIR, "ENOTDIR"),
        (Errno::ISDIR, "EISDIR"),
        (Errno::INVAL, "EINVAL"),
        (Errno::NFILE, "ENFILE"),
        (Errno::MFILE, "EMFILE"),
        (Errno::TXTBSY, "ETXTBSY"),
        (Errno::NOSPC, "ENOSPC"),
        (Errno::ROFS, "EROFS"),
        (Errno::PIPE, "EPIPE"),
        (Errno::NAMETOOLONG, "ENAMETOOLONG"),
        (Errno::NOSYS, "ENOSYS"),
        (Errno::LOOP, "ELOOP"),
        (Errno::LIBBAD, "ELIBBAD"),
        (Errno::STALE, "ESTALE"),
        (Errno::NOTSUP, "EOPNOTSUPP"),
    ];
    known
        .iter()
        .find(|(known, _)| known.raw_os_error() == errno)
        .map_or_else(|| format!("errno {errno}"), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use exec_process::StartStep;

    use super::*;

    #[test]
    fn a_missing_path_is_named() {
        let path = PathUri::from_path(Path::new("/no such")).unwrap();
        let error = rpc_error(StartError::NotFound {
            subject: SpawnSubject::Cwd,
            path: path.clone(),
        });
        assert_eq!(
            error.kind(),
            Some(ErrorKind::SpawnNotFound {
                subject: SpawnSubject::Cwd,
                path
            })
        );
        assert_eq!(
            (error.code, error.message.as_str()),
            (-32603, "working directory not found: /no such")
        );
    }

    #[test]
    fn error_numbers_have_their_names() {
        let error = rpc_error(StartError::Failed {
            step: StartStep::Pipe,
            errno: 24,
        });
        let kind = ErrorKind::SpawnFailed {
            step: "pipe".into(),
            errno: "EMFILE".into(),
        };
        assert_eq!(
            (error.kind(), error.message.as_str()),
            (Some(kind), "failed to make a pipe: EMFILE")
        );
        assert_eq!(errno_name(4000), "errno 4000");
    }

    #[test]
    fn refusals_of_a_start_are_invalid_requests_or_params() {
        for (refused, code) in [
            (StartRefused::IdInUse, -32600),
            (
                StartRefused::LimitReached {
                    limit: "maxProcesses",
                    value: 1,
                },
                -32600,
            ),
            (StartRefused::Ending, -32600),
            (StartRefused::Unenforceable("limits.memoryBytes"), -32602),
            (
                InvalidCommand {
                    member: "argv".into(),
                    reason: "empty".into(),
                }
                .into(),
                -32602,
            ),
        ] {
            assert_eq!(rpc_error(refused.clone()).code, code, "{refused:?}");
        }
        let error = rpc_error(WaitError::LimitReached {
            limit: "maxRegexWaits",
            value: 9,
        });
        let kind = ErrorKind::LimitReached {
            limit: "maxRegexWaits".to_owned(),
            value: 9,
        };
        assert_eq!((error.code, error.kind()), (-32600, Some(kind)));
        assert_eq!(error.message, "too many waits: at most 9 waits may use a regex");
    }
}
