//! A startup file that fails at first is tried again: so often, then, and no more; and every count says so.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use exec_tests::http::Endpoint;
use exec_tests::scrape::{Page, scrapable};
use exec_tests::{BASH, Home, Server, eventually, ours_only};
use serde_json::{Value, json};

/// Prints what the command was started with and how, whole.
const SCRIPT: &str =
    "tr '\\0' '\\n' </proc/$$/cmdline; env -0 | sort -z | tr '\\0' '\\n'; echo \"local=$local_one\"";

/// How long a failure is shared; within some of it a few commands can be run on any machine.
const BACKOFF: Duration = Duration::from_secs(1);

/// How often a scenario is begun anew on a machine that is too slow to look into the backoff.
const TRIES: u32 = 10;

/// What a capture or a prewarm must have counted.
#[derive(Debug, Default)]
struct Expected {
    captures: BTreeMap<String, f64>,
    durations: BTreeMap<String, f64>,
    commands: BTreeMap<String, f64>,
}

impl Expected {
    fn capture(&mut self, purpose: &str, attempt: u32, success: bool) {
        let tags = |reason: &str| {
            format!(
                "attempt=\"{attempt}\",{reason}purpose=\"{purpose}\",sandbox=\"none\",shell=\"bash\",success=\"{success}\",version=\"v2\""
            )
        };
        let reason = if success {
            ""
        } else {
            "failure_reason=\"nonzero_exit\","
        };
        *self.captures.entry(tags(reason)).or_default() += 1.0;
        *self.durations.entry(tags("")).or_default() += 1.0;
    }

    fn command(&mut self, availability: &str, outcome: &str) {
        let tags = format!(
            "availability=\"{availability}\",outcome=\"{outcome}\",state=\"{availability}\",version=\"v2\""
        );
        *self.commands.entry(tags).or_default() += 1.0;
    }
}

/// A home whose startup file fails until it is read for the n-th time, and a daemon that tells what it counts.
struct Scene {
    home: Home,
    server: Server,
    endpoint: Endpoint,
    expected: Expected,
    runs: usize,
}

impl Scene {
    fn new(succeeds_at: usize) -> Self {
        let home = Home::new(&[]);
        home.gate("gate");
        let mut rc = String::from("echo run >>~/runs; read -r _ <~/gate\n");
        writeln!(rc, "[ \"$(wc -l <~/runs)\" -ge {succeeds_at} ] || exit 7").unwrap();
        rc.push_str("export FROM_PROFILE='a b'; local_one=1\n");
        home.write(".bashrc", &rc);
        let (server, endpoint) = scrapable(Server::builder(), home.dir());
        Self {
            home,
            server,
            endpoint,
            expected: Expected::default(),
            runs: 0,
        }
    }

    /// Two commands at a time, which are found as `availability` says; if `captures`, one shell starts for both.
    fn two(&mut self, availability: [&str; 2], captures: bool, used: bool) {
        let starts = [0, 1].map(|_| self.server.spawn_later(self.home.command(BASH, SCRIPT)));
        // Both have asked once a later request is answered.
        self.server.ping();
        if captures {
            self.home.let_through("gate");
            self.runs += 1;
        }
        let mut outputs = Vec::new();
        for (process, start) in &starts {
            let reply = self.server.reply(start);
            assert!(reply["result"].is_object(), "{reply}");
            assert_eq!(process.closed(), 0, "{}", process.text());
            assert_eq!(process.stream("stderr"), b"");
            outputs.push(String::from_utf8(process.output()).unwrap());
        }
        assert_eq!(outputs[0], outputs[1], "arguments and environment are the same");
        assert_eq!(
            outputs[0].contains("\nFROM_PROFILE=a b\n"),
            used,
            "{}",
            outputs[0]
        );
        assert_eq!(outputs[0].ends_with("\nlocal=1\n"), used, "{}", outputs[0]);
        if !used {
            // As it was, and in the environment it was given.
            assert!(outputs[0].starts_with("/bin/bash\n-lc\n"), "{}", outputs[0]);
        }
        assert_eq!(self.home.lines("runs"), self.runs, "runs of the startup file");
        for availability in availability {
            let outcome = if used { "used" } else { "fallback" };
            self.expected.command(availability, outcome);
        }
    }

