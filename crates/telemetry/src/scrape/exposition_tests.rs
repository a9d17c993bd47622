use opentelemetry_sdk::metrics::reader::MetricReader;

use super::*;
use crate::metrics::tests::{everything_happens, read_metrics};

fn page(format: Format) -> String {
    let (metrics, reader, _provider) = read_metrics();
    everything_happens(&metrics);
    let mut collected = ResourceMetrics::default();
    reader.collect(&mut collected).unwrap();
    write(&collected, format)
}

#[test]
fn the_text_shows_exact_names_tags_and_values() {
    let page = page(Format::Text);
    for line in [
        "# TYPE codex_shell_snapshot counter",
        r#"codex_shell_snapshot{attempt="1",purpose="execution",sandbox="none",shell="bash",success="true",version="v2"} 1"#,
        r#"codex_shell_snapshot{attempt="2",failure_reason="nonzero_exit",purpose="prewarm",sandbox="none",shell="bash",success="false",version="v2"} 1"#,
        "# TYPE codex_shell_snapshot_duration_ms histogram",
        r#"codex_shell_snapshot_duration_ms_bucket{attempt="1",purpose="execution",sandbox="none",shell="bash",success="true",version="v2",le="10"} 0"#,
        r#"codex_shell_snapshot_duration_ms_bucket{attempt="1",purpose="execution",sandbox="none",shell="bash",success="true",version="v2",le="25"} 1"#,
        r#"codex_shell_snapshot_duration_ms_bucket{attempt="1",purpose="execution",sandbox="none",shell="bash",success="true",version="v2",le="+Inf"} 1"#,
        r#"codex_shell_snapshot_duration_ms_sum{attempt="1",purpose="execution",sandbox="none",shell="bash",success="true",version="v2"} 12.5"#,
        r#"codex_shell_snapshot_command{availability="cache_hit",outcome="used",state="cache_hit",version="v2"} 1"#,
        r#"codex_shell_snapshot_wait_ms_count{availability="cache_hit",outcome="used",state="cache_hit",version="v2"} 1"#,
        r#"codex_shell_snapshot_state_bytes_sum{shell="bash"} 5000"#,
        r#"exec_server_requests_total{method="process/start",result="success"} 1"#,
        r#"exec_server_request_duration_seconds_count{method="process/start",result="success"} 1"#,
        r#"exec_server_request_queue_duration_seconds_bucket{method="process/start",le="0.00001"} 1"#,
        r#"exec_server_connections_active{transport="stdio"} 1"#,
        r#"exec_server_connections_total{result="accepted",transport="stdio"} 1"#,
        "exec_server_processes_active 1",
        r#"exec_server_processes_finished_total{result="error"} 1"#,
        r#"exec_server_processes_finished_total{result="success"} 0"#,
        r#"exec_server_process_duration_seconds_sum{result="error"} 3.0"#,
        r#"exec_server_output_bytes_total{stream="stderr"} 77"#,
        r#"exec_server_sandbox_prepare_ms_count{backend="namespaces",outcome="prepared"} 1"#,
        "exec_server_sessions_active 1",
        r#"exec_server_approvals_total{decision="denied",reason="initial"} 1"#,
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    assert!(!page.contains("EOF") && !page.contains("otel_scope") && !page.contains("target_info"));
}

#[test]
fn openmetrics_keeps_the_names_of_all_samples() {
    let samples = |page: &str| -> Vec<String> {
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        let mut names: Vec<_> = lines
            .map(|line| line.split(['{', ' ']).next().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let open = page(Format::OpenMetrics);
    assert_eq!(samples(&open), samples(&page(Format::Text)));
    assert!(open.ends_with("\n# EOF\n"));
    for line in [
        "# TYPE exec_server_requests counter",
        "# HELP exec_server_requests Requests answered.",
        "# TYPE codex_shell_snapshot unknown",
        "# TYPE codex_shell_snapshot_command unknown",
        "# TYPE codex_shell_snapshot_duration_ms histogram",
        r#"exec_server_process_duration_seconds_bucket{result="error",le="1.0"} 0"#,
    ] {
        assert!(open.lines().any(|found| found == line), "{line}\n{open}");
    }
}

/// What the specification demands of every family: its samples stand together, after its type, and have the
/// suffixes that the type has.
#[test]
fn openmetrics_is_valid() {
    let page = page(Format::OpenMetrics);
    let mut families: Vec<(&str, &str)> = Vec::new();
    for line in page.strip_suffix("# EOF\n").unwrap().lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (family, kind) = rest.split_once(' ').unwrap();
            assert!(families.iter().all(|(seen, _)| *seen != family), "{family} twice");
            families.push((family, kind));
        } else if !line.starts_with("# HELP ") {
            let (family, kind) = families.last().unwrap();
            let sample = line.split(['{', ' ']).next().unwrap();
            let suffixes: &[&str] = match *kind {
                "counter" => &["_total"],
                "histogram" => &["_bucket", "_sum", "_count"],
                "gauge" | "unknown" => &[""],
                kind => panic!("{kind}"),
            };
            let suffix = sample.strip_prefix(family).unwrap();
            assert!(suffixes.contains(&suffix), "{line}");
        }
    }
    assert_eq!(families.len(), catalogue::INSTRUMENTS.len());
}

proptest::proptest! {
    #[test]
    fn any_accept_header_is_a_format(accept in ".*") {
        Format::accepted(&accept);
    }
}

#[test]
fn the_format_is_negotiated() {
    let prometheus = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                      text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    for (accept, expected) in [
        ("", Format::Text),
        ("*/*", Format::Text),
        (prometheus, Format::OpenMetrics),
        (
            "application/openmetrics-text; version=\"1.0.0\"; charset=utf-8",
            Format::OpenMetrics,
        ),
        ("application/openmetrics-text", Format::OpenMetrics),
        ("application/openmetrics-text;version=2.0.0", Format::Text),
        (
            "application/openmetrics-text;q=0.2, text/plain;q=0.3",
            Format::Text,
        ),
        ("application/openmetrics-text;q=0, text/html", Format::Text),
        (
            "application/vnd.google.protobuf;q=0.9, text/plain;q=0.1",
            Format::Text,
        ),
    ] {
        assert_eq!(Format::accepted(accept), expected, "{accept}");
    }
}

/// What promtool says of a page: its exit status, and a line for each thing it would have otherwise.
fn promtool(page: &str) -> (Option<i32>, Vec<String>) {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let mut child = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool is installed: `make needs`, or the Debian package prometheus");
    child.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let mut said: Vec<String> = String::from_utf8_lossy(&output.stderr)
        .lines()
        .map(str::to_owned)
        .collect();
    said.sort();
    (output.status.code(), said)
}

/// The names are fixed; nothing else is to be found fault with.
#[test]
fn promtool_reads_the_text_and_dislikes_fixed_names_only() {
    let (status, said) = promtool(&page(Format::Text));
    let expected = [
        r#"codex_shell_snapshot counter metrics should have "_total" suffix"#,
        r#"codex_shell_snapshot_command counter metrics should have "_total" suffix"#,
        r#"codex_shell_snapshot_duration_ms metric names should not contain abbreviated units"#,
        r#"codex_shell_snapshot_wait_ms metric names should not contain abbreviated units"#,
        r#"exec_server_sandbox_prepare_ms metric names should not contain abbreviated units"#,
    ];
    assert_eq!(said, expected);
    assert_eq!(status, Some(3), "3: read, and disliked");
    let (status, _) = promtool("exec_server_processes_active one\n");
    assert_eq!(status, Some(1), "it would say so");
}
