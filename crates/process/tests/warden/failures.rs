//! A command that cannot start says why, and leaves nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use exec_process::Signal;
use exec_process::warden::{FailedStep, LaunchFailure};

use crate::Test;
use crate::fixture::{Event, Fixture, c, line};

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
    let (open, hard) = limits_of(warden);
    limit_open_files(warden, open, hard);
    // The leader dies of it; its child in a session of its own does not, although it takes the default action.
    fixture.warden().signal(running.id, Signal::INT);
    let exit = fixture.exit_of(running.id);
    assert_eq!((exit.signal, exit.tree_ended), (Some(libc::SIGINT), false));
    assert_eq!(fixture.survivors().len(), 1);
    limit_open_files(warden, hard, hard);
    fixture.warden().end(running.id, Signal::KILL, Duration::ZERO);
    assert_eq!(fixture.next_of(running.id), Event::TreeEnded(running.id));
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
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: hard,
    };
    // SAFETY: reads one rlimit; nothing is written.
    let done = unsafe {
        libc::prlimit(
            warden,
            libc::RLIMIT_NOFILE,
            &raw const limit,
            std::ptr::null_mut(),
        )
    };
    assert_eq!(done, 0);
}

fn lost_descriptors_fail_one_launch_only(mut fixture: Fixture) {
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
