//! What several test files need.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use std::path::PathBuf;

use exec_protocol::PathUri;
use exec_protocol::error::{ErrorKind, SpawnSubject};
use exec_protocol::snapshot::SnapshotFailure;

/// A file of this crate.
pub fn crate_path(relative: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// One error of each kind, with its name on the wire.
pub fn error_kinds() -> Vec<(&'static str, ErrorKind)> {
    let path = || "file:///srv/tool".parse::<PathUri>().unwrap();
    let member = || "limits.memoryBytes".to_owned();
    let kinds = vec![
        ErrorKind::UnknownProcess,
        ErrorKind::ProcessIdInUse,
        ErrorKind::UnknownSession,
        ErrorKind::WrongState {
            state: "uninitialized".to_owned(),
        },
        ErrorKind::StdinIsTerminal,
        ErrorKind::NotTerminal,
        ErrorKind::StdinNotPiped,
        ErrorKind::StdinBacklogFull {
            queued_bytes: 1_048_576,
            limit_bytes: 1_048_576,
        },
        ErrorKind::LimitReached {
            limit: "maxProcesses".to_owned(),
            value: 4096,
        },
        ErrorKind::LineTooLong {
            limit_bytes: 16_777_216,
        },
        ErrorKind::NotInBatch,
        ErrorKind::InvalidParam {
            member: "argv[0]".to_owned(),
            reason: "a NUL byte".to_owned(),
        },
        ErrorKind::Unenforceable { member: member() },
        ErrorKind::Unsupported {
            member: "sandbox".to_owned(),
        },
        ErrorKind::SpawnNotFound {
            subject: SpawnSubject::Program,
            path: path(),
        },
        ErrorKind::SpawnPermissionDenied {
            subject: SpawnSubject::Cwd,
            path: path(),
        },
        ErrorKind::SpawnFailed {
            step: "fork".to_owned(),
            errno: "EMFILE".to_owned(),
        },
        ErrorKind::TerminatedWhileStarting,
        ErrorKind::WardenLost,
        ErrorKind::SnapshotFailed {
            reason: SnapshotFailure::NonzeroExit,
        },
        ErrorKind::RequestCancelled,
    ];
    kinds.into_iter().map(|kind| (name(&kind), kind)).collect()
}

/// The name on the wire. A new kind does not compile until it is here, and then belongs in the list above.
fn name(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::UnknownProcess => "unknownProcess",
        ErrorKind::ProcessIdInUse => "processIdInUse",
        ErrorKind::UnknownSession => "unknownSession",
        ErrorKind::WrongState { .. } => "wrongState",
        ErrorKind::StdinIsTerminal => "stdinIsTerminal",
        ErrorKind::NotTerminal => "notTerminal",
        ErrorKind::StdinNotPiped => "stdinNotPiped",
        ErrorKind::StdinBacklogFull { .. } => "stdinBacklogFull",
        ErrorKind::LimitReached { .. } => "limitReached",
        ErrorKind::LineTooLong { .. } => "lineTooLong",
        ErrorKind::NotInBatch => "notInBatch",
        ErrorKind::InvalidParam { .. } => "invalidParam",
        ErrorKind::Unenforceable { .. } => "unenforceable",
        ErrorKind::Unsupported { .. } => "unsupported",
        ErrorKind::SpawnNotFound { .. } => "spawnNotFound",
        ErrorKind::SpawnPermissionDenied { .. } => "spawnPermissionDenied",
        ErrorKind::SpawnFailed { .. } => "spawnFailed",
        ErrorKind::TerminatedWhileStarting => "terminatedWhileStarting",
        ErrorKind::WardenLost => "wardenLost",
        ErrorKind::SnapshotFailed { .. } => "snapshotFailed",
        ErrorKind::RequestCancelled => "requestCancelled",
    }
}
