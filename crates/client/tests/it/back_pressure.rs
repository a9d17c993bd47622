//! Events that nobody takes stop the connection, not the memory.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use exec_client::ClientLimits;

use crate::scripted::{command, pair_with};

const CHUNK: &str = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=";

fn small() -> ClientLimits {
    ClientLimits {
        event_buffer_bytes: 4096,
        ..ClientLimits::default()
    }
}

/// How far a server gets that writes until it would block for good.
async fn fill(server: &mut crate::scripted::Server) -> u64 {
    let mut sent = 0;
    loop {
        let mut output = pin!(server.output("p", sent + 1, CHUNK));
        // The connection's task runs whenever this one yields; if it takes nothing in so many turns, it waits.
        for turn in 0.. {
            if output
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_ready()
            {
                break;
            }
            if turn == 1000 {
                return sent;
            }
            tokio::task::yield_now().await;
        }
        sent += 1;
    }
}

#[tokio::test]
async fn a_consumer_that_takes_nothing_stops_the_server_within_a_bound() {
    let (client, mut server) = pair_with(None, small(), 256);
    let params = command("p");
    let (started, ()) = tokio::join!(client.start(&params), server.accept_start());
    let mut events = started.expect("started").1;
    let sent = fill(&mut server).await;
    // The bound, the pipe, and one read: the client reads ahead what is in the pipe.
    assert!((1..4096 / 26 + 10).contains(&sent), "{sent} chunks");
    for seq in 1..=sent {
        let event = events.next().await.expect("connected").expect("more");
        assert_eq!(event.seq(), Some(seq));
    }
}

#[tokio::test]
async fn dropping_the_events_lets_the_connection_go_on() {
    let (client, mut server) = pair_with(None, small(), 256);
    let params = command("p");
    let (started, ()) = tokio::join!(client.start(&params), server.accept_start());
    let events = started.expect("started").1;
    // The half-written chunk is the last line of its kind; a newline of its own ends it.
    fill(&mut server).await;
    drop(events);
    server.send_line("").await;
    let server_side = async {
        let id = server.receive_request("process/list").await;
        server.answer(&id, serde_json::json!({"processes": []})).await;
    };
    let (list, ()) = tokio::join!(client.list(), server_side);
    list.expect("answered");
}
