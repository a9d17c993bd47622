//! The end of the client is the end of the session: everything in it is ended, and the daemon goes, status 0.

use std::time::Duration;

use exec_tests::server::Ending;
use exec_tests::{Server, eventually, helper, marker, ours_only, procfs};
use rustix::process::Signal;
use serde_json::json;

const SECONDS: fn(u64) -> Duration = Duration::from_secs;

#[test]
fn end_of_input_ends_an_idle_daemon() {
    let server = Server::start();
    server.close_stdin();
    assert_eq!(server.await_end(SECONDS(3)), Some(Ending::Exit(0)));
}

#[test]
fn end_of_input_ends_every_process() {
    let server = Server::start();
    let mark = marker();
    for (kind, tty) in [("", false), ("ignoring", false), ("", true), ("ignoring", true)] {
        server.spawn(helper(&["sleep", &mark, kind]).on(tty));
    }
    server
        .spawn(helper(&["tree", &mark, "child", "ignoring"]))
        .await_output(b"up");
    let pids = server.await_marked(&mark, 7);
    server.close_stdin();
    assert_eq!(server.await_end(SECONDS(6)), Some(Ending::Exit(0)));
    let gone = eventually(SECONDS(6), || {
        pids.iter().all(|pid| !procfs::alive(*pid)).then_some(())
    });
    assert!(gone.is_some(), "survivors: {:?}", server.marked(&mark));
}

#[test]
fn long_polls_do_not_hold_it_up() {
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    let polls: Vec<_> = (0..20)
        .map(|_| process.post("read", json!({"waitMs": 60_000})))
        .collect();
    server.ping();
    server.close_stdin();
    assert!(server.await_end(SECONDS(4)).is_some());
    if exec_tests::ours() {
        for poll in polls {
            let reply = server.reply(&poll);
            assert_eq!(reply["result"]["chunks"], json!([]), "{reply}");
        }
    }
}

#[test]
fn a_blocked_stdout_does_not_hold_it_up() {
    ours_only!();
    let server = Server::builder().count_only().start();
    let mark = marker();
    server.stop_reading();
    server.spawn_later(helper(&["flood", &mark]));
    let flood = server.await_marked(&mark, 1)[0];
    procfs::await_blocked(flood);
    server.close_stdin();
    assert!(
        server.await_end(SECONDS(8)).is_some(),
        "still running with a blocked stdout"
    );
    assert!(eventually(SECONDS(3), || (!procfs::alive(flood)).then_some(())).is_some());
}

#[test]
fn sigterm_and_sigint_end_the_session_in_order() {
    ours_only!();
    for signal in [Signal::TERM, Signal::INT] {
        let server = Server::start();
        let mark = marker();
        server.spawn(helper(&["sleep", &mark]));
        server.spawn(helper(&["sleep", &mark, "ignoring"]).tty());
        server.await_marked(&mark, 2);
        server.kill(server.pid(), signal);
        assert_eq!(server.await_end(SECONDS(5)), Some(Ending::Exit(0)), "{signal:?}");
        server.assert_none_marked(&mark, SECONDS(1));
    }
}

#[test]
fn a_second_signal_does_not_cut_the_end_short() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    // Deaf to SIGTERM: the end takes its grace, in which the second signal comes.
    server.spawn(helper(&["sleep", &mark, "ignoring"]));
    server.await_marked(&mark, 1);
    server.kill(server.pid(), Signal::TERM);
    server.kill(server.pid(), Signal::INT);
    assert_eq!(server.await_end(SECONDS(5)), Some(Ending::Exit(0)));
    server.assert_none_marked(&mark, SECONDS(1));
}

#[test]
fn requests_followed_at_once_by_end_of_input_are_answered() {
    ours_only!();
    let server = Server::builder().without_handshake().start();
    server.send_bytes(
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientName":"x"}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":2,"method":"process/terminate","params":{"processId":"none"}}"#,
            "\n",
        )
        .as_bytes(),
    );
    server.close_stdin();
    assert!(server.reply(&json!(1))["result"].is_object());
    assert_eq!(server.reply(&json!(2))["result"], json!({"running": false}));
}

#[test]
fn a_last_line_without_a_newline_is_read_too() {
    ours_only!();
    let server = Server::start();
    server.send_bytes(br#"{"jsonrpc":"2.0","id":"last","method":"process/list","params":{}}"#);
    server.close_stdin();
    assert_eq!(server.reply(&json!("last"))["result"], json!({"processes": []}));
}