    fn availability(&self) -> Value {
        self.server.ok("shellSnapshot/describe", self.home.params(BASH))["availability"].take()
    }

    /// Waits until the failure is no longer shared.
    fn await_backoff(&self) {
        let over = eventually(BACKOFF * 20, || {
            (self.availability() == "on_demand").then_some(())
        });
        assert!(over.is_some(), "a failure is shared for {BACKOFF:?}");
        assert_eq!(
            self.home.lines("runs"),
            self.runs,
            "nothing is captured unless a command asks"
        );
    }

    /// Commands' attempts from the first on; `None`: the machine was too slow to look into the backoff.
    fn attempts(&mut self, succeeds_at: Option<u32>, first: [&str; 2]) -> Option<()> {
        for attempt in 1..=3 {
            let success = succeeds_at == Some(attempt);
            let availability = if attempt == 1 {
                first
            } else {
                ["on_demand", "capture_pending"]
            };
            self.expected.capture("execution", attempt, success);
            self.two(availability, true, success);
            if success {
                self.two(["cache_hit", "cache_hit"], false, true);
                return Some(());
            }
            // In the backoff.
            if self.availability() != "unavailable" {
                return None;
            }
            let before = self.home.lines("runs");
            let late = self.server.spawn_later(self.home.command(BASH, SCRIPT));
            self.server.ping();
            let in_time = self.availability() == "unavailable";
            if !in_time {
                // It may wait at the gate.
                late.0.terminate();
                return None;
            }
            assert_eq!(late.0.closed(), 0);
            assert_eq!(
                self.home.lines("runs"),
                before,
                "nothing is captured in the backoff"
            );
            self.expected.command("unavailable", "fallback");
            if attempt < 3 {
                self.await_backoff();
            }
        }
        // No more: even when another failure of the same age is tried again.
        let mut other = Scene::new(usize::MAX);
        other.two(["on_demand", "capture_pending"], true, false);
        other.await_backoff();
        self.two(["unavailable", "unavailable"], false, false);
        Some(())
    }

    fn check_counts(&self) {
        let page = Page::read(&self.endpoint.get("/metrics").body);
        let counted = |name: &str| -> BTreeMap<String, f64> {
            let series = page.of(name).into_iter();
            series.map(|(tags, value)| (tags.to_owned(), value)).collect()
        };
        assert_eq!(counted("codex_shell_snapshot"), self.expected.captures);
        assert_eq!(
            counted("codex_shell_snapshot_duration_ms_count"),
            self.expected.durations
        );
        assert_eq!(counted("codex_shell_snapshot_command"), self.expected.commands);
        assert_eq!(
            counted("codex_shell_snapshot_wait_ms_count"),
            self.expected.commands
        );
    }
}

fn commands_first(succeeds_at: u32) {
    ours_only!();
    let scenario = |_| {
        let mut scene = Scene::new(succeeds_at as usize);
        scene.attempts(Some(succeeds_at), ["on_demand", "capture_pending"])?;
        assert_eq!(scene.runs, succeeds_at.min(3) as usize);
        scene.check_counts();
        Some(())
    };
    (0..TRIES)
        .find_map(scenario)
        .expect("a machine that is fast enough");
}

