//! Requests of the server: answered by the handler, or refused.

use exec_client::{ClientLimits, ServerRequest};
use exec_protocol::RpcError;
use serde_json::json;

use crate::scripted::{pair, pair_with};

#[tokio::test]
async fn without_a_handler_every_request_is_refused() {
    let (_client, mut server) = pair();
    server
        .send(json!({"id": "a-1", "method": "session/approve", "params": {}}))
        .await;
    let answer = server.receive().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("a-1"), &json!(-32601))
    );
}

#[tokio::test]
async fn a_handler_answers_now_later_or_not() {
    let (sender, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let handler = move |request: ServerRequest| {
        if request.method() == "now" {
            let result = json!({"params": request.params()});
            request.answer(Ok(result));
        } else {
            sender.send(request).expect("the test listens");
        }
    };
    let (_client, mut server) = pair_with(Some(Box::new(handler)), ClientLimits::default(), 4096);
    for (id, method) in [(1, "later"), (2, "never"), (3, "now")] {
        server
            .send(json!({"id": id, "method": method, "params": {"n": id}}))
            .await;
    }
    assert_eq!(
        server.receive().await,
        json!({"jsonrpc": "2.0", "id": 3, "result": {"params": {"n": 3}}})
    );
    let later = requests.recv().await.expect("a request");
    drop(requests.recv().await.expect("a request"));
    assert_eq!(server.receive().await["error"]["code"], -32601);
    later.answer::<()>(Err(RpcError::new(-1, "no")));
    let expected = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}});
    assert_eq!(server.receive().await, expected);
}
