//! A PTY is a terminal: controlling, sized, with line discipline and job control.

use std::time::Duration;

use exec_tests::{Server, helper, marker, ours, ours_only, program};
use serde_json::json;

const SECONDS: fn(u64) -> Duration = Duration::from_secs;

#[test]
fn it_is_the_controlling_terminal() {
    let server = Server::start();
    let process = server.spawn(helper(&["inherited"]).tty());
    process.closed();
    let report: serde_json::Value = serde_json::from_str(&process.text()).expect("a report");
    assert_eq!(report["terminals"], json!([true, true, true]));
    for member in ["leadsSession", "leadsGroup", "foreground", "devTty"] {
        assert_eq!(report[member], true, "{member}");
    }
}

#[test]
fn control_d_is_the_end_of_file() {
    let server = Server::start();
    let process = server.spawn(program(&["/bin/cat"]).tty());
    process.write(b"abc\n\x04");
    assert_eq!((process.closed(), process.text().as_str()), (0, "abc\nabc\n"));
}

#[test]
fn control_c_ends_the_foreground_job_and_not_the_shell() {
    let server = Server::start();
    let mark = marker();
    let shell = program(&["/bin/bash", "--norc", "--noprofile", "-i"])
        .tty()
        .env("PS1", "READY$ ");
    let process = server.spawn(shell);
    process.await_output(b"READY$ ");
    let helper = exec_tests::target::helper_path();
    // A job that has the terminal says so.
    process.write(format!("{helper} tree {mark} child\n").as_bytes());
    process.await_output(b"up\r\n");
    process.write(b"\x03");
    server.assert_none_marked(&mark, SECONDS(3));
    process.write(b"echo al\"\"ive $?\n");
    process.await_output(b"alive 130");
}

#[test]
fn it_starts_at_24_by_80() {
    let server = Server::start();
    let process = server.spawn(program(&["/bin/stty", "size"]).tty());
    assert_eq!((process.closed(), process.text().as_str()), (0, "24 80\n"));
}

#[test]
fn it_starts_as_asked() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(
        program(&["/bin/stty", "size"])
            .tty()
            .set("size", json!({"rows": 65_535, "cols": 1})),
    );
    assert_eq!((process.closed(), process.text().as_str()), (0, "65535 1\n"));
    for size in [
        json!({"rows": 0, "cols": 1}),
        json!({"rows": 1, "cols": 65_536}),
        json!({"rows": 1}),
        json!(5),
    ] {
        server.start_refused(
            program(&["/bin/true"]).tty().set("size", size),
            -32602,
            "invalidParam",
        );
    }
    let pipes = program(&["/bin/true"]).set("size", json!({"rows": 24, "cols": 80}));
    let error = server.start_refused(pipes, -32602, "invalidParam");
    assert_eq!(error["data"]["member"], "size", "{error}");
}

#[test]
fn resize_reaches_the_process() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["winch"]).tty());
    process.await_output(b"size 24 80");
    assert_eq!(process.ask("resize", json!({"rows": 40, "cols": 123})), json!({}));
    process.await_output(b"size 40 123");
    process.signal("SIGUSR1");
    process.closed();
    assert_eq!(
        process.ask("resize", json!({"rows": 41, "cols": 123})),
        json!({}),
        "after exit"
    );
}

#[test]
fn resize_refuses_what_it_cannot_do() {
    ours_only!();
    let server = Server::start();
    let terminal = server.spawn(helper(&["winch"]).tty());
    for params in [
        json!({"rows": 0, "cols": 5}),
        json!({"rows": 5}),
        json!({"cols": 5}),
        json!({"rows": 5, "cols": 65_536}),
        json!({"rows": -1, "cols": 5}),
    ] {
        terminal.refused("resize", params, -32602, "invalidParam");
    }
    let pipes = server.spawn(helper(&["sleep", &marker()]));
    pipes.refused("resize", json!({"rows": 5, "cols": 5}), -32600, "notTerminal");
    server
        .process("nope")
        .refused("resize", json!({"rows": 5, "cols": 5}), -32600, "unknownProcess");
}

#[test]
fn a_cursor_query_is_answered_once() {
    let server = Server::start();
    for parts in [&["ESC[6n"][..], &["ESC", "[6", "n"]] {
        let args: Vec<&str> = ["cursor-query"].iter().chain(parts).copied().collect();
        let process = server.spawn(helper(&args).tty());
        // The query is passed on as it is: the client is the terminal and answers. `E` ends the program's wait.
        if ours() {
            process.await_output(b"\x1b[6n");
            process.write(b"\x1b[7;9R");
        }
        process.write(b"E");
        process.closed();
        let answer: String = b"\x1b[7;9R".iter().map(|b| format!("{b:02x}")).collect();
        assert!(
            !ours() || process.text().contains(&format!("<{answer}>")),
            "{:?}",
            process.text()
        );
    }
}

#[test]
fn a_hundred_at_once() {
    let server = Server::start();
    server.assert_works();
    let before = server.descriptors();
    let all: Vec<_> = (0..100)
        .map(|_| server.spawn(program(&["/bin/cat"]).tty()))
        .collect();
    for (i, process) in all.iter().enumerate() {
        process.write(format!("n{i}\n").as_bytes());
    }
    for (i, process) in all.iter().enumerate() {
        process.await_output(format!("n{i}\r\nn{i}\r\n").as_bytes());
    }
    for process in &all {
        process.terminate();
    }
    for process in &all {
        process.closed();
    }
    let freed = exec_tests::eventually(SECONDS(3), || (server.descriptors() <= before + 3).then_some(()));
    assert!(
        freed.is_some(),
        "descriptors: {before} → {}",
        server.descriptors()
    );
}
