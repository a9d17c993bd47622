//! `exec-server run` ends as its command does, passes on what would end it, and leaves nothing behind.

use std::fs::{self, File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use exec_tests::run::Heard;
use exec_tests::server::{Ending, PATIENCE};
use exec_tests::{Run, marker, ours_only, procfs};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;

#[test]
fn the_exit_code_is_the_commands() {
    ours_only!();
    for code in [0, 1, 2, 77, 255] {
        let said = Run::helper(&[], &["exit", &code.to_string()]).output();
        assert_eq!((said.ending, said.errors().as_str()), (Ending::Exit(code), ""));
    }
}

#[test]
fn a_signal_is_128_more() {
    ours_only!();
    for signal in [1, 2, 6, 9, 11, 13, 15] {
        let said = Run::helper(&[], &["raise", &signal.to_string()]).output();
        assert_eq!(
            (said.ending, said.errors().as_str()),
            (Ending::Exit(128 + signal), "")
        );
    }
}

#[test]
fn a_command_that_cannot_be_run_is_named_in_one_line() {
    ours_only!();
    let folder = tempfile::tempdir().expect("a folder");
    let script = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("changed");
        path.to_string_lossy().into_owned()
    };
    let plain = script("plain", "#!/bin/sh\n", 0o644);
    let orphan = script("orphan", "#!/no/such/interpreter\n", 0o755);
    for (arguments, code, named) in [
        (&["--", "no-such-program"][..], 127, "no-such-program"),
        (&["--", "/no/such/program"], 127, "/no/such/program"),
        (&["--", &orphan], 127, "/no/such/interpreter"),
        (&["--", &plain], 126, &plain),
        (&["--", "/tmp"], 126, "/tmp"),
        (
            &["--cwd", "/no/such/folder", "--", "true"],
            125,
            "/no/such/folder",
        ),
    ] {
        let said = Run::of(arguments).output();
        assert_eq!(
            (said.ending, said.text().as_str()),
            (Ending::Exit(code), ""),
            "{arguments:?}: {}",
            said.errors()
        );
        let errors = said.errors();
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(
            errors.starts_with("exec-server run: ") && errors.contains(named),
            "{errors}"
        );
    }
}

#[test]
fn a_timeout_is_124_and_ends_the_whole_tree() {
    ours_only!();
    let mark = marker();
    let run = Run::helper(&["--timeout", "3"], &["tree", &mark]).start();
    let tree = run.await_marked(&mark, 6);
    assert_eq!(run.ended(), Ending::Exit(124));
    let left = run.marked(&mark);
    assert!(left.is_empty(), "{left:?} of {tree:?}");
}

#[test]
fn what_is_done_in_time_is_not_timed_out() {
    ours_only!();
    let said = Run::helper(&["--timeout", "3600"], &["exit", "9"]).output();
    assert_eq!(said.ending, Ending::Exit(9));
}

#[test]
fn signals_reach_the_command() {
    ours_only!();
    let run = Run::helper(
        &[],
        &["signals", "7", "TERM=15", "INT=2", "HUP=1", "QUIT=3", "USR2=12"],
    )
    .start();
    run.stdout.await_bytes(b"up\n");
    for (signal, name) in [
        (Signal::TERM, "got TERM\n"),
        (Signal::INT, "got INT\n"),
        (Signal::HUP, "got HUP\n"),
        (Signal::QUIT, "got QUIT\n"),
        (Signal::USR2, "got USR2\n"),
    ] {
        run.signal(signal);
        run.stdout.await_bytes(name.as_bytes());
    }
    run.signal(Signal::USR1);
    assert_eq!(run.ended(), Ending::Exit(7));
    // Each once.
    assert_eq!(
        run.stdout.text(),
        "up\ngot TERM\ngot INT\ngot HUP\ngot QUIT\ngot USR2\n"
    );
}

