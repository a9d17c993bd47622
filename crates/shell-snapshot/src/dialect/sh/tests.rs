//! Real dash, busybox ash and mksh over startup files as people have them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::Sh;
use crate::Failure;
use crate::dialect::Try;
use crate::dialect::real::{Home, capture, replay, shell};
use crate::state::Transport;

/// The shells that can be behind `sh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    Dash,
    Busybox,
    Mksh,
    Bash,
}

const ALL: &[Behind] = &[Behind::Dash, Behind::Busybox, Behind::Mksh, Behind::Bash];

impl Behind {
    fn path(self, home: &Home) -> PathBuf {
        let program = shell(match self {
            Self::Dash => "/bin/dash",
            Self::Busybox => "/bin/busybox",
            Self::Mksh => "/bin/mksh",
            Self::Bash => "/bin/bash",
        });
        let link = home.work().parent().unwrap().join("sh");
        if !link.exists() {
            symlink(program, &link).unwrap();
        }
        link
    }
}

/// Startup files, a script, and what it prints.
struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    script: &'static str,
    stdout: &'static str,
    code: i32,
    shells: &'static [Behind],
}

const CASES: &[Case] = &[
    Case {
        name: "exports",
        files: &[(".profile", "export EV='a b'\nexport Q=\"it's\"\n")],
        script: "echo \"$EV|$Q\"; env | grep -c '^EV=a b$'",
        stdout: "a b|it's\n1\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "function",
        files: &[(".profile", "f() { echo \"fn $1\"; }\n")],
        script: "f x",
        stdout: "fn x\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "alias",
        files: &[(".profile", "alias hi='echo hello'\n")],
        script: "hi there",
        stdout: "hello there\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "env-file",
        files: &[
            (".profile", "export ENV=~/.shrc\n"),
            (".shrc", "f() { echo fn; }\nEV=1\n"),
        ],
        script: "f; echo $EV",
        stdout: "fn\n1\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "special-values",
        files: &[(
            ".profile",
            "export V1='a\nb' V2=\"it's\" V3='say \"x\"' V4='back\\slash' V5='ü ✓' V6='$HOME `id`' V7= \n\
             V8=$(printf '\\201\\210\\377x'); export V8\nW1=\"$V1\" W2=$V2 W4=\"$V4\" W6=\"$V6\" W8=$V8\n",
        )],
        script: "printf '%s|' \"$V1\" \"$V2\" \"$V3\" \"$V4\" \"$V5\" \"$V6\" \"${V7-unset}\" \
                 \"$W1\" \"$W2\" \"$W4\" \"$W6\"; printf %s \"$V8$W8\" | od -An -tx1",
        stdout: "a\nb|it's|say \"x\"|back\\slash|ü ✓|$HOME `id`||a\nb|it's|back\\slash|$HOME `id`| 81 88 ff 78 81 88 ff 78\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "injection",
        files: &[(".profile", "export T='x\nexport EVIL=1\ntouch ~/pwned'\nU=$T\n")],
        script: "echo \"${EVIL-none}\"; ls ~/pwned 2>/dev/null || echo clean",
        stdout: "none\nclean\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "options",
        files: &[(".profile", "set -Cfu\nEV=1\n")],
        script: "echo *; echo a > q; echo b > q || echo refused; case $- in *u*) echo u;; esac",
        stdout: "*\nrefused\nu\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "prints-and-reads",
        files: &[(".profile", "echo banner\nread -r x\nexport EV=1\n")],
        script: "echo $EV",
        stdout: "1\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "big-environment",
        files: &[(
            ".profile",
            "i=0\nwhile [ $i -lt 8 ]; do eval \"export BIG$i=$(head -c 50000 /dev/zero | tr '\\0' x)\"; i=$((i+1)); done\n\
             f() { echo fn; }\n",
        )],
        script: "echo ${#BIG7}; /bin/echo child; f",
        stdout: "50000\nchild\nfn\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "large-variable",
        files: &[
            (
                ".profile",
                "f() { echo fn; }\nBIG=$(head -c 200000 /dev/zero | tr '\\0' x)\nexport BIG\nD=$HOME/lib\n. $D/a\n",
            ),
            ("lib/a", "a() { echo a; }\n"),
        ],
        script: "f; a; echo ${#BIG}; /bin/echo child 2>/dev/null; unset BIG; /bin/echo child",
        stdout: "fn\na\n200000\nchild\n",
        code: 0,
        shells: &[Behind::Dash, Behind::Busybox, Behind::Mksh],
    },
    Case {
        name: "hostile",
        files: &[(
            ".profile",
            "f() { echo fn; }\nalias a='echo al'\nexport PATH=/nowhere\nunset LANG\nIFS=abcdefghijklmnopqrstuvwxyz\n\
             readonly LC_ALL=C.UTF-8\nexec 9>/dev/null 8>&9 3<&-\ntrap 'echo trapped' CHLD\nset -u\ncd /\nset -- x y\n",
        )],
        script: "f\na x\necho \"$# $PATH\"",
        stdout: "fn\nal x\n0 /nowhere\n",
        code: 0,
        shells: &[Behind::Dash, Behind::Busybox],
    },
    Case {
        name: "readonly-ifs",
        files: &[(
            ".profile",
            "f() { echo fn; }\nalias a='echo al'\nIFS=abc\nreadonly IFS\n",
        )],
        script: "a x; x=1b2; set -- $x; echo $#; f 2>/dev/null",
        stdout: "al x\n2\n",
        code: 127,
        shells: &[Behind::Dash, Behind::Busybox],
    },
    Case {
        name: "umask-and-cd",
        files: &[(".profile", "umask 027\ncd /\n")],
        script: "umask; basename \"$PWD\"; basename \"$(pwd)\"",
        stdout: "0027\nwork\nwork\n",
        code: 0,
        shells: &[Behind::Dash, Behind::Busybox],
    },
    Case {
        name: "nothing-of-ours",
        files: &[(".profile", "export EV=1\nf() { :; }\nalias x=y\n")],
        script: "set | cut -d= -f1 | grep -ic -e snapshot -e ^codex -e ^exec_ -e ^es_; ls /proc/self/fd | grep -c 9",
        stdout: "0\n0\n",
        code: 1,
        shells: ALL,
    },
    Case {
        name: "shadowed",
        files: &[(
            ".profile",
            "for n in printf echo command test read head sed type alias umask ulimit builtin typeset print; do\n\
             eval \"$n() { f=shadow; }\"\ndone\n\
             alias eval=false set=false trap=false export=false readonly=false unset=false case=x for=y '{=z' \
             command=w printf=v exit=u 2>/dev/null\nEV=1\nf() { \\echo fn; }\n",
        )],
        script: "\\unset -f echo; \\echo $EV; f",
        stdout: "1\nfn\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "strict",
        files: &[(".profile", "set -eufCa\nset -x\nset -v\nEV=1\nf() { echo fn; }\n")],
        script: "set +xv; echo $EV; f; case $- in *e*) echo e;; esac; false; echo no",
        stdout: "1\nfn\ne\n",
        code: 1,
        shells: &[Behind::Dash, Behind::Busybox],
    },
    Case {
        // mksh takes errexit back after startup.
        name: "strict-mksh",
        files: &[(".profile", "set -eufCa\nset -x\nset -v\nEV=1\nf() { echo fn; }\n")],
        script: "set +xv; echo $EV; f; case $- in *f*) echo f;; esac; false; echo yes",
        stdout: "1\nfn\nf\nyes\n",
        code: 0,
        shells: &[Behind::Mksh],
    },
    Case {
        name: "traps",
        files: &[(
            ".profile",
            "trap 'echo \"it'\\''s usr1\"' USR1\ntrap 'echo bye' EXIT\ntrap '' HUP\n",
        )],
        script: "kill -USR1 $$; trap | grep -c EXIT; trap | grep HUP",
        stdout: "it's usr1\n0\ntrap -- '' HUP\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "limits",
        files: &[(".profile", "ulimit -S -n 64\nulimit -c 0\n")],
        script: "ulimit -S -n; ulimit -S -c",
        stdout: "64\n0\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "sourced",
        files: &[
            (
                ".profile",
                "D=$HOME/lib\n[ -r ~/.aliases ] && . ~/.aliases\nfor i in \"$D\"/*.sh; do\n  if [ -r $i ]; then . $i; fi\ndone\nunset i\n\
                 . \"${D}/one more.inc\"\n",
            ),
            (".aliases", "alias ll='echo list'\n. $HOME/lib/deep\n"),
            ("lib/a.sh", "a() {\n  echo a\n}\n"),
            ("lib/b.sh", "b() ( echo b )\n"),
            ("lib/deep", "deep() { case $1 in x) echo \"d)\";; esac; }\n"),
            ("lib/one more.inc", "more() { cat <<E\n}\nE\n}\n"),
        ],
        script: "ll; a; b; deep x; more",
        stdout: "list\na\nb\nd)\n}\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "alias-in-function",
        files: &[(
            ".profile",
            "alias say='echo said'\nf() { say it; }\nalias late='echo late'\ng() { late; }\nalias g2=f\n",
        )],
        script: "f; g",
        stdout: "said it\nlate\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "readonly-and-bare-exports",
        files: &[(
            ".profile",
            "readonly R=1 RX=2\nexport RX\nexport BARE\nIFS=:\nexport IFS\n",
        )],
        script: "echo $R$RX; (R=2) 2>/dev/null || echo ro; BARE=b; env | grep BARE; x=a:b; set -- $x; echo $#",
        stdout: "12\nro\nBARE=b\n2\n",
        code: 0,
        shells: ALL,
    },
    Case {
        // As Debian's profile does; the functions of .bashrc are not those of this shell.
        name: "for-another-shell",
        files: &[
            (
                ".profile",
                "if [ -n \"$NOT_THIS\" ]; then . ~/.bashrc; fi\nENV=~/.shrc\nexport ENV\n",
            ),
            (".bashrc", "f() { echo bash; }\nonly() { :; }\n"),
            (".shrc", "f() { echo sh; }\n"),
        ],
        script: "f; only 2>/dev/null || echo none",
        stdout: "sh\nnone\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "redefined",
        files: &[(
            ".profile",
            "f() { echo 1; }\nif true; then f() { echo 2; }; fi\nf() { echo 3; }\n",
        )],
        script: "f",
        stdout: "3\n",
        code: 0,
        shells: ALL,
    },
    Case {
        name: "bash-under-that-name",
        // What that mode turns on is on, though $BASHOPTS of a shell that starts in it says otherwise.
        files: &[(".profile", "f() { :; }\n")],
        script: "shopt inherit_errexit shift_verbose; shopt -o posix",
        stdout: "inherit_errexit\ton\nshift_verbose  \ton\nposix          \ton\n",
        code: 0,
        shells: &[Behind::Bash],
    },
    Case {
        name: "directories-and-prompt",
        files: &[(".profile", "alias -d foo='/usr/lib'\nPS1='$ '\n")],
        script: "cd ~foo; pwd; echo \"$PS1\"; alias -d",
        stdout: "/usr/lib\n$ \nfoo=/usr/lib\n",
        code: 0,
        shells: &[Behind::Mksh],
    },
    Case {
        name: "mksh-own",
        files: &[(
            ".mkshrc",
            "set -A arr -- a 'b c'\ntypeset -i N=5\ntypeset -l low=AB\ntypeset -r RO=x\nexport XI=7; typeset -i XI\nnameref nr=N\n\
             function g { echo \"g ${arr[1]} $nr\"; }\nunalias r\n",
        )],
        script: "g; N=N+1; echo $N $low; XI=XI+1; echo $XI; low=CD; echo $low; alias r || echo no; type g",
        stdout: "g b c 5\n6 ab\n8\ncd\nr alias not found\nno\ng is a function\n",
        code: 0,
        shells: &[Behind::Mksh],
    },
];

