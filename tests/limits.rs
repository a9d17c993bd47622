//! Resource limits hold, or the start is refused.

use exec_tests::{Server, helper, ours_only, sh};
use serde_json::{Value, json};

fn enforces(server: &Server) -> Value {
    server.ok("environment/info", json!({}))["protocol"]["enforces"].take()
}

#[test]
fn what_cannot_be_enforced_is_refused() {
    ours_only!();
    let server = Server::start();
    let enforces = enforces(&server);
    for (limit, value) in [
        ("memoryBytes", 1_u64 << 30),
        ("cpuSeconds", 60),
        ("processes", 100),
        ("openFiles", 64),
    ] {
        let launch = sh("true").set("limits", json!({limit: value}));
        if enforces[limit].is_null() {
            let error = server.start_refused(launch, -32602, "unenforceable");
            assert_eq!(error["data"]["member"], format!("limits.{limit}"), "{error}");
        } else {
            let process = server.spawn(launch);
            assert_eq!(
                process.result["limits"][limit], enforces[limit],
                "{}",
                process.result
            );
            assert_eq!(process.closed(), 0);
        }
    }
}

#[test]
fn open_files() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(sh("ulimit -n").set("limits", json!({"openFiles": 37})));
    assert_eq!(
        process.result["limits"]["openFiles"], "rlimit",
        "{}",
        process.result
    );
    assert_eq!((process.closed(), process.text().as_str()), (0, "37\n"));
    let none = server.spawn(sh("true"));
    assert_eq!(none.result["limits"], Value::Null, "{}", none.result);
}

#[test]
fn memory() {
    ours_only!();
    let server = Server::start();
    if enforces(&server)["memoryBytes"].is_null() {
        return;
    }
    let script = "x=xxxxxxxxxxxxxxxx; while :; do x=$x$x; done";
    let process = server.spawn(sh(script).set("limits", json!({"memoryBytes": 64 << 20})));
    process.closed();
    assert_eq!(process.exited()["cause"], "outOfMemory", "{}", process.exited());
}

#[test]
fn nonsense_is_refused() {
    ours_only!();
    let server = Server::start();
    for limits in [
        json!({"openFiles": 0}),
        json!({"openFiles": -1}),
        json!({"cpuSeconds": "1"}),
        json!(5),
        json!([]),
    ] {
        server.start_refused(sh("true").set("limits", limits), -32602, "invalidParam");
    }
    server.assert_works();
}

#[test]
fn too_many_processes_are_refused_and_the_rest_untouched() {
    ours_only!();
    let server = Server::start();
    let max = server.ok("environment/info", json!({}))["protocol"]["limits"]["maxPendingRequests"].take();
    let max = max.as_u64().expect("a limit");
    let process = server.spawn(helper(&["sleep", &exec_tests::marker()]));
    let polls: Vec<Value> = (0..max + 10)
        .map(|_| process.post("read", json!({"waitMs": 60_000})))
        .collect();
    // Over the limit: refused at once, under its id. Up to it: pending.
    let last = server.reply(&polls[polls.len() - 1]);
    assert_eq!(last["error"]["data"]["kind"], "limitReached", "{last}");
    assert_eq!(
        (&last["error"]["data"]["limit"], &last["error"]["data"]["value"]),
        (&json!("maxPendingRequests"), &json!(max))
    );
    assert_eq!(server.reply_now(&polls[0]), None);
    process.post("terminate", json!({}));
    for poll in &polls {
        server.reply(poll);
    }
    server.assert_works();
}
