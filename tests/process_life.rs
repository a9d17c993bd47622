//! A process is reported as ended when it ended, not when it looks as if.

use std::fs::OpenOptions;

use exec_tests::{Server, eventually, helper, procfs};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn closing_its_streams_is_not_an_end() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("gate");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )
    .expect("mkfifo");
    let process = server.spawn(helper(&["close-stdio", &fifo.to_string_lossy(), "9"]));
    process.await_output(b"x\n");
    // Opening blocks until the process, its streams closed, opens the other end.
    let gate = OpenOptions::new().write(true).open(&fifo).expect("open");
    let state = process.ask("read", json!({"afterSeq": 1, "waitMs": 300}));
    assert_eq!(
        (&state["exited"], &state["closed"]),
        (&json!(false), &json!(false)),
        "{state}"
    );
    assert!(process.event_now("exited").is_none() && process.event_now("closed").is_none());
    drop(gate);
    assert_eq!(process.closed(), 9);
}

#[test]
fn a_stop_is_not_an_end() {
    let server = Server::start();
    let process = server.spawn(helper(&["stop", "4"]));
    process.await_output(b"\n");
    let pid = process.pid();
    let stopped = eventually(exec_tests::server::PATIENCE, || {
        procfs::stat(pid).filter(|s| s.state == 'T')
    });
    assert!(stopped.is_some());
    let state = process.ask("read", json!({"afterSeq": 1, "waitMs": 300}));
    assert_eq!(state["exited"], false, "{state}");
    server.kill(pid, Signal::CONT);
    assert_eq!(process.closed(), 4);
    assert!(process.text().ends_with("resumed\n"));
}
