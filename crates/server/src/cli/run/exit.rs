//! Exit codes, as shells and `timeout` choose them.

use exec_protocol::exit::ExitCause;
use exec_protocol::process::ExitedNotification;

/// Signal N ended it: this + N.
pub(super) const SIGNAL_EXIT: u8 = 128;
/// The time limit ended it.
pub(super) const TIMED_OUT: u8 = 124;
/// Nobody reads its output any more: as if SIGPIPE had ended it.
pub(super) const BROKEN_PIPE: u8 = SIGNAL_EXIT + 13;

/// What this process exits with when the command ended like this.
pub(super) fn exit_code(exited: &ExitedNotification) -> u8 {
    if exited.timed_out {
        return TIMED_OUT;
    }
    // What wait(2) tells of an exit code.
    exited.exit_code.to_le_bytes()[0]
}

/// What a person should be told, since the exit code does not tell it.
pub(super) fn remark(exited: &ExitedNotification) -> Option<&'static str> {
    match exited.cause? {
        ExitCause::OutOfMemory => Some("the command ran out of memory"),
        ExitCause::WardenLost => Some("the command was lost: the daemon's helper process died"),
        ExitCause::Exited
        | ExitCause::Signaled
        | ExitCause::Terminated
        | ExitCause::Deadline
        | ExitCause::Idle
        | ExitCause::ClientGone => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_a_shell() {
        for (code, cause, expected) in [
            (0, ExitCause::Exited, 0),
            (1, ExitCause::Exited, 1),
            (255, ExitCause::Exited, 255),
            (137, ExitCause::Signaled, 137),
            (143, ExitCause::Deadline, 124),
            (0, ExitCause::Deadline, 124),
        ] {
            let exited = ExitedNotification {
                process_id: "p".into(),
                seq: 1,
                exit_code: code,
                sandbox_denied: false,
                signal: None,
                cause: Some(cause),
                timed_out: cause.timed_out(),
                duration_ms: None,
                usage: None,
            };
            assert_eq!(exit_code(&exited), expected, "{code} {cause:?}");
        }
    }
}
