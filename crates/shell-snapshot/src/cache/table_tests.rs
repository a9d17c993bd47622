//! The cache's rules, at times that the tests choose.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::ShellKind;

impl Alike for u32 {
    fn is_like(&self, other: &Self) -> bool {
        self == other
    }
}

const NONZERO: Failed = Failed {
    failure: Failure::NonzeroExit,
    past_login: false,
};
const TIMEOUT: Failed = Failed {
    failure: Failure::Timeout,
    past_login: true,
};

fn request(scope: &str, cwd: &str, environment: &[(&str, &str)]) -> Request {
    Request {
        scope: scope.to_owned(),
        shell: ShellKind::Bash,
        path: "/bin/bash".into(),
        cwd: cwd.into(),
        policy: None,
        env_names: BTreeSet::new(),
        sandbox: None,
        environment: environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
    }
}

/// A cache with a clock.
struct Stage {
    cache: Cache<u32>,
    now: Instant,
}

impl Stage {
    fn new() -> Self {
        let limits = SnapshotLimits::default();
        Self {
            cache: Cache::new(limits),
            now: Instant::now(),
        }
    }

    fn pass(&mut self, seconds: f64) {
        self.now += Duration::from_secs_f64(seconds);
    }

    /// What is found, in a word.
    fn found(&mut self, request: &Request, purpose: Purpose) -> String {
        let key = self.cache.key(request);
        match self.cache.find(&key, purpose, self.now) {
            Found::Ready(snapshot, purpose) => format!("{snapshot} by {}", purpose.name()),
            Found::Pending(_, purpose) => format!("pending by {}", purpose.name()),
            Found::Failed(failed) => failed.failure.name().to_owned(),
            Found::Missing(flight) => {
                let attempt = flight.attempt;
                self.cache.abandon(flight.id);
                format!("attempt {attempt}")
            }
        }
    }

    fn peek(&mut self, request: &Request) -> String {
        self.found(request, Purpose::Execution)
    }

    /// Begins a capture, which must be wanted.
    fn begin(&mut self, request: &Request, purpose: Purpose) -> Flight<u32> {
        let key = self.cache.key(request);
        match self.cache.find(&key, purpose, self.now) {
            Found::Missing(flight) => flight,
            found => panic!("{found:?}"),
        }
    }

    fn capture(&mut self, request: &Request, purpose: Purpose, result: Result<u32, Failed>) -> Arc<Watched> {
        let flight = self.begin(request, purpose);
        let watched = Arc::new(Watched::default());
        self.cache.finish(flight.id, result, &watched, self.now);
        watched
    }

    fn execute(&mut self, request: &Request, result: Result<u32, Failed>) -> Arc<Watched> {
        self.capture(request, Purpose::Execution, result)
    }
}

#[test]
fn one_capture_at_a_time_and_all_share_it() {
    let mut stage = Stage::new();
    let one = request("s", "/", &[]);
    let flight = stage.begin(&one, Purpose::Execution);
    let key = stage.cache.key(&one);
    let Found::Pending(outcome, Purpose::Execution) = stage.cache.find(&key, Purpose::Prewarm, stage.now)
    else {
        panic!("not shared");
    };
    assert_eq!(*outcome.borrow(), None);
    stage
        .cache
        .finish(flight.id, Ok(7), &Arc::new(Watched::default()), stage.now);
    assert_eq!(*outcome.borrow(), Some(Ok(7)));
    assert_eq!(stage.peek(&one), "7 by execution");
}

#[test]
fn everything_that_startup_files_can_see_is_in_the_key() {
    let base = request("s", "/", &[("A", "1")]);
    let changes: &[fn(&mut Request)] = &[
        |request| request.scope = "t".into(),
        |request| request.shell = ShellKind::Sh,
        |request| request.path = "/bin/sh".into(),
        |request| request.cwd = "/tmp".into(),
        |request| request.policy = Some(exec_protocol::EnvPolicy::default()),
        |request| request.sandbox = Some("{}".into()),
        |request| drop(request.environment.insert("A".into(), "2".into())),
        |request| drop(request.environment.insert("B".into(), "1".into())),
    ];
    let mut stage = Stage::new();
    stage.execute(&base, Ok(1));
    for (at, change) in changes.iter().enumerate() {
        let mut other = base.clone();
        change(&mut other);
        assert_eq!(stage.peek(&other), "attempt 1", "change {at}");
    }
    let mut same = base;
    for name in [
        "CODEX_TOOL_CALL_ID",
        "CODEX_THREAD_ID",
        "TRACEPARENT",
        "TRACESTATE",
    ] {
        same.environment.insert(name.into(), "another".into());
    }
    assert_eq!(stage.peek(&same), "1 by execution");
}

