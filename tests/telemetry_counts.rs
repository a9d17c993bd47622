//! A real Prometheus that scraped the daemon while it did every kind of work shows exactly what was done, and at no
//! moment anything that was not.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use exec_tests::home::{Shell, snapshot};
use exec_tests::prometheus::{Prometheus, Samples, Tags, free_port};
use exec_tests::server::PATIENCE;
use exec_tests::{BASH, FISH, Home, Launch, Running, SH, Server, ZSH, eventually, ours_only, program, sh};
use serde_json::{Value, json};

/// Commands on pipes, with each of three exit codes.
const ON_PIPES: usize = 30;
/// Commands on a terminal.
const ON_TERMINALS: usize = 8;
/// Bytes of one flood.
const FLOOD: usize = 1_000_000;
/// A method that there is not.
const UNKNOWN: &str = "no/such/method";
/// How long a failed capture is shared, at most on a busy machine.
const BACKOFF: Duration = Duration::from_secs(20);

/// What must have been counted: values by tags, by name.
#[derive(Debug, Default, Clone, PartialEq)]
struct Counts(BTreeMap<String, BTreeMap<Tags, f64>>);

impl Counts {
    fn add(&mut self, name: &str, tags: impl Into<Tags>, count: u32) {
        let of_name = self.0.entry(name.to_owned()).or_default();
        *of_name.entry(tags.into()).or_default() += f64::from(count);
    }

    fn request(&mut self, method: &str, success: bool, count: u32) {
        let result = if success { "success" } else { "error" };
        let tags = format!("method={method},result={result}");
        self.add("exec_server_requests_total", tags.as_str(), count);
        self.add("exec_server_request_duration_seconds_count", tags, count);
    }

    fn queued(&mut self, method: &str, count: u32) {
        let tags = format!("method={method}");
        self.add("exec_server_request_queue_duration_seconds_count", tags, count);
    }

    fn capture(&mut self, purpose: &str, attempt: u32, shell: Shell, failure: Option<&str>) {
        let tags = |reason: &str| {
            format!(
                "attempt={attempt},{reason}purpose={purpose},sandbox=none,shell={},success={},version=v2",
                shell.name,
                failure.is_none()
            )
        };
        let reason = failure.map(|reason| format!("failure_reason={reason},"));
        self.add("codex_shell_snapshot", tags(&reason.unwrap_or_default()), 1);
        self.add("codex_shell_snapshot_duration_ms_count", tags(""), 1);
        if failure.is_none() {
            let shell = format!("shell={}", shell.name);
            self.add("codex_shell_snapshot_state_bytes_count", shell, 1);
        }
    }

    fn command(&mut self, availability: &str, outcome: &str, count: u32) {
        let tags = format!("availability={availability},outcome={outcome},state={availability},version=v2");
        self.add("codex_shell_snapshot_command", tags.as_str(), count);
        self.add("codex_shell_snapshot_wait_ms_count", tags, count);
    }

    fn ended(&mut self, process: &Running<'_>) {
        let result = if process.closed() == 0 { "success" } else { "error" };
        let tags = format!("result={result}");
        self.add("exec_server_processes_finished_total", tags.as_str(), 1);
        self.add("exec_server_process_duration_seconds_count", tags, 1);
        for stream in ["stdout", "stderr", "pty"] {
            let bytes = process.stream_length(stream).try_into().expect("few");
            self.add(
                "exec_server_output_bytes_total",
                format!("stream={stream}"),
                bytes,
            );
        }
    }
}

/// A client that keeps count of what it has done.
struct Client {
    server: Server,
    done: Counts,
}

impl Client {
    /// Commands at the same time, each to its end.
    fn together(&mut self, launches: Vec<Launch>) {
        let Self { server, done } = self;
        let started: Vec<_> = launches
            .into_iter()
            .map(|launch| server.spawn_later(launch))
            .collect();
        for (process, start) in &started {
            let reply = server.reply(start);
            assert!(reply["result"].is_object(), "{reply}");
            done.ended(process);
        }
    }

    fn run(&mut self, launch: Launch) {
        self.together(vec![launch]);
    }

    /// A prewarm, which succeeds or fails for that reason.
    fn prewarm(&mut self, home: &Home, shell: Shell, failure: Option<&str>) {
        let told = self.server.call("shellSnapshot/prewarm", home.params(shell));
        let reason = told.as_ref().err().map(|error| &error["data"]["reason"]);
        assert_eq!(reason.and_then(Value::as_str), failure, "{shell:?}: {told:?}");
        self.done.capture("prewarm", 1, shell, failure);
    }

