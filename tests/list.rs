//! `process/list`: every known process, by start.

use exec_tests::{Server, helper, marker, ours_only, program, sh};
use serde_json::{Value, json};

#[test]
fn states_and_figures() {
    ours_only!();
    let server = Server::start();
    assert_eq!(server.ok("process/list", json!({})), json!({"processes": []}));
    let mark = marker();
    let closed = server.spawn(sh("printf 12345; exit 3").id("closed"));
    closed.closed();
    let exited = server.spawn(helper(&["background", &mark, "4"]).id("exited"));
    exited.exited();
    exited.await_output(b"hi\n");
    let running = server.spawn(program(&["/bin/cat"]).tty().id("running"));
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("a clock")
        .as_millis() as u64;
    let mut list = server.ok("process/list", json!({}));
    for entry in list["processes"].as_array_mut().expect("a list") {
        let started = entry["startedAtMs"].take().as_u64().expect("a time");
        assert!((now - 60_000..=now + 1000).contains(&started), "{started}");
        assert!(entry["nextSeq"].take().as_u64().is_some_and(|n| n >= 1));
    }
    let entry = |id: &str,
                 pid: &Value,
                 state: &str,
                 tty: bool,
                 code: Value,
                 cause: Value,
                 bytes: u64,
                 tree: &str| {
        json!({
            "processId": id, "pid": pid, "state": state, "tty": tty, "startedAtMs": null, "exitCode": code,
            "cause": cause, "nextSeq": null, "outputBytes": bytes, "tree": tree,
        })
    };
    let expected = json!({"processes": [
        entry("closed", &closed.result["pid"], "closed", false, json!(3), json!("exited"), 5, "ended"),
        entry("exited", &exited.result["pid"], "exited", false, json!(4), json!("exited"), 3, "running"),
        entry("running", &running.result["pid"], "running", true, Value::Null, Value::Null, 0, "running"),
    ]});
    assert_eq!(list, expected);
}

#[test]
fn no_argv_and_no_environment() {
    ours_only!();
    let server = Server::start();
    server.spawn(helper(&["sleep", "argument-secret"]).env("VARIABLE", "variable-secret"));
    let list = server.ok("process/list", json!({})).to_string();
    assert!(!list.contains("secret"), "{list}");
}

#[test]
fn the_pid_is_the_real_one() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["sleep", &mark]));
    assert_eq!(server.await_marked(&mark, 1), [process.pid()]);
}
