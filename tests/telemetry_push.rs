//! Metrics and traces reach an OTLP collector; one that is away, slow or wrong harms nothing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use exec_tests::http::{Collector, Manner, Post};
use exec_tests::otlp::{self, Span, Tags};
use exec_tests::server::Ending;
use exec_tests::{Server, ServerBuilder, ours_only, program, sh};
use serde_json::json;

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn pushing(to: &Collector) -> ServerBuilder {
    Server::builder().env("OTEL_EXPORTER_OTLP_ENDPOINT", &to.url())
}

/// A start with a trace, and what its command finds in its environment.
fn traced_start(server: &Server, flags: &str) -> BTreeMap<String, String> {
    let params = program(&["/usr/bin/env"])
        .set("env", json!({}))
        .params("secret-process");
    let id = json!("traced");
    server.send(&json!({
        "jsonrpc": "2.0", "id": id, "method": "process/start", "params": params,
        "trace": {"traceparent": format!("00-{TRACE_ID}-{PARENT}-{flags}"), "tracestate": "vendor=1"},
    }));
    assert!(server.reply(&id)["result"].is_object());
    let process = server.process("secret-process");
    assert_eq!(process.closed(), 0);
    let output = String::from_utf8(process.output()).unwrap();
    let pairs = output.lines().filter_map(|line| line.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let mut found = spans.iter().filter(|span| span.name == name);
    let one = found.next().unwrap_or_else(|| panic!("no {name} in {spans:?}"));
    assert!(found.next().is_none(), "two {name}");
    one
}

fn value(posts: &[Post], name: &str, tags: &[(&str, &str)]) -> Option<f64> {
    let tags: Tags = tags
        .iter()
        .map(|(key, value)| ((*key).into(), (*value).into()))
        .collect();
    let series = otlp::series(posts);
    let found = series
        .iter()
        .find(|series| series.name == name && series.tags == tags);
    found.map(|series| series.value)
}

#[test]
fn a_trace_that_a_client_starts_ends_in_the_childs_environment() {
    ours_only!();
    for protocol in ["http/protobuf", "http/json"] {
        let collector = Collector::start(Manner::Takes);
        let server = pushing(&collector)
            .env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
            .start();
        let environment = traced_start(&server, "01");
        server.finish();
        let posts = collector.posts();
        let spans = otlp::spans(&posts);
        let request = named(&spans, "process/start");
        assert_eq!(
            (request.trace_id.as_str(), request.parent_id.as_str()),
            (TRACE_ID, PARENT)
        );
        assert_eq!(request.tags["result"], "success");
        let expected = format!("00-{TRACE_ID}-{}-01", request.span_id);
        assert_eq!(environment["TRACEPARENT"], expected, "{protocol}");
        assert_eq!(environment["TRACESTATE"], "vendor=1");
        for step in [
            "codex.exec_server.process_start",
            "codex.exec_server.process_exit",
        ] {
            let span = named(&spans, step);
            assert_eq!(
                (&span.trace_id, &span.parent_id),
                (&request.trace_id, &request.span_id)
            );
            assert!(span.tags["exec_server.process_id"].starts_with("hash:"));
        }
        let exit = named(&spans, "codex.exec_server.process_exit");
        assert_eq!(exit.tags["process.exit.code"], "0");
        assert!(exit.nanoseconds > 0);
        assert_eq!(named(&spans, "initialize").parent_id, "");
    }
}

#[test]
fn metrics_arrive_when_the_daemon_ends() {
    ours_only!();
    for protocol in ["http/protobuf", "http/json"] {
        let collector = Collector::start(Manner::Takes);
        let server = pushing(&collector)
            .env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
            .env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=tools")
            .start();
        server.run(sh("echo 12345"));
        server.run(sh("exit 1"));
        server.finish();
        let posts = collector.posts();
        assert!(posts.iter().all(|post| post.head.contains("x-team: tools")));
        let value = |name, tags: &[_]| value(&posts, name, tags);
        let start = [("method", "process/start"), ("result", "success")];
        assert_eq!(
            value("exec_server_requests_total", &start),
            Some(2.0),
            "{protocol}"
        );
        assert_eq!(value("exec_server_request_duration_seconds", &start), Some(2.0));
        for result in ["success", "error"] {
            assert_eq!(
                value("exec_server_processes_finished_total", &[("result", result)]),
                Some(1.0)
            );
        }
        assert_eq!(
            value("exec_server_output_bytes_total", &[("stream", "stdout")]),
            Some(6.0)
        );
        assert_eq!(value("exec_server_processes_active", &[]), Some(0.0));
        assert_eq!(
            value("exec_server_connections_active", &[("transport", "stdio")]),
            Some(0.0)
        );
        let units: BTreeMap<String, String> = otlp::series(&posts)
            .into_iter()
            .map(|series| (series.name, series.unit))
            .collect();
        assert_eq!(units["exec_server_request_duration_seconds"], "s");
        assert_eq!(units["exec_server_output_bytes_total"], "By");
    }
}

#[test]
fn metrics_are_pushed_while_the_daemon_lives() {
    ours_only!();
    let collector = Collector::start(Manner::Takes);
    let server = pushing(&collector)
        .env("OTEL_METRIC_EXPORT_INTERVAL", "50")
        .start();
    let _lives = server.spawn(program(&["/bin/sleep", "1000"]));
    collector.until(|posts| (value(posts, "exec_server_processes_active", &[]) == Some(1.0)).then_some(()));
}

#[test]
fn the_resource_is_ours_unless_it_is_given() {
    ours_only!();
    for (variables, service, extra) in [
        (&[][..], "codex-exec-server", None),
        (&[("OTEL_SERVICE_NAME", "mine")], "mine", None),
        (
            &[("OTEL_RESOURCE_ATTRIBUTES", "service.name=theirs,deployment=lab")],
            "theirs",
            Some("lab"),
        ),
        (
            &[("OTEL_RESOURCE_ATTRIBUTES", "deployment=lab")],
            "codex-exec-server",
            Some("lab"),
        ),
    ] {
        let collector = Collector::start(Manner::Takes);
        let builder = variables
            .iter()
            .fold(pushing(&collector), |builder, (name, value)| {
                builder.env(name, value)
            });
        builder.start().finish();
        for path in ["/v1/metrics", "/v1/traces"] {
            let resource = otlp::resource(&collector.posts(), path).expect("a post");
            assert_eq!(resource["service.name"], service, "{variables:?}");
            assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));
            assert_eq!(resource.get("deployment").map(String::as_str), extra);
        }
    }
}

