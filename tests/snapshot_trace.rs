//! A trace that a client starts, and the call a command is made for, go past a snapshot into the command's environment.

use exec_tests::http::{Collector, Manner};
use exec_tests::otlp::{self, Span};
use exec_tests::{BASH, FISH, Home, SH, Server, ZSH, ours_only};
use serde_json::json;

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";

/// Starts a command with that parent; `TRACEPARENT TRACESTATE` as it finds them.
fn traced(server: &Server, home: &Home, shell: exec_tests::home::Shell, parent: &str) -> String {
    let params = home
        .command(shell, "echo \"$TRACEPARENT $TRACESTATE $FROM_RC\"")
        .params(parent);
    let id = json!(format!("request-{parent}"));
    server.send(&json!({
        "jsonrpc": "2.0", "id": id, "method": "process/start", "params": params,
        "trace": {"traceparent": format!("00-{TRACE_ID}-{parent}-01"), "tracestate": "vendor=1"},
    }));
    assert!(server.reply(&id)["result"].is_object(), "{}", server.reply(&id));
    let process = server.process(parent);
    assert_eq!(process.closed(), 0);
    process.text()
}

#[test]
fn the_command_is_a_child_of_its_request_whether_its_snapshot_was_made_or_found() {
    ours_only!();
    for (shell, file) in [
        (BASH, ".bash_profile"),
        (ZSH, ".zshrc"),
        (SH, ".profile"),
        (FISH, ".config/fish/config.fish"),
    ] {
        // What a startup file leaves of another trace is not this one.
        let text = "echo run >>~/runs\nexport FROM_RC=1\nexport TRACEPARENT=stale\nexport TRACESTATE=stale\n";
        let home = Home::new(&[(file, text)]);
        let collector = Collector::start(Manner::Takes);
        let server = Server::builder()
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
            .start();
        let parents = ["b7ad6b7169203331", "b7ad6b7169203332"];
        let seen = parents.map(|parent| traced(&server, &home, shell, parent));
        assert_eq!(home.lines("runs"), 1, "{shell:?}: one capture for both");
        server.finish();
        let spans = otlp::spans(&collector.posts());
        let children = |parent: &str| -> Vec<&Span> {
            let of = |span: &&Span| span.trace_id == TRACE_ID && span.parent_id == parent;
            spans.iter().filter(of).collect()
        };
        for (parent, seen) in parents.iter().zip(&seen) {
            let [request] = children(parent)[..] else {
                panic!("one request below {parent}: {spans:?}");
            };
            let expected = format!("00-{TRACE_ID}-{}-01 vendor=1 1\n", request.span_id);
            assert_eq!(*seen, expected, "{shell:?}");
            let prepare = "codex.exec_server.process_prepare_shell_snapshot";
            let steps = children(&request.span_id);
            assert!(
                steps.iter().any(|span| span.name == prepare),
                "{shell:?}: {steps:?}"
            );
        }
        let captures = spans
            .iter()
            .filter(|span| span.name == "codex.exec_server.process_capture_shell_snapshot");
        let captures: Vec<&Span> = captures.collect();
        assert_eq!(captures.len(), 1, "{shell:?}: {spans:?}");
        assert_eq!(captures[0].trace_id, TRACE_ID, "{shell:?}");
    }
}

#[test]
fn without_tracing_the_clients_own_trace_reaches_the_command() {
    ours_only!();
    let home = Home::new(&[(".bashrc", "echo run >>~/runs\nexport FROM_RC=1\n")]);
    let server = Server::start();
    for parent in ["b7ad6b7169203331", "b7ad6b7169203332"] {
        let expected = format!("00-{TRACE_ID}-{parent}-01 vendor=1 1\n");
        assert_eq!(traced(&server, &home, BASH, parent), expected);
    }
    assert_eq!(home.lines("runs"), 1);
}

#[test]
fn a_startup_file_sees_no_tool_call_and_every_command_its_own() {
    ours_only!();
    let home = Home::new(&[(
        ".bashrc",
        "echo run >>~/runs\nexport FROM_RC=\"${CODEX_TOOL_CALL_ID-none}\"\n",
    )]);
    let server = Server::start();
    for call in ["call-1", "call-2"] {
        let launch = home
            .command(BASH, "echo \"$CODEX_TOOL_CALL_ID $CODEX_THREAD_ID $FROM_RC\"")
            .set("metadata", json!({"toolCallId": call, "threadId": "thread"}));
        let (code, output) = server.run(launch);
        assert_eq!(
            (code, String::from_utf8(output).unwrap()),
            (0, format!("{call} thread none\n"))
        );
    }
    assert_eq!(home.lines("runs"), 1);
}

#[test]
fn startup_files_see_nothing_of_the_call_that_they_run_for() {
    ours_only!();
    // What they made of it would be every later command's.
    let text = "export CALL=\"[${TRACEPARENT-}${TRACESTATE-}${CODEX_TOOL_CALL_ID-}${CODEX_THREAD_ID-}]\"\n";
    for (shell, file) in [(BASH, ".bash_profile"), (ZSH, ".zshrc"), (SH, ".profile")] {
        let home = Home::new(&[(file, text)]);
        let server = Server::start();
        let script = "echo \"$CALL $TRACEPARENT $CODEX_TOOL_CALL_ID\"";
        let mut params = home.command(shell, script).params("call");
        params["metadata"] = json!({"toolCallId": "call 1", "threadId": "thread 1"});
        let trace = format!("00-{TRACE_ID}-b7ad6b7169203331-01");
        server.send(&json!({
            "jsonrpc": "2.0", "id": "call", "method": "process/start", "params": params,
            "trace": {"traceparent": trace, "tracestate": "vendor=1"},
        }));
        assert!(server.reply(&json!("call"))["result"].is_object());
        let process = server.process("call");
        assert_eq!(process.closed(), 0);
        let printed = process.text();
        assert!(
            printed.starts_with(&format!("[] 00-{TRACE_ID}-")),
            "{shell:?}: {printed}"
        );
        assert!(printed.ends_with(" call 1\n"), "{shell:?}: {printed}");
    }
}
