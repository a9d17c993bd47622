//! `process/read`: what was printed, by cursor, now or as soon as there is something.

use std::time::{Duration, Instant};

use exec_tests::client::decode;
use exec_tests::{Server, helper, marker, ours, ours_only, program, sh};
use serde_json::{Value, json};

fn bytes(result: &Value) -> Vec<u8> {
    result["chunks"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|c| decode(&c["chunk"]))
        .collect()
}

#[test]
fn stays_within_max_bytes() {
    let server = Server::start();
    let part = "78".repeat(100);
    let args: Vec<&str> = ["trickle", "10"]
        .into_iter()
        .chain(std::iter::repeat_n(part.as_str(), 40))
        .collect();
    let process = server.spawn(helper(&args));
    process.closed();
    let length = bytes(&process.ask("read", json!({"maxBytes": 350}))).len();
    assert!((1..=350).contains(&length), "{length} bytes");
    // One chunk comes always, whole.
    let first = process.ask("read", json!({"maxBytes": 1}));
    assert_eq!(
        (first["chunks"].as_array().map(Vec::len), &first["nextSeq"]),
        (Some(1), &json!(2)),
        "{first}"
    );
}

#[test]
fn wakes_on_output() {
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let poll = process.post(
        "read",
        json!({"afterSeq": null, "maxBytes": null, "waitMs": 20_000}),
    );
    server.ping();
    assert_eq!(server.reply_now(&poll), None, "answered with nothing to say");
    let start = Instant::now();
    process.write(b"data\n");
    let result = server.reply(&poll)["result"].take();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(bytes(&result), b"data\n");
}

#[test]
fn wakes_on_exit_and_on_close() {
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["background", &mark, "0"]));
    process.exited();
    let exited = process.events().last().and_then(|e| e.seq).expect("a seq");
    let poll = process.post("read", json!({"afterSeq": exited, "waitMs": 20_000}));
    server.ping();
    assert_eq!(server.reply_now(&poll), None);
    process.terminate();
    assert_eq!(server.reply(&poll)["result"]["closed"], true);
}

#[test]
fn times_out() {
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    let start = Instant::now();
    let result = process.ask("read", json!({"waitMs": 700}));
    let took = start.elapsed();
    assert!((600..1700).contains(&took.as_millis()), "{took:?}");
    let shape = (
        &result["chunks"],
        &result["exited"],
        &result["exitCode"],
        &result["closed"],
        &result["nextSeq"],
    );
    assert_eq!(
        shape,
        (&json!([]), &json!(false), &json!(null), &json!(false), &json!(1)),
        "{result}"
    );
}

#[test]
fn a_closed_process_is_not_waited_for() {
    let server = Server::start();
    let process = server.spawn(program(&["/bin/echo", "x"]));
    process.closed();
    let next = process.ask("read", json!({}))["nextSeq"]
        .as_u64()
        .expect("nextSeq");
    let start = Instant::now();
    process.ask("read", json!({"afterSeq": next - 1, "waitMs": 10_000}));
    process.ask("read", json!({"afterSeq": 1_000_000, "waitMs": 10_000}));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_hundred_polls_hold_nothing_up() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    for _ in 0..100 {
        process.post("read", json!({"waitMs": 20_000}));
    }
    let ping = server.ping();
    assert!(ping < Duration::from_secs(1), "{ping:?}");
    let start = Instant::now();
    server.assert_works();
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn a_poll_on_one_does_not_hold_up_another() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let (polled, other) = (
        server.spawn(helper(&["sleep", "a"])),
        server.spawn(helper(&["sleep", &mark])),
    );
    polled.post("read", json!({"waitMs": 8000}));
    let start = Instant::now();
    assert!(other.terminate());
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    server.assert_none_marked(&mark, Duration::from_secs(1));
}

