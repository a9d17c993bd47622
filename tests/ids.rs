//! Process ids are the client's: unique while known, any text, never mixed up.

use exec_tests::{Server, ours_only, program, sh};

#[test]
fn one_in_use_is_refused_and_the_first_untouched() {
    let server = Server::start();
    let first = server.spawn(program(&["/bin/cat"]).id("dup").pipe_stdin());
    server.start_refused(program(&["/bin/true"]).id("dup"), -32600, "processIdInUse");
    first.write(b"ping\n");
    first.await_output(b"ping\n");
}

#[test]
fn one_is_free_once_closed() {
    ours_only!();
    let server = Server::start();
    for round in 1..=3 {
        server.spawn(program(&["/bin/echo", &format!("round{round}")]).id("reuse"));
        let closed = |t: &exec_tests::transcript::Transcript| {
            let events = t.events.get("reuse")?;
            (events.iter().filter(|e| e.kind == "closed").count() == round).then_some(())
        };
        server
            .until(exec_tests::server::PATIENCE, closed)
            .expect("closed");
        // The old record is gone: only this round's output is there.
        let (bytes, _) = server.process("reuse").read_all();
        assert_eq!(String::from_utf8_lossy(&bytes), format!("round{round}\n"));
    }
}

#[test]
fn any_text_will_do() {
    let server = Server::start();
    let long = "k".repeat(4096);
    for id in [
        "é🎉",
        "a b",
        "x\ny",
        "../../etc",
        "%s%n",
        &long,
        "\"\\",
        "\u{0}",
        " ",
    ] {
        let process = server.spawn(program(&["/bin/echo", "hi"]).id(id));
        assert_eq!(
            (process.closed(), process.output()),
            (0, b"hi\n".to_vec()),
            "{id:.20}"
        );
    }
}

#[test]
fn each_gets_its_own_output() {
    let server = Server::start();
    let script = "for i in 1 2 3 4 5; do echo \"$0\"; done; echo \"$0\" >&2";
    let all: Vec<_> = (0..60)
        .map(|i| server.spawn(program(&["/bin/sh", "-c", script, &format!("tok{i}")]).on(i % 2 == 1)))
        .collect();
    for (i, process) in all.iter().enumerate() {
        process.closed();
        assert_eq!(process.text(), format!("tok{i}\n").repeat(6));
    }
}

#[test]
fn an_endless_one_is_refused() {
    ours_only!();
    let server = Server::start();
    server.start_refused(sh("true").id(&"k".repeat(65 * 1024)), -32602, "invalidParam");
    server.assert_works();
}
