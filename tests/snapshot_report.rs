//! `exec-server snapshot`: a person sees what a capture of their shell finds, what it costs, and where it fails.

use std::time::Duration;

use exec_tests::home::Home;
use exec_tests::run::RunBuilder;
use exec_tests::server::Ending;
use exec_tests::{Run, eventually, ours_only};
use rustix::process::Signal;
use serde_json::{Value, json};

/// What a report came to.
struct Said {
    ending: Ending,
    text: String,
    errors: String,
}

/// `exec-server snapshot ARGUMENTS…`, by a user of that home whose shell is bash.
fn snapshot(home: &Home, arguments: &[&str]) -> RunBuilder {
    let folder = home.dir().to_str().expect("text");
    Run::program(&[&["snapshot"], arguments].concat())
        .env("HOME", folder)
        .env("SHELL", "/bin/bash")
        .directory(folder)
}

fn report(home: &Home, arguments: &[&str]) -> Said {
    let said = snapshot(home, arguments).output();
    Said {
        ending: said.ending,
        text: said.text(),
        errors: said.errors(),
    }
}

fn json_report(home: &Home, arguments: &[&str]) -> Value {
    let said = report(home, &[&["--json"], arguments].concat());
    serde_json::from_str(&said.text).unwrap_or_else(|error| panic!("{error}: {}", said.text))
}

impl Said {
    #[track_caller]
    fn has(&self, expected: &[&str]) {
        for expected in expected {
            assert!(self.text.contains(expected), "{expected:?} in\n{}", self.text);
        }
        // As a person sees it.
        assert!(
            self.text
                .lines()
                .filter(|line| line.trim_start().contains(' '))
                .all(|line| line.chars().count() <= 80),
            "{}",
            self.text
        );
    }
}

/// Without what this machine's own startup files define, as a system's bash-completion does.
const BASHRC: &str = "case $- in *i*) ;; *) return;; esac\n\
    unset -f $(compgen -A function); unalias -a; shopt -u extglob; echo run >>~/runs\n\
    f() { :; }\n_g() { :; }\nalias a='value-to-hide'\nexport TOKEN_OF_MINE=value-to-hide\nown_one=value-to-hide\n\
    trap 'echo value-to-hide' EXIT\nshopt -s globstar\n";

#[test]
fn what_is_found_is_told_by_kind_and_name_and_never_by_value() {
    ours_only!();
    let home = Home::new(&[(".bashrc", BASHRC)]);
    let said = report(&home, &[]);
    assert_eq!((said.ending, said.errors.as_str()), (Ending::Exit(0), ""));
    assert!(
        said.text.starts_with("bash (/bin/bash): 2 functions, 1 alias, "),
        "{}",
        said.text
    );
    said.has(&[
        "Its startup took ",
        "\nFunctions (2)\n  _g f\n",
        "\nAliases (1)\n  a\n",
        "TOKEN_OF_MINE",
        "own_one",
        "\nOptions that are not as in a bare shell (1)\n  globstar\n",
        "\nLeft out (1)\n  trap EXIT: ",
        "\n  ~/.bashrc\n",
        "not there: ~/.bash_profile",
    ]);
    for arguments in [&[][..], &["--profile"], &["--json"], &["--json", "--profile"]] {
        assert!(
            !report(&home, arguments).text.contains("value-to-hide"),
            "{arguments:?}"
        );
    }
}

#[test]
fn json_is_one_object_of_the_same() {
    ours_only!();
    let home = Home::new(&[(".bashrc", BASHRC)]);
    let found = json_report(&home, &[]);
    assert_eq!(found["shell"], json!({"name": "bash", "path": "/bin/bash"}));
    assert_eq!(found["cwd"], json!(home.dir()));
    let snapshot = &found["snapshot"];
    assert_eq!(snapshot["functions"], json!(["_g", "f"]));
    assert_eq!(snapshot["interactive"], true);
    assert_eq!((&found["failure"], &found["trace"]), (&Value::Null, &Value::Null));
    let bashrc = json!({"path": home.path(".bashrc"), "present": true});
    assert!(
        found["watchedFiles"]
            .as_array()
            .expect("a list")
            .contains(&bashrc),
        "{found}"
    );
}

