//! Any interleaving of any number of processes arrives per process whole and in order.

use exec_client::{ClientLimits, ProcessEvent};
use proptest::prelude::*;

use crate::scripted::{command, pair_with};

/// Whose event is next, for `processes` processes with up to 20 events each.
fn interleavings() -> impl Strategy<Value = (usize, Vec<usize>)> {
    (1_usize..5).prop_flat_map(|processes| {
        let order = proptest::collection::vec(0..processes, 0..processes * 20);
        (Just(processes), order)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_interleaving_arrives_in_order_per_process(
        (processes, order) in interleavings(),
        pipe_bytes in 1_usize..2000,
        event_buffer_bytes in 1_usize..4000,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("runtime");
        let received = runtime.block_on(async {
            let limits = ClientLimits { event_buffer_bytes, ..ClientLimits::default() };
            let (client, mut server) = pair_with(None, limits, pipe_bytes);
            let mut consumers = Vec::new();
            for process in 0..processes {
                let params = command(&process.to_string());
                let (started, ()) = tokio::join!(client.start(&params), server.accept_start());
                let mut events = started.expect("started").1;
                consumers.push(tokio::spawn(async move {
                    let mut all = Vec::new();
                    while let Some(event) = events.next().await.expect("connected") {
                        all.push(match event {
                            ProcessEvent::Output(output) => (output.seq, output.chunk.0),
                            other => (other.seq().expect("numbered"), Vec::new()),
                        });
                    }
                    all
                }));
            }
            let mut seqs = vec![0_u64; processes];
            for process in &order {
                seqs[*process] += 1;
                server.output(&process.to_string(), seqs[*process], "QUJD").await;
            }
            for (process, seq) in seqs.iter().enumerate() {
                server.closed(&process.to_string(), seq + 1, "ended").await;
            }
            let mut received = Vec::new();
            for consumer in consumers {
                received.push(consumer.await.expect("no panic"));
            }
            assert_eq!(client.stats(), exec_client::Stats::default());
            received
        });
        for (process, all) in received.into_iter().enumerate() {
            let count = order.iter().filter(|of| **of == process).count() as u64;
            let mut expected: Vec<_> = (1..=count).map(|seq| (seq, b"ABC".to_vec())).collect();
            expected.push((count + 1, Vec::new()));
            prop_assert_eq!(all, expected);
        }
    }
}
