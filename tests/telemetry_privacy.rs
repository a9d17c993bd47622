//! What a client sends, what its environment holds and what a command prints never leaves as telemetry.

use exec_tests::http::{Collector, Manner};
use exec_tests::scrape::scrapable;
use exec_tests::server::Ending;
use exec_tests::{Server, ours_only, program};
use serde_json::json;

/// Stands in everything that must not be told.
const SECRET: &str = "tell-nobody";

#[test]
fn nothing_of_a_request_is_told() {
    ours_only!();
    let folder = tempfile::Builder::new().prefix(SECRET).tempdir().unwrap();
    let collector = Collector::start(Manner::Takes);
    let builder = Server::builder()
        .initialize_with("clientName", SECRET)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        .env("INHERITED", SECRET)
        .env("RUST_LOG", "info")
        .ended_by_test();
    let (server, endpoint) = scrapable(builder, folder.path());
    let cwd = format!("file://{}", folder.path().display());
    let script = format!("echo {SECRET}; echo {SECRET} >&2; exit 1");
    let launch = program(&["/bin/sh", "-c", &script, SECRET])
        .set("cwd", cwd)
        .set("env", json!({"SECRET": SECRET}))
        .set("startId", SECRET)
        .set("metadata", json!({"threadId": SECRET, "toolCallId": SECRET}))
        .set(
            "shellSnapshot",
            json!({"scopeId": SECRET, "shell": {"name": "sh", "path": "/bin/sh"}}),
        )
        .id(&format!("{SECRET}-process"));
    let (code, output) = server.run(launch);
    assert_eq!(code, 1);
    assert!(String::from_utf8(output).unwrap().contains(SECRET));
    server.err(&format!("process/{SECRET}"), json!({}));
    server.err("process/signal", json!({"processId": SECRET, "signal": SECRET}));
    server.err("process/read", json!({"processId": SECRET}));
    server.start_refused(program(&[&format!("/{SECRET}")]), -32603, "spawnNotFound");
    server.start_refused(
        program(&["/bin/true"]).set("env", json!({(SECRET): "\u{0}"})),
        -32602,
        "invalidParam",
    );
    server.notify(SECRET, json!({}));
    server.send_bytes(format!("{{\"id\":\"{SECRET}\",{SECRET}\n").as_bytes());
    server.send(&json!({
        "id": SECRET, "method": "process/list", "params": {},
        "trace": {"traceparent": SECRET},
    }));
    server.ping();

    let page = endpoint.get("/metrics").body;
    assert!(page.contains(r#"method="other""#));
    server.close_stdin();
    assert_eq!(
        server.await_end(exec_tests::server::PATIENCE),
        Some(Ending::Exit(0))
    );
    let posts = collector.posts();
    let bodies: Vec<String> = posts
        .iter()
        .map(|post| String::from_utf8(post.body.clone()).unwrap())
        .collect();
    assert!(
        bodies
            .iter()
            .any(|body| body.contains("codex.exec_server.process_exit"))
    );
    let log = server.stderr();
    assert!(log.contains("INFO"), "{log}");
    for (told, where_from) in [(&page, "the scrape"), (&log, "the log")] {
        assert!(!told.contains(SECRET), "{where_from}: {told}");
    }
    for body in &bodies {
        assert!(
            !body.contains(SECRET) && !body.contains("/bin/") && !body.contains("/tmp"),
            "{body}"
        );
    }
}

#[test]
fn a_uuid_may_be_told_and_another_id_is_a_hash() {
    ours_only!();
    let uuid = "0e3ad8a5-6ed6-4a6b-8c4d-2f6c9b1a7e55";
    let collector = Collector::start(Manner::Takes);
    let server = Server::builder()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
        .start();
    server.run(program(&["/bin/true"]).id(uuid));
    server.run(program(&["/bin/true"]).id("plain"));
    server.finish();
    let spans = exec_tests::otlp::spans(&collector.posts());
    let mut ids: Vec<&str> = spans
        .iter()
        .filter(|span| span.name == "codex.exec_server.process_exit")
        .map(|span| span.tags["exec_server.process_id"].as_str())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids[0], uuid);
    assert!(ids[1].starts_with("hash:") && ids.len() == 2, "{ids:?}");
}
