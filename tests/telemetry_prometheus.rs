//! A real Prometheus scrapes the daemon and is queried.

use std::process::Command;

use exec_tests::prometheus::{Prometheus, alerts, free_port};
use exec_tests::{BASH, Home, Server, ZSH, ours_only, program, sh};

#[test]
fn prometheus_scrapes_the_daemon_and_answers_for_it() {
    ours_only!();
    let daemon = free_port();
    let server = Server::builder()
        .env("EXEC_SERVER_METRICS_LISTEN", &daemon.to_string())
        .start();
    let prometheus = Prometheus::scraping(daemon);
    server.run(sh("echo 1234567"));
    server.run(sh("exit 2"));
    let lives = server.spawn(program(&["/bin/sleep", "1000"]));
    for (query, expected) in [
        ("up", 1.0),
        (
            r#"exec_server_requests_total{method="process/start",result="success"}"#,
            3.0,
        ),
        (r#"exec_server_processes_finished_total{result="success"}"#, 1.0),
        (r#"exec_server_processes_finished_total{result="error"}"#, 1.0),
        (r#"exec_server_output_bytes_total{stream="stdout"}"#, 8.0),
        ("exec_server_processes_active", 1.0),
        (
            r#"exec_server_process_duration_seconds_bucket{le="+Inf",result="error"}"#,
            1.0,
        ),
        (r#"exec_server_connections_active{transport="stdio"}"#, 1.0),
    ] {
        prometheus.await_value(query, expected);
    }
    assert!(lives.terminate());
    prometheus.await_value("exec_server_processes_active", 0.0);

    // It asked for OpenMetrics, and got every line of it.
    let target = &prometheus.ask("/api/v1/targets")["data"]["activeTargets"][0];
    assert_eq!(
        (target["health"].as_str(), target["lastError"].as_str()),
        (Some("up"), Some(""))
    );
    let metadata = &prometheus.ask("/api/v1/metadata?metric=exec_server_processes_active")["data"];
    assert_eq!(metadata["exec_server_processes_active"][0]["type"], "gauge");
    // The alerts are read, and none of them has anything to say.
    let groups = &prometheus.ask("/api/v1/rules")["data"]["groups"];
    let rules = groups[0]["rules"].as_array().expect("the alerts");
    assert!(
        rules.len() >= 6 && rules.iter().all(|rule| rule["state"] == "inactive"),
        "{groups}"
    );
}

#[test]
fn prometheus_tells_what_became_of_snapshots() {
    ours_only!();
    let daemon = free_port();
    let server = Server::builder()
        .env("EXEC_SERVER_METRICS_LISTEN", &daemon.to_string())
        .start();
    let prometheus = Prometheus::scraping(daemon);
    let good = Home::new(&[(".bashrc", "f() { echo f; }\n")]);
    server.ok("shellSnapshot/prewarm", good.params(BASH));
    for _ in 0..3 {
        assert_eq!(server.run(good.command(BASH, "f")), (0, b"f\n".to_vec()));
    }
    let other = Home::new(&[(".zshrc", "f() { echo f; }\n")]);
    for _ in 0..2 {
        assert_eq!(server.run(other.command(ZSH, "f")), (0, b"f\n".to_vec()));
    }
    let bad = Home::new(&[(".bashrc", "exit 7\n")]);
    server.refused(
        "shellSnapshot/prewarm",
        bad.params(BASH),
        -32603,
        "snapshotFailed",
    );
    server.run(bad.command(BASH, "true"));
    let elsewhere = program(&["/bin/true"]).set("shellSnapshot", exec_tests::home::snapshot("scope", BASH));
    server.run(elsewhere);
    for (query, expected) in [
        (
            r#"sum by (purpose) (codex_shell_snapshot{purpose="prewarm",shell="bash",success="true",attempt="1"})"#,
            1.0,
        ),
        (
            r#"codex_shell_snapshot{purpose="prewarm",success="false",failure_reason="nonzero_exit"}"#,
            1.0,
        ),
        (
            r#"codex_shell_snapshot{purpose="execution",shell="zsh",success="true"}"#,
            1.0,
        ),
        (
            r#"codex_shell_snapshot{purpose="execution",shell="bash",attempt="1",failure_reason="nonzero_exit"}"#,
            1.0,
        ),
        ("sum(codex_shell_snapshot)", 4.0),
        ("sum(codex_shell_snapshot_duration_ms_count)", 4.0),
        (
            r#"codex_shell_snapshot_command{availability="prewarm_ready",outcome="used"}"#,
            3.0,
        ),
        (
            r#"codex_shell_snapshot_command{availability="on_demand",outcome="used"}"#,
            1.0,
        ),
        (
            r#"codex_shell_snapshot_command{availability="cache_hit",outcome="used"}"#,
            1.0,
        ),
        (
            r#"codex_shell_snapshot_command{availability="on_demand",outcome="fallback"}"#,
            1.0,
        ),
        (
            r#"codex_shell_snapshot_command{availability="unavailable",outcome="fallback"}"#,
            1.0,
        ),
        ("sum(codex_shell_snapshot_wait_ms_count)", 7.0),
        (
            r#"sum(codex_shell_snapshot_state_bytes_count{shell="bash"})"#,
            1.0,
        ),
    ] {
        prometheus.await_value(query, expected);
    }
}

#[test]
fn promtool_takes_the_alerts_and_their_tests() {
    let tests = alerts().with_file_name("alerts_test.yml");
    for (verb, file) in [("check", alerts()), ("test", tests)] {
        let output = Command::new("promtool")
            .args([verb, "rules"])
            .arg(&file)
            .output()
            .expect("promtool is installed: `make needs`, or the Debian package prometheus");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn promtool_takes_a_scrape_as_it_is() {
    ours_only!();
    let folder = tempfile::tempdir().unwrap();
    let (server, endpoint) = exec_tests::scrape::scrapable(Server::builder(), folder.path());
    server.assert_works();
    let page = folder.path().join("page");
    std::fs::write(&page, endpoint.get("/metrics").body).unwrap();
    let output = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(std::fs::File::open(page).unwrap())
        .output()
        .expect("promtool is installed: `make needs`, or the Debian package prometheus");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
}
