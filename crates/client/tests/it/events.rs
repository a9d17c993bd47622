//! Events of a process: from the first to the last, and then the end.

use exec_client::ProcessEvent;
use exec_protocol::initialize::InitializeParams;
use serde_json::json;

use crate::scripted::{command, pair};

#[tokio::test]
async fn a_process_is_collected_to_its_close() {
    let (client, mut server) = pair();
    let params = command("p");
    let server_side = async {
        server.accept_start().await;
        server.output("p", 1, "b25l").await;
        server.exited("p", 2).await;
        server.output("p", 3, "dHdv").await;
        server.closed("p", 4, "ended").await;
    };
    let (started, ()) = tokio::join!(client.start(&params), server_side);
    let collected = started.expect("started").1.collect(5).await.expect("closed");
    assert_eq!(collected.stdout, b"onetw");
    assert_eq!(collected.omitted_bytes, 1);
    assert_eq!(collected.exited.map(|exited| exited.exit_code), Some(0));
    assert_eq!(collected.closed.map(|closed| closed.seq), Some(4));
}

#[tokio::test]
async fn closed_is_the_last_event_unless_the_end_of_the_tree_was_asked_for() {
    for asked in [false, true] {
        let (client, mut server) = pair();
        let mut hello = InitializeParams::new("test");
        hello.notify_tree_ended = Some(asked);
        let server_side = async {
            // What the answer says is no matter: what was asked for counts.
            let id = server.receive_request("initialize").await;
            server.answer(&id, json!({})).await;
        };
        let _ = tokio::join!(client.initialize(&hello), server_side);
        let params = command("p");
        let (started, ()) = tokio::join!(client.start(&params), server.accept_start());
        let mut events = started.expect("started").1;
        server.closed("p", 1, "running").await;
        assert!(matches!(events.next().await, Ok(Some(ProcessEvent::Closed(_)))));
        if asked {
            server
                .notify("process/treeEnded", json!({"processId": "p"}))
                .await;
            assert!(matches!(events.next().await, Ok(Some(ProcessEvent::TreeEnded))));
        }
        assert!(matches!(events.next().await, Ok(None)));
        assert_eq!(client.stats(), exec_client::Stats::default());
    }
}

#[tokio::test]
async fn a_lost_event_is_counted() {
    let (client, mut server) = pair();
    let params = command("p");
    let (started, ()) = tokio::join!(client.start(&params), server.accept_start());
    let mut events = started.expect("started").1;
    server.output("p", 1, "QQ==").await;
    server.output("p", 3, "Qg==").await;
    server.closed("p", 4, "ended").await;
    while events.next().await.expect("connected").is_some() {}
    assert_eq!(client.stats().sequence_gaps, 1);
}