fn prewarm_first(succeeds_at: u32) {
    ours_only!();
    let scenario = |_| {
        let mut scene = Scene::new(succeeds_at as usize);
        let prewarm = scene
            .server
            .post("shellSnapshot/prewarm", scene.home.params(BASH));
        scene.home.let_through("gate");
        scene.runs += 1;
        let reply = scene.server.reply(&prewarm);
        scene.expected.capture("prewarm", 1, succeeds_at == 1);
        if succeeds_at == 1 {
            assert!(reply["result"]["durationMs"].is_u64(), "{reply}");
            scene.two(["prewarm_ready", "prewarm_ready"], false, true);
        } else {
            assert_eq!(reply["error"]["code"], -32603, "{reply}");
            assert_eq!(reply["error"]["data"]["kind"], "snapshotFailed", "{reply}");
            assert_eq!(reply["error"]["data"]["reason"], "nonzero_exit", "{reply}");
            // Not stored: there is no backoff, and a command has all its attempts.
            scene.attempts(Some(succeeds_at - 1), ["on_demand", "capture_pending"])?;
        }
        assert_eq!(scene.runs, succeeds_at.min(4) as usize);
        scene.check_counts();
        Some(())
    };
    (0..TRIES)
        .find_map(scenario)
        .expect("a machine that is fast enough");
}

#[test]
fn commands_first_at_once() {
    commands_first(1);
}

#[test]
fn commands_first_at_the_second_attempt() {
    commands_first(2);
}

#[test]
fn commands_first_at_the_third_attempt() {
    commands_first(3);
}

#[test]
fn commands_first_never() {
    commands_first(4);
}

#[test]
fn prewarm_first_at_once() {
    prewarm_first(1);
}

#[test]
fn prewarm_first_at_the_second_attempt() {
    prewarm_first(2);
}

#[test]
fn prewarm_first_at_the_third_attempt() {
    prewarm_first(3);
}

#[test]
fn prewarm_first_at_the_fourth_attempt() {
    prewarm_first(4);
}

#[test]
fn prewarm_first_never() {
    prewarm_first(5);
}

#[test]
fn commands_that_wait_for_a_prewarm_that_fails_capture_at_once() {
    ours_only!();
    let mut scene = Scene::new(2);
    let prewarm = scene
        .server
        .post("shellSnapshot/prewarm", scene.home.params(BASH));
    let starts = [0, 1].map(|_| scene.server.spawn_later(scene.home.command(BASH, SCRIPT)));
    scene.server.ping();
    scene.home.let_through("gate");
    assert_eq!(
        scene.server.reply(&prewarm)["error"]["data"]["reason"],
        "nonzero_exit"
    );
    scene.home.let_through("gate");
    let [first, second] = starts.map(|(process, _)| {
        assert_eq!(process.closed(), 0);
        process.text()
    });
    assert!(
        first == second && first.ends_with("\nlocal=1\n"),
        "{first}\n{second}"
    );
    assert_eq!(scene.home.lines("runs"), 2);
    scene.expected.capture("prewarm", 1, false);
    scene.expected.capture("execution", 1, true);
    scene.expected.command("prewarm_pending", "used");
    scene.expected.command("prewarm_pending", "used");
    scene.check_counts();
}

#[test]
fn a_change_or_a_word_of_the_client_ends_the_memory_of_a_failure() {
    ours_only!();
    let server = Server::start();
    for by_hand in [false, true] {
        let home = Home::new(&[(
            ".bashrc",
            "echo run >>~/runs; [ -e ~/fixed ] || exit 7\nf() { echo f; }\n",
        )]);
        let run = || {
            let (_, output) = server.run(home.command(BASH, "type f >/dev/null 2>&1 && f || echo none"));
            String::from_utf8(output).unwrap()
        };
        assert_eq!(run(), "none\n");
        home.write("fixed", "");
        if by_hand {
            assert_eq!(
                server.ok("shellSnapshot/invalidate", json!({"scopeId": "scope"})),
                json!({"dropped": 2})
            );
        } else {
            home.write(".bashrc", "echo run >>~/runs\nf() { echo f; }\n");
        }
        assert_eq!(run(), "f\n", "at once, by hand: {by_hand}");
        assert_eq!(home.lines("runs"), 2);
    }
}
