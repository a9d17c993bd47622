//! A background child that holds a process's streams delays `closed`, never `exited`, and is still within reach.

use std::time::{Duration, Instant};

use exec_tests::{Server, helper, marker, ours_only, procfs};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn exit_is_reported_at_once() {
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["background", &mark, "3"]));
    let start = Instant::now();
    assert_eq!(process.exit_code(), 3);
    assert!(
        start.elapsed() < Duration::from_millis(1500),
        "reported after {:?}",
        start.elapsed()
    );
    process.await_output(b"hi\n");
    server.await_marked(&mark, 1);
}

#[test]
fn closed_waits_for_the_holder_and_no_longer() {
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["background", &mark, "0"]));
    process.exited();
    let holder = server.await_marked(&mark, 1)[0];
    let state = process.ask("read", json!({"afterSeq": 1000, "waitMs": 300}));
    assert_eq!(
        (&state["exited"], &state["closed"]),
        (&json!(true), &json!(false)),
        "{state}"
    );
    assert!(
        process.event_now("closed").is_none(),
        "closed, and output could follow"
    );
    server.kill(holder, Signal::KILL);
    process.closed_within(Duration::from_secs(4));
}

#[test]
fn terminate_after_the_leaders_exit_ends_the_holder() {
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["background", &mark, "0"]));
    process.exited();
    server.await_marked(&mark, 1);
    assert!(!process.terminate(), "the leader had exited");
    server.assert_none_marked(&mark, Duration::from_secs(4));
    process.closed_within(Duration::from_secs(4));
}

#[test]
fn a_setsid_holder_of_a_terminal_does_not_delay_exit() {
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["background", &mark, "5", "setsid"]).tty());
    let start = Instant::now();
    assert_eq!(process.exit_code(), 5);
    assert!(
        start.elapsed() < Duration::from_millis(2500),
        "reported after {:?}",
        start.elapsed()
    );
}

#[test]
fn terminate_after_closed_ends_what_is_left() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["background", &mark, "0", "own-stdio"]));
    assert_eq!(process.closed_params()["tree"], "running");
    let left = server.await_marked(&mark, 1);
    assert!(procfs::alive(left[0]));
    process.terminate();
    server.assert_none_marked(&mark, Duration::from_secs(3));
}
