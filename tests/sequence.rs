//! One counter a process: 1, 2, 3, … over output, exited and closed; closed is last; the start reply comes before all.

use exec_tests::{Server, program, sh};

#[test]
fn numbers_have_no_gaps() {
    let server = Server::start();
    for tty in [false, true] {
        let process =
            server.spawn(sh("for i in 1 2 3 4 5 6; do echo $i; echo $i >&2; sleep 0.02; done").on(tty));
        process.closed();
        let numbers: Vec<u64> = process.events().iter().filter_map(|e| e.seq).collect();
        assert_eq!(
            numbers,
            (1..=numbers.len() as u64).collect::<Vec<_>>(),
            "tty: {tty}"
        );
        assert!(numbers.len() >= 4);
    }
}

#[test]
fn closed_is_last_for_1500_processes() {
    let server = Server::start();
    for round in 0..15 {
        let all: Vec<_> = (0..100)
            .map(|i| server.spawn_later(program(&["/bin/echo", "x"]).on(i % 2 == 1)))
            .collect();
        for (process, start) in &all {
            assert!(server.reply(start).get("result").is_some());
            process.closed_within(std::time::Duration::from_secs(60));
        }
        // A request after all of them: what would come late has come.
        server.ping();
        for (process, _) in &all {
            let kinds: Vec<String> = process.events().into_iter().map(|e| e.kind).collect();
            assert_eq!(
                kinds.last().map(String::as_str),
                Some("closed"),
                "round {round}: {kinds:?}"
            );
            let position = |kind| kinds.iter().position(|k| k == kind);
            assert!(
                position("exited") < position("closed"),
                "round {round}: {kinds:?}"
            );
        }
    }
}

#[test]
fn the_start_reply_comes_first() {
    exec_tests::ours_only!();
    // The harness notes a notification that comes before its start's reply as a broken rule.
    let server = Server::start();
    let all: Vec<_> = (0..80)
        .map(|i| server.spawn_later(program(&["/bin/echo", "x"]).on(i % 2 == 1)))
        .collect();
    for (process, _) in &all {
        process.closed();
    }
    server.finish();
}
