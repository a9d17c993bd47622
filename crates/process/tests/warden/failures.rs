//! A command that cannot start says why, and leaves nothing.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exec_process::Signal;
use exec_process::warden::{
    Exit, FailedStep, FirstWarden, LaunchFailure, LaunchId, Warden, WardenConfig, WardenError, WardenEvents,
    WardenStep,
};

use crate::Test;
use crate::fixture::{Fixture, c, line};

pub(crate) const TESTS: &[Test] = &[
    ("each_failure_names_its_step", each_failure_names_its_step),
    (
        "a_script_without_an_interpreter_line_runs",
        a_script_without_an_interpreter_line_runs,
    ),
    (
        "lost_descriptors_fail_one_launch_only",
        lost_descriptors_fail_one_launch_only,
    ),
    (
        "a_refused_fork_fails_one_launch_only",
        a_refused_fork_fails_one_launch_only,
    ),
    (
        "a_warden_that_cannot_be_forked_is_an_error_with_its_step",
        a_warden_that_cannot_be_forked_is_an_error_with_its_step,
    ),
    (
        "a_warden_that_cannot_begin_says_why",
        a_warden_that_cannot_begin_says_why,
    ),
    (
        "a_first_warden_that_cannot_begin_is_an_error_and_leaves_nothing",
        a_first_warden_that_cannot_begin_is_an_error_and_leaves_nothing,
    ),
    (
        "a_tree_ends_though_starts_have_taken_every_descriptor",
        a_tree_ends_though_starts_have_taken_every_descriptor,
    ),
    (
        "no_free_descriptor_does_not_widen_a_signal",
        no_free_descriptor_does_not_widen_a_signal,
    ),
];

fn each_failure_names_its_step(mut fixture: Fixture) {
    let dir = tempfile::tempdir().expect("tempdir");
    let make = |name: &str, text: &str, mode: u32| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("write");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
        path.to_str().expect("UTF-8").to_owned()
    };
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let plain = make("plain", "#!/bin/sh\n", 0o644);
    let lost = make("lost", "#!/no/such/interpreter\n", 0o755);
    let here = dir.path().to_str().expect("UTF-8").to_owned();
    let missing = format!("{here}/missing");
    let below_file = format!("{plain}/x");
    let long = format!("/{}", "x/".repeat(2048));
    let exec = |program, exists| FailedStep::Exec { program, exists };
    let cases: &[(&[&str], FailedStep, i32)] = &[
        (&[&missing], exec(0, false), libc::ENOENT),
        (&[&missing, &below_file], exec(0, false), libc::ENOENT),
        (&[&plain], exec(0, true), libc::EACCES),
        (&[&here], exec(0, true), libc::EACCES),
        (&[&lost], exec(0, true), libc::ENOENT),
        (&[&missing, &plain, &missing], exec(1, true), libc::EACCES),
        (&[&missing, &lost, &missing], exec(1, true), libc::ENOENT),
        (&[&lost, &plain], exec(1, true), libc::EACCES),
        (&[&long], exec(0, false), libc::ENAMETOOLONG),
        (&[&long, &missing], exec(1, false), libc::ENOENT),
        (&[&long, &plain], exec(1, true), libc::EACCES),
    ];
    for (programs, step, errno) in cases {
        let mut launch = fixture.command(&["x"]);
        launch.programs = programs.iter().map(c).collect();
        let want = LaunchFailure {
            step: *step,
            errno: *errno,
        };
        assert_eq!(fixture.failure_of(launch), want, "{programs:?}");
    }
    for (cwd, errno) in [(&missing, libc::ENOENT), (&plain, libc::ENOTDIR)] {
        let mut launch = fixture.command(&["true"]);
        launch.cwd = c(cwd);
        let want = LaunchFailure {
            step: FailedStep::Cwd,
            errno,
        };
        assert_eq!(fixture.failure_of(launch), want, "{cwd}");
    }
    // A descriptor that is no terminal.
    let mut launch = fixture.command(&["true"]);
    launch.terminal = true;
    let want = LaunchFailure {
        step: FailedStep::Setup,
        errno: libc::ENOTTY,
    };
    assert_eq!(fixture.failure_of(launch), want);
    let mut launch = fixture.command(&["true"]);
    launch.programs.insert(0, c(&long));
    assert_eq!(fixture.run(launch).code, Some(0));
}

fn a_script_without_an_interpreter_line_runs(mut fixture: Fixture) {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("script");
    fs::write(&path, "echo \"$0 $1 $#\"\n").expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let path = path.to_str().expect("UTF-8");
    let mut launch = fixture.command(&["name", "one", "two"]);
    launch.programs = vec![c("/nowhere/script"), c(path)];
    assert_eq!(fixture.output(launch), format!("{path} one 2\n"));
}

