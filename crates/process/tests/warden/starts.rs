//! Commands start as they should, and their ends are reported as they were.

use std::io::Read;

use exec_process::Signal;

use crate::Test;
use crate::fixture::{Event, Fixture, c, line, null};

pub(crate) const TESTS: &[Test] = &[
    (
        "exit_codes_and_signals_are_reported",
        exit_codes_and_signals_are_reported,
    ),
    (
        "what_a_leader_was_in_the_end_is_told",
        what_a_leader_was_in_the_end_is_told,
    ),
    ("a_child_finds_a_clean_slate", a_child_finds_a_clean_slate),
    (
        "a_child_has_no_signal_blocked_or_ignored",
        a_child_has_no_signal_blocked_or_ignored,
    ),
    ("stdin_is_what_was_given", stdin_is_what_was_given),
    ("a_terminal_controls", a_terminal_controls),
    (
        "two_megabytes_of_arguments_arrive",
        two_megabytes_of_arguments_arrive,
    ),
    ("signals_reach_the_group", signals_reach_the_group),
    ("an_orphan_outlives_its_leader", an_orphan_outlives_its_leader),
    ("usage_is_told", usage_is_told),
    ("open_files_are_limited", open_files_are_limited),
    ("cpu_time_is_limited", cpu_time_is_limited),
];

fn exit_codes_and_signals_are_reported(mut fixture: Fixture) {
    let cases: &[(&str, Option<i32>, Option<i32>)] = &[
        ("exit 0", Some(0), None),
        ("exit 7", Some(7), None),
        ("exit 255", Some(255), None),
        ("kill -KILL $$", None, Some(libc::SIGKILL)),
        ("kill -TERM $$", None, Some(libc::SIGTERM)),
        ("kill -PIPE $$", None, Some(libc::SIGPIPE)),
    ];
    for (script, code, signal) in cases {
        let launch = fixture.command(&["sh", "-c", script]);
        let exit = fixture.run(launch);
        assert_eq!((exit.code, exit.signal), (*code, *signal), "{script}");
        assert!(exit.tree_ended && !exit.out_of_memory, "{script}");
    }
}

fn what_a_leader_was_in_the_end_is_told(mut fixture: Fixture) {
    for (script, name) in [
        ("exit 3", &b"sh\n"[..]),
        ("exec false", b"false\n"),
        ("false", b"sh\n"),
        // Of what ended well, nobody asks.
        ("exec true", b""),
    ] {
        // With a command behind it no shell does without a process for the last.
        let launch = fixture.command(&["sh", "-c", &format!("{script}\nexit")]);
        let exit = fixture.run(launch);
        let told: Vec<u8> = exit.comm.into_iter().take_while(|byte| *byte != 0).collect();
        assert_eq!(told, name, "{script}");
    }
}

fn a_child_finds_a_clean_slate(mut fixture: Fixture) {
    let launch = fixture.command(&[
        "sh",
        "-c",
        "echo $(ls /proc/self/fd); \
         ulimit -Sn; cut -d' ' -f1,5,6 /proc/$$/stat; umask; pwd; echo $0",
    ]);
    let mut launch = launch;
    launch.argv = [launch.argv, vec![c("zero")]].concat();
    launch.cwd = c("/usr");
    // SAFETY: umask(2) takes no pointer.
    let umask = unsafe { libc::umask(0) };
    // SAFETY: as above.
    unsafe { libc::umask(umask) };
    let text = fixture.output(launch);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "0 1 2 3", "3 is the directory ls reads: {text}");
    // The harness that ran this test left the limit alone, so it is what an unspoiled sibling would have.
    let given = std::process::Command::new("sh")
        .args(["-c", "ulimit -Hn"])
        .output()
        .expect("sh");
    assert!(
        String::from_utf8_lossy(&given.stdout).trim().len() >= lines[1].len(),
        "{text}"
    );
    let ids: Vec<&str> = lines[2].split(' ').collect();
    assert!(
        ids[0] == ids[1] && ids[1] == ids[2],
        "leader of group and session: {text}"
    );
    assert_eq!(u32::from_str_radix(lines[3], 8), Ok(umask), "{text}");
    assert_eq!(&lines[4..], ["/usr", "zero"], "{text}");
}

fn a_child_has_no_signal_blocked_or_ignored(mut fixture: Fixture) {
    let launch = fixture.command(&["grep", "-E", "^(SigBlk|SigIgn|SigPnd)", "/proc/self/status"]);
    let text = fixture.output(launch);
    assert_eq!(text.lines().count(), 3);
    for line in text.lines() {
        assert!(line.ends_with(":\t0000000000000000"), "{text}");
    }
}

fn stdin_is_what_was_given(mut fixture: Fixture) {
    let launch = fixture.command(&["readlink", "/proc/self/fd/0"]);
    assert_eq!(fixture.output(launch), "/dev/null\n");
    let (read, write) = rustix::pipe::pipe().expect("pipe");
    rustix::io::write(&write, b"hello").expect("write");
    drop(write);
    let mut launch = fixture.command(&["cat"]);
    launch.stdin = Some(read);
    assert_eq!(fixture.output(launch), "hello");
}

