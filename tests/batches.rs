//! A batch is answered as one array, when all of it is answered; its entries act in order.

use exec_tests::{Server, helper, marker, ours_only, program, sh};
use serde_json::{Value, json};

fn entry(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// Sends a batch and returns the array that answers it.
fn answer(server: &Server, batch: &Value) -> Vec<Value> {
    let from = server.message_count();
    server.send(batch);
    let found = server.until(exec_tests::server::PATIENCE, |t| {
        t.messages[from..].iter().find(|m| m.is_array()).cloned()
    });
    match found {
        Some(Value::Array(entries)) => entries,
        _ => panic!("no array came; messages: {:?}", server.messages_from(from)),
    }
}

#[test]
fn one_array_for_all() {
    ours_only!();
    let server = Server::start();
    let batch = json!([
        entry(1001, "process/start", program(&["/bin/cat"]).pipe_stdin().params("b")),
        entry("two", "process/write", json!({"processId": "b", "chunk": "aGkK", "closeStdin": true})),
        {"jsonrpc": "2.0", "method": "unknown/note"},
        entry(1003, "no/such/method", json!({})),
        5,
    ]);
    let mut entries = answer(&server, &batch);
    entries.sort_by_key(|e| e["id"].to_string());
    let got: Vec<(Value, bool, Value)> = entries
        .iter()
        .map(|e| {
            (
                e["id"].clone(),
                e.get("result").is_some(),
                e["error"]["code"].clone(),
            )
        })
        .collect();
    assert_eq!(
        got,
        [
            (json!("two"), true, json!(null)),
            (json!(1001), true, json!(null)),
            (json!(1003), false, json!(-32601)),
            (json!(null), false, json!(-32600)),
        ]
    );
    let process = server.process("b");
    assert_eq!((process.closed(), process.output()), (0, b"hi\n".to_vec()));
}

#[test]
fn its_processes_are_silent_until_the_array_is_sent() {
    ours_only!();
    let server = Server::start();
    let mut entries = vec![entry(1, "process/start", sh("echo early").params("quick"))];
    entries.extend((2..40).map(|i| entry(i, "process/start", sh("echo x").params(&format!("q{i}")))));
    // The harness notes a notification that comes before the reply to its start; register the starts with it.
    let from = server.message_count();
    let got = answer(&server, &Value::Array(entries));
    assert_eq!(got.len(), 39);
    assert!(server.messages_from(from).first().is_some_and(Value::is_array));
    let process = server.process("quick");
    assert_eq!((process.closed(), process.output()), (0, b"early\n".to_vec()));
}

#[test]
fn notifications_alone_are_not_answered() {
    ours_only!();
    let server = Server::start();
    let from = server.message_count();
    server.send(&json!([{"jsonrpc": "2.0", "method": "a"}, {"jsonrpc": "2.0", "method": "b"}]));
    server.ping();
    assert_eq!(
        server.messages_from(from).len(),
        1,
        "{:?}",
        server.messages_from(from)
    );
}

#[test]
fn an_empty_one_is_an_invalid_request() {
    ours_only!();
    let server = Server::start();
    let from = server.message_count();
    server.send(&json!([]));
    server.ping();
    let got = server.messages_from(from);
    assert_eq!(
        (&got[0]["id"], &got[0]["error"]["code"]),
        (&json!(null), &json!(-32600)),
        "{got:?}"
    );
    assert!(got[0].is_object(), "{got:?}");
}

#[test]
fn nothing_in_it_waits() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    let start = std::time::Instant::now();
    let entries = answer(
        &server,
        &json!([
            entry(
                1,
                "process/read",
                json!({"processId": process.id, "waitMs": 60_000})
            ),
            entry(
                2,
                "process/wait",
                json!({"processId": process.id, "until": {"type": "exit"}})
            ),
        ]),
    );
    assert!(
        start.elapsed() < std::time::Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    let of = |id: u64| {
        entries
            .iter()
            .find(|e| e["id"] == id)
            .unwrap_or_else(|| panic!("{entries:?}"))
    };
    assert_eq!(of(1)["result"]["chunks"], json!([]));
    assert_eq!(
        (&of(2)["error"]["code"], &of(2)["error"]["data"]["kind"]),
        (&json!(-32600), &json!("notInBatch"))
    );
}

#[test]
fn entries_act_in_order() {
    ours_only!();
    let server = Server::start();
    let chunk = |text: &str| base64_simd::STANDARD.encode_to_string(text);
    let mut batch = vec![entry(
        0,
        "process/start",
        program(&["/bin/cat"]).pipe_stdin().params("o"),
    )];
    batch.extend((1..=50).map(|i| {
        entry(
            i,
            "process/write",
            json!({"processId": "o", "chunk": chunk(&format!("{i} "))}),
        )
    }));
    batch.push(entry(51, "process/closeStdin", json!({"processId": "o"})));
    answer(&server, &Value::Array(batch));
    let process = server.process("o");
    process.closed();
    let expected: String = (1..=50).map(|i| format!("{i} ")).collect();
    assert_eq!(process.text(), expected);
}
