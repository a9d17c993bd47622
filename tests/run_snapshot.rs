//! `exec-server run --snapshot`: the command has the state of the user's own shell.

use exec_tests::home::Home;
use exec_tests::run::RunBuilder;
use exec_tests::server::Ending;
use exec_tests::{Run, ours_only};

/// `exec-server run ARGUMENTS…`, by a user of that home whose shell is bash.
fn run(home: &Home, arguments: &[&str]) -> RunBuilder {
    let folder = home.dir().to_str().expect("text");
    Run::of(arguments)
        .env("HOME", folder)
        .env("SHELL", "/bin/bash")
        .directory(folder)
}

/// Ending, stdout and stderr of it.
fn outcome(home: &Home, arguments: &[&str]) -> (Ending, String, String) {
    let said = run(home, arguments).output();
    (said.ending, said.text(), said.errors())
}

fn said(ending: Ending, text: &str) -> (Ending, String, String) {
    (ending, text.to_owned(), String::new())
}

const BASHRC: &str = "case $- in *i*) ;; *) return;; esac\n\
    echo noise; echo run >>~/runs\n\
    show() { printf '<%s>' \"$@\"; echo; }\nalias s='show'\nexport FROM_RC='a b'\nown=1\n";

#[test]
fn a_script_has_functions_aliases_and_variables_and_startup_runs_once() {
    ours_only!();
    let home = Home::new(&[(".bashrc", BASHRC)]);
    let script = "s \"$FROM_RC\" $own && bash -c 'echo $FROM_RC'; exit 7";
    let expected = said(Ending::Exit(7), "<a b><1>\na b\n");
    assert_eq!(outcome(&home, &["--snapshot", "--", script]), expected);
    assert_eq!(home.lines("runs"), 1);
}

#[test]
fn several_words_are_a_command_and_arrive_as_they_are() {
    ours_only!();
    let home = Home::new(&[(".bashrc", BASHRC)]);
    let words = ["s", "a b", "", "$HOME", "it's", "*", "x=y"];
    let arguments = [&["--snapshot", "--"], &words[..]].concat();
    let expected = said(Ending::Exit(0), "<a b><><$HOME><it's><*><x=y>\n");
    assert_eq!(outcome(&home, &arguments), expected);
}

#[test]
fn another_shell_can_be_named() {
    ours_only!();
    let home = Home::new(&[(".profile", "alias hi='echo hello'\n")]);
    for shell in ["--snapshot=sh", "--snapshot=/bin/sh", "-s=sh"] {
        let expected = said(Ending::Exit(0), "hello you\n");
        assert_eq!(outcome(&home, &[shell, "hi", "you"]), expected, "{shell}");
    }
}

#[test]
fn input_and_a_time_limit_are_as_without() {
    ours_only!();
    let home = Home::new(&[(".bashrc", BASHRC)]);
    let run = run(&home, &["--snapshot", "--", "read -r line; s \"$line\""]).start();
    run.write(b"typed\n");
    run.close_stdin();
    assert_eq!(run.ended(), Ending::Exit(0));
    assert_eq!(run.stdout.text(), "<typed>\n");
    let (ending, ..) = outcome(&home, &["--snapshot", "--timeout", "0.2", "--", "sleep 100"]);
    assert_eq!(ending, Ending::Exit(124));
}

#[test]
fn a_startup_that_fails_is_told_and_the_command_runs() {
    ours_only!();
    let home = Home::new(&[(".profile", "exit 3\n")]);
    let (ending, text, errors) = outcome(&home, &["--snapshot", "--", "echo ran"]);
    assert_eq!((ending, text.as_str()), (Ending::Exit(0), "ran\n"));
    let told = "exec-server run: the command does not have your bash's state: its startup files ended it with an \
                error; `exec-server snapshot` shows where\n";
    assert!(errors.contains(told), "{errors}");
    // Nothing of the daemon's own log.
    assert!(!errors.contains("WARN"), "{errors}");
}

#[test]
fn what_is_no_shell_is_refused_in_words() {
    ours_only!();
    let home = Home::new(&[]);
    for (shell, code, told) in [
        (
            "--snapshot=tcsh",
            125,
            "exec-server run: tcsh is no shell whose state can be captured: bash, zsh, fish and sh (dash, ash, mksh) are\n",
        ),
        (
            "--snapshot=/nowhere/bash",
            127,
            "exec-server run: /nowhere/bash: not found\n",
        ),
    ] {
        let (ending, text, errors) = outcome(&home, &[shell, "--", "echo ran"]);
        assert_eq!((ending, text.as_str()), (Ending::Exit(code), ""), "{shell}");
        assert_eq!(errors, told);
    }
}