fn a_terminal_controls(mut fixture: Fixture) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("openpt");
    grantpt(&master).expect("grantpt");
    unlockpt(&master).expect("unlockpt");
    let name = ptsname(&master, Vec::new()).expect("ptsname");
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let slave = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).expect("slave");
    let mut launch = fixture.command(&[
        "sh",
        "-c",
        "test -t 0 && test -t 1 && test -t 2 && echo through-tty > /dev/tty && \
         cut -d' ' -f1,8 /proc/$$/stat",
    ]);
    launch.stdin = Some(slave);
    launch.output = None;
    launch.terminal = true;
    let exit = fixture.run(launch);
    assert_eq!(exit.code, Some(0));
    let mut text = String::new();
    // The end of a PTY is EIO, after everything that was printed.
    let _ = std::fs::File::from(master).read_to_string(&mut text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(lines[0], "through-tty");
    let (pid, foreground) = lines[1].split_once(' ').expect("two numbers");
    assert_eq!(pid, foreground, "the child's group is in the foreground");
}

fn two_megabytes_of_arguments_arrive(mut fixture: Fixture) {
    let long = "x".repeat(100_000);
    let arguments: Vec<&str> = std::iter::repeat_n(long.as_str(), 20).collect();
    let script = "n=0; for a; do n=$((n + ${#a})); done; echo $# $n";
    let launch = fixture.command(&[&["sh", "-c", script, "sh"], arguments.as_slice()].concat());
    assert_eq!(fixture.output(launch), "20 2000000\n");
    // More than execve(2) takes is refused by it, and nothing is out of step afterwards.
    let arguments: Vec<&str> = std::iter::repeat_n(long.as_str(), 70).collect();
    let launch = fixture.command(&[&["true"], arguments.as_slice()].concat());
    assert_eq!(fixture.failure_of(launch).errno, libc::E2BIG);
    let arguments: Vec<&str> = std::iter::repeat_n(long.as_str(), 90).collect();
    let launch = fixture.command(&[&["true"], arguments.as_slice()].concat());
    assert_eq!(fixture.failure_of(launch).errno, libc::E2BIG);
    let launch = fixture.command(&["true"]);
    assert_eq!(fixture.run(launch).code, Some(0));
}

fn signals_reach_the_group(mut fixture: Fixture) {
    let launch = fixture.command(&[
        "sh",
        "-c",
        "trap 'echo got' INT; echo ready; while :; do read x; done",
    ]);
    let (read, _write) = rustix::pipe::pipe().expect("pipe");
    let mut launch = launch;
    launch.stdin = Some(read);
    let mut running = fixture.start(launch);
    assert_eq!(line(&mut running.stdout), "ready");
    fixture.warden().signal(running.id, Signal::INT);
    assert_eq!(line(&mut running.stdout), "got");
    fixture.warden().signal(running.id, Signal::TERM);
    assert_eq!(fixture.end_of(running.id).signal, Some(libc::SIGTERM));
}

fn an_orphan_outlives_its_leader(mut fixture: Fixture) {
    let launch = fixture.program(&["double-fork"]);
    let mut running = fixture.start(launch);
    assert_eq!(line(&mut running.stdout), "ready");
    let exit = fixture.exit_of(running.id);
    assert_eq!((exit.code, exit.tree_ended), (Some(0), false));
    assert_eq!(fixture.survivors().len(), 1);
    // A signal after the leader was reaped goes to what is left.
    fixture.warden().signal(running.id, Signal::INT);
    assert_eq!(fixture.next_of(running.id), Event::TreeEnded(running.id));
    assert!(fixture.survivors().is_empty());
}

fn usage_is_told(mut fixture: Fixture) {
    let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let launch = fixture.command(&["sh", "-c", script]);
    let usage = fixture.run(launch).usage;
    assert!(usage.user_ms.expect("known") > 10, "{usage:?}");
    assert!(usage.max_rss_bytes.expect("known") > 100_000, "{usage:?}");
}

fn open_files_are_limited(mut fixture: Fixture) {
    let mut launch = fixture.command(&["sh", "-c", "ulimit -Sn; ulimit -Hn"]);
    launch.limits.open_files = Some(33);
    assert_eq!(fixture.output(launch), "33\n33\n");
}

fn cpu_time_is_limited(mut fixture: Fixture) {
    let mut launch = fixture.program(&["spins"]);
    launch.limits.cpu_seconds = Some(1);
    launch.output = Some((null(), null()));
    if fixture.cgroup {
        // Two processes that ignore SIGXCPU: killed, and nothing is left.
        let id = launch.id;
        fixture.warden().launch(launch);
        assert!(matches!(fixture.next_of(id), Event::Started(..)));
        assert_eq!(fixture.end_of(id).signal, Some(libc::SIGKILL));
        assert!(fixture.survivors().is_empty());
    } else {
        assert_eq!(fixture.warden().enforces().cpu_seconds, None);
        assert_eq!(fixture.failure_of(launch).errno, libc::EOPNOTSUPP);
    }
}
