//! What is made of a stream that bash wrote.

use std::collections::BTreeSet;

use exec_process::environment::Environment;

use crate::Failure;
use crate::dialect::bash::limits::Limits;
use crate::dialect::bash::read::{self, Bare};
use crate::dialect::on_terminal::frame;
use crate::inventory::{Inventory, LeftOut, Name};
use crate::sections::Sections;
use crate::state::{Captured, State};

/// bash 5.2, its variables cut down to a few of each kind. `@` is the nonce.
const STREAM: &str = r#"
@ begin

@ login

@ overriding
enable () 
{ 
    command enable "$@"
}

@ posix
declare -- POSIXLY_CORRECT=""

@ traps
trap -- 'echo bye' EXIT
trap -- '' SIGHUP
trap -- 'echo "it'\''s"
true' SIGINT

@ options
himuBHc
braceexpand:emacs:hashall:histexpand:history:interactive-comments:monitor:nounset
checkwinsize:expand_aliases:login_shell:sourcepath

@ disabled

enable -n printf

@ shopt
shopt -u autocd
shopt -s checkwinsize
shopt -u expand_aliases
shopt -u extglob
shopt -s login_shell
shopt -s sourcepath

@ umask
0027

@ limits
open files                          (-n) 256
stack size                  (kbytes, -s) 8192

@ aliases
alias -- -='cd -'
alias ll='ls -l'

@ functions
f () 
{ 
    echo f
}
declare -fx f
g-2 () 
{ 
    :
}


@ function-names
declare -fx f
declare -f g-2

@ variables
declare -- BASH="/bin/bash"
declare -r BASHOPTS="checkwinsize"
declare -x BASH_ENV="/b"
declare -ar BASH_VERSINFO=([0]="5" [1]="2" [2]="15" [3]="1" [4]="release" [5]="x86_64-pc-linux-gnu")
declare -x EDITOR="vi"
declare -i HISTCMD
declare -x HOME="/home/u"
declare -- HOSTNAME="other"
declare -- HOSTTYPE="x86_64"
declare -- IFS=$' \t\n'
declare -a LIST=([0]="a" [2]="b c")
declare -- MACHTYPE="x86_64-pc-linux-gnu"
declare -x NOVALUE
declare -- OPTERR="1"
declare -i OPTIND="1"
declare -- OSTYPE="gnu"
declare -x PATH="/bin"
declare -- PS1="\\s-\\v\\\$ "
declare -- PS4="+ "
declare -rx RO=$'a\nb'
declare -x SHELL="/bin/bash"
declare -rx SHELLOPTS="braceexpand"
declare -x SHLVL="3"
declare -x TERM="dumb"
declare -- _="x"

@ end
"#;

const STATE: &str = r#"declare -x BASH_ENV="/b" NOVALUE
declare -- HOSTNAME="other" OSTYPE="gnu"
declare -a LIST=([0]="a" [2]="b c")
[[ ${RO+x} ]] && declare -r RO
alias -- '-=cd -' 'll=ls -l'
shopt -s extglob
trap '[[ ${BASH_SOURCE-} ]] || { \builtin echo "failed to restore shell snapshot" >&2; \builtin trap - DEBUG; }' DEBUG
function f () 
{ 
echo f
}
function g-2 () 
{ 
:
}
{
\builtin trap - DEBUG
\builtin declare -fx -- 'f'
\builtin umask 0027
\builtin ulimit -S -n 256 2>&-
\builtin shopt -s checkwinsize expand_aliases sourcepath
\builtin shopt -u extglob
\builtin trap -- '' SIGHUP
\builtin trap -- 'echo "it'\''s"
true' SIGINT
\builtin declare -x SHELLOPTS
\builtin set -o nounset
\builtin eval '\builtin enable -n printf #' "$BASH"
enable () 
{ 
    command enable "$@"
}
}"#;

fn given() -> Environment {
    [
        ("BASH_FUNC_old%%", "() { :; }"),
        ("HOME", "/home/u"),
        ("SHLVL", "2"),
        ("a.b", "1"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into()
}

fn read(stream: &str) -> Result<Captured, Failure> {
    let stream = stream.replace("\n@ ", &format!("\n{} ", frame().nonce));
    let bare = Bare {
        limits: Limits::from([('n', Some(1024)), ('s', Some(8192))]),
        umask: Some(0o22),
        host: b"vm".to_vec(),
    };
    let sections = Sections::read(stream.as_bytes(), &frame().nonce)?;
    read::read(&sections, &given(), &bare)
}

fn names(names: &[&str]) -> BTreeSet<Name> {
    names.iter().map(|name| name.as_bytes().to_vec()).collect()
}

#[test]
fn a_stream_becomes_a_snapshot() {
    let expected = Captured {
        environment: [
            ("BASH_ENV", "/b"),
            ("EDITOR", "vi"),
            ("HOME", "/home/u"),
            ("PATH", "/bin"),
            ("RO", "a\nb"),
            ("SHELL", "/bin/bash"),
            ("SHLVL", "2"),
            ("TERM", "dumb"),
            ("a.b", "1"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into(),
        state: State {
            file: [read::FILE_HEADER, STATE].concat().into_bytes(),
            text: Vec::new(),
            demand: None,
        },
        inventory: Inventory {
            functions: names(&["enable", "f", "g-2"]),
            aliases: names(&["-", "ll"]),
            variables: names(&["LIST", "NOVALUE"]),
            options: names(&["nounset"]),
            left_out: vec![LeftOut {
                what: b"trap EXIT".to_vec(),
                why: "it is for the end of the shell, and a typed command does not end it",
            }],
        },
    };
    let read = read(STREAM).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&read.state.file),
        String::from_utf8_lossy(&expected.state.file)
    );
    assert_eq!(read, expected);
}

#[test]
fn a_section_that_is_missing_or_not_bash_is_refused() {
    for name in [
        "posix",
        "traps",
        "options",
        "disabled",
        "shopt",
        "umask",
        "limits",
        "aliases",
        "functions",
        "function-names",
        "variables",
    ] {
        let marker = format!("@ {name}\n");
        assert!(STREAM.contains(&marker), "{name}");
        let missing = STREAM.replace(&marker, "@ other\n");
        assert_eq!(read(&missing), Err(Failure::InvalidCapture), "{name}");
    }
    for (from, to) in [
        ("0027", "none"),
        ("alias ll=", "ll="),
        ("declare -x EDITOR", "EDITOR"),
        ("trap -- '' ", "trap "),
    ] {
        assert!(STREAM.contains(from), "{from}");
        assert_eq!(
            read(&STREAM.replace(from, to)),
            Err(Failure::InvalidCapture),
            "{from}"
        );
    }
}

proptest::proptest! {
    /// A user's own program may write to the descriptor: what it does to the stream is refused or read, no more.
    #[test]
    fn any_change_is_read_or_refused(at in 0..STREAM.len(), length in 0..40_usize, bytes: Vec<u8>) {
        let stream = STREAM.replace("\n@ ", &format!("\n{} ", frame().nonce)).into_bytes();
        let (before, after) = stream.split_at(at);
        let changed = [before, &bytes, after.get(length..).unwrap_or_default()].concat();
        if let Ok(sections) = Sections::read(&changed, &frame().nonce) {
            let _ = read::read(&sections, &given(), &Bare::default());
        }
    }
}