#[test]
fn a_command_finds_what_startup_made() {
    let mut failed = String::new();
    for case in CASES {
        for &behind in case.shells {
            for transport in [Transport::File(9), Transport::Environment] {
                let home = Home::new(
                    &format!("sh-{}-{behind:?}-{transport:?}", case.name).replace(['(', ')'], ""),
                    case.files,
                );
                let shell = behind.path(&home);
                let captured = match capture(&Sh, &shell, &home, &home.environment(), Try::Interactive) {
                    Ok(captured) => captured,
                    Err(error) => {
                        failed += &format!("{} {behind:?}: {error}\n", case.name);
                        continue;
                    }
                };
                let output = replay(
                    &Sh,
                    &shell,
                    &home,
                    &captured,
                    transport,
                    OsStr::from_bytes(case.script.as_bytes()),
                    &[],
                );
                let (out, err) = (
                    String::from_utf8_lossy(&output.stdout),
                    String::from_utf8_lossy(&output.stderr),
                );
                if out != case.stdout || output.status.code() != Some(case.code) {
                    failed += &format!(
                        "{} {behind:?} {transport:?}: {:?} {out:?}, stderr {err:?}\n{}\n",
                        case.name,
                        output.status.code(),
                        captured
                            .state
                            .file
                            .escape_ascii()
                            .to_string()
                            .replace("\\n", "\n")
                            .chars()
                            .take(300)
                            .collect::<String>(),
                    );
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn messages_status_and_arguments_are_those_of_the_script_alone() {
    let files = [(".profile", "alias hi='echo hello'\nf() { return 3; }\n")];
    for (behind, message) in [
        (Behind::Dash, "zero: 1: nosuch: not found\n"),
        (Behind::Busybox, "zero: line 0: nosuch: not found\n"),
        (Behind::Mksh, "E: zero: nosuch: inaccessible or not found\n"),
        (Behind::Bash, "zero: line 1: nosuch: command not found\n"),
    ] {
        let home = Home::new(&format!("sh-messages-{behind:?}"), &files);
        let shell = behind.path(&home);
        let captured = capture(&Sh, &shell, &home, &home.environment(), Try::Interactive).unwrap();
        let script = OsStr::new("echo \"$? $0 $# $*\"; nosuch\nf");
        let output = replay(
            &Sh,
            &shell,
            &home,
            &captured,
            Transport::File(9),
            script,
            &["zero".into(), "a b".into()],
        );
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "0 zero 1 a b\n",
            "{behind:?}"
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), message, "{behind:?}");
        assert_eq!(output.status.code(), Some(3), "{behind:?}");
    }
}

#[test]
fn a_state_that_cannot_be_read_stops_no_script() {
    for behind in [Behind::Dash, Behind::Busybox, Behind::Mksh] {
        let home = Home::new(&format!("sh-broken-{behind:?}"), &[]);
        let shell = behind.path(&home);
        let mut captured = capture(&Sh, &shell, &home, &home.environment(), Try::Interactive).unwrap();
        captured.state.file.extend_from_slice(b"fi\n");
        for transport in [Transport::File(9), Transport::Environment] {
            if (behind, transport) == (Behind::Mksh, Transport::Environment) {
                // A syntax error in `eval` ends mksh; what mksh printed itself has none.
                continue;
            }
            let output = replay(
                &Sh,
                &shell,
                &home,
                &captured,
                transport,
                OsStr::new("echo ran"),
                &[],
            );
            assert_eq!(
                output.stdout,
                b"ran\n",
                "{behind:?} {output:?} {}",
                String::from_utf8_lossy(&captured.state.file)
            );
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                said.ends_with("failed to restore shell snapshot\n"),
                "{behind:?}: {said}"
            );
        }
    }
}

#[test]
fn what_is_kept_and_what_is_not_is_named() {
    let files = [(
        ".profile",
        "f() { g; }\neval 'g() { :; }'\neval \"$(echo 'h() { :; }')\"\nalias ll='ls -l'\nV=1\nset -u\ntrap 'echo x' EXIT\n\
         if [ -n \"$HOME\" ]; then two() { echo 1; }; else two() { echo 2; }; fi\n",
    )];
    let names = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
    for behind in [Behind::Dash, Behind::Busybox, Behind::Mksh] {
        let home = Home::new(&format!("sh-inventory-{behind:?}"), &files);
        let shell = behind.path(&home);
        let captured = capture(&Sh, &shell, &home, &home.environment(), Try::Interactive).unwrap();
        let inventory = captured.inventory;
        let left_out: Vec<String> = inventory
            .left_out
            .iter()
            .map(|left_out| String::from_utf8_lossy(&left_out.what).into_owned())
            .collect();
        let profile = home.path().join(".profile");
        if behind == Behind::Mksh {
            assert_eq!(inventory.functions, names(&["f", "g", "h", "two"]));
            assert_eq!(left_out, ["trap EXIT"]);
        } else {
            assert_eq!(inventory.functions, names(&["f"]), "{behind:?}");
            let by_eval = format!("functions made by eval in {}", profile.display());
            assert_eq!(
                left_out,
                ["function g", "function h", "function two", &by_eval, "trap EXIT"],
                "{behind:?}"
            );
        }
        assert_eq!(inventory.aliases, names(&["ll"]), "{behind:?}");
        assert_eq!(inventory.options, names(&["nounset"]), "{behind:?}");
        assert!(inventory.variables.contains(&b"V"[..]), "{behind:?}");
    }
}

#[test]
fn files_sourced_by_a_computed_name_are_owned_up_to() {
    let files = [
        (".profile", ". \"$(echo ~/.computed)\"\n"),
        (".computed", "f() { :; }\n"),
    ];
    for behind in [Behind::Dash, Behind::Busybox] {
        let home = Home::new(&format!("sh-computed-{behind:?}"), &files);
        let shell = behind.path(&home);
        let captured = capture(&Sh, &shell, &home, &home.environment(), Try::Interactive).unwrap();
        let left_out: Vec<_> = captured
            .inventory
            .left_out
            .iter()
            .map(|left_out| left_out.what.as_slice())
            .collect();
        assert_eq!(
            left_out,
            [b"functions of files that are sourced by a computed name"],
            "{behind:?}"
        );
    }
}

#[test]
fn a_shell_that_only_an_interactive_startup_ends_is_captured_without() {
    let files = [(
        ".profile",
        "EV=1\nexport EV\ncase $- in *i*) exec true ;; esac\nf() { echo \"fn $EV\"; }\n",
    )];
    for &behind in ALL {
        let home = Home::new(&format!("sh-noninteractive-{behind:?}"), &files);
        let shell = behind.path(&home);
        let environment = home.environment();
        let interactive = capture(&Sh, &shell, &home, &environment, Try::Interactive);
        assert_eq!(interactive.unwrap_err(), Failure::MissingOutput, "{behind:?}");
        let captured = capture(&Sh, &shell, &home, &environment, Try::NonInteractive).unwrap();
        let output = replay(
            &Sh,
            &shell,
            &home,
            &captured,
            Transport::File(9),
            OsStr::new("f"),
            &[],
        );
        assert_eq!(String::from_utf8_lossy(&output.stdout), "fn 1\n", "{behind:?}");
    }
}

#[test]
fn a_bare_shell_has_nothing_of_its_own_in_a_snapshot() {
    for behind in [Behind::Dash, Behind::Busybox, Behind::Mksh] {
        let home = Home::new(&format!("sh-bare-{behind:?}"), &[]);
        let shell = behind.path(&home);
        let captured = capture(&Sh, &shell, &home, &home.environment(), Try::Interactive).unwrap();
        assert_eq!(captured.inventory, crate::Inventory::default(), "{behind:?}");
    }
}

#[test]
fn startup_that_ends_the_shell_leaves_no_state() {
    for (name, profile) in [
        ("exit", "EV=1\nexit 4\n"),
        ("exec", "exec true\n"),
        ("kill", "kill -KILL $$\n"),
    ] {
        for behind in ALL {
            let home = Home::new(&format!("sh-{name}-{behind:?}"), &[(".profile", profile)]);
            let shell = behind.path(&home);
            let captured = capture(&Sh, &shell, &home, &home.environment(), Try::Interactive);
            assert_eq!(captured.unwrap_err(), Failure::MissingOutput, "{name} {behind:?}");
        }
    }
}
