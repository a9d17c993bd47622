//! A shell that was restored is dumped as the shell it was restored from: nothing is lost on the way, and nothing is
//! added, however strange it is.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use exec_process::environment::Environment;

use super::cases::CASES;
use super::{Home, SHELL};
use crate::dialect::bash::Bash;
use crate::dialect::on_terminal::frame;
use crate::dialect::{Dialect, Try};
use crate::sections::Sections;
use crate::state::{Captured, Transport};

/// Each line by itself would do; together they meet what comes of the others.
const STRANGE: &[(&str, &str)] = &[
    ("nothing", r#""#),
    (
        "values and attributes of every kind",
        r#"A=(a 'b c' $'x\ny' '' '$z' '*'); S=([5]=x [100]=y); declare -A M=([a]=1 [b c]=2 ['$x']=3 ['"']=4 ["'"]=5 ['\']=6 [$'\n']=7 ['@']=8 ['*']=9 [']']=10 ['[']=11 ['a]b']=12 ['`id`']=13 ['(']=14 [' ']=15 ['é']=16 [$'\377']=17 ['~']=18 ['!']=19 ['{a,b}']=20)
declare -a E; declare -A EA; declare -a EMPTY=(); declare -A EMPTYA=()
declare -i I=3; declare -ai IA=(1 2 3); declare -l L=ABC; declare -u U=abc; declare -c C=hello; declare -t TR=x
declare -r R=ro; declare -ra RA=(1 2); declare -rA RM=([a]=b); declare -ri RI=5; declare -lr LR=X
T1=t; declare -n N=T1; declare -n NN=N; declare -n NE=A[1]; declare -n NU=unset_target; declare -n NX
declare UNSET; declare -i UNSETI; declare -x UNSETX; declare -rx UNSETRX
declare -x X1=1; declare -ix XI=7; declare -rx XR=r; declare -lx XL=ABC; declare -ax XA=(1 2); declare -Ax XM=([q]=r); declare -nx XN=T1; declare -tx XT=y; declare -rix XRI=3
V1=$'a\nb' V2="it's" V3='say "x"' V4='back\slash' V5='ünï ✓' V6='$HOME `id` $(id)' V7=$'t\tb\rc' V8= V9='a=b' V10='!b' V11=$'\e[1m\x7f\x01' V12='  x  ' V13=$'\377\376' V14='~' V15='~/x:~/y' V16='*' V17='{a,b}' V18='a\
b' V19=$'\xc3' V20='"' V21='\' V22="'"
export X2=$'a\nb' X3=$'\377\376' X4=$'\e\x01' X5= X6="q'\"\\" X7='ünï' X8=$'\xc3' X9='$(id)`id`!'
"#,
    ),
    (
        "bodies and names of every kind",
        r#"shopt -s extglob
f1() { case $1 in +([0-9])|!(*.x)) echo a;; esac; [[ $x == @(a|b) ]]; }
function f-2 { echo; }
function a=b { echo; }; function -x { :; }; function [x] { :; }; function if { :; }; function time { :; }; function ! { :; }; function { { :; }; function '?' { :; }
f3() { cat <<EOF
f4 () 
EOF
}
f4() { :; } >/dev/null 2>&1
f5() ( echo sub; )
f6() if true; then echo; fi
f7() for i in 1 2; do :; done
f8() for ((i=0;i<2;i++)); do :; done
f9() (( 1 + 1 ))
f10() [[ a == a ]]
f11() while read -r x; do :; done < <(echo hi)
f12() case x in x) :;; esac
f13() { x=$(cat <<E
)
E
); coproc X { :; }; time -p ls; ! true; a=(1 "2 3"); declare -A q=([a]=b); }
f14() { local x; x='multi
line'; echo "$x" 'a
b' $'\n' $"tr"; }
f15() { select x in a b; do break; done; until false; do :; done; }
f16() { echo ${x:-$(echo `date`)} "${arr[@]/#/x}" $((1+2)) $[1+2]; cmd 2>&1 >/dev/null &>x &>>y <<<"z" {fd}>&1; }
f17() { a & b && c || d; e | f |& g; { x; } ; ( y ); }
f18() { f18in() { :; }; function f18-b { :; }; }
f19() { if a; then b; elif c; then d; else e; fi; case $x in (a) b;; c|d) e;& *) ;;& esac; }
f20() { cat <<-'E' | cat <<"F"; echo
	one $x
	E
two `y`
F
}
f21() { [[ $a =~ ^(x|y)\ [0-9]+$ && ! ( -f b || c < d ) ]]; }
f22() { for i; do :; done; for i in; do :; done; for ((;;)); do break; done; }
f23() { echo \# \$x "a\$b" a\ b 'x'\''y' ; } # comment
f24() { : ; }; export -f f24; f25() { :; }; readonly -f f25; f26() { :; }; declare -ft f26; export -f f26 -x a=b
f27() { echo {a..z} {1,2} ~ ~root *.c [a-z]; x+=1 y[2]=3 cmd; let x=1; }
ünï() { echo é; }
f28() { trap 'echo "x"' EXIT; eval "a() { b; }"; }
f29() { while :; do cat <<A; done <<B
aa
A
bb
B
}
f30() { echo "$(case x in x) echo y;; esac)"; echo "${x#"${x%%[![:space:]]*}"}"; }
"#,
    ),
    (
        "functions of most builtins",
        r#"for __f in unset set declare typeset local export readonly eval exec source . command printf echo alias unalias shopt trap enable umask ulimit test '[' : true kill exit return read hash type compgen cd pwd let shift break continue wait jobs bg fg; do eval "$__f() { \\builtin echo NOISE-$__f; return 1; }"; done
builtin unset __f
"#,
    ),
    (
        "functions of what the dump uses",
        r#"command printf x >/dev/null
declare() { command echo D; }; enable() { command echo E; }; builtin() { command builtin "$@"; }
f() { :; }
"#,
    ),
    (
        "aliases of everything",
        r#"alias if='echo IF' then='x' '{'='echo BRACE' function='echo FN' '[['='echo B' for='echo' '!'='echo' time='echo t' case='c' do='d' done='d'
alias a='echo $x "q" '\''s'\'' `id`' b='' c='trail ' d='multi
line' -- -='cd -' '~'='cd ~' ..='cd ..' g.h=i 'j*'=k 'é'=x 'a?b'=x
alias unset='echo U' builtin='echo B' eval='echo E' set='echo S' printf='echo P' POSIXLY_CORRECT='echo'
f() { :; }; alias f='f x'
"#,
    ),
    (
        "options",
        r#"set -u -o pipefail -f -C -E -T -P -k -a; set +B +h
shopt -s nullglob dotglob globstar nocasematch xpg_echo extglob failglob; shopt -u sourcepath promptvars checkwinsize interactive_comments patsub_replacement globasciiranges
f() { :; }
"#,
    ),
    (
        "xtrace and verbose",
        r#"f() { :; }
PS4="+\$(echo x) "
set -xv
"#,
    ),
    (
        "posix mode",
        r#"f() { :; }
set() { command set "$@"; }
set -o posix
shopt -u sourcepath
"#,
    ),
    (
        "posix mode, exported",
        r#"f() { :; }
export POSIXLY_CORRECT=
shopt -s shift_verbose
"#,
    ),
    (
        "extdebug",
        r#"shopt -s extdebug
f() { :; }
"#,
    ),
    (
        "traps",
        r#"trap 'echo "int $x"' INT; trap '' HUP; trap 'echo err' ERR; trap 'echo ret' RETURN; trap 'echo usr
two' USR1; trap 'echo bye' EXIT; trap : DEBUG; trap 'echo w' WINCH; trap 'echo' CHLD; trap '' PIPE
"#,
    ),
    (
        "disabled builtins",
        r#"enable -n printf declare set trap echo shopt umask ulimit alias typeset
f() { :; }
"#,
    ),
    (
        "builtin disabled",
        r#"enable -n test; enable -n builtin
"#,
    ),
    ("`:` disabled, which is asked whether builtin is", "enable -n :\n"),
    (
        "disabled builtins that the capture begins with",
        r#"PATH=
set -e
f() { builtin echo fn; }
enable -n set unset . printf : eval exec exit kill builtin shopt mapfile
"#,
    ),
    (
        "enable disabled, which cannot be undone",
        r#"f() { :; }
enable -n test enable
"#,
    ),
    (
        "names that look like ours",
        r#"__exec_flags=mine __exec_disabled=(a b); export __exec_x=1; __exec_f() { :; }; alias __exec_a=b
"#,
    ),
    (
        "functions that cannot be read, among many that can",
        r#"for i in {1..70}; do eval "f$i() { echo $i; }"; done
f20() { echo | cat <<E && f
x
E
}
f51() { case x in (esac) :;; esac; }
"#,
    ),
    (
        "restricted, without a function, and with much memory",
        r#"many=({1..100000}); unset many; set -r
"#,
    ),
    (
        "very many functions",
        r#"IFS=x; eval "$(for i in {1..2500}; do echo "f$i() { local a=\"\$1\"; case \$a in x) echo \"\$a\" $i ;; esac; if [ \"\$a\" ]; then echo a; fi; return 0; }"; done)"
export -f f7; declare -ft f8
"#,
    ),
    (
        "IFS unset",
        r#"unset IFS
"#,
    ),
    (
        "IFS empty",
        r#"IFS=
"#,
    ),
    (
        "exported variables with an effect",
        r#"export GLOBIGNORE='*.o' FUNCNEST=100 BASH_COMPAT=4.4 HISTSIZE=7 TMOUT=9 MAILCHECK=3 OPTIND=3 PS1='p \w' PS2='x ' PS4='y ' IGNOREEOF=3 EXECIGNORE='/x/*' HISTIGNORE=a HOSTNAME=foo
"#,
    ),
    (
        "variables with an effect",
        r#"GLOBIGNORE='*.o' FUNCNEST=100 BASH_COMPAT=50 TMOUT=9 OPTIND=3 PS4='y ' IGNOREEOF=3 HOSTNAME=foo OSTYPE=q PROMPT_COMMAND=(a b) CDPATH=/x HISTCONTROL=ignoreboth
LC_ALL=C
"#,
    ),
    (
        "variables that every shell has, unset",
        r#"unset PS4 OPTERR HOSTNAME OSTYPE MACHTYPE HOSTTYPE TERM SHELL OPTIND LANG
"#,
    ),
    (
        "PATH unset",
        r#"unset PATH
"#,
    ),
    (
        "the shell's own, exported",
        r#"export SHELLOPTS BASHOPTS UID EUID PPID RANDOM SECONDS
set -o pipefail
"#,
    ),
    (
        "keyword",
        r#"set -k
f() { :; }
alias x=y
"#,
    ),
    (
        "BASH_ENV exported",
        r#"export BASH_ENV=~/.benv
"#,
    ),
    (
        "BASH_ENV not exported",
        r#"BASH_ENV=~/.benv
"#,
    ),
    (
        "nounset and errexit",
        r#"set -eu
f() { :; }
"#,
    ),
    (
        "limits",
        r#"ulimit -S -n 200; ulimit -S -c 0; ulimit -S -s 4096; umask 0077
"#,
    ),
    (
        "a trap that prints, in subshells too",
        r#"set -E
trap "echo ERR" ERR
f() { :; }
"#,
    ),
    (
        "a DEBUG trap that prints, in subshells too",
        r#"set -T
trap "echo DBG" DEBUG
f() { :; }
"#,
    ),
    (
        "readonly of every kind",
        r#"readonly IFS=" " PS4="+ " PATH HOME OPTIND TERM HOSTNAME
f() { :; }
"#,
    ),
    (
        "another locale",
        r#"export LC_ALL=C
x=ü
f() { echo ü; }
"#,
    ),
    (
        "no comments and one command",
        r#"shopt -u interactive_comments
set -o onecmd
f() { :; }
"#,
    ),
    (
        "functions exported and not",
        r#"export -f 2>/dev/null; g() { :; }; export -f g; export -n -f g; h() { :; }; export -f h
"#,
    ),
];

