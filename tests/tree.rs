//! What a process started is known: whether it still runs, and when the last of it is gone.

use exec_tests::{Server, helper, marker, ours_only, sh};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn closed_says_that_nothing_is_left() {
    ours_only!();
    let server = Server::start();
    for tty in [false, true] {
        let process = server.spawn(sh("sleep 0.01 & wait; echo x").on(tty));
        assert_eq!(process.closed_params()["tree"], "ended", "tty: {tty}");
    }
}

#[test]
fn tree_ended_follows_once_to_those_who_asked() {
    ours_only!();
    let server = Server::builder().initialize_with("notifyTreeEnded", true).start();
    let mark = marker();
    let process = server.spawn(helper(&["background", &mark, "0", "own-stdio", "setsid"]));
    assert_eq!(process.closed_params()["tree"], "running");
    server.ping();
    assert!(process.event_now("treeEnded").is_none());
    let pid = server.await_marked(&mark, 1)[0];
    server.kill(pid, Signal::KILL);
    let event = process.event_within("treeEnded", exec_tests::server::PATIENCE);
    assert_eq!(event.params, json!({"processId": process.id}), "outside seq");
    server.ping();
    assert_eq!(
        process.events().iter().filter(|e| e.kind == "treeEnded").count(),
        1
    );
}

#[test]
fn tree_ended_is_not_sent_when_closed_said_it_or_nobody_asked() {
    ours_only!();
    let asked = Server::builder().initialize_with("notifyTreeEnded", true).start();
    let process = asked.spawn(sh("exit 0"));
    assert_eq!(process.closed_params()["tree"], "ended");
    asked.assert_works();
    assert!(process.event_now("treeEnded").is_none());

    let silent = Server::start();
    let mark = marker();
    let process = silent.spawn(helper(&["background", &mark, "0", "own-stdio"]));
    process.closed();
    silent.kill(silent.await_marked(&mark, 1)[0], Signal::KILL);
    assert_eq!(process.wait(json!({"type": "treeEnded"}))["reason"], "treeEnded");
    silent.assert_works();
    assert!(process.event_now("treeEnded").is_none());
}

#[test]
fn an_orphan_belongs_to_the_command_that_started_it() {
    ours_only!();
    let server = Server::start();
    let (first, second) = (marker(), marker());
    let a = server.spawn(helper(&["tree", &first, "double-fork", "clean-env"]));
    let b = server.spawn(helper(&["tree", &second, "double-fork", "clean-env"]));
    a.await_output(b"up");
    b.await_output(b"up");
    server.await_marked(&first, 3);
    server.await_marked(&second, 3);
    a.ask("terminate", json!({"graceMs": 100}));
    server.assert_none_marked(&first, std::time::Duration::from_secs(4));
    // The other's orphans are untouched.
    assert_eq!(server.marked(&second).len(), 3);
}
