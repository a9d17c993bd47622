//! What a client does not know is counted, and harms nothing.

use exec_client::{CallError, ClientLimits, Stats};
use serde_json::json;

use crate::scripted::{pair, pair_with};

#[tokio::test]
async fn strange_messages_are_counted_and_the_next_answer_arrives() {
    let (client, mut server) = pair();
    let server_side = async {
        let id = server.receive_request("process/list").await;
        server.notify("fs/somethingNew", json!({})).await;
        server.output("nobody", 1, "QQ==").await;
        server.notify("process/output", json!({"processId": 1})).await;
        server.answer(&json!(12345), json!({})).await;
        server.answer(&json!("theirs"), json!({})).await;
        server.answer(&json!(null), json!({})).await;
        server.send_line("not json").await;
        server.send_line("").await;
        server.answer(&id, json!({"processes": []})).await;
    };
    let (list, ()) = tokio::join!(client.list(), server_side);
    list.expect("answered");
    let expected = Stats {
        unknown_notifications: 1,
        unclaimed_notifications: 1,
        invalid_notifications: 1,
        unsolicited_responses: 3,
        invalid_lines: 1,
        ..Stats::default()
    };
    assert_eq!(client.stats(), expected);
}

#[tokio::test]
async fn an_answer_over_the_cap_fails_its_call_only() {
    let limits = ClientLimits {
        max_incoming_line_bytes: 200,
        ..ClientLimits::default()
    };
    let (client, mut server) = pair_with(None, limits, 64 * 1024);
    let server_side = async {
        let first = server.receive_request("process/list").await;
        let second = server.receive_request("process/list").await;
        server
            .send_line(&format!(r#"{{"id":{first},"result":"{}"}}"#, "x".repeat(500)))
            .await;
        server.answer(&second, json!({"processes": []})).await;
    };
    let (first, second, ()) = tokio::join!(client.list(), client.list(), server_side);
    assert!(
        matches!(first, Err(CallError::AnswerTooLong { limit_bytes: 200 })),
        "{first:?}"
    );
    second.expect("answered");
    assert_eq!(client.stats().oversized_lines, 1);
}