fn no_free_descriptor_does_not_widen_a_signal(mut fixture: Fixture) {
    let launch = fixture.program(&["setsid-child"]);
    let mut running = fixture.start(launch);
    assert_eq!(line(&mut running.stdout), "ready");
    let warden = fixture.warden_pid();
    let (open, _) = limits_of(warden);
    limit_open_files(warden, open, open);
    // The leader dies of it; its child in a session of its own does not, although it takes the default action.
    fixture.warden().signal(running.id, Signal::INT);
    let exit = fixture.exit_of(running.id);
    assert_eq!((exit.signal, exit.tree_ended), (Some(libc::SIGINT), false));
    assert_eq!(fixture.survivors().len(), 1);
    // A warden that can end nothing any more does not keep the daemon from it.
    fixture.shut_down_within(Duration::from_secs(1));
    assert!(fixture.survivors().is_empty());
}

fn a_tree_ends_though_starts_have_taken_every_descriptor(mut fixture: Fixture) {
    let launch = fixture.program(&["setsid-child"]);
    let mut running = fixture.start(launch);
    assert_eq!(line(&mut running.stdout), "ready");
    let warden = fixture.warden_pid();
    let (open, hard) = limits_of(warden);
    limit_open_files(warden, open, hard);
    fixture
        .warden()
        .end(running.id, Signal::TERM, Duration::from_millis(50));
    fixture.end_of(running.id);
    assert!(fixture.survivors().is_empty());
}

/// How many descriptors the warden holds, and its hard limit.
fn limits_of(warden: i32) -> (u64, u64) {
    let open = fs::read_dir(format!("/proc/{warden}/fd")).expect("fds").count() as u64;
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile)
        .maximum
        .unwrap_or(u64::MAX);
    (open, hard)
}

fn limit_open_files(warden: i32, soft: u64, hard: u64) {
    limit(warden, libc::RLIMIT_NOFILE, soft, hard);
}

fn limit(process: i32, resource: libc::__rlimit_resource_t, soft: u64, hard: u64) {
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: hard,
    };
    // SAFETY: reads one rlimit; nothing is written.
    let done = unsafe { libc::prlimit(process, resource, &raw const limit, std::ptr::null_mut()) };
    assert_eq!(done, 0);
}

fn a_refused_fork_fails_one_launch_only(mut fixture: Fixture) {
    // Root is not counted.
    if rustix::process::geteuid().is_root() {
        return;
    }
    let warden = fixture.warden_pid();
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nproc)
        .maximum
        .unwrap_or(u64::MAX);
    limit(warden, libc::RLIMIT_NPROC, 1, hard);
    let launch = fixture.command(&["true"]);
    let want = LaunchFailure {
        step: FailedStep::Fork,
        errno: libc::EAGAIN,
    };
    assert_eq!(fixture.failure_of(launch), want);
    limit(warden, libc::RLIMIT_NPROC, hard, hard);
    let launch = fixture.command(&["echo", "fine"]);
    assert_eq!(fixture.output(launch), "fine\n");
}

fn failed(error: &WardenError) -> String {
    format!("{:?} {}", error.step, error.source.raw_os_error().unwrap_or(0))
}

/// Forks a warden that cannot begin and prints what its daemon is told: for a test below.
pub(crate) fn unfit() -> ExitCode {
    // With stdin free, the fork needs a descriptor less than the warden. The daemon's own limit is raised then.
    // SAFETY: nothing uses descriptor 0 in this process.
    assert_eq!(unsafe { libc::close(0) }, 0);
    limit(0, libc::RLIMIT_NOFILE, 5, 64);
    let config = WardenConfig {
        use_cgroup: false,
        daemon_gone_grace: Duration::ZERO,
    };
    let first = FirstWarden::fork(config).expect("forked");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let error = runtime.block_on(async {
        let warden = Warden::attach(first, Arc::new(Nothing)).expect("attach");
        let error = warden.ready().await.expect_err("not ready");
        let left = crate::fixture::children(std::process::id() as i32);
        assert!(left.is_empty(), "{left:?} are left of it");
        // There is none to be let go.
        warden.shutdown(Duration::MAX).await;
        error
    });
    let told = failed(&error.downcast::<WardenError>().expect("it said why"));
    let _ = std::io::Write::write_all(&mut std::io::stdout(), told.as_bytes());
    ExitCode::SUCCESS
}

/// Nothing was launched, so nothing is told.
struct Nothing;

