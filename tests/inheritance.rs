//! A child is given what a shell would give it: three descriptors, clean signals, its own group, the daemon's limits.

use exec_tests::{Server, helper, ours_only, procfs, program, sh};
use serde_json::{Value, json};

fn report(server: &Server, launch: exec_tests::Launch) -> Value {
    let process = server.spawn(launch);
    assert_eq!(process.closed(), 0);
    serde_json::from_str(&process.text()).unwrap_or_else(|e| panic!("{e}: {}", process.text()))
}

/// `SigIgn` and `SigBlk` of a shell: the Rust runtime of the helper has dispositions of its own.
fn masks(server: &Server, tty: bool) -> (u64, u64) {
    let process = server.spawn(sh("while read -r name value; do case $name in SigBlk:|SigIgn:) echo $name $value;; esac; done < /proc/$$/status").on(tty));
    process.closed();
    let text = process.text();
    let mask = |name| {
        let line = text
            .lines()
            .find_map(|l| l.strip_prefix(name))
            .unwrap_or_else(|| panic!("{name}: {text}"));
        u64::from_str_radix(line.trim(), 16).expect("hex")
    };
    (mask("SigIgn:"), mask("SigBlk:"))
}

#[test]
fn signals_are_clean() {
    let server = Server::start();
    for tty in [false, true] {
        assert_eq!(masks(&server, tty), (0, 0), "tty: {tty}");
    }
}

#[test]
fn signals_are_clean_whatever_the_daemon_was_given() {
    ours_only!();
    let mut builder = Server::builder();
    for option in [
        "ignore=1",
        "ignore=2",
        "ignore=3",
        "ignore=13",
        "block=10",
        "block=15",
        "block=17",
    ] {
        builder = builder.option(option);
    }
    let server = builder.start();
    for tty in [false, true] {
        assert_eq!(masks(&server, tty), (0, 0), "tty: {tty}");
    }
}

#[test]
fn only_three_descriptors() {
    let server = Server::builder().option("stray").start();
    for tty in [false, true] {
        let report = report(&server, helper(&["inherited"]).on(tty));
        let names: Vec<&String> = report["descriptors"]
            .as_object()
            .expect("an object")
            .keys()
            .collect();
        assert_eq!(names, ["0", "1", "2"], "tty {tty}: {}", report["descriptors"]);
    }
}

#[test]
fn only_three_descriptors_among_sixty_starts_at_once() {
    let server = Server::start();
    let all: Vec<_> = (0..60)
        .map(|i| server.spawn_later(helper(&["inherited"]).on(i % 2 == 1)).0)
        .collect();
    for process in all {
        process.closed();
        let report: Value = serde_json::from_str(&process.text()).expect("a report");
        let names: Vec<&String> = report["descriptors"]
            .as_object()
            .expect("an object")
            .keys()
            .collect();
        assert_eq!(names, ["0", "1", "2"], "{}", report["descriptors"]);
    }
}

#[test]
fn a_group_and_a_session_of_its_own() {
    let server = Server::start();
    let process = server.spawn(helper(&["ignore-signals"]));
    process.await_output(b"\n");
    let (pid, daemon) = (process.pid(), procfs::stat(server.pid()).expect("a stat"));
    let stat = procfs::stat(pid).expect("a stat");
    assert_eq!(stat.group, pid);
    assert_ne!(stat.group, daemon.group);
    if exec_tests::ours() {
        assert_eq!(stat.session, pid);
    }
}

#[test]
fn stdio_blocks() {
    let server = Server::start();
    for (tty, piped) in [(false, false), (false, true), (true, false)] {
        let report = report(&server, helper(&["inherited"]).on(tty).set("pipeStdin", piped));
        assert_eq!(report["nonBlocking"], json!([false, false, false]), "tty: {tty}");
    }
}

#[test]
fn limits_umask_and_nice_are_the_daemons() {
    let server = Server::builder()
        .option("nofile=777:1777")
        .option("core=0")
        .option("umask=027")
        .option("nice=3")
        .start();
    for tty in [false, true] {
        let report = report(&server, helper(&["inherited"]).on(tty));
        assert_eq!(report["openFiles"], json!([777, 1777]), "tty: {tty}");
        assert_eq!(report["core"][0], 0, "tty: {tty}");
        assert_eq!(
            (&report["umask"], &report["nice"]),
            (&json!(0o027), &json!(3)),
            "tty: {tty}"
        );
    }
}

#[test]
fn the_environment_is_exactly_the_one_given() {
    let server = Server::builder()
        .env("LEAK_SECRET_TOKEN", "leak")
        .env("LEAK_PLAIN", "leak")
        .start();
    for tty in [false, true] {
        let launch = program(&["/usr/bin/env", "-0"])
            .env("A", "1")
            .env("EMPTY", "")
            .env("NL", "x\ny")
            .env("UNI", "é");
        let process = server.spawn(launch.on(tty));
        process.closed();
        let mut expected = exec_tests::launch::base_env();
        for (name, value) in [("A", "1"), ("EMPTY", ""), ("NL", "x\ny"), ("UNI", "é")] {
            expected.insert(name.into(), json!(value));
        }
        let text = process.text();
        let got: serde_json::Map<String, Value> = text
            .split('\0')
            .filter_map(|entry| entry.split_once('='))
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        assert_eq!(got, expected, "tty: {tty}");
    }
}

#[test]
fn trace_context_and_metadata_are_handed_on() {
    ours_only!();
    let server = Server::start();
    let launch = || program(&["/usr/bin/env"]).set("metadata", json!({"threadId": "t1", "toolCallId": "c1"}));
    let start = |id: &str, launch: exec_tests::Launch| {
        let trace = json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b"});
        let params = launch.params(id);
        server.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "process/start", "params": params, "trace": trace}),
        );
        server.reply(&json!(id));
        let process = server.process(id);
        process.closed();
        process.text()
    };
    let text = start("given", launch());
    assert!(
        text.contains("TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-"),
        "{text}"
    );
    assert!(text.contains("TRACESTATE=a=b\n"), "{text}");
    assert!(
        text.contains("CODEX_THREAD_ID=t1\n") && text.contains("CODEX_TOOL_CALL_ID=c1\n"),
        "{text}"
    );
    let text = start(
        "named",
        launch().env("TRACEPARENT", "mine").env("CODEX_THREAD_ID", "over"),
    );
    assert!(text.contains("TRACEPARENT=mine\n"), "{text}");
    assert!(
        text.contains("CODEX_THREAD_ID=t1\n"),
        "metadata is over everything else: {text}"
    );
    let (_, output) = server.run(program(&["/usr/bin/env"]));
    assert!(
        !String::from_utf8_lossy(&output).contains("TRACE"),
        "no trace was given"
    );
}
