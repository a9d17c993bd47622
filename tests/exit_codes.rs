//! Exit codes are the process's own; one killed by signal N is 128 + N.

use exec_tests::{Server, helper, ours};
use serde_json::json;

#[test]
fn codes_are_exact() {
    let server = Server::start();
    for tty in [false, true] {
        for code in [0, 1, 2, 77, 126, 127, 200, 255] {
            let process = server.spawn(helper(&["exit", &code.to_string()]).on(tty));
            assert_eq!(process.closed(), code, "tty: {tty}");
            if ours() {
                let exited = process.exited();
                assert_eq!(
                    (&exited["signal"], &exited["cause"], &exited["timedOut"]),
                    (&json!(null), &json!("exited"), &json!(false))
                );
            }
        }
    }
}

#[test]
fn a_signal_is_128_more() {
    let server = Server::start();
    let signals = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (6, "SIGABRT"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
    ];
    for tty in [false, true] {
        for (number, name) in signals {
            let process = server.spawn(helper(&["raise", &number.to_string()]).on(tty));
            assert_eq!(process.closed(), 128 + number, "tty: {tty}");
            if ours() {
                let exited = process.exited();
                assert_eq!(
                    (&exited["signal"], &exited["cause"]),
                    (&json!(name), &json!("signaled")),
                    "{exited}"
                );
            }
        }
    }
}

#[test]
fn exited_tells_duration_and_use() {
    exec_tests::ours_only!();
    let server = Server::start();
    let process = server.spawn(exec_tests::sh(
        "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done",
    ));
    process.closed();
    let exited = process.exited();
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or_else(|| panic!("no number: {exited}"));
    let usage = &exited["usage"];
    assert!(number(&usage["userMs"]) > 0, "{exited}");
    assert!(number(&usage["systemMs"]) < 60_000, "{exited}");
    assert!(
        (100_000..1 << 30).contains(&number(&usage["maxRssBytes"])),
        "{exited}"
    );
    assert!(
        number(&exited["durationMs"]) >= number(&usage["userMs"]) / 2,
        "{exited}"
    );
}