impl WardenEvents for Nothing {
    fn started(&self, id: LaunchId, _: u32, _: Instant) {
        panic!("{id:?}");
    }
    fn failed(&self, id: LaunchId, failure: LaunchFailure) {
        panic!("{id:?}: {failure:?}");
    }
    fn exited(&self, id: LaunchId, _: Exit) {
        panic!("{id:?}");
    }
    fn tree_ended(&self, id: LaunchId) {
        panic!("{id:?}");
    }
    fn lost(&self) {}
}

/// Forks a warden under a limit and prints what came of it: for the test below.
pub(crate) fn begin(resource: &str, count: &str) -> ExitCode {
    let count = count.parse().expect("a number");
    let resource = if resource == "files" {
        libc::RLIMIT_NOFILE
    } else {
        libc::RLIMIT_NPROC
    };
    limit(0, resource, count, count);
    let config = WardenConfig {
        use_cgroup: false,
        daemon_gone_grace: Duration::ZERO,
    };
    let told = match FirstWarden::fork(config) {
        Ok(_) => "forked".to_owned(),
        Err(error) => failed(&error),
    };
    let _ = std::io::Write::write_all(&mut std::io::stdout(), told.as_bytes());
    ExitCode::SUCCESS
}

/// What a program of this binary prints.
fn printed(arguments: &[&str]) -> String {
    let output = std::process::Command::new("/proc/self/exe")
        .arg("program")
        .args(arguments)
        .output()
        .expect("spawn");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn a_first_warden_that_cannot_begin_is_an_error_and_leaves_nothing(_fixture: Fixture) {
    let want = format!("{:?} {}", WardenStep::TakeSignals, libc::EMFILE);
    assert_eq!(printed(&["unfit"]), want);
}

fn a_warden_that_cannot_be_forked_is_an_error_with_its_step(_fixture: Fixture) {
    let begin = |resource: &str, count: &str| printed(&["begin", resource, count]);
    let failed = |step: WardenStep, errno: i32| format!("{step:?} {errno}");
    // Descriptors 0 to 2 are there.
    assert_eq!(begin("files", "4"), failed(WardenStep::Link, libc::EMFILE));
    assert_eq!(
        begin("files", "5"),
        failed(WardenStep::CountThreads, libc::EMFILE)
    );
    assert_eq!(begin("files", "9"), "forked");
    // Root is not counted.
    if !rustix::process::geteuid().is_root() {
        assert_eq!(begin("processes", "1"), failed(WardenStep::Fork, libc::EAGAIN));
    }
}

fn a_warden_that_cannot_begin_says_why(_fixture: Fixture) {
    let unfit = |files: &str| {
        let (mut daemon, warden) = std::os::unix::net::UnixStream::pair().expect("socketpair");
        let script = format!("ulimit -n {files}; exec /proc/{}/exe warden", std::process::id());
        let mut warden = std::process::Command::new("sh")
            .args(["-c", &script])
            .env("EXEC_SERVER_WARDEN", format!("0 0 {} 64 64", std::process::id()))
            .stdin(std::os::fd::OwnedFd::from(warden))
            .spawn()
            .expect("spawn");
        let mut said = Vec::new();
        daemon.read_to_end(&mut said).expect("read");
        assert_eq!(warden.wait().expect("wait").code(), Some(1));
        said
    };
    // A length, the kind, no descriptors, the step, errno. Each descriptor more allows another step.
    let said = |step: u8| vec![7, 0, 0, 0, 21, 0, step, libc::EMFILE as u8, 0, 0, 0];
    let (open_null, take_signals, track) = (6, 8, 11);
    for (files, step) in [("4", open_null), ("5", take_signals), ("6", track)] {
        assert_eq!(unfit(files), said(step), "{files} descriptors");
    }
}

fn lost_descriptors_fail_one_launch_only(mut fixture: Fixture) {
    // A warden that serves has closed whatever it had for its own start.
    let launch = fixture.command(&["true"]);
    assert_eq!(fixture.run(launch).code, Some(0));
    let warden = fixture.warden_pid();
    let (open, hard) = limits_of(warden);
    for room in 0..3 {
        limit_open_files(warden, open + room, hard);
        let mut launch = fixture.command(&["true"]);
        launch.stdin = Some(crate::fixture::null());
        let want = LaunchFailure {
            step: FailedStep::PassDescriptors,
            errno: libc::EMFILE,
        };
        assert_eq!(fixture.failure_of(launch), want, "room for {room}");
    }
    limit_open_files(warden, hard, hard);
    let launch = fixture.command(&["echo", "fine"]);
    assert_eq!(fixture.output(launch), "fine\n");
}
