//! `initialize`, then `initialized`, then everything else; each once.

use exec_tests::{Server, ours, ours_only, program};
use serde_json::json;

#[test]
fn nothing_before_initialize() {
    let server = Server::builder().without_handshake().start();
    let error = server.refused(
        "process/terminate",
        json!({"processId": "x"}),
        -32600,
        "wrongState",
    );
    if ours() {
        assert_eq!(error["data"]["state"], "uninitialized", "{error}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|m| m.contains("initialize")),
            "{error}"
        );
    }
    server.ok("initialize", json!({"clientName": "late"}));
    server.notify("initialized", json!({}));
    server.assert_works();
}

#[test]
fn nothing_before_initialized() {
    let server = Server::builder().without_handshake().start();
    server.ok("initialize", json!({"clientName": "x"}));
    let error = server.start_refused(program(&["/bin/true"]), -32600, "wrongState");
    if ours() {
        assert_eq!(error["data"]["state"], "initializing", "{error}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|m| m.contains("initialized")),
            "{error}"
        );
    }
    server.notify("initialized", json!({}));
    server.assert_works();
}

#[test]
fn initialize_only_once() {
    let server = Server::start();
    server.refused("initialize", json!({"clientName": "again"}), -32600, "wrongState");
    server.assert_works();
}

#[test]
fn a_failed_initialize_can_be_tried_again() {
    let server = Server::builder().without_handshake().start();
    assert_eq!(server.err("initialize", json!({}))["code"], -32602);
    if ours() {
        server.refused(
            "initialize",
            json!({"clientName": "x", "resumeSessionId": "old"}),
            -32600,
            "unknownSession",
        );
    }
    server.ok("initialize", json!({"clientName": "x", "resumeSessionId": null}));
    server.notify("initialized", json!({}));
    server.assert_works();
}

#[test]
fn each_session_has_an_id_of_its_own() {
    let ids: Vec<_> = (0..2)
        .map(|_| {
            let server = Server::builder().without_handshake().start();
            server.ok("initialize", json!({"clientName": "x"}))["sessionId"].take()
        })
        .collect();
    assert!(
        ids.iter().all(|id| id.as_str().is_some_and(|id| !id.is_empty())),
        "{ids:?}"
    );
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn initialized_needs_no_params_and_may_come_again() {
    ours_only!();
    let server = Server::builder().without_handshake().start();
    server.ok("initialize", json!({"clientName": "x"}));
    server.send(&json!({"method": "initialized"}));
    server.send(&json!({"method": "initialized"}));
    server.assert_works();
}
