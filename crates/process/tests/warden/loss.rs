//! Whatever dies first, nothing is left.

use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use crate::Test;
use crate::fixture::{Event, Fixture, c, eventually, line, survivors};

pub(crate) const TESTS: &[Test] = &[
    ("a_killed_daemon_leaves_nothing", a_killed_daemon_leaves_nothing),
    ("a_killed_warden_is_replaced", a_killed_warden_is_replaced),
    ("a_shutdown_ends_everything", a_shutdown_ends_everything),
    (
        "a_shutdown_ends_what_keeps_stopping_its_parent",
        a_shutdown_ends_what_keeps_stopping_its_parent,
    ),
    (
        "a_warden_that_cannot_be_reaped_is_replaced",
        a_warden_that_cannot_be_reaped_is_replaced,
    ),
    (
        "a_warden_that_does_not_go_is_killed",
        a_warden_that_does_not_go_is_killed,
    ),
];

const TREES: &[&[&str]] = &[
    &["sleeps"],
    &["ignores-term"],
    &["setsid-child"],
    &["double-fork"],
    &["many-children", "20"],
    &["daemon-leaves-its-cgroup"],
];

/// Starts every kind of tree.
fn plant(fixture: &mut Fixture) {
    for tree in TREES {
        let launch = fixture.program(tree);
        let mut running = fixture.start(launch);
        assert_eq!(line(&mut running.stdout), "ready");
    }
}

/// The program that `a_killed_daemon_leaves_nothing` kills.
pub(crate) fn daemon(cgroup: bool, mark: &str) -> ExitCode {
    let mut fixture = Fixture::new(cgroup, false);
    mark.clone_into(&mut fixture.mark);
    plant(&mut fixture);
    let mut out = std::io::stdout();
    let _ = std::io::Write::write_all(&mut out, format!("ready {}\n", fixture.warden_pid()).as_bytes());
    loop {
        fixture.next_event();
    }
}

fn a_killed_daemon_leaves_nothing(fixture: Fixture) {
    let tracker = if fixture.cgroup { "cgroup" } else { "subreaper" };
    let mark = format!("{}-inner", fixture.mark);
    let mut daemon = Command::new("/proc/self/exe")
        .args(["program", "daemon", tracker, &mark])
        .stdout(Stdio::piped())
        .spawn()
        .expect("spawn");
    let stdout = std::os::fd::OwnedFd::from(daemon.stdout.take().expect("piped"));
    let mut stdout = std::io::BufReader::new(std::fs::File::from(stdout));
    let ready = line(&mut stdout);
    let warden: i32 = ready
        .strip_prefix("ready ")
        .expect("ready")
        .parse()
        .expect("a pid");
    assert_eq!(survivors(&mark).len(), 1 + 1 + 2 + 1 + 21 + 1);
    daemon.kill().expect("kill");
    daemon.wait().expect("wait");
    eventually("everything gone", Duration::from_secs(2), || {
        survivors(&mark).is_empty()
    });
    // The warden too; this process is a subreaper, so its remains come here.
    eventually("the warden gone", Duration::from_secs(2), || {
        crate::fixture::state(warden).is_none_or(|state| state == 'Z')
    });
    // The daemon's stdout was not held open by anything it left: this read ends.
    assert_eq!(line(&mut stdout), "");
    assert!(!cgroup_exists(daemon.id()), "its cgroups are removed");
}

pub(crate) fn cgroup_exists(pid: u32) -> bool {
    ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].iter().any(|mount| {
        std::path::Path::new(mount)
            .join(format!("exec-server-{pid}"))
            .exists()
    })
}

fn a_killed_warden_is_replaced(mut fixture: Fixture) {
    for _ in 0..2 {
        plant(&mut fixture);
        assert_eq!(fixture.survivors().len(), 1 + 1 + 2 + 1 + 21 + 1);
        let old = fixture.warden_pid();
        // SAFETY: kill(2) takes no pointer.
        assert_eq!(unsafe { libc::kill(old, libc::SIGKILL) }, 0);
        while fixture.next_event() != Event::Lost {}
        assert!(fixture.survivors().is_empty());
        // At once: the launch waits for the next warden.
        let mut launch = fixture.command(&["ls", "/proc/self/fd"]);
        launch.cwd = c("/tmp");
        assert_eq!(
            fixture.output(launch),
            "0\n1\n2\n3\n",
            "and 3 is the directory it lists"
        );
        assert_ne!(fixture.warden_pid(), old);
        // What a replacement is told by its environment is no business of a command's.
        let launch = fixture.command(&["env"]);
        let mark = fixture.mark.clone();
        assert_eq!(fixture.output(launch), format!("{mark}\nPATH=/usr/bin:/bin\n"));
    }
    fixture.shut_down();
    assert!(!cgroup_exists(std::process::id()));
}

fn a_shutdown_ends_everything(mut fixture: Fixture) {
    plant(&mut fixture);
    assert_eq!(cgroup_exists(std::process::id()), fixture.cgroup);
    fixture.shut_down();
    assert!(fixture.survivors().is_empty());
    assert!(!cgroup_exists(std::process::id()));
    assert!(crate::fixture::children(std::process::id() as i32).is_empty());
}

fn a_shutdown_ends_what_keeps_stopping_its_parent(mut fixture: Fixture) {
    let launch = fixture.program(&["keeps-stopping-its-parent"]);
    let mut running = fixture.start(launch);
    assert_eq!(line(&mut running.stdout), "ready");
    fixture.shut_down();
    assert!(fixture.survivors().is_empty());
    assert!(!cgroup_exists(std::process::id()));
    assert!(crate::fixture::children(std::process::id() as i32).is_empty());
}

fn a_warden_that_does_not_go_is_killed(mut fixture: Fixture) {
    plant(&mut fixture);
    // Less than the grace of those that ignore SIGTERM: the warden has no time to end them.
    fixture.shut_down_within(Duration::from_millis(50));
    assert!(fixture.survivors().is_empty());
    assert!(!cgroup_exists(std::process::id()));
    assert!(crate::fixture::children(std::process::id() as i32).is_empty());
    while fixture.next_event() != Event::Lost {}
}

/// Like one that hangs in the kernel, a traced process is killed and yet nothing that its parent can reap.
fn a_warden_that_cannot_be_reaped_is_replaced(mut fixture: Fixture) {
    let lost = fixture.warden_pid();
    let mut tracer = Command::new("/proc/self/exe")
        .args(["program", "traces", &lost.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("spawn");
    let stdout = std::os::fd::OwnedFd::from(tracer.stdout.take().expect("piped"));
    let mut stdout = std::io::BufReader::new(std::fs::File::from(stdout));
    if line(&mut stdout) != "ready" {
        let _ = tracer.wait();
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"note: ptrace(2) is forbidden here\n");
        return;
    }
    // SAFETY: kill(2) takes no pointer.
    assert_eq!(unsafe { libc::kill(lost, libc::SIGKILL) }, 0);
    assert_eq!(fixture.next_event(), Event::Lost);
    // The sweep has ended it, and with it its hold.
    let _ = tracer.wait();
    eventually("the lost warden reaped", Duration::from_secs(2), || {
        crate::fixture::state(lost).is_none()
    });
    let launch = fixture.command(&["echo", "fine"]);
    assert_eq!(fixture.output(launch), "fine\n");
    assert_ne!(fixture.warden_pid(), lost);
}
