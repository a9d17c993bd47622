//! Commands behave as if typed at a prompt, whatever the startup files did.

use std::ffi::OsStr;
use std::fmt::Write;

use super::Home;
use super::cases::CASES;
use crate::Failure;
use crate::dialect::Try;
use crate::dialect::on_terminal::status;
use crate::state::Transport;

/// What bash says when it cannot restore something.
const COMPLAINTS: &[&str] = &[
    "/proc/self/fd",
    "failed to restore",
    "bad substitution",
    "invalid option",
    "not a valid identifier",
];

fn check(transport: Transport) {
    let mut failures = String::new();
    for case in CASES {
        let home = Home::new(case.files, case.environment);
        let captured = match home.capture(Try::Interactive) {
            Ok(captured) => captured,
            Err(failure) => {
                writeln!(failures, "{}: {failure}", case.what).unwrap();
                continue;
            }
        };
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
fn with_the_state_in_a_file() {
    check(Transport::File(9));
}

#[test]
fn with_the_state_in_the_environment() {
    check(Transport::Environment);
}

#[test]
fn a_state_that_cannot_be_read_is_told_of_and_the_script_runs() {
    let home = Home::new(&[(".bashrc", "f() { echo fn; }\n")], &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    for transport in [Transport::File(9), Transport::Environment] {
        // Cut in the middle of a function, as no capture would be.
        let mut broken = captured.clone();
        let end = memchr::memmem::find(&broken.state.file, b"echo fn").unwrap();
        broken.state.file.truncate(end);
        let output = home.run(
            &broken,
            transport,
            OsStr::new("echo \"$0 $LINENO\"\ntrap -p; exit 3"),
        );
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "/bin/bash 1\n",
            "{transport:?}"
        );
        assert_eq!(status(&output), 3, "{transport:?}");
        assert_eq!(
            stderr.matches("failed to restore shell snapshot\n").count(),
            1,
            "{transport:?}: {stderr}"
        );
    }
}

#[test]
fn a_script_sees_itself_and_nothing_of_ours() {
    let home = Home::new(
        &[(".bashrc", "alias say=echo\nset -- a b\n")],
        &[("BASH_ENV", "/nonexistent")],
    );
    let captured = home.capture(Try::Interactive).unwrap();
    let script = r#"say "$0|$#|$-|$LINENO|$_|${BASH_ENV}|${#BASH_SOURCE[@]}"
echo "$LINENO ${BASH_EXECUTION_STRING%%$'\n'*}"
compgen -v | grep -ci -e exec_ -e state
[[ -e /proc/$$/fd/9 ]] || echo closed
nosuch"#;
    for transport in [Transport::File(9), Transport::Environment] {
        let output = home.run(&captured, transport, OsStr::new(script));
        let stdout = String::from_utf8_lossy(&output.stdout);
        let (first, rest) = script.split_once('\n').unwrap();
        assert!(!rest.is_empty());
        assert_eq!(
            stdout,
            format!("/bin/bash|0|hBc|1|/bin/bash|/nonexistent|0\n2 {first}\n0\nclosed\n"),
            "{transport:?}"
        );
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "/bin/bash: line 5: nosuch: command not found\n",
            "{transport:?}"
        );
        assert_eq!(status(&output), 127, "{transport:?}");
    }
}

#[test]
fn what_a_request_states_counts_more_than_that_it_was_unset() {
    let rc = "unset TERM SHELL STATED GONE\nSTATED=shell; KEPT=shell; export -n KEPT\n";
    let home = Home::new(
        &[(".bashrc", rc)],
        &[("STATED", "request"), ("KEPT", "request"), ("GONE", "request")],
    );
    let captured = home.capture(Try::Interactive).unwrap();
    for name in ["TERM", "SHELL", "STATED", "KEPT", "GONE"] {
        assert!(!captured.environment.contains_key(OsStr::new(name)), "{name}");
    }
    let script =
        OsStr::new("echo \"${TERM-unset} ${SHELL-unset} $STATED $KEPT ${GONE-unset}\"; env | grep -c STATED");
    let unstated = home.run(&captured, Transport::File(9), script);
    assert_eq!(
        String::from_utf8_lossy(&unstated.stdout),
        "unset unset shell shell unset\n0\n"
    );
    let mut stated = captured.clone();
    for name in ["TERM", "STATED"] {
        stated.environment.insert(name.into(), "request".into());
    }
    let stated = home.run(&stated, Transport::File(9), script);
    assert_eq!(
        String::from_utf8_lossy(&stated.stdout),
        "request unset request shell unset\n1\n"
    );
}

#[test]
fn values_survive_to_the_byte() {
    let rc = r#"export E1=$'\377\376\n' E2= E3=$'\e"\'\\$(id)`' E4='  x  '
P1=$'\377\376\n' P2= P3=$'\e"\'\\$(id)`'; export NOVALUE
declare -A M=([$'\377']=$'\n' ['a b']=']')
"#;
    let home = Home::new(&[(".bashrc", rc)], &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    let script = r#"printf '<%s>' "$E1" "$E2" "$E3" "$E4" "$P1" "$P2" "$P3" "${M[$'\377']}" "${M['a b']}"
declare -p NOVALUE"#;
    let mut expected = Vec::new();
    for value in [
        &b"\xff\xfe\n"[..],
        b"",
        b"\x1b\"'\\$(id)`",
        b"  x  ",
        b"\xff\xfe\n",
        b"",
        b"\x1b\"'\\$(id)`",
        b"\n",
        b"]",
    ] {
        expected.extend([b"<", value, b">"].concat());
    }
    expected.extend(b"declare -x NOVALUE\n");
    for transport in [Transport::File(9), Transport::Environment] {
        let output = home.run(&captured, transport, OsStr::new(script));
        assert_eq!(
            output.stdout.escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "{transport:?}"
        );
    }
}

#[test]
fn the_try_that_is_not_interactive_restores_a_shell_for_people() {
    let rc = "[[ $- == *i* ]] && exit 0\nalias say=echo\nf() { echo fn; }\n";
    let home = Home::new(&[(".bash_profile", ". ~/.bashrc\n"), (".bashrc", rc)], &[]);
    assert_eq!(home.capture(Try::Interactive), Err(Failure::MissingOutput));
    let captured = home.capture(Try::NonInteractive).unwrap();
    let output = home.run(&captured, Transport::File(9), OsStr::new("say x; f"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "x\nfn\n");
}

#[test]
fn a_locale_that_there_is_not_is_told_of_as_often_as_by_a_bare_shell() {
    for (rc, given, warnings) in [
        ("LC_ALL=none_XX\n", &[][..], 0),
        ("LANG=none_XX; LC_CTYPE=none_XX; LC_ALL=none_XX\n", &[], 0),
        ("declare -r LC_ALL=none_XX\n", &[], 0),
        ("export -n LC_ALL\n", &[("LC_ALL", "none_XX")], 0),
        // These bash itself finds in its environment.
        ("export LC_ALL=none_XX\n", &[], 1),
        ("readonly LC_ALL\n", &[("LC_ALL", "none_XX")], 1),
        ("", &[("LC_ALL", "none_XX")], 1),
    ] {
        let home = Home::new(&[(".bashrc", rc)], given);
        let captured = home.capture(Try::Interactive).unwrap();
        for transport in [Transport::File(9), Transport::Environment] {
            let output = home.run(&captured, transport, OsStr::new("echo \"$LC_ALL\""));
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(stderr.lines().count(), warnings, "{rc}: {stderr}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "none_XX\n", "{rc}");
        }
    }
}

#[test]
fn associative_arrays_come_back_in_their_order() {
    let rc = r#"declare -A many odd=(["a b"]="]" [$'\n']=")" ["("]="'" ["x]=\"y"]=)
for ((i = 0; i < 1500; i++)); do many[key $i]=$i; done; unset "many[key 7]"
orders() { echo "${!many[*]}"; echo "${odd[@]@Q} ${!odd[*]}"; }
orders >~/order
"#;
    let home = Home::new(&[(".bashrc", rc)], &[]);
    let captured = home.capture(Try::Interactive).unwrap();
    for transport in [Transport::File(9), Transport::Environment] {
        let output = home.run(
            &captured,
            transport,
            OsStr::new("orders | cmp - ~/order && wc -c <~/order"),
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{transport:?}");
        let size: usize = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        assert!(size > 10_000, "{size}");
    }
}
