//! A real fish over startup files as people have them.

use std::ffi::OsStr;

use super::Fish;
use crate::Failure;
use crate::dialect::Try;
use crate::dialect::real::{Home, capture, replay, shell};
use crate::state::Transport;

/// Startup files, a script, and what it prints.
struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    script: &'static str,
    stdout: &'static str,
    code: i32,
}

const CONFIG: &str = ".config/fish/config.fish";

const CASES: &[Case] = &[
    Case {
        name: "function",
        files: &[(CONFIG, "function hi; echo hi $argv; end\n")],
        script: "hi x",
        stdout: "hi x\n",
        code: 0,
    },
    Case {
        name: "alias-and-exports",
        files: &[(
            CONFIG,
            "alias ll 'echo list'\nset -gx EV one two\nset -gx P1 'a b'\n",
        )],
        script: "ll z; echo $EV[2] $P1; env | grep '^EV='",
        stdout: "list z\ntwo a b\nEV=one two\n",
        code: 0,
    },
    Case {
        name: "interactive-guard",
        files: &[(
            CONFIG,
            "status is-interactive; or exit\nstatus is-login; and set -g L 1\nabbr -a gco git checkout\nset -g G 1\n",
        )],
        script: "echo $G $L; abbr --show; status is-login; and echo login; status is-interactive; or echo no",
        stdout: "1 1\nabbr -a -- gco 'git checkout'\nlogin\nno\n",
        code: 0,
    },
    Case {
        name: "values",
        files: &[(
            CONFIG,
            "set -gx V1 'a\nb' \nset -gx V2 \"it's\" \nset -gx V3 'back\\\\slash|pipe $x (y)' \nset -gx V4 'ü ✓' \nset -gx V5 ''\n\
             set -g W1 $V1 $V2\nset -g W2 $V3 ''\nset -g W3\nset -gx BYTES (printf '\\xff\\x01\\x7f\\xef\\x98\\x80x')\nset -g B2 $BYTES\n\
             set -g LONG (seq 300)\nset -gx --path PV a b\nset -g --path PP x y\nset -gx LP /a /b c\n",
        )],
        script: "string escape -- $V1 $V2 $V3 $V4 $V5 $W1 $W2; count $W3; count $LONG; echo $LONG[150]; \
                 printf %s $BYTES $B2 | od -An -tx1; echo \"$PV\" $PV[2] \"$PP\" $LP[3]",
        stdout: "a\\nb\nit\\'s\nback\\\\slash\\|pipe\\ \\$x\\ \\(y\\)\n'ü ✓'\n''\na\\nb\nit\\'s\nback\\\\slash\\|pipe\\ \\$x\\ \\(y\\)\n''\n0\n300\n150\n \
                 ff 01 7f ef 98 80 78 ff 01 7f ef 98 80 78\na:b b x:y c\n",
        code: 0,
    },
    Case {
        name: "autoloaded",
        files: &[
            (
                ".config/fish/functions/lazy.fish",
                "echo loaded >>$HOME/loads\nfunction lazy; echo lazy; end\n",
            ),
            (
                CONFIG,
                "set -g fish_function_path $fish_function_path $HOME/more\n",
            ),
            ("more/extra.fish", "function extra; echo extra; end\n"),
        ],
        script: "functions -q lazy; test -e $HOME/loads; lazy; extra; cat $HOME/loads",
        stdout: "lazy\nextra\nloaded\n",
        code: 0,
    },
    Case {
        name: "conf-d-and-universal",
        files: &[
            (".config/fish/conf.d/a.fish", "set -g CONFD 1\n"),
            (CONFIG, "set -U uni 1 '2 3'\nfish_add_path $HOME/tools\n"),
            ("tools/mine", "x"),
        ],
        script: "echo $CONFD $uni[2]; string replace $HOME '' $PATH[1]",
        stdout: "1 2 3\n/tools\n",
        code: 0,
    },
    Case {
        name: "shadowed",
        files: &[(
            CONFIG,
            "for n in set echo printf functions string contains test math source umask abbr ulimit\nfunction $n; end; end\nset_color red\nfunction f; builtin echo fn; end\nbuiltin set -g EV 1\n",
        )],
        script: "f; builtin echo $EV; echo nothing",
        stdout: "fn\n1\n",
        code: 0,
    },
    Case {
        name: "handlers",
        files: &[(
            CONFIG,
            "function bye --on-event fish_exit; echo bye; end\nfunction seen --on-variable FOO; echo changed $FOO; end\n\
             set -g FOO 1\ntrap 'echo usr1' USR1\nset -g X 9\nfunction inh -V X; echo $X; end\nset X 8\necho banner\n",
        )],
        script: "set FOO 2; kill -USR1 $fish_pid; inh; functions -q bye; or echo none",
        stdout: "changed 2\nusr1\n9\nnone\n",
        code: 0,
    },
    Case {
        name: "umask-limits-cd",
        files: &[(CONFIG, "umask 027\nulimit -S -n 64\ncd /\nread -l x\n")],
        script: "umask; ulimit -S -n; basename $PWD; sh -c umask",
        stdout: "0027\n64\nwork\n0027\n",
        code: 0,
    },
    Case {
        name: "nothing-of-ours",
        files: &[(CONFIG, "set -gx EV 1\nfunction f; end\n")],
        script: "set -n | grep -i -e snapshot -e exec_server -e '^es_'; env | grep -c EXEC; ls /proc/self/fd | grep -c 9; set -q fish_private_mode; or echo public",
        stdout: "0\n0\npublic\n",
        code: 0,
    },
    Case {
        name: "separators",
        files: &[(CONFIG, "set -gx IFS :\n")],
        script: "env | grep ^IFS; count (printf 'a:b\\nc')",
        stdout: "IFS=:\n2\n",
        code: 0,
    },
    Case {
        name: "status",
        files: &[(CONFIG, "function f; return 3; end\n")],
        script: "echo $status $argv; f",
        stdout: "0\n",
        code: 3,
    },
];

