//! Why captures fail, and what to do about it, for people.

use exec_protocol::limits::{
    SNAPSHOT_ATTEMPT_MS, SNAPSHOT_CAPTURE_BYTES, SNAPSHOT_ENVIRONMENT_BYTES, SNAPSHOT_STATE_BYTES,
};
use exec_protocol::snapshot::SnapshotFailure;
use exec_shell_snapshot::ShellKind;

/// The reason in a clause.
pub(crate) fn reason(failure: SnapshotFailure) -> String {
    let mebibytes = |bytes: usize| format!("{} MiB", bytes / (1024 * 1024));
    match failure {
        SnapshotFailure::UnsupportedShell => "it is no shell that can be captured".to_owned(),
        SnapshotFailure::MissingCommand => "there was no command to capture it for".to_owned(),
        SnapshotFailure::SpawnFailed => "the shell could not be started".to_owned(),
        SnapshotFailure::MissingOutput => {
            "the shell ended, or became another program, before its startup was done".to_owned()
        }
        SnapshotFailure::ReadFailed => "what the shell told of itself could not be read".to_owned(),
        SnapshotFailure::CaptureTooLarge => format!(
            "the shell has more to tell than a capture may hold ({})",
            mebibytes(SNAPSHOT_CAPTURE_BYTES)
        ),
        SnapshotFailure::WaitFailed => "how the shell ended could not be learned".to_owned(),
        SnapshotFailure::NonzeroExit => "its startup files ended it with an error".to_owned(),
        SnapshotFailure::Timeout => {
            let seconds = SNAPSHOT_ATTEMPT_MS / 1000;
            format!("its startup files did not come to an end within {seconds} s")
        }
        SnapshotFailure::InvalidCapture => "what the shell told of itself makes no sense".to_owned(),
        SnapshotFailure::EnvironmentTooLarge => format!(
            "its startup files export more than a snapshot may hold ({} KiB)",
            SNAPSHOT_ENVIRONMENT_BYTES / 1024
        ),
        SnapshotFailure::StateTooLarge => format!(
            "its functions and variables are more than a snapshot may hold ({})",
            mebibytes(SNAPSHOT_STATE_BYTES)
        ),
    }
}

/// Whether it is something that startup files do, at some line.
pub(super) fn has_a_place(failure: SnapshotFailure) -> bool {
    matches!(
        failure,
        SnapshotFailure::MissingOutput | SnapshotFailure::NonzeroExit | SnapshotFailure::Timeout
    )
}

/// What stands in front of a line of code.
pub(super) const CODE: &str = "    ";

/// What the user can do: paragraphs, and lines of code that begin with [`CODE`].
pub(super) fn advice(failure: SnapshotFailure, shell: ShellKind) -> Vec<String> {
    let guard = match shell {
        ShellKind::Fish => "    test -n \"$EXEC_SERVER_SNAPSHOT\"; or COMMAND",
        ShellKind::Bash | ShellKind::Zsh | ShellKind::Sh => "    [ -n \"$EXEC_SERVER_SNAPSHOT\" ] || COMMAND",
    };
    let paragraphs: &[&str] = match failure {
        SnapshotFailure::MissingOutput | SnapshotFailure::NonzeroExit | SnapshotFailure::Timeout => &[
            "If that is meant for a person at a terminal, guard it. EXEC_SERVER_SNAPSHOT is set while a snapshot is \
             taken, and only then:",
            guard,
        ],
        SnapshotFailure::CaptureTooLarge
        | SnapshotFailure::EnvironmentTooLarge
        | SnapshotFailure::StateTooLarge => &[
            "Let startup files leave out what commands need not have. EXEC_SERVER_SNAPSHOT is set while a snapshot is \
             taken, and only then:",
            guard,
        ],
        SnapshotFailure::SpawnFailed => &["Is it installed, and may you run it? --shell names another one."],
        SnapshotFailure::UnsupportedShell | SnapshotFailure::MissingCommand => {
            &["--shell names another one: bash, zsh, fish or sh."]
        }
        SnapshotFailure::InvalidCapture => &[
            "Is it really the shell that its name says? If so, this is a fault of exec-server: please report it, with \
             the shell's version.",
        ],
        SnapshotFailure::ReadFailed | SnapshotFailure::WaitFailed => &[
            "That is the system's doing, or a fault of exec-server. Try again; if it stays, please report it.",
        ],
    };
    paragraphs.iter().map(ToString::to_string).collect()
}

/// How the user sees the line themselves, where the shell does not tell it.
pub(super) fn own_trace(shell: ShellKind, path: &str) -> Vec<String> {
    let command = match shell {
        ShellKind::Fish => format!("{CODE}fish_trace=1 EXEC_SERVER_SNAPSHOT=1 {path} -lic exit"),
        ShellKind::Bash | ShellKind::Zsh | ShellKind::Sh => {
            format!("{CODE}EXEC_SERVER_SNAPSHOT=1 {path} -lixc exit")
        }
    };
    vec![
        "This shell does not tell at which line. To see what it runs before:".to_owned(),
        command,
    ]
}
