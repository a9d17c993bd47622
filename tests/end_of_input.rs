//! At the end of input what is pending is answered, and what runs is ended in order.

use std::time::{Duration, Instant};

use exec_tests::server::Ending;
use exec_tests::{Server, helper, marker, ours_only, sh};
use serde_json::json;

#[test]
fn waits_and_reads_are_answered() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    let wait = process.post("wait", json!({"until": {"type": "exit"}}));
    let read = process.post("read", json!({"waitMs": 60_000}));
    server.ping();
    server.close_stdin();
    let wait = server.reply(&wait);
    assert_eq!(wait["result"]["reason"], "sessionEnding", "{wait}");
    let read = server.reply(&read);
    assert_eq!(
        (&read["result"]["chunks"], &read["result"]["exited"]),
        (&json!([]), &json!(false)),
        "{read}"
    );
    assert_eq!(server.await_end(Duration::from_secs(4)), Some(Ending::Exit(0)));
}

#[test]
fn what_runs_gets_its_grace_and_its_cause() {
    ours_only!();
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let note = folder.path().join("note");
    let polite = server.spawn(sh(&format!(
        "trap 'echo bye > {}; exit 5' TERM; echo up; while :; do sleep 0.02; done",
        note.display()
    )));
    let deaf = server.spawn(helper(&["ignore-signals"]));
    polite.await_output(b"up");
    deaf.await_output(b"PID");
    let start = Instant::now();
    server.close_stdin();
    assert_eq!(server.await_end(Duration::from_secs(5)), Some(Ending::Exit(0)));
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!(
        std::fs::read_to_string(note).unwrap_or_default(),
        "bye\n",
        "no grace was given"
    );
    let exited = polite.exited();
    assert_eq!(
        (&exited["cause"], &exited["exitCode"]),
        (&json!("clientGone"), &json!(5)),
        "{exited}"
    );
    let exited = deaf.exited();
    assert_eq!(
        (&exited["cause"], &exited["signal"]),
        (&json!("clientGone"), &json!("SIGKILL")),
        "{exited}"
    );
}

#[test]
fn it_is_bounded_though_nobody_reads() {
    ours_only!();
    let server = Server::builder().count_only().start();
    server
        .spawn(helper(&["flood", &marker()]))
        .await_length("stdout", 1 << 20);
    server.stop_reading();
    let start = Instant::now();
    server.close_stdin();
    assert_eq!(server.await_end(Duration::from_secs(5)), Some(Ending::Exit(0)));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[test]
fn a_requested_start_in_the_last_breath_leaves_nothing() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    for _ in 0..20 {
        server.spawn_later(helper(&["tree", &mark]));
    }
    server.close_stdin();
    assert!(server.await_end(Duration::from_secs(8)).is_some());
    server.assert_none_marked(&mark, Duration::from_secs(2));
}