#[test]
fn startup_runs_once_and_once_more_only_to_be_profiled() {
    ours_only!();
    let home = Home::new(&[(".bashrc", BASHRC)]);
    report(&home, &[]);
    assert_eq!(home.lines("runs"), 1);
    report(&home, &["--profile"]);
    assert_eq!(home.lines("runs"), 3);
}

/// Startup files of which one line takes most of the time, and prints nowhere.
const SLOW: &str = ". ~/.tool 2>/dev/null\nslow\n";
const TOOL: &str = "x=1\nslow() {\n  sleep 0.3\n}\n";

#[test]
fn a_profile_names_the_slow_file_and_line() {
    ours_only!();
    for (shell, file) in [("bash", ".bashrc"), ("zsh", ".zshrc")] {
        let home = Home::new(&[(file, SLOW), (".tool", TOOL)]);
        if shell == "zsh" && !std::path::Path::new("/usr/bin/zsh").exists() {
            continue;
        }
        let found = json_report(&home, &["--profile", "--shell", shell]);
        let trace = &found["trace"];
        assert_eq!(trace["ending"]["kind"], "complete", "{found}");
        let slowest = &trace["files"][0];
        assert_eq!(slowest["path"], json!(home.path(".tool")), "{trace}");
        let (micros, line) = (slowest["micros"].as_u64(), slowest["slowestLine"].as_u64());
        assert!(
            micros >= Some(300_000) && trace["totalMicros"].as_u64() >= micros,
            "{trace}"
        );
        assert_eq!(line, Some(3), "{trace}");
        assert_eq!(trace["untracedMicros"], 0, "{trace}");
    }
}

#[test]
fn a_trace_that_startup_files_end_is_no_files_time() {
    ours_only!();
    for bashrc in ["set +x\nsleep 0.3\n", "set +xv\n. ~/.tool\nslow\n"] {
        let home = Home::new(&[(".bashrc", bashrc), (".tool", TOOL)]);
        let trace = &json_report(&home, &["--profile"])["trace"];
        assert!(trace["untracedMicros"].as_u64() >= Some(300_000), "{trace}");
        assert!(trace["files"][0]["micros"].as_u64() < Some(300_000), "{trace}");
    }
    // One that only sends stderr elsewhere still is traced.
    let home = Home::new(&[(".bashrc", "exec 2>/dev/null\nsleep 0.3\n")]);
    let trace = &json_report(&home, &["--profile"])["trace"];
    assert_eq!(
        (&trace["untracedMicros"], &trace["files"][0]["slowestLine"]),
        (&json!(0), &json!(2)),
        "{trace}"
    );
}

#[test]
fn a_profile_is_shown_as_one_of_a_traced_run() {
    ours_only!();
    let home = Home::new(&[(".bashrc", SLOW), (".tool", TOOL)]);
    report(&home, &["--profile"]).has(&[
        "\nTime by file, in a second run that was traced: ",
        " %  ~/.tool\n",
        " ms of it at line 3\n",
    ]);
}

#[test]
fn a_shell_that_cannot_tell_files_tells_the_total() {
    ours_only!();
    let home = Home::new(&[(".profile", "alias hi=echo\n")]);
    let said = report(&home, &["--profile", "--shell", "sh"]);
    assert_eq!(said.ending, Ending::Exit(0));
    said.has(&["Its startup took ", "\nAliases (1)\n  hi\n"]);
    assert_eq!(
        said.errors,
        "exec-server snapshot: only bash and zsh can tell which file takes how long\n"
    );
}