#[test]
fn a_failure_is_shared_for_a_second_and_tried_three_times() {
    let mut stage = Stage::new();
    let one = request("s", "/", &[]);
    for attempt in 1..=3 {
        assert_eq!(stage.peek(&one), format!("attempt {attempt}"));
        stage.execute(&one, Err(NONZERO));
        stage.pass(0.999);
        assert_eq!(stage.peek(&one), "nonzero_exit");
        stage.pass(0.001);
    }
    stage.pass(298.0);
    assert_eq!(stage.peek(&one), "nonzero_exit");
    stage.pass(1.1);
    assert_eq!(stage.peek(&one), "attempt 1", "five minutes after the last");
}

#[test]
fn a_success_ends_the_failures() {
    let mut stage = Stage::new();
    let one = request("s", "/", &[]);
    stage.execute(&one, Err(NONZERO));
    stage.pass(1.0);
    stage.execute(&one, Ok(2));
    assert_eq!(stage.peek(&one), "2 by execution");
}

#[test]
fn a_failed_prewarm_is_nobodys_attempt() {
    let mut stage = Stage::new();
    let one = request("s", "/", &[]);
    stage.capture(&one, Purpose::Prewarm, Err(NONZERO));
    assert_eq!(stage.peek(&one), "attempt 1");
    stage.execute(&one, Err(NONZERO));
    stage.pass(1.0);
    let flight = stage.begin(&one, Purpose::Prewarm);
    assert_eq!(flight.attempt, 1);
    stage
        .cache
        .finish(flight.id, Err(NONZERO), &Arc::new(Watched::default()), stage.now);
    assert_eq!(stage.peek(&one), "attempt 2");
    stage.capture(&one, Purpose::Prewarm, Ok(3));
    assert_eq!(stage.peek(&one), "3 by prewarm");
}

#[test]
fn a_timeout_is_remembered_for_the_home_whatever_the_directory() {
    for purpose in [Purpose::Execution, Purpose::Prewarm] {
        let mut stage = Stage::new();
        stage.capture(&request("s", "/", &[("HOME", "/h")]), purpose, Err(TIMEOUT));
        stage.pass(299.9);
        for (name, other, want) in [
            ("cwd", request("s", "/tmp", &[("HOME", "/h")]), "timeout"),
            (
                "environment",
                request("s", "/", &[("HOME", "/h"), ("A", "1")]),
                "timeout",
            ),
            ("HOME", request("s", "/", &[("HOME", "/i")]), "attempt 1"),
            (
                "ZDOTDIR",
                request("s", "/", &[("HOME", "/h"), ("ZDOTDIR", "/z")]),
                "attempt 1",
            ),
            ("scope", request("t", "/", &[("HOME", "/h")]), "attempt 1"),
        ] {
            assert_eq!(stage.peek(&other), want, "{name}");
        }
        stage.pass(0.1);
        assert_eq!(stage.peek(&request("s", "/", &[("HOME", "/h")])), "attempt 1");
    }
}

#[test]
fn whoever_waits_for_the_same_startup_files_hears_of_a_timeout() {
    let mut stage = Stage::new();
    let first = stage.begin(&request("s", "/", &[]), Purpose::Execution);
    let second = stage.begin(&request("s", "/tmp", &[]), Purpose::Execution);
    let other = stage.begin(&request("t", "/tmp", &[]), Purpose::Execution);
    let watched = Arc::new(Watched::default());
    stage.cache.finish(first.id, Err(TIMEOUT), &watched, stage.now);
    assert_eq!(*second.outcome.borrow(), Some(Err(TIMEOUT)));
    assert_eq!(*other.outcome.borrow(), None);
    // What it finds all the same is kept.
    stage.cache.finish(second.id, Ok(5), &watched, stage.now);
    assert_eq!(stage.peek(&request("s", "/tmp", &[])), "5 by execution");
}

#[test]
fn a_change_of_a_startup_file_ends_snapshots_and_memories() {
    for (result, purpose) in [
        (Ok(1), Purpose::Execution),
        (Err(NONZERO), Purpose::Execution),
        (Err(TIMEOUT), Purpose::Execution),
        (Err(TIMEOUT), Purpose::Prewarm),
    ] {
        let mut stage = Stage::new();
        let one = request("s", "/", &[]);
        let watched = stage.capture(&one, purpose, result);
        let key = stage.cache.key(&one);
        let looked_at = stage.cache.watched(&key);
        assert!(looked_at.iter().all(|files| Arc::ptr_eq(files, &watched)) && looked_at.len() == 1);
        stage.cache.changed(&watched);
        assert_eq!(stage.peek(&one), "attempt 1", "{result:?}");
    }
}

#[test]
fn snapshots_have_a_greatest_age() {
    let mut stage = Stage::new();
    let one = request("s", "/", &[]);
    stage.execute(&one, Ok(1));
    stage.pass(3599.9);
    assert_eq!(stage.peek(&one), "1 by execution");
    stage.pass(0.1);
    assert_eq!(stage.peek(&one), "attempt 1");
}

