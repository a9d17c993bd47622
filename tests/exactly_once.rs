//! The same write or start again is not done again.

use exec_tests::{Server, helper, marker, ours_only, program};
use serde_json::json;

#[test]
fn a_write_id_is_written_once() {
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let again = process.write_params(b"once\n");
    for _ in 0..3 {
        assert_eq!(process.ask("write", again.clone()), json!({"status": "accepted"}));
    }
    process.write(b"end\n");
    process.await_output(b"end\n");
    assert_eq!(process.text(), "once\nend\n");
}

#[test]
fn a_refused_write_can_be_tried_again() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["deaf"]).pipe_stdin());
    process.await_output(b"up");
    let full = |i: u32| json!({"chunk": base64_simd::STANDARD.encode_to_string([b'x'; 262_144]), "writeId": format!("f{i}")});
    let refused = (0..32).find(|i| {
        let id = process.post("write", full(*i));
        server.reply(&id)["error"]["data"]["kind"] == "stdinBacklogFull"
    });
    let refused = refused.expect("a backlog has an end");
    // The same id again: not remembered as written.
    process.refused("write", full(refused), -32600, "stdinBacklogFull");
}

#[test]
fn a_start_id_starts_once() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let launch = || helper(&["sleep", &mark]).id("s").set("startId", "attempt-1");
    let first = server.spawn(launch());
    let second = server.spawn(launch());
    assert_eq!(first.result, second.result);
    assert_eq!(server.await_marked(&mark, 1).len(), 1);
    // Another startId is another start: the id is in use.
    server.start_refused(launch().set("startId", "attempt-2"), -32600, "processIdInUse");
    server.start_refused(launch().without("startId"), -32600, "processIdInUse");
    first.terminate();
    first.closed();
    // Still the same start, though it has ended: nothing is started.
    assert_eq!(server.spawn(launch()).result, first.result);
    server.ping();
    assert_eq!(server.marked(&mark), Vec::<u32>::new());
}

#[test]
fn two_starts_sent_together_are_one() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let launch = || helper(&["sleep", &mark]).id("t").set("startId", "x");
    let (_, first) = server.spawn_later(launch());
    let (_, second) = server.spawn_later(launch());
    let (first, second) = (server.reply(&first), server.reply(&second));
    assert_eq!(first["result"], second["result"]);
    assert!(first["result"].is_object(), "{first}");
    assert_eq!(server.await_marked(&mark, 1).len(), 1);
}
