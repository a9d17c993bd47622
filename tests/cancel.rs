//! `$/cancelRequest` ends a pending request with -32800, and nothing else.

use exec_tests::{Server, helper, marker, ours_only, program};
use serde_json::json;

#[test]
fn a_pending_poll_and_a_pending_wait() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    for id in [
        process.post("read", json!({"waitMs": 60_000})),
        process.post("wait", json!({"until": {"type": "exit"}})),
    ] {
        server.ping();
        assert_eq!(server.reply_now(&id), None);
        server.notify("$/cancelRequest", json!({"id": id}));
        let reply = server.reply(&id);
        assert_eq!(reply["error"]["code"], -32800, "{reply}");
        assert_eq!(reply["error"]["data"]["kind"], "requestCancelled", "{reply}");
    }
    // The process is untouched.
    assert!(process.terminate());
}

#[test]
fn ids_of_any_kind() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    for id in [json!("text"), json!(-3), json!(2.5)] {
        let params = json!({"processId": process.id, "waitMs": 60_000});
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "process/read", "params": params}));
        server.notify("$/cancelRequest", json!({"id": id}));
        assert_eq!(server.reply(&id)["error"]["code"], -32800, "{id}");
    }
}

#[test]
fn anything_else_is_ignored() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let poll = process.post("read", json!({"waitMs": 60_000}));
    let from = server.message_count();
    for params in [
        json!({"id": 123_456}),
        json!({"id": "x"}),
        json!({}),
        json!([1]),
        json!({"id": null}),
        json!({"id": {}}),
    ] {
        server.notify("$/cancelRequest", params);
    }
    // A request of another id as text is another id.
    server.notify("$/cancelRequest", json!({"id": poll.to_string()}));
    server.ping();
    assert_eq!(
        server.messages_from(from).len(),
        1,
        "{:?}",
        server.messages_from(from)
    );
    process.write(b"x");
    assert_eq!(
        server.reply(&poll)["result"]["chunks"].as_array().map(Vec::len),
        Some(1)
    );
    // One that was answered already.
    server.notify("$/cancelRequest", json!({"id": poll}));
    server.assert_works();
}