#[test]
fn each_signal_is_pushed_where_it_is_asked_for() {
    ours_only!();
    let collector = Collector::start(Manner::Takes);
    let url = collector.url();
    let traces_only = format!("{url}/v1/traces");
    for (variables, metrics, traces) in [
        (
            &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces_only.as_str())][..],
            false,
            true,
        ),
        (
            &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
                ("OTEL_TRACES_EXPORTER", "none"),
            ],
            true,
            false,
        ),
        (
            &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
                ("EXEC_SERVER_OTLP", "off"),
            ],
            false,
            false,
        ),
        (
            &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
                ("OTEL_SDK_DISABLED", "true"),
            ],
            false,
            false,
        ),
    ] {
        let before = collector.posts().len();
        let builder = variables
            .iter()
            .fold(Server::builder(), |builder, (name, value)| {
                builder.env(name, value)
            });
        builder.start().finish();
        let posts = &collector.posts()[before..];
        let came = |path| posts.iter().any(|post| post.path == path);
        assert_eq!(
            (came("/v1/metrics"), came("/v1/traces")),
            (metrics, traces),
            "{variables:?}"
        );
    }
}

#[test]
fn without_tracing_the_trace_is_handed_down_as_it_came() {
    ours_only!();
    let environment = traced_start(&Server::start(), "01");
    assert_eq!(environment["TRACEPARENT"], format!("00-{TRACE_ID}-{PARENT}-01"));
    assert_eq!(environment["TRACESTATE"], "vendor=1");
}

