//! Commands, prewarms and failures, with captures that the tests make up, on a clock that stands still.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use exec_process::environment::Environment;

use super::*;
use crate::capture::Attempt;
use crate::dialect::{CaptureCommand, Dialect, Try};
use crate::observer::{CaptureFinished, CaptureFollower, Unobserved};
use crate::sections::{Frame, Sections};
use crate::snapshot::{Capture, ReplayKind};
use crate::state::{Captured, Replay, State, Transport};
use crate::{Inventory, ShellKind};

/// How long a made-up capture takes.
const CAPTURE: Duration = Duration::from_millis(100);

/// A shell that exists in these tests only.
#[derive(Debug)]
struct Plain;

impl Dialect for Plain {
    fn capture(&self, _: &Path, _: Try, _: &Frame, _: &Environment) -> CaptureCommand {
        unreachable!("captures are made up")
    }

    fn startup_files(&self, _: &Environment) -> Vec<PathBuf> {
        Vec::new()
    }

    fn read(&self, sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
        let mut environment = given.clone();
        environment.insert("FROM_PROFILE".into(), "1".into());
        Ok(Captured {
            environment,
            state: State {
                file: sections.get("state"),
                text: Vec::new(),
                demand: None,
            },
            inventory: Inventory::default(),
        })
    }

    fn replay(
        &self,
        shell: &Path,
        _: &State,
        transport: Transport,
        script: &OsStr,
        arguments: &[OsString],
    ) -> Option<Replay> {
        assert_eq!(transport, Transport::File(9));
        let argv = [shell.as_os_str(), OsStr::new("-c"), script];
        Some(Replay {
            argv: argv
                .into_iter()
                .map(OsStr::to_os_string)
                .chain(arguments.iter().cloned())
                .collect(),
            arg0: None,
            set: [("STATE".into(), "9".into())].into(),
            unset: vec!["GONE".into()],
            file: None,
        })
    }
}

/// Attempts that go as the tests say, then succeed.
#[derive(Debug, Default)]
struct Scripted(Mutex<VecDeque<Failed>>);

impl Attempts for Arc<Scripted> {
    fn attempt(&self, request: Arc<Request>) -> Attempt {
        let failed = self.0.lock().unwrap().pop_front();
        Box::pin(async move {
            tokio::time::sleep(CAPTURE).await;
            if let Some(failed) = failed {
                return Err(failed);
            }
            let nonce = "0123456789abcdef0123456789abcdef";
            let capture = Capture {
                stream: format!("{nonce} begin\n\n{nonce} state\nthe state\n{nonce} end\n").into_bytes(),
                nonce: nonce.to_owned(),
                given: request.environment.clone(),
                replay: ReplayKind::File,
                interactive: true,
            };
            let read = Snapshot::read(&Plain, &capture, &SnapshotLimits::default(), CAPTURE);
            Ok(read.expect("a capture"))
        })
    }
}

/// What was observed, in words.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn capture_finished(&self, capture: &CaptureFinished) {
        let result = match capture.result {
            Ok(bytes) => format!("{bytes} bytes"),
            Err(failure) => failure.name().to_owned(),
        };
        let (purpose, attempt) = (capture.purpose.name(), capture.attempt);
        assert_eq!(capture.duration, CAPTURE);
        self.push(format!("{purpose} {attempt}: {result}"));
    }

    fn command_prepared(&self, command: &CommandPrepared) {
        let (availability, outcome) = (command.availability.name(), command.outcome.name());
        self.push(format!("{availability} {outcome} {}", command.wait.as_millis()));
    }
}