/// Captures, restores, and has the restored shell write the same stream.
fn check(what: &str, files: &[(&str, &str)], failures: &mut String) {
    let home = Home::new(files, &[]);
    let captured = match home.capture(Try::Interactive) {
        // A restored shell has not what is left out, so it cannot leave it out.
        Ok(mut captured) => {
            captured.inventory.left_out.clear();
            captured
        }
        Err(failure) => return writeln!(failures, "{what}: {failure}").unwrap(),
    };
    for transport in [Transport::File(9), Transport::Environment] {
        let again = dumped_again(&home, &captured, transport);
        if again != captured {
            let difference = first_difference(&captured, &again);
            writeln!(failures, "{what}, {transport:?}: {difference}").unwrap();
        }
    }
}

fn dumped_again(home: &Home, captured: &Captured, transport: Transport) -> Captured {
    // The dump stops its shell, and nobody waits for that here; and no startup file is read again.
    let frame = frame();
    let nowhere = Environment::from([("HOME".into(), "/nonexistent".into())]);
    let command = Bash.capture(Path::new(SHELL), Try::NonInteractive, &frame, &nowhere);
    let script = command.argv[2].clone();
    let script = script.into_string().unwrap();
    let script = script
        .replace(">&200", ">&7")
        .replace("builtin kill -STOP $$\n", "");
    // Stdout is for what traps print.
    let script = format!("(\n{script}) 7>&1 >/dev/null");
    let output = home.run(captured, transport, OsStr::new(&script));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let sections =
        Sections::read(&output.stdout, &frame.nonce).unwrap_or_else(|failure| panic!("{failure}: {stderr}"));
    Bash.read(&sections, &home.environment)
        .unwrap_or_else(|failure| panic!("{failure}: {stderr}"))
}

fn first_difference(one: &Captured, other: &Captured) -> String {
    let lines = |captured: &Captured| -> Vec<String> {
        let text = String::from_utf8_lossy(&captured.state.file).into_owned();
        text.lines()
            .map(ToOwned::to_owned)
            .chain([format!("{:?} {:?}", captured.environment, captured.inventory)])
            .collect()
    };
    let (one, other) = (lines(one), lines(other));
    match one.iter().zip(&other).find(|(one, other)| one != other) {
        Some((one, other)) => format!("was {one}\n    is {other}"),
        None => format!("{} lines are {}", one.len(), other.len()),
    }
}

#[test]
fn what_is_strange_comes_back_as_it_was() {
    let mut failures = String::new();
    for (what, rc) in STRANGE {
        check(
            what,
            &[(".bash_profile", ". ~/.bashrc\n"), (".bashrc", rc)],
            &mut failures,
        );
    }
    for case in CASES {
        check(case.what, case.files, &mut failures);
    }
    assert!(failures.is_empty(), "{failures}");
}