    /// A command, which captures once more, for the n-th time, and fails for that reason or has its snapshot.
    fn captures(&mut self, home: &Home, shell: Shell, attempt: u32, failure: Option<&str>) {
        self.run(home.command(shell, "echo x"));
        self.done.capture("execution", attempt, shell, failure);
        let outcome = if failure.is_some() { "fallback" } else { "used" };
        self.done.command("on_demand", outcome, 1);
    }

    fn all(&self) -> Counts {
        let mut all = self.done.clone();
        for ((method, success), count) in self.server.answered() {
            let method = if method == UNKNOWN { "other" } else { &method };
            let count = count.try_into().expect("few");
            all.request(method, success, count);
            all.queued(method, count);
        }
        all
    }
}

/// A file of every interactive shell that a plain login shell does not read, where there is one.
fn startup_file(shell: Shell) -> &'static str {
    match shell.name {
        "bash" => ".bashrc",
        "zsh" => ".zshrc",
        "sh" => ".profile",
        _ => ".config/fish/config.fish",
    }
}

fn plain_commands(client: &mut Client) {
    for group in 0..ON_PIPES / 5 {
        let one = |at| {
            sh(&format!(
                "echo out {at}; echo error >&2; exit {}",
                (group + at) % 3
            ))
        };
        client.together((0..5).map(one).collect());
    }
    for group in 0..ON_TERMINALS / 4 {
        let one = |at| sh(&format!("echo {at}; exit {}", group % 2)).tty();
        client.together((0..4).map(one).collect());
    }
    let flood = |to: &str| sh(&format!("head -c {FLOOD} /dev/zero {to}"));
    client.together(vec![flood(""), flood(">&2"), flood("").tty()]);
}

fn every_method(client: &mut Client) {
    let Client { server, done } = client;
    let process = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    process.write(b"12345");
    process.await_output(b"12345");
    process.ask("read", json!({}));
    process.ask("closeStdin", json!({}));
    process.wait(json!({"type": "exit"}));
    done.ended(&process);
    let terminal = server.spawn(program(&["/bin/cat"]).tty());
    terminal.ask("resize", json!({"rows": 40, "cols": 123}));
    server.ok("process/list", json!({}));
    let waits = terminal.post("wait", json!({"until": {"type": "exit"}}));
    server.notify("$/cancelRequest", json!({"id": waits}));
    assert_eq!(server.reply(&waits)["error"]["code"], -32800);
    assert!(terminal.terminate());
    done.ended(&terminal);
    let signalled = server.spawn(program(&["/bin/sleep", "1000"]));
    signalled.signal("SIGKILL");
    done.ended(&signalled);
    server.ok("environment/info", json!({}));
    server.ok("environment/status", json!({}));

    server.start_refused(program(&["/no/such/program"]), -32603, "spawnNotFound");
    server.start_refused(program(&[]), -32602, "invalidParam");
    server.err(UNKNOWN, json!({}));
    server.err("fs/readFile", json!({}));
    server.err("process/read", json!({"processId": "nobody"}));
    server.send_bytes(
        b"[{\"id\":\"a\",\"method\":\"process/list\",\"params\":{}},{\"id\":\"b\",\"method\":\"process/read\"}]\n",
    );
    server.reply(&json!("b"));
    done.request("process/list", true, 1);
    done.queued("process/list", 1);
    done.request("process/read", false, 1);
    done.queued("process/read", 1);
    // Never asked for anything: it has waited for nothing.
    server.send_bytes(b"not json\n");
    server.reply(&Value::Null);
    done.request("other", false, 1);
}

/// Each shell: prewarmed, captured on demand, and found again.
fn snapshots_that_succeed(client: &mut Client) {
    for shell in [BASH, ZSH, SH, FISH] {
        let file = [(startup_file(shell), "export FROM_STARTUP=1\n")];
        let file = match shell.name {
            "fish" => [(file[0].0, "set -gx FROM_STARTUP 1\n")],
            _ => file,
        };
        let prewarmed = Home::new(&file);
        client.prewarm(&prewarmed, shell, None);
        let finds = || prewarmed.command(shell, "echo $FROM_STARTUP");
        client.together(vec![finds(), finds(), finds().tty()]);
        client.done.command("prewarm_ready", "used", 3);
        let other = Home::new(&file);
        client.captures(&other, shell, 1, None);
        client.run(other.command(shell, "echo $FROM_STARTUP"));
        client.done.command("cache_hit", "used", 1);
    }
}