#[test]
fn a_signal_that_ends_the_command_ends_the_run_with_it() {
    ours_only!();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mark = marker();
        let run = Run::helper(&[], &["sleep", &mark]).start();
        run.await_marked(&mark, 1);
        run.signal(signal);
        assert_eq!(run.ended(), Ending::Exit(128 + signal.as_raw()));
    }
}

/// A run whose stdout nobody reads, once its command is held back by that: with the command and the unread end.
fn held_back(options: &[&str]) -> (Run, u32, OwnedFd) {
    let (unread, stdout) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let mark = marker();
    let run = Run::helper(options, &["flood", &mark]).stdout(stdout).start();
    let flood = run.await_marked(&mark, 1)[0];
    procfs::await_blocked(flood);
    (run, flood, unread)
}

#[test]
fn a_signal_gets_past_output_that_nobody_takes() {
    ours_only!();
    for signal in [Signal::TERM, Signal::HUP] {
        let (run, _, _unread) = held_back(&[]);
        run.signal(signal);
        assert_eq!(run.ended(), Ending::Exit(128 + signal.as_raw()));
        run.assert_nothing_left();
        let said = String::from_utf8_lossy(&run.stderr.all()).into_owned();
        assert_eq!(said, "exec-server run: output that nobody read was dropped\n");
    }
}

#[test]
fn a_timeout_gets_past_output_that_nobody_takes() {
    ours_only!();
    let (run, _, _unread) = held_back(&["--timeout", "5"]);
    assert_eq!(run.ended(), Ending::Exit(124));
    run.assert_nothing_left();
    let said = String::from_utf8_lossy(&run.stderr.all()).into_owned();
    assert_eq!(said, "exec-server run: output that nobody read was dropped\n");
}

#[test]
fn a_slow_reader_of_a_command_that_ended_in_time_gets_everything() {
    ours_only!();
    let (unread, stdout) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    // More than the pipe holds, and less than fits on the way: the command ends while it is unread.
    let run = Run::helper(&["--timeout", "1"], &["zeros", "150000", "0"])
        .stdout(stdout)
        .start();
    // Past the time limit and what a stuck reader is given after it.
    assert_eq!(run.await_end(Duration::from_secs(4)), None);
    let rest = Heard::listen(Arc::new(unread));
    assert_eq!(run.ended(), Ending::Exit(0));
    assert_eq!(rest.all().len(), 150_000);
}

#[test]
fn what_an_interrupted_command_printed_can_be_read_still() {
    ours_only!();
    let (run, flood, unread) = held_back(&[]);
    run.signal(Signal::INT);
    let over = exec_tests::eventually(PATIENCE, || (!procfs::alive(flood)).then_some(()));
    assert!(over.is_some(), "the command lives");
    let rest = Heard::listen(Arc::new(unread));
    assert_eq!(run.ended(), Ending::Exit(130));
    // More than the pipe holds: what was on its way has come too.
    assert!(rest.all().len() > 1 << 20, "{} bytes", rest.all().len());
    assert_eq!(run.stderr.all(), b"");
}

#[test]
fn a_second_interrupt_does_not_wait_for_the_reader() {
    ours_only!();
    let (run, flood, _unread) = held_back(&[]);
    run.signal(Signal::INT);
    let over = exec_tests::eventually(PATIENCE, || (!procfs::alive(flood)).then_some(()));
    assert!(over.is_some(), "the command lives");
    run.signal(Signal::INT);
    assert_eq!(run.ended(), Ending::Exit(130));
}

#[test]
fn a_stopped_run_stops_its_command_and_both_go_on() {
    ours_only!();
    let mark = marker();
    let run = Run::helper(&[], &["sleep", &mark]).start();
    let sleeper = run.await_marked(&mark, 1)[0];
    let both_are = |wanted: fn(char) -> bool| {
        let all = || {
            let states = [run.pid(), sleeper].map(|pid| procfs::stat(pid).map(|s| s.state));
            states.iter().all(|s| s.is_some_and(wanted)).then_some(())
        };
        exec_tests::eventually(PATIENCE, all).is_some()
    };
    run.signal(Signal::TSTP);
    assert!(both_are(|state| state == 'T'), "not stopped");
    run.signal(Signal::CONT);
    assert!(both_are(|state| state != 'T'), "stopped still");
    run.signal(Signal::TERM);
    assert_eq!(run.ended(), Ending::Exit(143));
}