#[test]
fn a_trace_that_is_not_sampled_is_not_exported() {
    ours_only!();
    let collector = Collector::start(Manner::Takes);
    let server = pushing(&collector).start();
    let environment = traced_start(&server, "00");
    server.finish();
    let traceparent = &environment["TRACEPARENT"];
    assert!(traceparent.starts_with(&format!("00-{TRACE_ID}-")) && traceparent.ends_with("-00"));
    let spans = otlp::spans(&collector.posts());
    assert!(spans.iter().all(|span| span.trace_id != TRACE_ID), "{spans:?}");
    assert!(!spans.is_empty(), "others are");
}

/// Works, and ends in its time, with a collector that is no use; says so once for each signal.
fn is_unharmed(builder: ServerBuilder, end_within: Duration, told: &str) {
    let server = builder
        .env("OTEL_METRIC_EXPORT_INTERVAL", "20")
        .env("OTEL_BSP_SCHEDULE_DELAY", "20")
        .env("OTEL_BSP_MAX_QUEUE_SIZE", "64")
        .start();
    for _ in 0..10 {
        server.assert_works();
    }
    // More spans than the queue has room for.
    for _ in 0..2000 {
        assert!(server.ping() < Duration::from_secs(1));
    }
    let begun = Instant::now();
    server.close_stdin();
    let ending = server.await_end(end_within);
    assert_eq!(
        ending,
        Some(Ending::Exit(0)),
        "{:?}\n{}",
        begun.elapsed(),
        server.stderr()
    );
    let log = server.stderr();
    for signal in ["metrics", "traces"] {
        let lines: Vec<&str> = log
            .lines()
            .filter(|line| line.contains(&format!("signal=\"{signal}\"")))
            .collect();
        assert_eq!(lines.len(), 1, "{log}");
        assert!(lines[0].contains(told), "{log}");
    }
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(!log.contains("127.0.0.1") && !log.contains("http://"), "{log}");
}

#[test]
fn a_collector_that_is_away_harms_nothing() {
    ours_only!();
    // A port that was free a moment ago.
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let away = Server::builder().env("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{address}"));
    is_unharmed(away, Duration::from_secs(8), "connection refused");
}

#[test]
fn a_collector_that_never_answers_harms_nothing() {
    ours_only!();
    let collector = Collector::start(Manner::Silent);
    let builder = pushing(&collector).env("OTEL_EXPORTER_OTLP_TIMEOUT", "300");
    is_unharmed(builder, Duration::from_secs(8), "did not answer in time");
}

#[test]
fn the_end_waits_five_seconds_at_most() {
    ours_only!();
    let collector = Collector::start(Manner::Silent);
    let server = pushing(&collector)
        .env("OTEL_EXPORTER_OTLP_TIMEOUT", "60000")
        .start();
    server.assert_works();
    let begun = Instant::now();
    server.close_stdin();
    assert_eq!(server.await_end(Duration::from_secs(8)), Some(Ending::Exit(0)));
    assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
}

#[test]
fn a_collector_that_is_wrong_harms_nothing() {
    ours_only!();
    for (manner, told) in [
        (Manner::Refuses(500), "it answered HTTP 500"),
        (Manner::Refuses(404), "it answered HTTP 404"),
        (Manner::Babbles, "it does not speak HTTP"),
    ] {
        is_unharmed(pushing(&Collector::start(manner)), Duration::from_secs(8), told);
    }
}

#[test]
fn what_is_not_built_in_is_told_and_harms_nothing() {
    ours_only!();
    for (name, setting, told) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "gRPC is not built in"),
        (
            "OTEL_EXPORTER_OTLP_COMPRESSION",
            "gzip",
            "compression is not built in",
        ),
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "https://collector.example",
            "TLS is not built in",
        ),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense", "not an HTTP URL"),
    ] {
        let builder = Server::builder().env("EXEC_SERVER_OTLP", "on").env(name, setting);
        is_unharmed(builder, Duration::from_secs(8), told);
    }
}
