//! Commands behave as if typed at a prompt, whatever the startup files did.

use std::ffi::OsStr;
use std::fmt::Write;

use super::Home;
use super::cases::CASES;
use super::strange::STRANGE;
use crate::dialect::Try;
use crate::dialect::on_terminal::status;
use crate::dialect::zsh::replay;
use crate::state::{State, Transport};

/// What zsh says when it cannot restore something.
const COMPLAINTS: &[&str] = &[
    ".zshenv",
    "/proc/self/fd",
    "(eval)",
    "failed to restore",
    "bad substitution",
    "bad option",
];

fn check(transport: Transport, changed: impl Fn(State) -> State) {
    let mut failures = String::new();
    for case in CASES.iter().chain(STRANGE) {
        let home = Home::new(case.files, case.environment);
        let mut captured = match home.capture(Try::Interactive) {
            Ok(captured) => captured,
            Err(failure) => {
                writeln!(failures, "{}: {failure}", case.what).unwrap();
                continue;
            }
        };
        captured.state = changed(captured.state);
        for run in case.runs {
            let output = home.run(&captured, transport, OsStr::new(&home.placed(run.script)));
            let (stdout, stderr) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            let is_clean = COMPLAINTS.iter().all(|complaint| !stderr.contains(complaint));
            if stdout != home.placed(run.stdout) || status(&output) != run.status || !is_clean {
                writeln!(
                    failures,
                    "{}: {:?}: status {}, stdout {stdout:?}, stderr {stderr:?}",
                    case.what,
                    run.script,
                    status(&output)
                )
                .unwrap();
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn with_the_state_compiled() {
    check(Transport::File(9), |state| {
        assert!(!state.text.is_empty(), "zsh could not compile its state");
        state
    });
}

#[test]
fn with_the_state_as_text() {
    check(Transport::File(9), |state| {
        replay::state(state.text, Vec::new(), false)
    });
}

#[test]
fn with_the_state_in_the_environment() {
    check(Transport::Environment, |state| state);
}

/// Startup files that do a bit of everything, for what does not depend on the script.
const SOME: &[(&str, &str)] = &[(".zshrc", "f() { echo fn; }; alias hi='echo hello'; V=1\n")];

#[test]
fn where_the_place_is_not_to_be_seen_the_script_is_evaluated() {
    let home = Home::new(SOME, &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    for transport in [Transport::File(9), Transport::Environment] {
        let state = replay::state(captured.state.text.clone(), Vec::new(), true);
        let script = OsStr::new("hi 'a\\\\b'; f; env | grep -c EXEC_SERVER; echo $V$#; nosuch");
        let output = home.run_state(&state, &captured.environment, transport, script);
        assert_eq!(
            (
                String::from_utf8_lossy(&output.stdout).as_ref(),
                String::from_utf8_lossy(&output.stderr).as_ref(),
                status(&output)
            ),
            (
                "hello a\\b\nfn\n0\n10\n",
                "(eval):1: command not found: nosuch\n",
                127
            ),
            "{transport:?}"
        );
    }
}

#[test]
fn a_state_that_cannot_be_read_is_told_of_and_the_script_runs() {
    let home = Home::new(SOME, &[]);
    let mut captured = home.capture(Try::Interactive).unwrap();
    captured.state.file.truncate(40);
    let output = home.run(
        &captured,
        Transport::File(9),
        OsStr::new("echo ${ZDOTDIR-none}; hi"),
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "none\n");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "failed to restore shell snapshot\nzsh:1: command not found: hi\n"
    );
}

#[test]
fn what_fails_in_the_state_is_told_of_and_the_rest_is_restored() {
    let home = Home::new(SOME, &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    let text = String::from_utf8(captured.state.text).unwrap();
    let broken = text.replacen("\n{\ntypeset ", "\n{\nreadonly Q=1; Q=2\ntypeset ", 1);
    assert_ne!(text, broken);
    let state = replay::state(broken.into_bytes(), Vec::new(), false);
    let output = home.run_state(
        &state,
        &captured.environment,
        Transport::File(9),
        OsStr::new("hi; f"),
    );
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.ends_with(": read-only variable: Q\nfailed to restore shell snapshot\n"),
        "{stderr}"
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\nfn\n");
}

#[test]
fn the_script_is_as_in_a_bare_shell() {
    let home = Home::new(&[(".zshrc", "")], &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    for script in [
        "echo \"[$_]\" $? $0 $# $LINENO $- $*; echo $ZSH_EXECUTION_STRING; nosuch\n\nnosuch",
        "zmodload; ls -l /proc/self/fd /proc/$$/fd | grep -c -e /state; umask; ulimit -Sa",
        "env | grep -v -e ^HOST -e ^OLDPWD | sort; echo ${ZDOTDIR-none}; setopt; trap",
        "echo a; )",
        "set -eu; echo $NOPE; echo no",
    ] {
        let bare = std::process::Command::new(super::SHELL)
            .args(["-fc", script])
            .env_clear()
            .envs(&home.environment)
            .current_dir(home.work())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let with = home.run(&captured, Transport::File(9), OsStr::new(script));
        let without_f = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .replace("569Xf", "569X")
                .replace("norcs\n", "")
        };
        assert_eq!(without_f(&with.stdout), without_f(&bare.stdout), "{script}");
        assert_eq!(without_f(&with.stderr), without_f(&bare.stderr), "{script}");
        assert_eq!(with.status, bare.status, "{script}");
    }
}

#[test]
fn a_login_shell_that_is_not_interactive_is_captured_too() {
    let files = &[
        (".zprofile", "f() { echo fn; }\n"),
        (".zshrc", "exec false\n"),
        (".zlogin", "export L=1\n"),
    ];
    let home = Home::new(files, &[]);
    home.capture(Try::Interactive).unwrap_err();
    let captured = home.capture(Try::NonInteractive).unwrap();
    let output = home.run(&captured, Transport::File(9), OsStr::new("f; echo $L"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fn\n1\n");
}

#[test]
fn exported_bytes_are_exact() {
    let files = &[(
        ".zshrc",
        "export A=$'a\\nb\\xff\\x01' B= C='=' ; unset GIVEN; typeset -xi N=7; export -T L l; l=(x y)\n",
    )];
    let home = Home::new(files, &[("GIVEN", "1"), ("KEPT", "2")]);
    let captured = home.capture(Try::Interactive).unwrap();
    let value = |name: &str| {
        use std::os::unix::ffi::OsStrExt;
        captured
            .environment
            .get(OsStr::new(name))
            .map(|value| value.as_bytes().to_vec())
    };
    assert_eq!(value("A").unwrap(), b"a\nb\xff\x01");
    assert_eq!(value("B").unwrap(), b"");
    assert_eq!(value("C").unwrap(), b"=");
    assert_eq!(value("N").unwrap(), b"7");
    assert_eq!(value("L").unwrap(), b"x:y");
    assert_eq!(value("KEPT").unwrap(), b"2");
    assert_eq!(value("GIVEN"), None);
}

#[test]
fn what_would_run_at_the_end_is_left_out_and_named() {
    let files = &[(
        ".zshrc",
        "TRAPDEBUG() { :; }; zshexit() { echo x; }; zshexit_functions=(y); y() { echo y; }; trap 'echo bye' EXIT\n",
    )];
    let home = Home::new(files, &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    let output = home.run(&captured, Transport::File(9), OsStr::new("true"));
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let left: Vec<_> = captured
        .inventory
        .left_out
        .iter()
        .map(|left| left.what.as_slice())
        .collect();
    assert_eq!(
        left,
        [
            &b"function zshexit"[..],
            b"variable zshexit_functions",
            b"trap EXIT"
        ],
    );
    assert!(captured.inventory.functions.contains(&b"y"[..]));
}

#[test]
fn what_only_completion_reads_is_left_out_and_named() {
    let files = &[(
        ".zshrc",
        "typeset -gA _comps _services; _comps=(ls _ls); mine=(x)\n",
    )];
    let home = Home::new(files, &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    let mut left: Vec<_> = captured
        .inventory
        .left_out
        .iter()
        .map(|left| (left.what.as_slice(), left.why))
        .collect();
    left.sort_unstable();
    let why = "only completion reads it, at a prompt";
    assert_eq!(
        left,
        [(&b"variable _comps"[..], why), (b"variable _services", why)]
    );
    assert!(captured.inventory.variables.contains(&b"mine"[..]));
    let output = home.run(&captured, Transport::File(9), OsStr::new("echo ${+_comps} $mine"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 x\n");
}

#[test]
fn a_function_that_cannot_be_read_again_is_left_out_and_named() {
    let files = &[(
        ".zshrc",
        "make() { setopt localoptions rcquotes; eval $'g() {\\n print \\'it\\'\\'s\\'\\n}'; }; make
f() { echo fn; }; function do { echo do; }\n",
    )];
    let home = Home::new(files, &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    let output = home.run(
        &captured,
        Transport::File(9),
        OsStr::new("f; \\do; print ${+functions[make]} ${+functions[g]}"),
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fn\ndo\n1 0\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(!captured.inventory.functions.contains(&b"g"[..]));
    let left = captured.inventory.left_out.first().unwrap();
    assert_eq!(
        (left.what.as_slice(), left.why),
        (&b"function g"[..], "zsh cannot read again what it lists of it")
    );
}

/// Startup files that set, in every way, what requests set too.
const SETTING: &str =
    "PS1='rc> '; export ZDOTDIR=$HOME/z; typeset -a LIST=(1 2); typeset -i NUMBER=3; EMPTY=rc
    typeset -r LOCKED=rc; typeset -F REAL=1.5; OTHER=rc; alias hi='echo hi'\n";

#[test]
fn what_the_request_itself_sets_wins() {
    let own = [
        ("PS1", "env> "),
        ("ZDOTDIR", "@HOME@"),
        ("LIST", "a b"),
        ("NUMBER", "x '\n$y"),
        ("EMPTY", ""),
        ("LOCKED", "env"),
        ("REAL", "*"),
        ("HOME", "@HOME@"),
    ];
    let home = Home::new(&[(".zshrc", SETTING)], &own);
    let captured = home.capture(Try::Interactive).unwrap();
    let names = own.iter().map(|&(name, _)| name.to_owned()).collect();
    // As a policy leaves it: what startup files made of these is gone again.
    let mut environment = captured.environment.clone();
    environment.extend(home.environment.clone());
    let kept = replay::keep(&names, &environment);
    let script = "hi; typeset -p PS1 ZDOTDIR LIST NUMBER EMPTY LOCKED REAL OTHER; typeset -m '__es*' 'EXEC*'; env | grep -a EXEC";
    let inline = replay::state(captured.state.text.clone(), Vec::new(), true);
    for (state, transport) in [
        (&captured.state, Transport::File(9)),
        (&captured.state, Transport::Environment),
        (&inline, Transport::File(9)),
    ] {
        let output = home.run_keeping(state, &environment, &kept, transport, OsStr::new(script));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            home.placed(
                "hi\nexport PS1='env> '\nexport ZDOTDIR=@HOME@\nexport LIST='a b'\nexport NUMBER=$'x \\'\\n$y'\n\
                 export EMPTY=''\nexport -r LOCKED=env\nexport REAL='*'\ntypeset OTHER=rc\n"
            ),
            "{transport:?}"
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{transport:?}");
    }
    // Nothing that the state has.
    let environment = &captured.environment;
    let kept = replay::keep(&["HOME".to_owned()].into(), environment);
    let (transport, script) = (Transport::File(9), OsStr::new("echo $OTHER"));
    let output = home.run_keeping(&captured.state, environment, &kept, transport, script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "rc\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