#[test]
fn a_startup_that_fails_is_told_with_its_line_and_a_way_out() {
    ours_only!();
    for (bashrc, why, place) in [
        (
            "x=1\n\nexit 7 # value-to-hide\n",
            "its startup files ended it with an error.",
            "It ended at ~/.bashrc, line 3, with status 7 (seen in a second run, traced).",
        ),
        (
            "x=1\nexec sh -c 'exit 3'\n",
            "the shell ended, or became another program, before its startup was done.",
            "It ended at ~/.bashrc, line 2, with status 3 (seen in a second run, traced).",
        ),
        (
            "kill -9 $$\n",
            "the shell ended, or became another program, before its startup was done.",
            "It ended at ~/.bashrc, line 1, with status 137 (seen in a second run, traced).",
        ),
    ] {
        // Read by every login shell: one that is not interactive fails like it.
        let home = Home::new(&[(".bash_profile", ". ~/.bashrc\n"), (".bashrc", bashrc)]);
        let said = report(&home, &[]);
        assert_eq!(said.ending, Ending::Exit(1), "{}", said.text);
        let flat = said.text.replace('\n', " ");
        assert!(
            flat.starts_with(&format!("There is no snapshot of bash (/bin/bash): {why}")),
            "{}",
            said.text
        );
        assert!(flat.contains(place), "{}", said.text);
        said.has(&["\n    [ -n \"$EXEC_SERVER_SNAPSHOT\" ] || COMMAND\n"]);
        assert!(!said.text.contains("value-to-hide"), "{}", said.text);
    }
}

#[test]
fn a_shell_that_cannot_tell_the_line_is_told_how_to_see_it() {
    ours_only!();
    let home = Home::new(&[(".profile", "exit 3\n")]);
    let said = report(&home, &["--shell", "/bin/sh"]);
    assert_eq!((said.ending, said.errors.as_str()), (Ending::Exit(1), ""));
    said.has(&["\n    EXEC_SERVER_SNAPSHOT=1 /bin/sh -lixc exit\n"]);
}

#[test]
fn an_interrupted_report_leaves_nothing() {
    ours_only!();
    let home = Home::new(&[(".bash_profile", "touch ~/began\nsleep 1000\n")]);
    let run = snapshot(&home, &[]).start();
    let began = home.path("began");
    eventually(Duration::from_secs(20), || began.exists().then_some(())).expect("startup began");
    run.signal(Signal::INT);
    // That nothing is left is seen when it is dropped.
    assert_eq!(run.ended(), Ending::Signal(Signal::INT.as_raw()));
}

#[test]
fn a_guarded_line_is_left_out() {
    ours_only!();
    let guarded = "[ -n \"$EXEC_SERVER_SNAPSHOT\" ] || exit 7\nafter() { :; }\n";
    let home = Home::new(&[(".bash_profile", guarded)]);
    let said = report(&home, &[]);
    assert_eq!(said.ending, Ending::Exit(0), "{}", said.text);
    said.has(&["\nFunctions (1)\n  after\n"]);
}

#[test]
fn a_startup_that_ends_only_at_a_terminal_is_told_beside_what_was_found() {
    ours_only!();
    let profile = "from_login() { :; }\ncase $- in *i*) exec true;; esac\n";
    let home = Home::new(&[(".bash_profile", profile)]);
    let said = report(&home, &[]);
    assert_eq!(said.ending, Ending::Exit(0), "{}", said.text);
    said.has(&[
        "\nFunctions (1)\n  from_login\n",
        "\nThis is of a startup that is not interactive: ",
        "It ended at ~/.bash_profile, line 2, with status 0",
    ]);
    assert_eq!(json_report(&home, &[])["snapshot"]["interactive"], false);
}

#[test]
fn what_cannot_be_tried_is_told_in_a_line() {
    ours_only!();
    let home = Home::new(&[]);
    for (arguments, told) in [
        (
            &["--shell", "tcsh"][..],
            "tcsh is no shell whose state can be captured: bash, zsh, fish and sh (dash, ash, mksh) are",
        ),
        (&["--shell", "/nowhere/zsh"], "/nowhere/zsh: no such program"),
        (&["--cwd", "/nowhere"], "/nowhere: no such directory"),
    ] {
        let said = report(&home, arguments);
        assert_eq!((said.ending, said.text.as_str()), (Ending::Exit(125), ""));
        assert_eq!(said.errors, format!("exec-server snapshot: {told}\n"));
    }
}
