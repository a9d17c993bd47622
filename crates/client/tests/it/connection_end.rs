//! The end of a connection: nobody waits for what can no longer come.

use exec_client::{CallError, Client, Closed};

use crate::scripted::{command, pair};

#[tokio::test]
async fn the_servers_end_fails_pending_and_later_calls() {
    let (client, mut server) = pair();
    let server_side = async {
        server.receive_request("process/list").await;
        drop(server);
    };
    let (result, ()) = tokio::join!(client.list(), server_side);
    assert!(
        matches!(result, Err(CallError::Closed(Closed::ByServer))),
        "{result:?}"
    );
    let result = client.list().await;
    assert!(
        matches!(result, Err(CallError::Closed(Closed::ByServer))),
        "{result:?}"
    );
}

#[tokio::test]
async fn events_that_came_are_given_out_before_the_end_is() {
    let (client, mut server) = pair();
    let params = command("p");
    let (started, ()) = tokio::join!(client.start(&params), server.accept_start());
    let (_, mut events) = started.expect("started");
    server.output("p", 1, "QQ==").await;
    drop(server);
    assert!(matches!(events.next().await, Ok(Some(event)) if event.seq() == Some(1)));
    assert!(matches!(events.next().await, Err(Closed::ByServer)));
}

#[tokio::test]
async fn a_stopped_task_fails_calls() {
    let (ours, _theirs) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(ours);
    let (client, connection) = Client::connect(reader, writer);
    drop(connection);
    let result = client.list().await;
    assert!(
        matches!(result, Err(CallError::Closed(Closed::Stopped))),
        "{result:?}"
    );
}

#[tokio::test]
async fn the_last_handle_closes_the_servers_input() {
    let (client, mut server) = pair();
    let params = command("p");
    let (started, ()) = tokio::join!(client.start(&params), server.accept_start());
    let (_, mut events) = started.expect("started");
    // Events are a handle: what is started is not ended behind the back of whoever listens to it.
    drop(client);
    server.output("p", 1, "QQ==").await;
    assert!(matches!(events.next().await, Ok(Some(_))));
    drop(events);
    assert!(server.is_at_end().await);
}

#[tokio::test]
async fn closing_writes_what_is_queued_and_takes_answers_that_still_come() {
    let (client, mut server) = pair();
    let server_side = async {
        let id = server.receive_request("process/list").await;
        assert!(server.is_at_end().await);
        server.answer(&id, serde_json::json!({"processes": []})).await;
    };
    let closing = async {
        client.close();
        client.list().await
    };
    let (first, second, ()) = tokio::join!(client.list(), closing, server_side);
    first.expect("answered");
    assert!(
        matches!(second, Err(CallError::Closed(Closed::ByClient))),
        "{second:?}"
    );
}
