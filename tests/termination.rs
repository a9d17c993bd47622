//! `process/terminate` ends everything a process started, within its grace and for certain.

use std::time::{Duration, Instant};

use exec_tests::{Server, eventually, helper, marker, ours_only, procfs, sh};
use serde_json::json;

const SOON: Duration = Duration::from_secs(6);

#[test]
fn twice_and_unknown_say_not_running() {
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    assert!(process.terminate());
    process.closed_within(SOON);
    assert!(!process.terminate());
    assert!(!server.process("never-started").terminate());
}

#[test]
fn a_child_in_a_session_of_its_own_ends_too() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["tree", &mark, "child", "setsid"]));
    process.await_output(b"up");
    server.await_marked(&mark, 3);
    process.terminate();
    process.event_within("exited", SOON);
    server.assert_none_marked(&mark, Duration::from_secs(4));
}

#[test]
fn the_whole_tree_ends_wherever_it_hides() {
    ours_only!();
    let server = Server::start();
    for tty in [false, true] {
        let mark = marker();
        let process = server.spawn(helper(&["tree", &mark]).on(tty));
        process.await_output(b"up");
        server.await_marked(&mark, 6);
        process.ask("terminate", json!({"graceMs": 200}));
        assert_eq!(process.wait(json!({"type": "treeEnded"}))["reason"], "treeEnded");
        assert_eq!(server.marked(&mark), Vec::<u32>::new(), "tty: {tty}");
        process.closed();
    }
}

#[test]
fn one_that_ignores_signals_is_killed() {
    let server = Server::start();
    for tty in [false, true] {
        let process = server.spawn(helper(&["ignore-signals"]).on(tty));
        process.await_output(b"PID");
        let start = Instant::now();
        process.terminate();
        let exited = process.event_within("exited", SOON).params;
        assert_eq!(exited["exitCode"], 137, "{exited}");
        process.closed_within(SOON);
        if exec_tests::ours() {
            assert_eq!(
                (&exited["signal"], &exited["cause"]),
                (&json!("SIGKILL"), &json!("terminated"))
            );
            assert!(
                start.elapsed() >= Duration::from_millis(1900),
                "killed before its grace of 2 s was over"
            );
        }
    }
}

#[test]
fn grace_is_as_asked_and_can_be_shortened() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["ignore-signals"]));
    process.await_output(b"PID");
    assert_eq!(
        process.ask("terminate", json!({"graceMs": 600_000})),
        json!({"running": true})
    );
    // Still in its grace: only less of it can end this now.
    assert_eq!(
        process.ask("read", json!({"afterSeq": 1, "waitMs": 200}))["exited"],
        false
    );
    let start = Instant::now();
    assert_eq!(
        process.ask("terminate", json!({"graceMs": 0})),
        json!({"running": true})
    );
    process.closed_within(SOON);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_longer_grace_does_not_put_off_the_end() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["ignore-signals"]));
    process.await_output(b"PID");
    process.ask("terminate", json!({"graceMs": 300}));
    process.ask("terminate", json!({"graceMs": 600_000}));
    process.closed_within(SOON);
}

#[test]
fn a_stopped_process_ends() {
    let server = Server::start();
    let process = server.spawn(helper(&["stop", "0"]));
    process.await_output(b"\n");
    let pid = process.pid();
    eventually(SOON, || procfs::stat(pid).filter(|s| s.state == 'T')).expect("stopped");
    process.terminate();
    process.closed_within(SOON);
    assert!(!procfs::alive(pid));
}

#[test]
fn start_and_terminate_sent_together() {
    let server = Server::start();
    let mark = marker();
    let pairs: Vec<_> = (0..60)
        .map(|i| {
            let (process, start) = server.spawn_later(helper(&["sleep", &mark]).on(i % 2 == 1));
            let terminate = process.post("terminate", json!({}));
            (process, start, terminate)
        })
        .collect();
    for (process, start, terminate) in &pairs {
        let (start, terminate) = (server.reply(start), server.reply(terminate));
        if start.get("result").is_some() {
            assert_eq!(
                terminate["result"],
                json!({"running": true}),
                "the start before it had succeeded"
            );
            process.closed();
        } else {
            assert_eq!(
                start["error"]["data"]["kind"], "terminatedWhileStarting",
                "{start}"
            );
        }
    }
    server.assert_none_marked(&mark, Duration::from_secs(5));
}

#[test]
fn a_flooding_process_ends() {
    let server = Server::builder().count_only().start();
    let process = server.spawn(helper(&["flood"]));
    process.await_length("stdout", 1 << 20);
    process.terminate();
    process.event_within("exited", Duration::from_secs(4));
    process.closed_within(Duration::from_secs(8));
}

#[test]
fn no_zombies_are_left() {
    let server = Server::start();
    let all: Vec<_> = (0..120)
        .map(|i| server.spawn(sh("exit 0").on(i % 2 == 1)))
        .collect();
    for process in all {
        process.closed();
    }
    let zombies = || {
        let below = procfs::descendants(server.pid());
        below
            .into_iter()
            .filter(|pid| procfs::stat(*pid).is_some_and(|s| s.state == 'Z'))
            .count()
    };
    let none = eventually(Duration::from_secs(1), || (zombies() == 0).then_some(()));
    assert!(none.is_some(), "{} zombies", zombies());
}