#[test]
fn following_by_cursor_rebuilds_the_output() {
    let server = Server::start();
    for tty in [false, true] {
        let parts: Vec<String> = (0..150)
            .map(|i| format!("{i:03},").bytes().map(|b| format!("{b:02x}")).collect())
            .collect();
        let args: Vec<&str> = ["trickle", "2"]
            .into_iter()
            .chain(parts.iter().map(String::as_str))
            .collect();
        let process = server.spawn(helper(&args).on(tty));
        let (bytes, numbers) = process.read_all();
        let expected: String = (0..150).map(|i| format!("{i:03},")).collect();
        assert_eq!(String::from_utf8_lossy(&bytes), expected, "tty: {tty}");
        assert!(numbers.windows(2).all(|w| w[0] < w[1]), "{numbers:?}");
    }
}

#[test]
fn unknown_ids_are_refused() {
    let server = Server::start();
    server
        .process("nope")
        .refused("read", json!({"waitMs": 0}), -32600, "unknownProcess");
}

#[test]
fn what_is_retained_has_no_gaps() {
    let server = Server::builder().count_only().start();
    let process = server.spawn(helper(&["zeros", "8000000", "0"]));
    process.closed();
    let (bytes, numbers) = process.read_all();
    let events = process.events();
    let last = events
        .iter()
        .rev()
        .find(|e| e.kind == "output")
        .and_then(|e| e.seq);
    assert_eq!(numbers.last().copied(), last, "the tail is missing");
    // Every output from the first retained on; an exit told in between has a number of its own.
    let sent: Vec<u64> = events
        .iter()
        .filter(|e| e.kind == "output")
        .filter_map(|e| e.seq)
        .collect();
    assert!(sent.ends_with(&numbers), "a gap: {numbers:?} of {sent:?}");
    if ours() {
        let state = process.ask("read", json!({}));
        assert_eq!(
            state["firstSeq"].as_u64(),
            numbers.first().copied(),
            "{}",
            state["firstSeq"]
        );
        assert_eq!(
            state["evictedBytes"],
            8_000_000 - bytes.len(),
            "loss must be counted"
        );
    }
}

#[test]
fn a_megabyte_stays_readable() {
    let server = Server::start();
    let process = server.spawn(helper(&["zeros", "1000000", "0"]));
    process.closed();
    assert_eq!(process.read_all().0.len(), 1_000_000);
}

#[test]
fn tells_how_it_ended() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(sh("printf abc; kill -TERM $$"));
    process.closed();
    let mut result = process.ask("read", json!({}));
    let text: Vec<u8> = bytes(&result);
    let next = process.events().len() + 1;
    // The exit may be told before the output is read.
    let first = result["chunks"][0]["seq"].take();
    result["chunks"] = json!([]);
    assert_eq!(text, b"abc");
    let expected = json!({
        "chunks": [], "nextSeq": result["nextSeq"], "exited": true, "exitCode": 143, "closed": true,
        "failure": null, "sandboxDenied": false, "firstSeq": first, "evictedBytes": 0, "cause": "signaled", "signal": "SIGTERM",
    });
    assert_eq!(result, expected);
    assert!(
        result["nextSeq"]
            .as_u64()
            .is_some_and(|n| (2..=next as u64).contains(&n))
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    for params in [
        json!({"afterSeq": -1}),
        json!({"waitMs": "a"}),
        json!({"waitMs": -5}),
        json!({"maxBytes": 1.5}),
    ] {
        process.refused("read", params, -32602, "invalidParam");
    }
    ours_only!();
    process.refused("read", json!({"maxBytes": 0}), -32602, "invalidParam");
}

#[test]
fn a_finished_process_holds_no_descriptors() {
    let server = Server::start();
    server.assert_works();
    let before = server.descriptors();
    let all: Vec<_> = (0..20)
        .map(|i| server.spawn(sh("echo x").on(i % 2 == 1)))
        .collect();
    for process in &all {
        process.closed();
    }
    let after = exec_tests::eventually(Duration::from_secs(3), || {
        Some(server.descriptors()).filter(|n| *n <= before + 2)
    });
    assert!(after.is_some(), "{before} → {}", server.descriptors());
    for process in &all {
        assert_eq!(String::from_utf8_lossy(&process.read_all().0).trim(), "x");
    }
}
