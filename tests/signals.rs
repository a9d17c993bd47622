//! `process/signal`: every POSIX signal by name, to the group that a terminal or a shell would send it to.

use exec_tests::{Server, helper, marker, ours_only, sh};
use serde_json::json;

#[test]
fn interrupt_can_be_caught() {
    let server = Server::start();
    for tty in [false, true] {
        let process = server.spawn(helper(&["signals", "5", "INT=2"]).on(tty));
        process.await_output(b"up");
        process.signal("interrupt");
        process.await_output(b"got INT");
        let pid = server.marked("INT=2");
        server.kill(pid[0], rustix::process::Signal::USR1);
        assert_eq!(process.closed(), 5, "tty: {tty}");
    }
}

#[test]
fn interrupt_ends_what_does_not_catch_it() {
    let server = Server::start();
    for tty in [false, true] {
        let process = server.spawn(helper(&["tree", &marker(), "child"]).on(tty));
        process.await_output(b"up");
        process.signal("interrupt");
        assert_eq!(process.closed(), 130, "tty: {tty}");
    }
}

#[test]
fn signals_by_name() {
    ours_only!();
    let server = Server::start();
    let named = [
        "TERM=15", "HUP=1", "QUIT=3", "USR2=12", "WINCH=28", "ALRM=14", "RT3=37",
    ];
    let args: Vec<&str> = ["signals", "6"].into_iter().chain(named).collect();
    for tty in [false, true] {
        let process = server.spawn(helper(&args).on(tty));
        process.await_output(b"up");
        for (name, said) in [
            ("SIGTERM", "TERM"),
            ("SIGHUP", "HUP"),
            ("SIGQUIT", "QUIT"),
            ("SIGUSR2", "USR2"),
            ("SIGWINCH", "WINCH"),
            ("SIGALRM", "ALRM"),
            ("SIGRTMIN+3", "RT3"),
        ] {
            process.signal(name);
            process.await_output(format!("got {said}").as_bytes());
        }
        process.signal("SIGUSR1");
        assert_eq!(process.closed(), 6, "tty: {tty}");
    }
}

#[test]
fn unknown_names_are_refused() {
    ours_only!();
    let server = Server::start();
    let process = server.spawn(helper(&["sleep", &marker()]));
    for name in [
        "",
        "TERM",
        "sigterm",
        "SIGNONSENSE",
        "15",
        "SIGRTMIN+99",
        "SIGRTMIN+",
        "Interrupt",
    ] {
        process.refused("signal", json!({"signal": name}), -32602, "invalidParam");
    }
    process.refused("signal", json!({"signal": 15}), -32602, "invalidParam");
    process.refused("signal", json!({}), -32602, "invalidParam");
}

#[test]
fn unknown_and_finished_processes_are_no_error() {
    let server = Server::start();
    server.process("nope").signal("interrupt");
    let process = server.spawn(sh("true"));
    process.closed();
    process.signal("interrupt");
}

#[test]
fn pipes_signal_the_leaders_group() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let process = server.spawn(helper(&["tree", &mark, "child", "setsid"]));
    process.await_output(b"up");
    server.await_marked(&mark, 3);
    process.signal("SIGKILL");
    assert_eq!(process.closed(), 137);
    // The group is gone, the child that left it is not: that takes a terminate.
    exec_tests::eventually(exec_tests::server::PATIENCE, || {
        (server.marked(&mark).len() == 1).then_some(())
    })
    .expect("one");
    process.terminate();
    server.assert_none_marked(&mark, std::time::Duration::from_secs(4));
}

#[test]
fn a_terminal_signals_its_foreground_group() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let script = format!(
        "set -m; {} tree {mark} child; echo \"after $?\"; read x",
        exec_tests::target::helper_path()
    );
    let process = server.spawn(exec_tests::program(&["/bin/bash", "-c", &script]).tty());
    process.await_output(b"up");
    process.signal("SIGTERM");
    process.await_output(b"after 143");
    server.assert_none_marked(&mark, std::time::Duration::from_secs(3));
}