#[test]
fn what_the_command_leaves_running_is_ended() {
    ours_only!();
    for place in [&[][..], &["setsid"], &["own-stdio"], &["own-stdio", "setsid"]] {
        let mark = marker();
        let arguments = [&["background", mark.as_str(), "4"], place].concat();
        let said = Run::helper(&[], &arguments).output();
        assert_eq!(
            (said.ending, said.text().as_str()),
            (Ending::Exit(4), "hi\n"),
            "{place:?}"
        );
    }
}

#[test]
fn a_run_that_is_killed_leaves_nothing() {
    ours_only!();
    let mark = marker();
    let run = Run::helper(&[], &["tree", &mark]).start();
    run.await_marked(&mark, 6);
    run.signal(Signal::KILL);
    assert_eq!(run.ended(), Ending::Signal(9));
    run.assert_nothing_left();
}

#[test]
fn a_daemon_that_is_killed_is_told_and_leaves_nothing() {
    ours_only!();
    let mark = marker();
    let run = Run::helper(&[], &["tree", &mark]).start();
    run.await_marked(&mark, 6);
    run.kill(run.daemon(), Signal::KILL);
    assert_eq!(run.ended(), Ending::Exit(125));
    run.assert_nothing_left();
    let said = String::from_utf8_lossy(&run.stderr.all()).into_owned();
    assert!(
        said.starts_with("exec-server run: the daemon ended before the command did"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn daemons_that_start_meanwhile_do_not_keep_what_is_left_from_ending() {
    ours_only!();
    let mark = marker();
    let run = Run::helper(&[], &["tree", &mark]).start();
    run.await_marked(&mark, 6);
    run.kill(run.daemon(), Signal::KILL);
    // Each removes what dead daemons left; the warden of this one is at the same.
    for _ in 0..10 {
        assert_eq!(Run::of(&["--", "true"]).output().ending, Ending::Exit(0));
    }
    assert_eq!(run.ended(), Ending::Exit(125));
    run.assert_nothing_left();
}

#[test]
fn a_helper_process_that_is_killed_is_told_and_leaves_nothing() {
    ours_only!();
    let mark = marker();
    let run = Run::helper(&[], &["tree", &mark]).start();
    run.await_marked(&mark, 6);
    run.kill(run.warden(), Signal::KILL);
    assert_eq!(run.ended(), Ending::Exit(137));
    run.assert_nothing_left();
    let said = String::from_utf8_lossy(&run.stderr.all()).into_owned();
    assert!(said.contains("exec-server run: the command was lost"), "{said}");
}

#[test]
fn a_reader_that_is_gone_ends_the_command() {
    ours_only!();
    let (reader, stdout) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
    let mark = marker();
    let run = Run::helper(&[], &["flood", &mark]).stdout(stdout).start();
    run.await_marked(&mark, 1);
    let mut first = [0; 100];
    rustix::io::read(&reader, &mut first).expect("read");
    drop(reader);
    assert_eq!(run.ended(), Ending::Exit(141), "SIGPIPE's");
    run.assert_nothing_left();
    assert_eq!(run.stderr.all(), b"");
}

#[test]
fn output_that_cannot_be_written_is_told() {
    ours_only!();
    let full: File = OpenOptions::new().write(true).open("/dev/full").expect("opened");
    let run = Run::helper(&[], &["flood", &marker()]).stdout(full).start();
    assert_eq!(run.ended(), Ending::Exit(125));
    let said = String::from_utf8_lossy(&run.stderr.all()).into_owned();
    assert!(said.contains("No space left on device"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}