#[test]
fn the_least_recently_used_goes_first() {
    let mut stage = Stage::new();
    let cwd = |number: u32| request("s", &format!("/{number}"), &[]);
    for number in 0..16 {
        stage.execute(&cwd(number), Ok(number));
    }
    assert_eq!(stage.peek(&cwd(0)), "0 by execution");
    stage.execute(&cwd(16), Ok(16));
    assert_eq!(stage.peek(&cwd(0)), "0 by execution");
    assert_eq!(stage.peek(&cwd(1)), "attempt 1");
    for number in 2..17 {
        assert_eq!(stage.peek(&cwd(number)), format!("{number} by execution"));
    }
}

#[test]
fn invalidating_drops_a_scope_or_all_and_what_is_under_way_is_not_stored() {
    let mut stage = Stage::new();
    let (one, other) = (request("s", "/", &[]), request("t", "/", &[]));
    stage.execute(&one, Ok(1));
    stage.execute(&other, Ok(2));
    stage.execute(&request("s", "/failed", &[]), Err(NONZERO));
    stage.execute(&request("s", "/timeout", &[]), Err(TIMEOUT));
    let flight = stage.begin(
        &request("s", "/pending", &[("HOME", "/other")]),
        Purpose::Execution,
    );
    assert_eq!(stage.cache.invalidate(Some("s")), 3);
    assert_eq!(stage.peek(&one), "attempt 1");
    assert_eq!(stage.peek(&other), "2 by execution");
    let watched = Arc::new(Watched::default());
    stage.cache.finish(flight.id, Ok(3), &watched, stage.now);
    assert_eq!(*flight.outcome.borrow(), Some(Ok(3)), "those who wait are told");
    assert_eq!(
        stage.peek(&request("s", "/pending", &[("HOME", "/other")])),
        "attempt 1"
    );
    assert_eq!(stage.cache.invalidate(None), 1);
    assert_eq!(stage.cache.invalidate(None), 0);
}

#[test]
fn a_capture_that_nobody_makes_leaves_nobody_waiting() {
    let mut stage = Stage::new();
    let one = request("s", "/", &[]);
    let flight = stage.begin(&one, Purpose::Execution);
    stage.cache.abandon(flight.id);
    assert!(flight.outcome.has_changed().is_err());
    assert_eq!(stage.peek(&one), "attempt 1");
}

#[test]
fn a_counter_is_learned_from_equal_captures() {
    let mut stage = Stage::new();
    let call = |number: &str| request("s", "/", &[("HOME", "/h"), ("CALL", number)]);
    stage.execute(&call("1"), Ok(7));
    stage.execute(&call("2"), Ok(7));
    assert_eq!(stage.peek(&call("3")), "7 by execution");
    // In every directory.
    let elsewhere = |number: &str| request("s", "/tmp", &[("HOME", "/h"), ("CALL", number)]);
    stage.execute(&elsewhere("4"), Ok(8));
    assert_eq!(stage.peek(&elsewhere("5")), "8 by execution");
    assert_eq!(
        stage.peek(&request("t", "/", &[("HOME", "/h"), ("CALL", "3")])),
        "attempt 1"
    );
}

#[test]
fn what_may_matter_is_not_learned() {
    let mut stage = Stage::new();
    let call = |name: &str, value: &str| request("s", "/", &[(name, value)]);
    stage.execute(&call("A", "1"), Ok(1));
    stage.execute(&call("A", "2"), Ok(2));
    assert_eq!(stage.peek(&call("A", "3")), "attempt 1", "captures differ");
    stage.execute(&call("PATH", "1"), Ok(3));
    stage.execute(&call("PATH", "2"), Ok(3));
    assert_eq!(stage.peek(&call("PATH", "3")), "attempt 1", "shells look at it");
    let two = |a: &str, b: &str| request("s", "/", &[("X", a), ("Y", b)]);
    stage.execute(&two("1", "1"), Ok(4));
    stage.execute(&two("2", "2"), Ok(4));
    assert_eq!(stage.peek(&two("3", "3")), "attempt 1", "two differ");
}

#[test]
fn what_was_learned_is_looked_at_again_and_forgotten_if_it_fails() {
    let mut stage = Stage::new();
    let call = |number: &str| request("s", "/", &[("CALL", number)]);
    stage.execute(&call("1"), Ok(7));
    stage.execute(&call("2"), Ok(7));
    let key = stage.cache.key(&call("3"));
    assert!(!stage.cache.take_recheck(&key, stage.now));
    stage.pass(600.0);
    assert!(stage.cache.take_recheck(&key, stage.now));
    assert!(!stage.cache.take_recheck(&key, stage.now), "once");
    stage.cache.rechecked(&key, &7);
    assert_eq!(stage.peek(&call("3")), "7 by execution");
    stage.cache.rechecked(&key, &8);
    assert_eq!(stage.peek(&call("3")), "attempt 1");
    stage.execute(&call("3"), Ok(8));
    assert_eq!(stage.peek(&call("4")), "attempt 1", "no longer learned");
}
