//! Commands behave as if typed at a prompt, whatever the startup files did.

use std::ffi::OsStr;
use std::fmt::Write;

use super::cases::CASES;
use super::on_terminal::{Home, status};
use crate::dialect::Try;
use crate::state::Transport;

/// What bash says when it cannot restore something.
const COMPLAINTS: &[&str] = &[
    "/proc/self/fd",
    "failed to restore",
    "bad substitution",
    "invalid option",
    "not a valid identifier",
];

fn check(transport: Transport) {
    let mut failures = String::new();
    for case in CASES {
        let home = Home::new(case.files, case.environment);
        let captured = match home.capture(Try::Interactive) {
            Ok(captured) => captured,
            Err(failure) => {
                writeln!(failures, "{}: {failure}", case.what).unwrap();
                continue;
            }
        };
        for run in case.runs {
            let output = home.run(&captured, transport, OsStr::new(&home.placed(run.script)));
            let (stdout, stderr) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            let is_clean = COMPLAINTS.iter().all(|complaint| !stderr.contains(complaint));
            if stdout != home.placed(run.stdout) || status(&output) != run.status || !is_clean {
                writeln!(
                    failures,
                    "{}: {:?}: status {}, stdout {stdout:?}, stderr {stderr:?}",
                    case.what,
                    run.script,
                    status(&output)
                )
                .unwrap();
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn with_the_state_in_a_file() {
    check(Transport::File(9));
}

#[test]
fn with_the_state_in_the_environment() {
    check(Transport::Environment);
}
