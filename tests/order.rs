//! Requests that name one process act in the order received.

use exec_tests::{Server, helper, marker, ours_only, program};
use serde_json::json;

#[test]
fn start_writes_and_end_sent_in_one_go() {
    ours_only!();
    let server = Server::start();
    for round in 0..20 {
        let (process, start) = server.spawn_later(program(&["/bin/cat"]).pipe_stdin().on(false));
        let writes: Vec<_> = (0..20)
            .map(|i| process.post("write", process.write_params(format!("{i} ").as_bytes())))
            .collect();
        let end = process.post("closeStdin", json!({}));
        assert!(server.reply(&start).get("result").is_some());
        for write in &writes {
            assert_eq!(
                server.reply(write)["result"]["status"],
                "accepted",
                "round {round}"
            );
        }
        assert_eq!(
            server.reply(&end)["result"]["status"],
            "accepted",
            "round {round}"
        );
        process.closed();
        let expected: String = (0..20).map(|i| format!("{i} ")).collect();
        assert_eq!(process.text(), expected, "round {round}");
    }
}

#[test]
fn signal_and_resize_reach_a_process_just_asked_for() {
    ours_only!();
    let server = Server::start();
    let (process, start) = server.spawn_later(helper(&["winch"]).tty());
    let resize = process.post("resize", json!({"rows": 50, "cols": 60}));
    assert!(server.reply(&start).get("result").is_some());
    assert_eq!(server.reply(&resize)["result"], json!({}));
    process.await_output(b"size 50 60");
    let (process, start) = server.spawn_later(helper(&["sleep", &marker()]));
    process.post("signal", json!({"signal": "SIGKILL"}));
    assert!(server.reply(&start).get("result").is_some());
    assert_eq!(process.closed(), 137);
}

#[test]
fn two_starts_of_one_id_sent_together() {
    ours_only!();
    let server = Server::start();
    let (first, one) = server.spawn_later(program(&["/bin/cat"]).pipe_stdin().id("same"));
    let (_, two) = server.spawn_later(program(&["/bin/true"]).id("same"));
    assert!(server.reply(&one).get("result").is_some());
    assert_eq!(server.reply(&two)["error"]["data"]["kind"], "processIdInUse");
    first.write(b"first\n");
    first.await_output(b"first\n");
}

#[test]
fn a_refused_write_refuses_those_behind_it() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["deaf"]).pipe_stdin());
    process.await_output(b"up");
    let writes: Vec<_> = (0..64)
        .map(|_| process.post("write", process.write_params(&[b'w'; 65_536])))
        .collect();
    let refused: Vec<bool> = writes
        .iter()
        .map(|w| server.reply(w).get("error").is_some())
        .collect();
    let first = refused.iter().position(|r| *r).expect("4 MiB do not fit");
    assert!(
        refused[first..].iter().all(|r| *r),
        "a hole in the middle of a stream: {refused:?}"
    );
}
