//! `process/wait` answers once, when its condition holds, or when it no longer can.

use std::time::{Duration, Instant};

use exec_tests::{Server, helper, marker, ours_only, program, sh};
use serde_json::{Value, json};

#[test]
fn exit() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let wait = process.post("wait", json!({"until": {"type": "exit"}}));
    server.ping();
    assert_eq!(server.reply_now(&wait), None);
    process.ask("closeStdin", json!({}));
    let result = server.reply(&wait)["result"].take();
    let expected = json!({
        "reason": "exit", "nextSeq": result["nextSeq"], "exitCode": 0, "signal": null, "cause": "exited", "match": null,
    });
    assert_eq!(result, expected);
    // Already true.
    process.closed();
    let result = process.wait(json!({"type": "exit"}));
    assert_eq!(
        (&result["reason"], &result["exitCode"]),
        (&json!("exit"), &json!(0))
    );
}

#[test]
fn exit_by_a_signal() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(sh("kill -KILL $$"));
    let result = process.wait(json!({"type": "exit"}));
    let got = (&result["exitCode"], &result["signal"], &result["cause"]);
    assert_eq!(got, (&json!(137), &json!("SIGKILL"), &json!("signaled")));
}

#[test]
fn a_literal_across_chunks() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let wait = process.post("wait", json!({"until": {"type": "output", "literal": "ready>"}}));
    for part in [&b"not yet re"[..], b"ady", b"> and more"] {
        process.write(part);
        process.await_output(part);
    }
    let result = server.reply(&wait)["result"].take();
    assert_eq!(result["reason"], "output", "{result}");
    assert_eq!(
        result["match"],
        json!({"stream": "stdout", "offset": 8, "length": 6})
    );
    // From an offset behind it, it is not there.
    let later = json!({"until": {"type": "output", "literal": "ready>", "fromOffset": 9}, "timeoutMs": 200});
    assert_eq!(process.ask("wait", later)["reason"], "timeout");
}

#[test]
fn a_regex_over_bytes_in_one_stream() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(sh("printf 'port 80\\n'; printf '\\377port 8080\\n' >&2; cat").pipe_stdin());
    let result = process.wait(json!({"type": "output", "regex": r"port (\d+)", "stream": "stderr"}));
    assert_eq!(
        result["match"],
        json!({"stream": "stderr", "offset": 1, "length": 9}),
        "{result}"
    );
    let result = process.wait(json!({"type": "output", "regex": r"(?-u)\xff", "stream": "stderr"}));
    assert_eq!(result["match"]["offset"], 0, "{result}");
}

#[test]
fn output_that_can_no_longer_come() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let wait = process.post("wait", json!({"until": {"type": "output", "literal": "never"}}));
    process.ask("closeStdin", json!({}));
    let result = server.reply(&wait)["result"].take();
    // At the end of its output: the exit may be told a moment later.
    assert_eq!(
        (&result["reason"], &result["match"]),
        (&json!("closed"), &json!(null))
    );
}

#[test]
fn bytes() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let wait = process.post("wait", json!({"until": {"type": "bytes", "count": 10}}));
    process.write(b"12345");
    process.await_output(b"12345");
    server.ping();
    assert_eq!(server.reply_now(&wait), None);
    process.write(b"67890");
    assert_eq!(server.reply(&wait)["result"]["reason"], "bytes");
    assert_eq!(
        process.wait(json!({"type": "bytes", "count": 1, "stream": "stdout"}))["reason"],
        "bytes"
    );
}

#[test]
fn quiet() {
    ours_only!();
    let server = Server::start();
    // It prints for about 600 ms, then it is quiet.
    let args: Vec<&str> = ["trickle", "30"]
        .into_iter()
        .chain(std::iter::repeat_n("78", 20))
        .collect();
    let process = server.spawn(helper(&args));
    let start = Instant::now();
    let wait = process.post("wait", json!({"until": {"type": "quiet", "ms": 250}}));
    let result = server.reply(&wait)["result"].take();
    let reason = result["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason == "quiet" || reason == "closed", "{result}");
    assert!(
        start.elapsed() >= Duration::from_millis(500),
        "{:?}",
        start.elapsed()
    );
    let silent = server.spawn(helper(&["sleep", &marker()]));
    let start = Instant::now();
    assert_eq!(
        silent.wait(json!({"type": "quiet", "ms": 300}))["reason"],
        "quiet"
    );
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn tree_ended() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["background", &mark, "0", "own-stdio", "setsid"]));
    process.closed();
    let wait = process.post("wait", json!({"until": {"type": "treeEnded"}}));
    server.ping();
    assert_eq!(server.reply_now(&wait), None, "its descendant lives");
    let pid = server.await_marked(&mark, 1)[0];
    server.kill(pid, rustix::process::Signal::KILL);
    assert_eq!(server.reply(&wait)["result"]["reason"], "treeEnded");
}

#[test]
fn a_timeout_is_a_result() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    let start = Instant::now();
    let result = process.ask("wait", json!({"until": {"type": "exit"}, "timeoutMs": 300}));
    let expected = json!({
        "reason": "timeout", "nextSeq": 1, "exitCode": null, "signal": null, "cause": null, "match": null,
    });
    assert_eq!(result, expected);
    assert!(
        (280..3000).contains(&start.elapsed().as_millis()),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn bad_conditions_are_refused() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    let bad: [Value; 11] = [
        json!({"type": "nonsense"}),
        json!({}),
        json!(5),
        json!({"type": "output"}),
        json!({"type": "output", "literal": "a", "regex": "b"}),
        json!({"type": "output", "regex": "("}),
        json!({"type": "output", "regex": "x".repeat(2049)}),
        json!({"type": "output", "regex": r"\w{99}{99}"}),
        json!({"type": "quiet"}),
        json!({"type": "bytes", "count": -1}),
        json!({"type": "bytes", "count": 1, "stream": "stdin"}),
    ];
    for until in bad {
        process.refused("wait", json!({"until": until}), -32602, "invalidParam");
    }
    server.process("nope").refused(
        "wait",
        json!({"until": {"type": "exit"}}),
        -32600,
        "unknownProcess",
    );
}

#[test]
fn waits_for_a_regex_are_limited() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let waits: Vec<Value> = (0..128)
        .map(|_| process.post("wait", json!({"until": {"type": "output", "regex": "g.$"}})))
        .collect();
    let one_more = json!({"until": {"type": "output", "regex": "g."}});
    let error = process.refused("wait", one_more.clone(), -32600, "limitReached");
    let data = json!({"kind": "limitReached", "limit": "maxRegexWaits", "value": 128});
    assert_eq!(error["data"], data);
    // Any other wait is taken, and these act before a write that came later.
    process.write(b"go");
    for wait in &waits {
        assert_eq!(server.reply(wait)["result"]["match"]["length"], 2);
    }
    assert_eq!(process.ask("wait", one_more)["reason"], "output");
}

#[test]
fn many_waits_at_once_are_each_told_once() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let waits: Vec<Value> = (0..200)
        .map(|i| match i % 3 {
            0 => process.post("wait", json!({"until": {"type": "exit"}})),
            1 => process.post("wait", json!({"until": {"type": "output", "literal": "go"}})),
            _ => process.post("wait", json!({"until": {"type": "bytes", "count": 2}})),
        })
        .collect();
    process.write(b"go");
    process.ask("closeStdin", json!({}));
    for wait in &waits {
        assert!(server.reply(wait).get("result").is_some());
    }
    server.ping();
    let answered = server.messages_from(0);
    for wait in &waits {
        assert_eq!(answered.iter().filter(|m| m["id"] == *wait).count(), 1);
    }
}
