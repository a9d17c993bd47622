//! Stdin: nothing, or exactly what the client writes, in order, up to an end the client chooses.

use std::time::Duration;

use exec_tests::{Server, helper, marker, ours_only, program};
use serde_json::json;

fn b64(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

/// FNV-1a, as `helper digest` makes it.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn without_pipe_stdin_readers_see_the_end_at_once() {
    let server = Server::start();
    assert_eq!(server.run(program(&["/bin/cat"])), (0, Vec::new()));
}

#[test]
fn the_daemons_own_stdin_is_not_the_childs() {
    let server = Server::start();
    let own = std::fs::read_link(format!("/proc/{}/fd/0", server.pid())).expect("a link");
    for launch in [
        program(&["/bin/readlink", "/proc/self/fd/0"]),
        program(&["/bin/readlink", "/proc/self/fd/0"]).pipe_stdin(),
    ] {
        let (_, output) = server.run(launch);
        assert_ne!(String::from_utf8_lossy(&output).trim(), own.to_string_lossy());
    }
}

#[test]
fn bytes_arrive_exactly() {
    let server = Server::start();
    let data: Vec<u8> = (0..=255).cycle().take(16_384).collect();
    let process = server.spawn(program(&["/usr/bin/head", "-c", "16384"]).pipe_stdin());
    process.write(&data);
    assert_eq!((process.closed(), process.output() == data), (0, true));
}

#[test]
fn a_child_that_does_not_read_holds_nobody_up() {
    let server = Server::start();
    for tty in [false, true] {
        let process = server.spawn(helper(&["deaf", "raw"]).on(tty).pipe_stdin());
        process.await_output(b"up");
        let writes: Vec<_> = (0..32)
            .map(|_| process.post("write", process.write_params(&[b'z'; 65_536])))
            .collect();
        let ping = server.ping();
        assert!(ping < Duration::from_secs(1), "tty {tty}: {ping:?}");
        server.assert_works();
        // Blocked, not busy.
        let before = server.cpu();
        server
            .process("none")
            .server
            .until(Duration::from_secs(1), |_| None::<()>);
        let used = server.cpu() - before;
        assert!(
            used < Duration::from_millis(500),
            "tty {tty}: {used:?} of CPU in a second"
        );
        if exec_tests::ours() {
            // One mebibyte may wait; the write that would come after is refused, and so are those behind it.
            let refused = writes
                .iter()
                .filter(|id| server.reply(id).get("error").is_some())
                .count();
            assert!(refused > 0, "2 MiB were queued");
            let last = server.reply(&writes[31]);
            assert_eq!(last["error"]["data"]["kind"], "stdinBacklogFull", "{last}");
            assert_eq!(last["error"]["data"]["limitBytes"], 1 << 20, "{last}");
        }
        process.terminate();
        process.closed();
    }
}

#[test]
fn a_child_that_closed_its_stdin_is_unharmed() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("gate");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    )
    .expect("mkfifo");
    let process = server.spawn(helper(&["closed-stdin", &fifo.to_string_lossy()]).pipe_stdin());
    process.await_output(b"up");
    for _ in 0..5 {
        let id = process.post("write", process.write_params(&[b'x'; 1000]));
        server.reply(&id);
    }
    if exec_tests::ours() {
        // Found out at the first write to it at the latest.
        let known = exec_tests::eventually(Duration::from_secs(5), || {
            let status = process.ask("write", process.write_params(b"x"));
            (status["status"] == "stdinClosed").then_some(())
        });
        assert!(known.is_some(), "writes to a closed pipe stay accepted");
    }
    server.assert_works();
    drop(std::fs::OpenOptions::new().write(true).open(&fifo).expect("open"));
    assert_eq!((process.closed(), process.text().ends_with("done\n")), (0, true));
}

#[test]
fn without_pipe_stdin_writes_are_not_accepted() {
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    let id = process.post("write", process.write_params(b"x"));
    assert_ne!(server.reply(&id)["result"]["status"], "accepted");
    let unknown = server.process("nope");
    assert_eq!(
        unknown.ask("write", unknown.write_params(b"x")),
        json!({"status": "unknownProcess"})
    );
}

