//! What startup files do, and what a command must make of it.

use crate::dialect::case::{Case, Run};

pub(super) const CASES: &[Case] = &[
    Case {
        what: "plain alias",
        files: &[(
            ".zshrc",
            r#"alias hi='echo hello'
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "hi there",
            stdout: r#"hello there
"#,
            status: 0,
        }],
    },
    Case {
        what: "suffix alias",
        files: &[(
            ".zshrc",
            r#"alias -s txt='echo viewing'
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "./note.txt",
            stdout: r#"viewing ./note.txt
"#,
            status: 0,
        }],
    },
    Case {
        what: "suffix/global aliases must not come back as plain ones",
        files: &[(
            ".zshrc",
            r#"alias -s logx='echo LOG'
alias -g GG='| cat'
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; whence -w logx; alias -m 'G*'; alias -s",
            stdout: r#"fn
logx: none
GG='| cat'
logx='echo LOG'
"#,
            status: 0,
        }],
    },
    Case {
        what: "alias whose name starts with -",
        files: &[(
            ".zshrc",
            r#"alias -- -='echo dashed'
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; - x",
            stdout: r#"fn
dashed x
"#,
            status: 0,
        }],
    },
    Case {
        what: "function and alias of the same name (defining function based on alias)",
        files: &[(
            ".zshrc",
            r#"greet() { echo "fn $*"; }
alias greet='greet aliased'
other() { echo other; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"other; \greet x"#,
            stdout: r#"other
fn x
"#,
            status: 0,
        }],
    },
    Case {
        what: "plain function",
        files: &[(
            ".zshrc",
            r#"hi() { local who=${1:-you}; echo "hi $who"; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "hi",
            stdout: r#"hi you
"#,
            status: 0,
        }],
    },
    Case {
        what: "helpers prefixed with _ and __",
        files: &[(
            ".zshrc",
            r#"_h() { echo one; }
__h() { echo two; }
pub() { _h; __h; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "pub",
            stdout: r#"one
two
"#,
            status: 0,
        }],
    },
    Case {
        what: "function names with dash, colon, dot, plus",
        files: &[(
            ".zshrc",
            r#"git-up() { echo dash; }
ns:fn() { echo colon; }
a.b() { echo dot; }
c++() { echo plus; }
+v() { echo pv; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "git-up; ns:fn; a.b; c++; +v",
            stdout: r#"dash
colon
dot
plus
pv
"#,
            status: 0,
        }],
    },
    Case {
        what: "body written before rcquotes was switched on",
        files: &[(
            ".zshrc",
            r#"enc() { local mark='_.!~*''()-'; echo "$mark"; }
setopt rcquotes
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "enc; echo 'a''b'",
            stdout: r#"_.!~*()-
a'b
"#,
            status: 0,
        }],
    },
    Case {
        what: "autoloaded function from a private fpath",
        files: &[
            (
                ".zshrc",
                r#"fpath=(~/zfn $fpath)
autoload -Uz lazyfn
"#,
            ),
            (
                "zfn/lazyfn",
                r#"echo "lazy $1"
"#,
            ),
        ],
        environment: &[],
        runs: &[Run {
            script: "lazyfn a",
            stdout: r#"lazy a
"#,
            status: 0,
        }],
    },
    Case {
        what: "autoload stub that shadows a system command",
        files: &[
            (
                ".zshrc",
                r#"fpath=(~/zfn $fpath)
autoload -Uz diff
"#,
            ),
            (
                "zfn/diff",
                r#"echo "wrapped $*"
"#,
            ),
        ],
        environment: &[],
        runs: &[Run {
            script: "diff a b",
            stdout: r#"wrapped a b
"#,
            status: 0,
        }],
    },
    Case {
        what: "autoload with an absolute path",
        files: &[
            (
                ".zshrc",
                r#"autoload -Uz ~/zfn/absfn
"#,
            ),
            (
                "zfn/absfn",
                r#"echo abs
"#,
            ),
        ],
        environment: &[],
        runs: &[Run {
            script: "absfn",
            stdout: r#"abs
"#,
            status: 0,
        }],
    },
    Case {
        what: "typeset -T tied array, exported",
        files: &[(
            ".zshrc",
            r#"typeset -xT MYLIST mylist :
mylist=(a "b c" d)
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"echo "$MYLIST|$mylist[2]"; printenv MYLIST"#,
            stdout: r#"a:b c:d|b c
a:b c:d
"#,
            status: 0,
        }],
    },
    Case {
        what: "path array with -U",
        files: &[
            (
                ".zshrc",
                r#"typeset -U path PATH
path=(~/bin $path ~/bin)
"#,
            ),
            (
                "bin/mytool",
                r#"#!/bin/sh
echo tool ran
"#,
            ),
        ],
        environment: &[],
        runs: &[Run {
            script: "mytool; echo $path[1] | sed 's:.*/home:home:'; echo ${(j: :)${(M)path:#$HOME/bin}} | wc -w | tr -d ' '",
            stdout: r#"tool ran
home/bin
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "arrays and associative arrays, not exported",
        files: &[(
            ".zshrc",
            r#"A=(one 'two three')
typeset -A M
M=(k v 'a b' 'c d')
use() { echo "$A[2]|$M[a b]"; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "use; echo $#A",
            stdout: r#"two three|c d
2
"#,
            status: 0,
        }],
    },
    Case {
        what: "readonly and readonly-exported parameters",
        files: &[(
            ".zshrc",
            r#"typeset -r TEAM=core
typeset -rx TEAMX=corex
f() { echo "$TEAM"; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $TEAMX",
            stdout: r#"core
corex
"#,
            status: 0,
        }],
    },
    Case {
        what: "exported values with newline, quotes, backslash, unicode",
        files: &[(
            ".zshrc",
            r#"export V1=$'a\nb' V2="it's" V3='say "x"' V4='back\slash' V5='ünï ✓' V6='$HOME `id`' V7=
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"python3 -c 'import os;print([os.environ["V%d"%i] for i in range(1,8)])'"#,
            stdout: r#"['a\nb', "it's", 'say "x"', 'back\\slash', 'ünï ✓', '$HOME `id`', '']
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt ksharrays in zshrc",
        files: &[(
            ".zshrc",
            r#"A=(x y z)
f() { echo ${A[0]}; }
setopt ksharrays
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo ${A[1]}",
            stdout: r#"x
y
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt extendedglob in zshrc",
        files: &[(
            ".zshrc",
            r#"setopt extendedglob
f() { case $1 in (#i)readme*) echo yes;; ^x*) echo notx;; *) echo x;; esac }
setopt extendedglob
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f README; f q; f xx",
            stdout: r#"yes
notx
x
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt kshoptionprint in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt kshoptionprint
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; [[ -o kshoptionprint ]] && echo on",
            stdout: r#"fn
on
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt nullglob in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt nullglob
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo zz*zz",
            stdout: r#"fn

"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt pipefail in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt pipefail
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; false | true; echo $?",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt errexit in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt errexit
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; [[ -o errexit ]] && echo on",
            stdout: r#"fn
on
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt globsubst in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
P="/bi*"
setopt globsubst
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $P",
            stdout: r#"fn
/bin
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt shglob in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
g() { print -l -- "a(b)"; }
setopt shglob
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; g",
            stdout: r#"fn
a(b)
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt kshglob in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { case $1 in (a|b)) echo ab;; *) echo other;; esac }
setopt kshglob
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f a; case aa in +(a)) echo plus;; esac",
            stdout: r#"ab
plus
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt posixbuiltins in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt posixbuiltins
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; [[ -o posixbuiltins ]] && echo on",
            stdout: r#"fn
on
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt cshjunkiequotes in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo "a" ; echo fn; }
setopt cshjunkiequotes
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"a
fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt warncreateglobal in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt warncreateglobal
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt xtrace in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt xtrace
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt noaliases in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt noaliases
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; [[ -o aliases ]] || echo off",
            stdout: r#"fn
off
"#,
            status: 0,
        }],
    },
    Case {
        what: "setopt noequals in zshrc",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
setopt noequals
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo =zz",
            stdout: r#"fn
=zz
"#,
            status: 0,
        }],
    },
    Case {
        what: ".zshenv redirects ZDOTDIR",
        files: &[
            (
                ".zshrc",
                r#"echo WRONG >> ~/wrong
f() { echo wrong; }
"#,
            ),
            (
                ".zshenv",
                r#"export ZDOTDIR=~/.config/zsh
"#,
            ),
            (
                ".config/zsh/.zshrc",
                r#"f() { echo right; }
"#,
            ),
        ],
        environment: &[],
        runs: &[Run {
            script: "f; ls ~/wrong 2>/dev/null || echo unread",
            stdout: r#"right
unread
"#,
            status: 0,
        }],
    },
    Case {
        what: "zshenv, zprofile, zshrc, zlogin all read, in that order",
        files: &[
            (
                ".zshenv",
                r#"T=env
"#,
            ),
            (
                ".zprofile",
                r#"T=$T-profile
"#,
            ),
            (
                ".zshrc",
                r#"T=$T-rc
"#,
            ),
            (
                ".zlogin",
                r#"export T=$T-login
"#,
            ),
        ],
        environment: &[],
        runs: &[Run {
            script: "echo $T",
            stdout: r#"env-profile-rc-login
"#,
            status: 0,
        }],
    },
    Case {
        what: "zshrc returns early without a terminal",
        files: &[(
            ".zshrc",
            r#"[[ -t 1 ]] || { [[ -t 0 ]] || return; }
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "zshrc starts a multiplexer then exits",
        files: &[(
            ".zshrc",
            r#"[[ -z $MUX ]] && { MUX=1 sh -c "exit 0"; [[ $AUTOEXIT == 1 ]] && exit; }
f() { echo fn; }
AUTOEXIT=1
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "zshrc prints",
        files: &[(
            ".zshrc",
            r#"echo banner
print -P "%F{red}x%f"
print -u2 err
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "chpwd hook through add-zsh-hook",
        files: &[(
            ".zshrc",
            r#"autoload -Uz add-zsh-hook
_moved() { echo "moved $PWD"; }
add-zsh-hook chpwd _moved
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "cd /",
            stdout: r#"moved /
"#,
            status: 0,
        }],
    },
    Case {
        what: "compinit: hundreds of autoload stubs",
        files: &[(
            ".zshrc",
            r#"autoload -Uz compinit && compinit -u -d ~/.zcd
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[
            Run {
                script: "f; whence -w compdef",
                stdout: r#"fn
compdef: function
"#,
                status: 0,
            },
            Run {
                script: "f",
                stdout: r#"fn
"#,
                status: 0,
            },
        ],
    },
    Case {
        what: "modules loaded by zshrc",
        files: &[(
            ".zshrc",
            r#"zmodload zsh/datetime zsh/mathfunc
f() { echo $(( int(floor(2.7)) )); }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; (( EPOCHSECONDS > 1 )) && echo time",
            stdout: r#"2
time
"#,
            status: 0,
        }],
    },
    Case {
        what: "TRAPEXIT function",
        files: &[(
            ".zshrc",
            r#"TRAPEXIT() { echo bye; }
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "functions that shadow grep/sed/awk/env/cat/print",
        files: &[(
            ".zshrc",
            r#"grep() { builtin echo NOISE-grep; }
sed() { builtin echo NOISE-sed; }
awk() { builtin echo NOISE-awk; }
env() { builtin echo NOISE-env; }
cat() { builtin echo NOISE-cat; }
sort() { builtin echo NOISE-sort; }
cut() { builtin echo NOISE-cut; }
print() { builtin echo NOISE-print; }
setopt() { builtin echo NOISE-setopt; }
typeset() { builtin echo NOISE-typeset; }
alias() { builtin echo NOISE-alias; }
functions() { builtin echo NOISE-functions; }
f() { echo fn; }
\builtin export EV=1
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $EV; grep",
            stdout: r#"fn
1
NOISE-grep
"#,
            status: 0,
        }],
    },
    Case {
        what: "cd wrapper with private helper",
        files: &[(
            ".zshrc",
            r#"__zo() { builtin cd "$@" && echo "at $PWD"; }
cd() { __zo "$@"; }
alias j=__zo
"#,
        )],
        environment: &[],
        runs: &[
            Run {
                script: "cd /",
                stdout: r#"at /
"#,
                status: 0,
            },
            Run {
                script: "j /",
                stdout: r#"at /
"#,
                status: 0,
            },
        ],
    },
    Case {
        what: "builtin or reserved word disabled",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
disable setopt functions
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; whence -w setopt",
            stdout: r#"fn
setopt: none
"#,
            status: 1,
        }],
    },
    Case {
        what: "no helper functions left in the shell",
        files: &[(
            ".zshrc",
            r#"f() { :; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "print -l ${(ok)functions} ${(ok)parameters} | grep -ic -e snapshot -e codex",
            stdout: r#"0
"#,
            status: 1,
        }],
    },
    Case {
        what: "comments in the typed script",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"f # trailing
# whole line
f"#,
            stdout: r#"fn
fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "3000 functions and 2000 aliases",
        files: &[(
            ".zshrc",
            r#"for i in {1..3000}; do eval "fn_$i() { local a=$i; if [[ \$a -gt 0 ]]; then echo \"number \$a\"; fi; : padding padding padding padding padding padding; }"; done
for i in {1..2000}; do alias "al$i=echo $i"; done
"#,
        )],
        environment: &[],
        runs: &[
            Run {
                script: "fn_2999",
                stdout: r#"number 2999
"#,
                status: 0,
            },
            Run {
                script: "fn_1",
                stdout: r#"number 1
"#,
                status: 0,
            },
        ],
    },
];
