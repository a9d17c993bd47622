//! A scrape shows exact names and counts, and whoever scrapes cannot harm a command.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use exec_tests::http::Endpoint;
use exec_tests::prometheus::free_port;
use exec_tests::scrape::{Page, scrapable};
use exec_tests::server::{Ending, PATIENCE};
use exec_tests::{Run, Server, ours_only, program, sh};
use serde_json::json;

/// All the families there may be, as dashboards know them.
const FAMILIES: &[(&str, &str)] = &[
    ("codex_shell_snapshot", "counter"),
    ("codex_shell_snapshot_duration_ms", "histogram"),
    ("codex_shell_snapshot_command", "counter"),
    ("codex_shell_snapshot_wait_ms", "histogram"),
    ("codex_shell_snapshot_state_bytes", "histogram"),
    ("exec_server_requests_total", "counter"),
    ("exec_server_request_duration_seconds", "histogram"),
    ("exec_server_request_queue_duration_seconds", "histogram"),
    ("exec_server_connections_active", "gauge"),
    ("exec_server_connections_total", "counter"),
    ("exec_server_processes_active", "gauge"),
    ("exec_server_processes_finished_total", "counter"),
    ("exec_server_process_duration_seconds", "histogram"),
    ("exec_server_output_bytes_total", "counter"),
    ("exec_server_sandbox_prepare_ms", "histogram"),
    ("exec_server_sessions_active", "gauge"),
    ("exec_server_approvals_total", "counter"),
];

fn threads(server: &Server) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap();
    tasks.map(|task| name(task.unwrap()).trim().to_owned()).collect()
}

#[test]
fn nothing_is_there_unless_it_is_asked_for() {
    ours_only!();
    let server = Server::start();
    server.assert_works();
    assert_eq!(threads(&server).len(), 1, "{:?}", threads(&server));
    let folder = tempfile::tempdir().unwrap();
    let (scraped, endpoint) = scrapable(Server::builder(), folder.path());
    assert_eq!(endpoint.get("/livez").status, 200);
    assert!(threads(&scraped).contains(&"metrics".to_owned()));
}

