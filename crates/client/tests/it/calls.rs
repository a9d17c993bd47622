//! Calls: each gets its own answer, and says so when it no longer wants one.

use exec_client::CallError;
use exec_protocol::ErrorKind;
use exec_protocol::initialize::InitializeParams;
use exec_protocol::method::{List, Wait};
use exec_protocol::process::{ListResponse, WaitParams, WaitUntil};
use serde_json::json;

use crate::scripted::pair;

#[tokio::test]
async fn the_handshake_is_initialize_then_initialized() {
    let (client, mut server) = pair();
    let server_side = async {
        let message = server.receive().await;
        assert_eq!(message["method"], "initialize");
        assert_eq!(message["params"]["clientName"], "test");
        let info = json!({
            "shell": {"name": "sh", "path": "/bin/sh"}, "executorVersion": "1", "providerId": "x",
            "cwd": "file:///", "userHomeDir": "file:///root", "platformOs": "linux",
            "prependPathDirs": [], "temporaryDirectories": [], "capabilities": {},
        });
        server
            .answer(&message["id"], json!({"sessionId": "s", "environmentInfo": info}))
            .await;
        let message = server.receive().await;
        assert_eq!(
            (&message["method"], &message["id"]),
            (&json!("initialized"), &json!(null))
        );
    };
    let params = InitializeParams::new("test");
    let (response, ()) = tokio::join!(client.initialize(&params), server_side);
    assert_eq!(response.expect("initialized").session_id, "s");
}

#[tokio::test]
async fn answers_in_any_order_reach_their_calls() {
    let (client, mut server) = pair();
    let server_side = async {
        let first = server.receive_request("process/list").await;
        let second = server.receive_request("process/terminate").await;
        server.answer(&second, json!({"running": true})).await;
        server.answer(&first, json!({"processes": []})).await;
    };
    let params = exec_protocol::method::Empty {};
    let id = "p".into();
    let (list, running, ()) = tokio::join!(
        client.call::<List>(&params),
        client.terminate(&id, None),
        server_side
    );
    assert_eq!(list.expect("list"), ListResponse::default());
    assert!(running.expect("terminate"));
}

#[tokio::test]
async fn an_error_of_the_server_is_remote_and_keeps_its_kind() {
    let (client, mut server) = pair();
    let server_side = async {
        let id = server.receive_request("process/signal").await;
        server.refuse(&id, "unknownProcess").await;
    };
    let id = "p".into();
    let (result, ()) = tokio::join!(client.signal(&id, "SIGTERM"), server_side);
    let error = result.expect_err("refused");
    assert!(matches!(&error, CallError::Remote(error) if error.code == -32600));
    assert_eq!(error.kind(), Some(ErrorKind::UnknownProcess));
}

#[tokio::test]
async fn a_result_of_another_shape_is_not_a_remote_error() {
    let (client, mut server) = pair();
    let server_side = async {
        let id = server.receive_request("process/list").await;
        server.answer(&id, json!({"processes": 7})).await;
    };
    let (result, ()) = tokio::join!(client.list(), server_side);
    assert!(matches!(
        result,
        Err(CallError::Result {
            method: "process/list",
            ..
        })
    ));
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let (client, mut server) = pair();
    let params = WaitParams {
        process_id: "p".into(),
        until: WaitUntil::Exit,
        timeout_ms: None,
    };
    let id = tokio::select! {
        _ = client.call::<Wait>(&params) => unreachable!("never answered"),
        id = server.receive_request("process/wait") => id,
    };
    let cancel = server.receive().await;
    assert_eq!(
        (&cancel["method"], &cancel["params"]["id"]),
        (&json!("$/cancelRequest"), &id)
    );
    // The answer to it is expected, and nobody's.
    server.refuse(&id, "requestCancelled").await;
    let server_side = async {
        let id = server.receive_request("process/list").await;
        server.answer(&id, json!({"processes": []})).await;
    };
    let (list, ()) = tokio::join!(client.list(), server_side);
    list.expect("list");
    assert_eq!(client.stats(), exec_client::Stats::default());
}