#[test]
fn a_finished_process_takes_no_more() {
    let server = Server::start();
    let process = server.spawn(program(&["/bin/true"]).pipe_stdin());
    process.closed();
    let status = process.ask("write", process.write_params(b"x"))["status"].take();
    assert!(
        status == "stdinClosed" || (!exec_tests::ours() && status != "accepted"),
        "{status}"
    );
}

#[test]
fn a_write_needs_no_id() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    assert_eq!(
        process.ask("write", json!({"chunk": b64(b"x\n")})),
        json!({"status": "accepted"})
    );
    process.await_output(b"x\n");
}

#[test]
fn bad_base64_writes_nothing() {
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    for bad in ["!!!", "abc", "a===", "YQ==YQ==", "YWJ\nj"] {
        process.refused(
            "write",
            json!({"chunk": bad, "writeId": bad}),
            -32602,
            "invalidParam",
        );
    }
    process.write(b"ok\n");
    process.await_output(b"ok\n");
    assert_eq!(process.output(), b"ok\n");
}

#[test]
fn close_stdin_is_the_end_of_file_after_what_is_queued() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    let data = vec![b'q'; 500_000];
    process.write(&data);
    assert_eq!(
        process.ask("closeStdin", json!({})),
        json!({"status": "accepted"})
    );
    assert_eq!(
        process.ask("closeStdin", json!({})),
        json!({"status": "stdinClosed"})
    );
    assert_eq!(
        process.ask("write", process.write_params(b"late")),
        json!({"status": "stdinClosed"})
    );
    assert_eq!((process.closed(), process.output() == data), (0, true));
    let unknown = server.process("nope");
    assert_eq!(
        unknown.ask("closeStdin", json!({})),
        json!({"status": "unknownProcess"})
    );
}

#[test]
fn a_write_can_be_the_last() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    assert_eq!(
        process.ask("write", json!({"chunk": b64(b"one ")}))["status"],
        "accepted"
    );
    assert_eq!(
        process.ask("write", json!({"chunk": b64(b"two"), "closeStdin": true}))["status"],
        "accepted"
    );
    assert_eq!((process.closed(), process.output()), (0, b"one two".to_vec()));
    let empty = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    assert_eq!(
        empty.ask("write", json!({"chunk": "", "closeStdin": true}))["status"],
        "accepted"
    );
    assert_eq!((empty.closed(), empty.output()), (0, Vec::new()));
}

#[test]
fn a_terminal_has_no_end_of_file_to_close() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).tty());
    process.refused("closeStdin", json!({}), -32600, "stdinIsTerminal");
    process.write(b"\x04");
    assert_eq!(process.closed(), 0);
}

#[test]
fn close_stdin_needs_a_pipe() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    let id = process.post("closeStdin", json!({}));
    let reply = server.reply(&id);
    let refused = reply["error"]["data"]["kind"] == "stdinNotPiped" && reply["error"]["code"] == -32600;
    assert!(
        refused || reply["result"] == json!({"status": "stdinClosed"}),
        "{reply}"
    );
}

#[test]
fn stdin_at_start_comes_first() {
    ours_only!();
    let server = Server::start();
    let data = vec![b's'; 300_000];
    let (code, output) = server.run(program(&["/bin/cat"]).set("stdin", b64(&data)));
    assert_eq!((code, output == data), (0, true));
    let piped = server.spawn(program(&["/bin/cat"]).set("stdin", b64(b"first ")).pipe_stdin());
    piped.write(b"second");
    piped.ask("closeStdin", json!({}));
    assert_eq!((piped.closed(), piped.output()), (0, b"first second".to_vec()));
    let terminal = server.spawn(program(&["/bin/cat"]).set("stdin", b64(b"typed\n\x04")).tty());
    assert_eq!(
        (terminal.closed(), terminal.text().as_str()),
        (0, "typed\ntyped\n")
    );
    server.start_refused(program(&["/bin/cat"]).set("stdin", "***"), -32602, "invalidParam");
}

#[test]
fn a_long_paste_reaches_a_line_reader() {
    let server = Server::start();
    let data: Vec<u8> = (0..800).flat_map(|i| format!("{i:079}\n").into_bytes()).collect();
    let process = server.spawn(helper(&["digest", &data.len().to_string()]).tty());
    process.await_output(b"up");
    process.write(&data);
    process.await_output(format!("hash {:016x} left 0", hash(&data)).as_bytes());
}
