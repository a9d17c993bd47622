//! Starts: no event is missed, no id is used twice at once, no process is left behind.

use exec_client::{CallError, ProcessEvent};
use serde_json::json;

use crate::scripted::{command, pair};

#[tokio::test]
async fn events_written_together_with_the_reply_are_not_missed() {
    let (client, mut server) = pair();
    let server_side = async {
        let id = server.receive_request("process/start").await;
        let reply = json!({"id": id, "result": {"processId": "p", "sandboxType": "none"}});
        let output = json!({"method": "process/output",
            "params": {"processId": "p", "seq": 1, "stream": "stderr", "chunk": ""}});
        server.send_line(&format!("{reply}\n{output}")).await;
    };
    let params = command("p");
    let (started, ()) = tokio::join!(client.start(&params), server_side);
    let event = started.expect("started").1.next().await;
    assert!(matches!(event, Ok(Some(ProcessEvent::Output(output))) if output.seq == 1));
}

#[tokio::test]
async fn an_id_in_use_is_refused_here_and_free_after_closed() {
    let (client, mut server) = pair();
    let params = command("p");
    let (started, ()) = tokio::join!(client.start(&params), server.accept_start());
    let first = started.expect("started").1;
    let again = client.start(&params).await;
    assert!(matches!(again, Err(CallError::ProcessIdInUse(_))), "{again:?}");
    server.closed("p", 1, "ended").await;
    first.collect(0).await.expect("closed");
    let (again, ()) = tokio::join!(client.start(&params), server.accept_start());
    again.expect("the id is free");
}

#[tokio::test]
async fn an_id_is_free_after_a_refused_start() {
    let (client, mut server) = pair();
    let params = command("p");
    let server_side = async {
        let id = server.receive_request("process/start").await;
        server.refuse(&id, "limitReached").await;
        server.accept_start().await;
    };
    let starts = async {
        assert!(matches!(client.start(&params).await, Err(CallError::Remote(_))));
        client.start(&params).await.expect("free again");
    };
    tokio::join!(starts, server_side);
}

#[tokio::test]
async fn a_dropped_start_that_the_server_had_done_is_terminated() {
    let (client, mut server) = pair();
    let params = command("p");
    let id = tokio::select! {
        _ = client.start(&params) => unreachable!("never answered"),
        id = server.receive_request("process/start") => id,
    };
    assert_eq!(server.receive().await["method"], "$/cancelRequest");
    // The two crossed: it had been started when the cancel came.
    server
        .answer(&id, json!({"processId": "p", "sandboxType": "none"}))
        .await;
    let terminate = server.receive().await;
    assert_eq!(terminate["method"], "process/terminate");
    assert_eq!(terminate["params"]["processId"], "p");
}

#[tokio::test]
async fn a_start_dropped_with_its_reply_unread_is_terminated() {
    let (client, mut server) = pair();
    let params = command("p");
    let mut starting = Box::pin(client.start(&params));
    tokio::select! {
        biased;
        _ = &mut starting => unreachable!("not answered yet"),
        () = server.accept_start() => {}
    }
    // A round trip behind it: the reply is in the client, and the future has not seen it.
    let server_side = async {
        let id = server.receive_request("process/list").await;
        server.answer(&id, json!({"processes": []})).await;
    };
    let (list, ()) = tokio::join!(client.list(), server_side);
    list.expect("list");
    drop(starting);
    assert_eq!(server.receive().await["method"], "process/terminate");
}