/// Commands that come while a capture is under way.
fn snapshots_that_are_pending(client: &mut Client) {
    let home = || {
        let home = Home::new(&[(".bashrc", "read -r _ <~/gate; export FROM_STARTUP=1\n")]);
        home.gate("gate");
        home
    };
    for prewarmed in [false, true] {
        let Client { server, done } = client;
        let home = home();
        let prewarm = prewarmed.then(|| server.post("shellSnapshot/prewarm", home.params(BASH)));
        let started = [0, 1].map(|_| server.spawn_later(home.command(BASH, "echo x")));
        // Both have asked once a later request is answered.
        server.ping();
        home.let_through("gate");
        if let Some(prewarm) = prewarm {
            assert!(server.reply(&prewarm)["result"].is_object());
            done.capture("prewarm", 1, BASH, None);
            done.command("prewarm_pending", "used", 2);
        } else {
            done.capture("execution", 1, BASH, None);
            done.command("on_demand", "used", 1);
            done.command("capture_pending", "used", 1);
        }
        for (process, _) in &started {
            done.ended(process);
        }
    }
}

/// All reasons that startup files can make, for a prewarm and for a command.
fn snapshots_that_fail(client: &mut Client) {
    let large = |megabytes: u32| format!("big=$(head -c {megabytes}000000 /dev/zero | tr '\\0' x)\n");
    let exports: String = (0..6)
        .map(|at| format!("export LARGE_{at}=$(head -c 100000 /dev/zero | tr '\\0' x)\n"))
        .collect();
    for (shell, text, reason) in [
        (BASH, "exit 7\n".to_owned(), "nonzero_exit"),
        (ZSH, "exit 7\n".to_owned(), "nonzero_exit"),
        (SH, "exit 0\n".to_owned(), "missing_output"),
        (BASH, large(5), "state_too_large"),
        (BASH, large(9), "capture_too_large"),
        (ZSH, exports, "environment_too_large"),
    ] {
        let home = Home::new(&[(startup_file(shell), &text)]);
        client.prewarm(&home, shell, Some(reason));
        client.captures(&home, shell, 1, Some(reason));
    }
    let home = Home::new(&[]);
    let missing = Shell {
        name: "bash",
        path: "/no/such/shell",
    };
    client.prewarm(&home, missing, Some("spawn_failed"));
    // No command of that shell: nothing is captured for it.
    client.run(program(&["/bin/true"]).set("shellSnapshot", snapshot("scope", BASH)));
    client.done.command("unavailable", "fallback", 1);
}

fn the_third_attempt_succeeds(client: &mut Client) {
    let home = Home::new(&[(
        ".bashrc",
        "echo run >>~/runs; [ \"$(wc -l <~/runs)\" -ge 3 ] || exit 7\n",
    )]);
    for attempt in 1..=3 {
        let over = eventually(BACKOFF, || {
            let told = client.server.ok("shellSnapshot/describe", home.params(BASH));
            (told["availability"] == "on_demand").then_some(())
        });
        assert!(over.is_some(), "a failure is shared for {BACKOFF:?}");
        let failure = (attempt < 3).then_some("nonzero_exit");
        client.captures(&home, BASH, attempt, failure);
    }
    assert_eq!(home.lines("runs"), 3);
    client
        .server
        .ok("shellSnapshot/invalidate", json!({"scopeId": "scope"}));
}

type Stored = BTreeMap<String, BTreeMap<Tags, Samples>>;

/// The last of each but buckets and sums, and but what Prometheus says itself.
fn last(stored: &Stored) -> Counts {
    let mut counts = stored.clone();
    counts.retain(|name, _| {
        let its_own = name == "up" || name.starts_with("scrape_");
        !its_own && !name.ends_with("_bucket") && !name.ends_with("_sum")
    });
    let of_name = |series: BTreeMap<Tags, Samples>| {
        let last = |(tags, samples): (Tags, Samples)| Some((tags, samples.last()?.1));
        series.into_iter().filter_map(last).collect()
    };
    Counts(
        counts
            .into_iter()
            .map(|(name, series)| (name, of_name(series)))
            .collect(),
    )
}