impl Log {
    fn push(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

/// How the captures went that were begun for a stage's requests.
#[derive(Debug, Default)]
struct Followed(Arc<Mutex<Vec<Option<Failure>>>>);

impl Follower for Followed {
    fn capture_began(&self) -> Box<dyn CaptureFollower> {
        Box::new(Self(Arc::clone(&self.0)))
    }
}

impl CaptureFollower for Followed {
    fn capture_ended(self: Box<Self>, failure: Option<Failure>) {
        self.0.lock().unwrap().push(failure);
    }
}

struct Stage {
    snapshots: Snapshots,
    follower: Box<Followed>,
    attempts: Arc<Scripted>,
    log: Arc<Log>,
    home: tempfile::TempDir,
}

impl Stage {
    fn new(failures: &[Failed]) -> Self {
        let attempts = Arc::new(Scripted::default());
        attempts.0.lock().unwrap().extend(failures);
        let log = Arc::new(Log::default());
        let observer: Arc<dyn Observer> = log.clone();
        Self {
            snapshots: Snapshots::with_attempts(
                Box::new(Arc::clone(&attempts)),
                SnapshotLimits::default(),
                observer,
            ),
            attempts,
            log,
            follower: Box::default(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn request(&self) -> Request {
        Request {
            scope: "s".into(),
            shell: ShellKind::Bash,
            path: "/bin/bash".into(),
            cwd: "/".into(),
            policy: None,
            env_names: BTreeSet::new(),
            sandbox: None,
            environment: [
                ("HOME".into(), self.home.path().into()),
                ("GONE".into(), "1".into()),
            ]
            .into(),
        }
    }

    async fn command(&self) -> Prepared {
        let argv = ["/bin/bash", "-lc", "echo", "0", "1"].map(OsString::from);
        self.snapshots
            .prepare(self.request(), &argv, Some(OsStr::new("-bash")), &*self.follower)
            .await
    }

    async fn two_commands(&self) -> (Prepared, Prepared) {
        tokio::join!(self.command(), self.command())
    }

    async fn prewarm(&self) -> Result<u64, Failure> {
        let summary = self.snapshots.prewarm(self.request(), &*self.follower).await;
        summary.map(|summary| summary.state_bytes)
    }

    async fn availability(&self) -> &'static str {
        self.snapshots.describe(self.request()).await.availability.name()
    }

    /// What was observed since the last time, sorted where it happened at once.
    fn observed(&self) -> Vec<String> {
        let mut observed = std::mem::take(&mut *self.log.0.lock().unwrap());
        observed.sort();
        observed
    }

    async fn pass(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

fn failed(failure: Failure) -> Failed {
    Failed {
        failure,
        past_login: true,
    }
}

fn text(prepared: &Prepared) -> (Vec<&str>, Vec<String>) {
    let Prepared::Restored(rewrite) = prepared else {
        panic!("{prepared:?}");
    };
    let argv = rewrite.argv.iter().map(|argument| argument.to_str().unwrap());
    let environment = rewrite.environment.iter();
    (
        argv.collect(),
        environment
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect(),
    )
}

#[tokio::test(start_paused = true)]
async fn a_command_gets_its_state_its_environment_and_a_descriptor_of_its_own() {
    let stage = Stage::new(&[]);
    let (one, other) = stage.two_commands().await;
    let (argv, environment) = text(&one);
    assert_eq!(argv, ["/bin/bash", "-c", "echo", "0", "1"]);
    let home = format!("HOME={}", stage.home.path().display());
    assert_eq!(environment, ["FROM_PROFILE=1", &home, "STATE=9"]);
    assert_eq!(text(&other), text(&one));
    let (Prepared::Restored(one), Prepared::Restored(other)) = (one, other) else {
        panic!("checked");
    };
    assert_eq!(one.arg0.as_deref(), Some(OsStr::new("-bash")));
    assert_eq!(one.inherited[0].number, 9);
    assert!(!Arc::ptr_eq(
        &one.inherited[0].descriptor,
        &other.inherited[0].descriptor
    ));
    assert_eq!(
        stage.observed(),
        [
            "capture_pending used 100",
            "execution 1: 9 bytes",
            "on_demand used 100"
        ]
    );
    stage.command().await;
    assert_eq!(stage.observed(), ["cache_hit used 0"]);
}

#[tokio::test(start_paused = true)]
async fn another_argv_runs_as_it_is() {
    let stage = Stage::new(&[]);
    for argv in [&["/bin/bash", "-c", "x"][..], &["/bin/true"]] {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        let prepared = stage
            .snapshots
            .prepare(stage.request(), &argv, None, &Unobserved)
            .await;
        assert_eq!(prepared, Prepared::Unmodified);
        assert_eq!(stage.observed(), ["unavailable fallback 0"]);
    }
}

/// Two commands at a time, with startup files that fail until the attempt of that number.
#[tokio::test(start_paused = true)]
async fn attempts_fail_until_one_does_not() {
    for good in 1..=4 {
        for prewarmed in [false, true] {
            let name = format!("{good} {prewarmed}");
            let stage = Stage::new(&vec![failed(Failure::NonzeroExit); good - 1]);
            let mut left = good;
            if prewarmed {
                let result = stage.prewarm().await;
                let want = if left == 1 {
                    Ok(9)
                } else {
                    Err(Failure::NonzeroExit)
                };
                assert_eq!(result, want, "{name}");
                let result = if left == 1 { "9 bytes" } else { "nonzero_exit" };
                assert_eq!(stage.observed(), [format!("prewarm 1: {result}")], "{name}");
                left = left.saturating_sub(1);
            }
            for attempt in 1..=3 {
                if left == 0 {
                    break;
                }
                let succeeds = left == 1;
                left -= 1;
                let (one, other) = stage.two_commands().await;
                assert_eq!(matches!(one, Prepared::Restored(_)), succeeds, "{name} {attempt}");
                assert_eq!(
                    matches!(other, Prepared::Restored(_)),
                    succeeds,
                    "{name} {attempt}"
                );
                let (result, outcome) = match succeeds {
                    true => ("9 bytes", "used"),
                    false => ("nonzero_exit", "fallback"),
                };
                assert_eq!(
                    stage.observed(),
                    [
                        format!("capture_pending {outcome} 100"),
                        format!("execution {attempt}: {result}"),
                        format!("on_demand {outcome} 100"),
                    ],
                    "{name} {attempt}"
                );
                // During the backoff nothing is captured.
                if !succeeds {
                    stage.pass(Duration::from_millis(999)).await;
                    assert_eq!(stage.command().await, Prepared::Unmodified);
                    assert_eq!(stage.observed(), ["unavailable fallback 0"], "{name} {attempt}");
                    stage.pass(Duration::from_millis(1)).await;
                }
            }
            let is_exhausted = left > 0;
            stage.command().await;
            let want = match (is_exhausted, prewarmed && good == 1) {
                (true, _) => "unavailable fallback 0",
                (false, true) => "prewarm_ready used 0",
                (false, false) => "cache_hit used 0",
            };
            assert_eq!(stage.observed(), [want], "{name}");
            assert_eq!(is_exhausted, good == 4 && !prewarmed, "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_that_waits_for_a_failed_prewarm_captures_at_once() {
    let stage = Stage::new(&[failed(Failure::MissingOutput)]);
    let (prewarm, command, state) = tokio::join!(stage.prewarm(), stage.command(), stage.availability());
    assert_eq!(prewarm, Err(Failure::MissingOutput));
    assert_eq!(state, "prewarm_pending");
    assert!(matches!(command, Prepared::Restored(_)));
    assert_eq!(
        stage.observed(),
        [
            "execution 1: 9 bytes",
            "prewarm 1: missing_output",
            "prewarm_pending used 200"
        ]
    );
    let followed = stage.follower.0.lock().unwrap();
    assert_eq!(*followed, [Some(Failure::MissingOutput), None]);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_prewarm_is_not_hung_for_again() {
    let stage = Stage::new(&[failed(Failure::Timeout)]);
    let (prewarm, command) = tokio::join!(stage.prewarm(), stage.command());
    assert_eq!((prewarm, command), (Err(Failure::Timeout), Prepared::Unmodified));
    assert_eq!(stage.prewarm().await, Err(Failure::Timeout));
    stage.command().await;
    assert_eq!(
        stage.observed(),
        [
            "prewarm 1: timeout",
            "prewarm_pending fallback 100",
            "unavailable fallback 0"
        ]
    );
    stage.pass(Duration::from_secs(300)).await;
    assert!(matches!(stage.command().await, Prepared::Restored(_)));
}

#[tokio::test(start_paused = true)]
async fn login_files_that_fail_are_not_run_again() {
    let stage = Stage::new(&[Failed {
        failure: Failure::NonzeroExit,
        past_login: false,
    }]);
    let Prepared::Bare(rewrite) = stage.command().await else {
        panic!("not bare");
    };
    assert_eq!(rewrite.argv, ["/bin/bash", "-c", "echo", "0", "1"]);
    assert_eq!(rewrite.arg0.as_deref(), Some(OsStr::new("-bash")));
    assert_eq!(rewrite.environment, stage.request().environment);
    assert_eq!(
        rewrite.notice,
        "exec-server: running without your shell's startup files: a startup file ended the shell with an error\n"
    );
}

#[tokio::test(start_paused = true)]
async fn a_changed_startup_file_is_seen_by_the_next_command() {
    for failures in [
        &[][..],
        &[failed(Failure::NonzeroExit)],
        &[failed(Failure::Timeout)],
    ] {
        let stage = Stage::new(failures);
        stage.command().await;
        stage.observed();
        // Absent until now.
        fs::write(stage.home.path().join(".bash_profile"), ". ~/.mine\n").unwrap();
        stage.command().await;
        assert_eq!(
            stage.observed(),
            ["execution 1: 9 bytes", "on_demand used 100"],
            "{failures:?}"
        );
        fs::write(stage.home.path().join(".mine"), "alias a=b\n").unwrap();
        assert_eq!(stage.availability().await, "on_demand");
        stage.command().await;
        assert_eq!(
            stage.observed(),
            ["execution 1: 9 bytes", "on_demand used 100"],
            "{failures:?}"
        );
        stage.command().await;
        assert_eq!(stage.observed(), ["cache_hit used 0"], "{failures:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_during_the_capture_is_seen_too() {
    let stage = Stage::new(&[]);
    let change = async {
        stage.pass(CAPTURE / 2).await;
        fs::write(stage.home.path().join(".bashrc"), "alias a=b\n").unwrap();
    };
    tokio::join!(stage.command(), change);
    stage.observed();
    stage.command().await;
    assert_eq!(stage.observed(), ["execution 1: 9 bytes", "on_demand used 100"]);
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_stops_no_capture() {
    let stage = Stage::new(&[]);
    let gone = tokio::time::timeout(CAPTURE / 2, stage.command()).await;
    assert!(gone.is_err());
    stage.command().await;
    assert_eq!(
        stage.observed(),
        ["capture_pending used 50", "execution 1: 9 bytes"]
    );
}

#[tokio::test(start_paused = true)]
async fn so_many_captures_at_once_and_no_more() {
    let stage = Stage::new(&[]);
    let request = stage.request();
    let began = Instant::now();
    let mut all = tokio::task::JoinSet::new();
    let snapshots = Arc::new(stage.snapshots);
    for number in 0..40 {
        let (snapshots, mut request) = (Arc::clone(&snapshots), request.clone());
        request.cwd = format!("/{number}").into();
        all.spawn(async move { snapshots.prewarm(request, &Unobserved).await.map(drop) });
    }
    assert!(all.join_all().await.iter().all(Result::is_ok));
    // 16, 16 and 8.
    assert_eq!(began.elapsed(), CAPTURE * 3);
}

#[tokio::test(start_paused = true)]
async fn what_is_cached_is_described_by_name() {
    let stage = Stage::new(&[]);
    assert_eq!(stage.availability().await, "on_demand");
    stage.prewarm().await.unwrap();
    stage.pass(Duration::from_secs(5)).await;
    let description = stage.snapshots.describe(stage.request()).await;
    assert_eq!(description.availability, Availability::PrewarmReady);
    let held = description.held.expect("a snapshot");
    assert_eq!((held.age, held.summary.took), (Duration::from_secs(5), CAPTURE));
    assert_eq!(held.exported, [b"FROM_PROFILE"]);
    assert_eq!(
        (held.summary.state_bytes, held.summary.environment_bytes),
        (9, 15)
    );
    let shell = (PathBuf::from("/bin/bash"), true);
    assert_eq!(description.watched.first(), Some(&shell));
    let absent = (stage.home.path().join(".bash_profile"), false);
    assert!(description.watched.contains(&absent), "{:?}", description.watched);
    assert_eq!(stage.snapshots.invalidate(Some("other")), 0);
    assert_eq!(stage.snapshots.invalidate(Some("s")), 1);
    assert_eq!(stage.availability().await, "on_demand");
    stage
        .attempts
        .0
        .lock()
        .unwrap()
        .push_back(failed(Failure::NonzeroExit));
    stage.command().await;
    let description = stage.snapshots.describe(stage.request()).await;
    assert_eq!(
        (description.availability, description.failure),
        (Availability::Unavailable, Some(Failure::NonzeroExit))
    );
}
