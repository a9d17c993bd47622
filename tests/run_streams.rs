//! `exec-server run` is transparent: bytes, environment and directory are the command's and the caller's own.

use std::fs::{self, File};
use std::io::Write;

use exec_tests::run::noise;
use exec_tests::server::Ending;
use exec_tests::{Run, marker, ours_only};

/// More than any buffer on the way holds.
const MEGABYTE: usize = 1 << 20;

#[test]
fn stdout_and_stderr_pass_byte_for_byte() {
    ours_only!();
    let folder = tempfile::tempdir().expect("a folder");
    let (out, err) = (noise(MEGABYTE), noise(MEGABYTE + 1));
    fs::write(folder.path().join("out"), &out).expect("written");
    fs::write(folder.path().join("err"), &err).expect("written");
    let script = "cat err >&2 & cat out; wait";
    let said = Run::of(&["--", "sh", "-c", script])
        .directory(folder.path())
        .output();
    assert_eq!(said.ending, Ending::Exit(0));
    assert!(said.stdout == out, "stdout: {} bytes", said.stdout.len());
    assert!(said.stderr == err, "stderr: {} bytes", said.stderr.len());
}

#[test]
fn what_is_printed_last_is_not_lost() {
    ours_only!();
    for _ in 0..5 {
        let said = Run::of(&["--", "sh", "-c", "printf out; printf err >&2; exit 3"]).output();
        assert_eq!(
            (said.ending, said.text().as_str(), said.errors().as_str()),
            (Ending::Exit(3), "out", "err")
        );
    }
}

#[test]
fn stdin_passes_byte_for_byte_from_a_pipe() {
    ours_only!();
    let input = noise(MEGABYTE);
    let run = Run::of(&["--", "cat"]).start();
    run.write(&input);
    run.close_stdin();
    assert_eq!(run.ended(), Ending::Exit(0));
    assert!(run.stdout.all() == input);
}

#[test]
fn stdin_passes_byte_for_byte_from_a_file() {
    ours_only!();
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let input = noise(MEGABYTE);
    file.write_all(&input).expect("written");
    let said = Run::of(&["--", "cat"])
        .stdin(file.reopen().expect("opened"))
        .output();
    assert_eq!(said.ending, Ending::Exit(0));
    assert!(said.stdout == input);
}

#[test]
fn stdin_may_be_dev_null() {
    ours_only!();
    let null = File::open("/dev/null").expect("opened");
    let said = Run::of(&["--", "cat"]).stdin(null).output();
    assert_eq!((said.ending, said.text().as_str()), (Ending::Exit(0), ""));
}

#[test]
fn input_passes_as_it_comes_and_its_end_last() {
    ours_only!();
    let run = Run::of(&["--", "sh", "-c", "cat; echo end"]).start();
    for line in [&b"one\n"[..], b"two\n"] {
        run.write(line);
        run.stdout.await_bytes(line);
    }
    assert_eq!(run.stdout.text(), "one\ntwo\n");
    run.close_stdin();
    assert_eq!(run.ended(), Ending::Exit(0));
    assert_eq!(run.stdout.all(), b"one\ntwo\nend\n");
}

#[test]
fn without_stdin_the_command_is_at_its_end_at_once() {
    ours_only!();
    let run = Run::of(&["--no-stdin", "--", "cat"]).start();
    run.write(b"not for the command");
    // The test's end of the pipe is open still.
    assert_eq!(run.ended(), Ending::Exit(0));
    assert_eq!(run.stdout.all(), b"");
}

#[test]
fn a_command_that_does_not_read_is_not_waited_for() {
    ours_only!();
    let run = Run::helper(&[], &["exit", "5"]).start();
    assert_eq!(run.ended(), Ending::Exit(5), "an open stdin");
    let endless = File::open("/dev/zero").expect("opened");
    let run = Run::helper(&[], &["exit", "6"]).stdin(endless).start();
    assert_eq!(run.ended(), Ending::Exit(6), "a stdin without end");
}

#[test]
fn the_environment_is_the_callers_and_what_is_set() {
    ours_only!();
    let word = marker();
    // A name that a daemon's default policy keeps from commands: here it is the caller's own command.
    let said = Run::of(&["--env", "SET=a=b", "--env", "BOTH=new", "--", "env"])
        .env("SECRET_API_KEY", &word)
        .env("BOTH", "old")
        .env("EMPTY", "")
        .output();
    let text = said.text();
    let lines: Vec<&str> = text.lines().collect();
    for expected in [&format!("SECRET_API_KEY={word}"), "SET=a=b", "BOTH=new", "EMPTY="] {
        assert!(lines.contains(&expected), "{expected}: {text}");
    }
    assert!(!lines.contains(&"BOTH=old"), "{text}");
}

#[test]
fn nothing_is_added_to_the_environment() {
    ours_only!();
    let env = |program: &[&str]| {
        let output = Run::program(program).env("ONE", "1").output();
        let mut lines: Vec<String> = output.text().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let through = env(&["run", "--", "env"]);
    let mut own: Vec<String> = std::env::vars()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    own.push("ONE=1".to_owned());
    // A value of several lines is several lines of env's.
    let mut own: Vec<String> = own
        .iter()
        .flat_map(|line| line.lines())
        .map(str::to_owned)
        .collect();
    own.sort();
    assert_eq!(through, own);
}

#[test]
fn the_directory_is_the_callers_or_the_one_asked_for() {
    ours_only!();
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path().canonicalize().expect("a path");
    // Bytes that a URI and a terminal would write otherwise.
    let there = here.join("a b%41\u{e9}");
    fs::create_dir(&there).expect("made");
    let name = there.file_name().expect("named").to_string_lossy().into_owned();
    let absolute = there.to_string_lossy().into_owned();
    for (options, expected) in [
        (&[][..], &here),
        (&["--cwd", name.as_str()], &there),
        (&["--cwd", absolute.as_str()], &there),
    ] {
        let said = Run::of(&[options, &["--", "pwd"]].concat())
            .directory(&here)
            .output();
        assert_eq!(said.text(), format!("{}\n", expected.display()), "{options:?}");
    }
}