/// What only adds up never falls, from one scrape to the next.
fn assert_adds_up(stored: &Stored) {
    let gauges = |name: &str| name.ends_with("_active") || name == "up" || name.starts_with("scrape_");
    for (name, series) in stored.iter().filter(|(name, _)| !gauges(name)) {
        for (tags, samples) in series {
            let falls = samples.windows(2).find(|pair| pair[1].1 < pair[0].1);
            assert_eq!(falls, None, "{name}{{{tags}}} falls");
        }
    }
}

/// In each scrape, the buckets of a histogram add up to its count.
fn assert_whole_histograms(stored: &Stored) {
    let mut seen = 0;
    for (name, buckets) in stored {
        let Some(histogram) = name.strip_suffix("_bucket") else {
            continue;
        };
        // By the other tags and the moment: what is below each bound.
        let mut pages: BTreeMap<(Tags, u64), Vec<(f64, f64)>> = BTreeMap::new();
        for (tags, samples) in buckets {
            let (bound, others): (Vec<&str>, Vec<&str>) =
                tags.split(',').partition(|tag| tag.starts_with("le="));
            let bound = bound[0]["le=".len()..].parse().expect("a bound");
            for (at, below) in samples {
                let page = pages.entry((others.join(","), at.to_bits())).or_default();
                page.push((bound, *below));
            }
        }
        for ((tags, at), mut page) in pages {
            page.sort_by(|one, other| one.0.total_cmp(&other.0));
            let grows = page.windows(2).all(|pair| pair[0].1 <= pair[1].1);
            assert!(grows, "{name}{{{tags}}}: {page:?}");
            let counts = &stored[&format!("{histogram}_count")][&tags];
            let count = counts.iter().find(|(when, _)| when.to_bits() == at);
            let (bound, all) = page.last().expect("a bucket");
            assert_eq!(
                (*bound, Some(*all)),
                (f64::INFINITY, count.map(|(_, count)| *count))
            );
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} histograms were looked at");
}

#[test]
fn prometheus_shows_exactly_what_was_done() {
    ours_only!();
    let daemon = free_port();
    let server = Server::builder()
        .env("EXEC_SERVER_METRICS_LISTEN", &daemon.to_string())
        .start();
    let prometheus = Prometheus::scraping(daemon);
    // It takes some seconds before it looks for the first time.
    prometheus.await_value("up", 1.0);
    let mut client = Client {
        server,
        done: Counts::default(),
    };
    client
        .done
        .add("exec_server_connections_active", "transport=stdio", 1);
    client.done.add(
        "exec_server_connections_total",
        "result=accepted,transport=stdio",
        1,
    );
    client.done.add("exec_server_processes_active", "", 0);

    // Takes a whole attempt, beside all the rest.
    let hangs = Home::new(&[(".bash_profile", "exec sleep 1000\n")]);
    let hanging = client.server.post("shellSnapshot/prewarm", hangs.params(BASH));
    plain_commands(&mut client);
    every_method(&mut client);
    snapshots_that_succeed(&mut client);
    snapshots_that_are_pending(&mut client);
    snapshots_that_fail(&mut client);
    the_third_attempt_succeeds(&mut client);
    let reply = client.server.reply_within(&hanging, PATIENCE);
    assert_eq!(reply["error"]["data"]["reason"], "timeout", "{reply}");
    client.done.capture("prewarm", 1, BASH, Some("timeout"));

    let expected = client.all();
    let complete = eventually(Duration::from_secs(30), || {
        (last(&prometheus.stored()) == expected).then_some(())
    });
    let stored = prometheus.stored();
    if complete.is_none() {
        let shown = last(&stored);
        for name in expected.0.keys().chain(shown.0.keys()) {
            assert_eq!(shown.0.get(name), expected.0.get(name), "{name}");
        }
    }
    assert_adds_up(&stored);
    assert_whole_histograms(&stored);
    // A startup file hung once, which is enough for whoever is to hear of it.
    prometheus.await_value(
        r#"ALERTS{alertname="ExecServerStartupFilesHang",alertstate="firing",shell="bash"}"#,
        1.0,
    );
    // It looked while the work was done, not only afterwards.
    let starts = &stored["exec_server_requests_total"]["method=process/start,result=success"];
    let moments: BTreeSet<u64> = starts.iter().map(|(_, count)| count.to_bits()).collect();
    assert!(moments.len() >= 5, "{starts:?}");
}