#[test]
fn a_command_finds_what_startup_made() {
    let fish = shell("/usr/bin/fish");
    let mut failed = String::new();
    for case in CASES {
        let home = Home::new(&format!("fish-{}", case.name), case.files);
        let captured = match capture(&Fish, &fish, &home, &home.environment(), Try::Interactive) {
            Ok(captured) => captured,
            Err(error) => {
                failed += &format!("{}: {error}\n", case.name);
                continue;
            }
        };
        let output = replay(
            &Fish,
            &fish,
            &home,
            &captured,
            Transport::Environment,
            OsStr::new(case.script),
            &[],
        );
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        if out != case.stdout || output.status.code() != Some(case.code) {
            failed += &format!(
                "{}: {:?} {out:?}, stderr {err:?}\n",
                case.name,
                output.status.code()
            );
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn what_stands_before_an_exit_is_kept() {
    let fish = shell("/usr/bin/fish");
    let home = Home::new(
        "fish-exit",
        &[(CONFIG, "function hi; echo hi; end\nexit 3\nset -g never 1\n")],
    );
    // fish leaves the file and runs the command all the same.
    let captured = capture(&Fish, &fish, &home, &home.environment(), Try::Interactive).unwrap();
    assert!(captured.inventory.functions.contains(&b"hi"[..]));
    assert!(!captured.inventory.variables.contains(&b"never"[..]));
}

#[test]
fn a_shell_that_only_an_interactive_startup_ends_is_captured_without() {
    let fish = shell("/usr/bin/fish");
    let config = "set -gx EV 1\nstatus is-interactive; and exec true\nfunction f; echo fn $EV; end\n";
    let home = Home::new("fish-noninteractive", &[(CONFIG, config)]);
    let environment = home.environment();
    let interactive = capture(&Fish, &fish, &home, &environment, Try::Interactive);
    assert_eq!(interactive.unwrap_err(), Failure::MissingOutput);
    let captured = capture(&Fish, &fish, &home, &environment, Try::NonInteractive).unwrap();
    let output = replay(
        &Fish,
        &fish,
        &home,
        &captured,
        Transport::Environment,
        OsStr::new("f"),
        &[],
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fn 1\n");
}

#[test]
fn what_ends_the_shell_leaves_no_state() {
    let fish = shell("/usr/bin/fish");
    for (name, config) in [
        ("exec", "exec true\n"),
        ("kill", "command kill -KILL $fish_pid\n"),
    ] {
        let home = Home::new(&format!("fish-{name}"), &[(CONFIG, config)]);
        let captured = capture(&Fish, &fish, &home, &home.environment(), Try::Interactive);
        assert_eq!(captured.unwrap_err(), Failure::MissingOutput, "{name}");
    }
}

#[test]
fn a_state_that_is_too_large_for_the_environment_comes_through_a_descriptor() {
    let fish = shell("/usr/bin/fish");
    let config = format!(
        "set -g BIG '{}'\nset -g BIG $BIG$BIG$BIG\nfunction f; echo fn; end\n",
        "x".repeat(100_000)
    );
    let home = Home::new("fish-big", &[(CONFIG, &config)]);
    let captured = capture(&Fish, &fish, &home, &home.environment(), Try::Interactive).unwrap();
    let script = OsStr::new("f; string length $BIG; nosuch");
    let output = replay(&Fish, &fish, &home, &captured, Transport::File(9), script, &[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fn\n300000\n");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("fish: Unknown command: nosuch\n"));
    assert_eq!(output.status.code(), Some(127));
}

#[test]
fn a_state_that_cannot_be_read_stops_no_script() {
    let fish = shell("/usr/bin/fish");
    let home = Home::new("fish-broken", &[]);
    let mut captured = capture(&Fish, &fish, &home, &home.environment(), Try::Interactive).unwrap();
    captured.state.file = b"end\n".to_vec();
    let output = replay(
        &Fish,
        &fish,
        &home,
        &captured,
        Transport::Environment,
        OsStr::new("echo ran"),
        &[],
    );
    assert_eq!(output.stdout, b"ran\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("failed to restore shell snapshot"));
}

#[test]
fn what_is_not_the_users_is_not_named() {
    let fish = shell("/usr/bin/fish");
    let home = Home::new("fish-bare", &[]);
    let captured = capture(&Fish, &fish, &home, &home.environment(), Try::Interactive).unwrap();
    assert_eq!(captured.inventory, crate::Inventory::default());
}
