//! `timeoutMs` and `idleTimeoutMs` end the whole tree, by the ladder, and say so.

use std::time::{Duration, Instant};

use exec_tests::{Server, helper, marker, ours_only, program, sh};
use serde_json::{Value, json};

#[test]
fn a_deadline_ends_the_tree() {
    ours_only!();
    let server = Server::start();
    for tty in [false, true] {
        let mark = marker();
        let launch = helper(&["tree", &mark])
            .on(tty)
            .set("timeoutMs", 1500)
            .set("graceMs", 200);
        let start = Instant::now();
        let process = server.spawn(launch);
        let exited = process.exited();
        let got = (
            &exited["cause"],
            &exited["timedOut"],
            &exited["exitCode"],
            &exited["signal"],
        );
        assert_eq!(
            got,
            (&json!("deadline"), &json!(true), &json!(143), &json!("SIGTERM")),
            "{exited}"
        );
        assert!(
            (1400..6000).contains(&start.elapsed().as_millis()),
            "{:?}",
            start.elapsed()
        );
        assert_eq!(process.wait(json!({"type": "treeEnded"}))["reason"], "treeEnded");
        assert_eq!(server.marked(&mark), Vec::<u32>::new());
    }
}

#[test]
fn a_deadline_kills_what_ignores_it() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(
        helper(&["ignore-signals"])
            .set("timeoutMs", 300)
            .set("graceMs", 0),
    );
    let exited = process.exited();
    assert_eq!(
        (&exited["cause"], &exited["signal"]),
        (&json!("deadline"), &json!("SIGKILL")),
        "{exited}"
    );
}

#[test]
fn a_process_that_answers_the_deadline_keeps_its_code() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(sh("trap 'exit 7' TERM; while :; do sleep 0.05; done").set("timeoutMs", 300));
    let exited = process.exited();
    let got = (
        &exited["cause"],
        &exited["exitCode"],
        &exited["signal"],
        &exited["timedOut"],
    );
    assert_eq!(
        got,
        (&json!("deadline"), &json!(7), &Value::Null, &json!(true)),
        "{exited}"
    );
}

#[test]
fn the_first_that_acted_is_the_cause() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["ignore-signals"]).set("timeoutMs", 60_000));
    process.await_output(b"PID");
    process.ask("terminate", json!({"graceMs": 100}));
    assert_eq!(process.exited()["cause"], "terminated");
    let quick = server.spawn(sh("exit 0").set("timeoutMs", 60_000).set("idleTimeoutMs", 60_000));
    assert_eq!(quick.exited()["cause"], "exited");
}

#[test]
fn idle_counts_bytes_in_and_out() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin().set("idleTimeoutMs", 1200));
    let start = Instant::now();
    // Longer than the limit in all, never longer without a byte.
    while start.elapsed() < Duration::from_millis(2000) {
        process.write(b"tick\n");
        // The time is the measure here.
        std::thread::sleep(Duration::from_millis(200));
        assert!(process.event_now("exited").is_none(), "ended though it was busy");
    }
    let exited = process.exited();
    assert_eq!(
        (&exited["cause"], &exited["timedOut"]),
        (&json!("idle"), &json!(true)),
        "{exited}"
    );
    assert!(
        start.elapsed() >= Duration::from_millis(2900),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn nonsense_is_refused() {
    ours_only!();
    let server = Server::start();
    for (member, value) in [
        ("timeoutMs", json!(0)),
        ("idleTimeoutMs", json!(0)),
        ("timeoutMs", json!(-1)),
        ("graceMs", json!(-1)),
        ("timeoutMs", json!("1")),
        ("timeoutMs", json!(1.5)),
    ] {
        let error = server.start_refused(sh("true").set(member, value), -32602, "invalidParam");
        assert_eq!(error["data"]["member"], member, "{error}");
    }
    // The longest there is does not overflow into "now".
    assert_eq!(
        server
            .run(
                sh("sleep 0.1")
                    .set("timeoutMs", u64::MAX)
                    .set("graceMs", u64::MAX)
            )
            .0,
        0
    );
}