#[test]
fn names_and_counts_are_exact() {
    ours_only!();
    let folder = tempfile::tempdir().unwrap();
    let (server, endpoint) = scrapable(Server::builder(), folder.path());
    server.run(sh("echo out; echo error >&2"));
    server.run(sh("exit 3"));
    server.run(program(&["/bin/echo", "pty"]).tty());
    let lives = server.spawn(program(&["/bin/sleep", "1000"]));
    server.start_refused(program(&["/no/such/program"]), -32603, "spawnNotFound");
    server.err("no/such/method", json!({}));
    server.err("fs/readFile", json!({}));
    server.send_bytes(b"[{\"id\":\"a\",\"method\":\"process/list\",\"params\":{}},{\"id\":\"b\",\"method\":\"process/read\"}]\n");
    server.send_bytes(b"not json\n");
    server.ok("process/list", json!({}));

    let answer = endpoint.get("/metrics");
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("text/plain; version=0.0.4; charset=utf-8"))
    );
    let page = Page::read(&answer.body);
    assert_eq!(
        page.of("exec_server_requests_total"),
        BTreeMap::from([
            (r#"method="initialize",result="success""#, 1.0),
            (r#"method="process/start",result="success""#, 4.0),
            (r#"method="process/start",result="error""#, 1.0),
            (r#"method="process/list",result="success""#, 2.0),
            (r#"method="process/read",result="error""#, 1.0),
            (r#"method="fs/readFile",result="error""#, 1.0),
            (r#"method="other",result="error""#, 2.0),
        ])
    );
    let durations = page.of("exec_server_request_duration_seconds_count");
    assert_eq!(durations, page.of("exec_server_requests_total"));
    let queued: f64 = page
        .of("exec_server_request_queue_duration_seconds_count")
        .values()
        .sum();
    assert_eq!(queued, 11.0, "all but the line that is no request");
    for (name, expected) in [
        (
            "exec_server_connections_active",
            &[(r#"transport="stdio""#, 1.0)][..],
        ),
        (
            "exec_server_connections_total",
            &[(r#"result="accepted",transport="stdio""#, 1.0)],
        ),
        ("exec_server_processes_active", &[("", 1.0)]),
        (
            "exec_server_processes_finished_total",
            &[(r#"result="success""#, 2.0), (r#"result="error""#, 1.0)],
        ),
        (
            "exec_server_process_duration_seconds_count",
            &[(r#"result="success""#, 2.0), (r#"result="error""#, 1.0)],
        ),
        (
            "exec_server_output_bytes_total",
            &[
                (r#"stream="stdout""#, 4.0),
                (r#"stream="stderr""#, 6.0),
                (r#"stream="pty""#, 5.0),
            ],
        ),
    ] {
        assert_eq!(page.of(name), expected.iter().copied().collect(), "{name}");
    }
    let types: BTreeSet<(&str, &str)> = answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .collect();
    assert!(types.iter().all(|known| FAMILIES.contains(known)), "{types:?}");

    assert!(lives.terminate());
    lives.closed();
    let page = Page::read(&endpoint.get("/metrics").body);
    assert_eq!(page.of("exec_server_processes_active")[""], 0.0);
    assert_eq!(
        page.of("exec_server_processes_finished_total")[r#"result="error""#],
        2.0
    );
}

#[test]
fn a_cancelled_request_and_a_lost_process_are_counted_once() {
    ours_only!();
    let folder = tempfile::tempdir().unwrap();
    let (server, endpoint) = scrapable(Server::builder(), folder.path());
    let lives = server.spawn(program(&["/bin/sleep", "1000"]));
    let waits = lives.post("wait", json!({"until": {"type": "exit"}}));
    let page = Page::read(&endpoint.get("/metrics").body);
    let answered = page.of("exec_server_requests_total");
    assert!(
        !answered.keys().any(|tags| tags.contains("process/wait")),
        "{answered:?}"
    );
    server.notify("$/cancelRequest", json!({"id": waits}));
    assert_eq!(server.reply(&waits)["error"]["code"], -32800);
    server.kill(server.warden().expect("a warden"), rustix::process::Signal::KILL);
    lives.closed();
    server.assert_works();
    let page = Page::read(&endpoint.get("/metrics").body);
    let requests = page.of("exec_server_requests_total");
    assert_eq!(requests[r#"method="process/wait",result="error""#], 1.0);
    assert_eq!(page.of("exec_server_processes_active")[""], 0.0);
    let finished = page.of("exec_server_processes_finished_total");
    assert_eq!(
        finished,
        BTreeMap::from([(r#"result="success""#, 1.0), (r#"result="error""#, 1.0)])
    );
}

#[test]
fn openmetrics_is_served_to_those_who_ask() {
    ours_only!();
    let folder = tempfile::tempdir().unwrap();
    let (server, endpoint) = scrapable(Server::builder(), folder.path());
    server.assert_works();
    let answer = endpoint.get_as("/metrics", "application/openmetrics-text;version=1.0.0,*/*;q=0.1");
    assert_eq!(
        answer.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    assert!(answer.body.ends_with("\n# EOF\n"));
    assert!(answer.body.contains("# TYPE exec_server_requests counter\n"));
    let requests = "exec_server_requests_total{method=\"process/start\",result=\"success\"} 1\n";
    assert!(answer.body.contains(requests));
}

#[test]
fn other_paths_methods_and_nonsense_are_refused() {
    ours_only!();
    let folder = tempfile::tempdir().unwrap();
    let (server, endpoint) = scrapable(Server::builder(), folder.path());
    for (path, status) in [
        ("/livez", 200),
        ("/readyz", 200),
        ("/metrics?x=y", 200),
        ("/", 404),
        ("/metrics/", 404),
    ] {
        assert_eq!(endpoint.get(path).status, status, "{path}");
    }
    let post = endpoint.exchange(b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD")));
    let head = endpoint.exchange(b"HEAD /livez HTTP/1.0\r\n\r\n");
    assert_eq!(
        (head.status, head.header("content-length"), head.body.as_str()),
        (200, Some("3"), "")
    );
    assert_eq!(endpoint.exchange(b"hello\r\n\r\n").status, 400);
    assert_eq!(
        endpoint
            .exchange(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            .status,
        400
    );
    let large = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let Endpoint::Unix(path) = &endpoint else {
        unreachable!()
    };
    let mut stream = UnixStream::connect(path).unwrap();
    // The server may close before it has taken all of it.
    let _ = stream.write_all(large.as_bytes());
    server.assert_works();
    assert_eq!(endpoint.get("/metrics").status, 200);
}

/// Connections that are held open, on a port or on a socket.
fn connect(endpoint: &Endpoint) -> Box<dyn ReadWrite> {
    match endpoint {
        Endpoint::Tcp(address) => Box::new(TcpStream::connect(address).unwrap()),
        Endpoint::Unix(path) => Box::new(UnixStream::connect(path).unwrap()),
    }
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

#[test]
fn a_crowd_that_says_nothing_holds_up_neither_commands_nor_scrapes() {
    ours_only!();
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let on_port = Server::builder()
        .env("EXEC_SERVER_METRICS_LISTEN", &port.to_string())
        .start();
    let (on_socket, socket) = scrapable(Server::builder(), folder.path());
    for (server, endpoint) in [(on_port, Endpoint::Tcp(port)), (on_socket, socket)] {
        let before = server.descriptors();
        let mut answered = connect(&endpoint);
        answered.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut crowd: Vec<_> = (0..120).map(|_| connect(&endpoint)).collect();
        // Some say half of what they want, and some do not take their leave once they were answered.
        for (at, peer) in crowd.iter_mut().enumerate() {
            let said = match at % 3 {
                0 => "",
                1 => "GET /metrics HTTP/1.1\r\n",
                _ => "GET /metrics HTTP/1.1\r\n\r\n",
            };
            // It may have been ended by now.
            let _ = peer.write_all(said.as_bytes());
        }
        for _ in 0..3 {
            let begun = Instant::now();
            assert_eq!(endpoint.get("/metrics").status, 200);
            // Three or four times the 100 ms that each of those has, and what a busy machine takes.
            assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
            server.assert_works();
            assert!(server.ping() < Duration::from_secs(1));
        }
        let open = server.descriptors() - before;
        assert!(open <= 32 + 1 + 4, "{open}: as many as are served, no more");
        // Who lost its place after it was answered has its answer.
        let mut answer = String::new();
        answered.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        drop(crowd);
    }
}

#[test]
fn a_peer_that_takes_its_time_is_answered_while_nobody_wants_its_place() {
    ours_only!();
    let folder = tempfile::tempdir().unwrap();
    let (_server, endpoint) = scrapable(Server::builder(), folder.path());
    let mut slow = connect(&endpoint);
    slow.write_all(b"GET /livez HTTP/1.1\r\n").unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(300) {
        assert_eq!(endpoint.get("/metrics").status, 200);
    }
    slow.write_all(b"\r\n").unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn an_address_that_cannot_be_served_is_an_error_at_start() {
    ours_only!();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let in_the_way = format!("unix:{}", file.display());
    for (address, said) in [
        (taken.as_str(), "in use"),
        ("0.0.0.0:0", "--metrics-allow-remote"),
        ("[::]:0", "--metrics-allow-remote"),
        ("9464", "127.0.0.1:9464"),
        (in_the_way.as_str(), "not a socket"),
        ("unix:/no/such/folder/socket", "No such file"),
    ] {
        for run in [
            Run::program(&["--metrics-listen", address]),
            Run::program(&[]).env("EXEC_SERVER_METRICS_LISTEN", address),
        ] {
            let output = run.output();
            assert_eq!(
                (output.ending, output.text().as_str()),
                (Ending::Exit(1), ""),
                "{address}"
            );
            assert!(
                output.errors().starts_with("exec-server: "),
                "{}",
                output.errors()
            );
            assert!(output.errors().contains(said), "{address}: {}", output.errors());
            assert_eq!(output.errors().lines().count(), 1, "{}", output.errors());
        }
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    drop(holder);
}

#[test]
fn an_address_of_this_machine_is_served_and_others_if_allowed() {
    ours_only!();
    for (address, allow) in [("127.0.0.1:0", ""), ("0.0.0.0:0", "on")] {
        let server = Server::builder()
            .env("EXEC_SERVER_METRICS_LISTEN", address)
            .env("EXEC_SERVER_METRICS_ALLOW_REMOTE", allow)
            .env("RUST_LOG", "exec_telemetry=info")
            .start();
        let port = exec_tests::eventually(PATIENCE, || {
            let log = server.stderr();
            let port = log
                .split("port=")
                .nth(1)?
                .split_whitespace()
                .next()?
                .parse()
                .ok()?;
            Some(port)
        });
        let address = SocketAddr::from(([127, 0, 0, 1], port.expect("the port is logged")));
        let endpoint = Endpoint::Tcp(address);
        assert_eq!(endpoint.get("/readyz").status, 200);
        // A peer that resets its connection is nothing to it.
        drop(TcpStream::connect(address).unwrap());
        assert_eq!(endpoint.get("/metrics").status, 200);
    }
}

#[test]
fn a_socket_goes_with_its_daemon_and_one_left_behind_is_replaced() {
    ours_only!();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let (server, endpoint) = scrapable(Server::builder(), folder.path());
    assert_eq!(endpoint.get("/metrics").status, 200);
    server.finish();
    assert!(!path.exists());
}

#[test]
fn a_run_of_one_command_serves_nothing() {
    ours_only!();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    let run = Run::of(&["--", "/bin/sh", "-c", "echo $EXEC_SERVER_METRICS_LISTEN"])
        .env("EXEC_SERVER_METRICS_LISTEN", &taken)
        .output();
    assert_eq!(
        (run.ending, run.text(), run.errors()),
        (Ending::Exit(0), format!("{taken}\n"), String::new())
    );
}
