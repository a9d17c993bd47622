//! What startup files do, and what a command must make of it.

use crate::dialect::case::{Case, Run};

pub(super) const CASES: &[Case] = &[
    Case {
        what: "a plain alias",
        files: &[(".bashrc", "alias hi='echo hello'\n")],
        environment: &[],
        runs: &[
            Run {
                script: "hi there",
                stdout: "hello there\n",
                status: 0,
            },
            Run {
                script: "hi again",
                stdout: "hello again\n",
                status: 0,
            },
        ],
    },
    Case {
        what: "an alias named - makes no noise and loses nothing",
        files: &[(
            ".bashrc",
            r#"alias -- -='cd -'
okfn() { echo fn; }
export AFTER=1
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "okfn; echo $AFTER",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "aliases of the builtins that restoring needs",
        files: &[(
            ".bashrc",
            r#"alias printf='echo A-printf'
alias unset='echo A-unset'
alias exec='echo A-exec'
alias eval='echo A-eval'
alias set='echo A-set'
alias shopt='echo A-shopt'
alias declare='echo A-declare'
alias export='echo A-export'
alias source='echo A-source'
alias unalias='echo A-unalias'
alias command='echo A-command'
alias builtin='echo A-builtin'
alias trap='echo A-trap'
alias return='echo A-return'
alias exit='echo A-exit'
f() { \echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; printf x; unset y",
            stdout: r#"fn
A-printf x
A-unset y
"#,
            status: 0,
        }],
    },
    Case {
        what: "alias named like a reserved word",
        files: &[(
            ".bashrc",
            r#"alias if='echo IF'
alias case='echo CASE'
alias function='echo FUNCTION'
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; if x; case y",
            stdout: r#"fn
IF x
CASE y
"#,
            status: 0,
        }],
    },
    Case {
        what: "an alias of a function's name",
        files: &[(
            ".bashrc",
            r#"greet() { echo "fn $*"; }
alias greet='greet aliased'
other() { echo other; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "greet x; other",
            stdout: r#"fn aliased x
other
"#,
            status: 0,
        }],
    },
    Case {
        what: "function bodies are not read with aliases on",
        files: &[(
            ".bashrc",
            r#"list() { echo real; }
show() { list; }
alias list='echo wrong'
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "show",
            stdout: "real\n",
            status: 0,
        }],
    },
    Case {
        what: "plain function",
        files: &[(
            ".bashrc",
            r#"hi() { local who=${1:-you}; echo "hi $who"; }
"#,
        )],
        environment: &[],
        runs: &[
            Run {
                script: "hi",
                stdout: "hi you\n",
                status: 0,
            },
            Run {
                script: "hi bob",
                stdout: "hi bob\n",
                status: 0,
            },
        ],
    },
    Case {
        what: "function names with dash, colon, dot, plus, at",
        files: &[(
            ".bashrc",
            r#"git-up() { echo dash; }
ns::fn() { echo colon; }
a.b() { echo dot; }
c++ () { echo plus; }
x@y () { echo at; }
n,m () { echo comma; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "git-up; ns::fn; a.b; c++; x@y; n,m",
            stdout: r#"dash
colon
dot
plus
at
comma
"#,
            status: 0,
        }],
    },
    Case {
        what: "function whose name starts with a dash",
        files: &[(
            ".bashrc",
            r#"function -x { echo minus; }
ok() { echo ok; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "ok; -x",
            stdout: r#"ok
minus
"#,
            status: 0,
        }],
    },
    Case {
        what: "function that needs extglob to be parsed",
        files: &[(
            ".bashrc",
            r#"shopt -s extglob
trimall() {
  local v=$1
  case $v in
    +([0-9])) echo num;;
    !(*.txt)) echo "not txt ${v##*( )}";;
    *) echo txt;;
  esac
}
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "trimall 123; trimall a.txt; trimall zz",
            stdout: r#"num
txt
not txt zz
"#,
            status: 0,
        }],
    },
    Case {
        what: "extglob on while defining, off at the end (bash-completion style)",
        files: &[(
            ".bashrc",
            r#"shopt -s extglob
trimall() {
  local v=$1
  case $v in
    +([0-9])) echo num;;
    !(*.txt)) echo "not txt ${v##*( )}";;
    *) echo txt;;
  esac
}
shopt -u extglob
other() { echo other; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "other; shopt -q extglob && echo on || echo off",
            stdout: r#"other
off
"#,
            status: 0,
        }],
    },
    Case {
        what: "cd wrapper that calls a private helper (version-manager style)",
        files: &[(
            ".bashrc",
            r#"__mv() { builtin cd "$@" && HOOKED="in:$PWD"; }
cd() { __mv "$@"; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"cd / && echo "$HOOKED $PWD""#,
            stdout: "in:/ /\n",
            status: 0,
        }],
    },
    Case {
        what: "functions that shadow builtins and do something else",
        files: &[(
            ".bashrc",
            r#"printf() { builtin echo NOISE-printf; return 1; }
unset() { builtin echo NOISE-unset; return 1; }
eval() { builtin echo NOISE-eval; return 1; }
declare() { builtin echo NOISE-declare; return 1; }
export() { builtin echo NOISE-export; return 1; }
shopt() { builtin echo NOISE-shopt; return 1; }
set() { builtin echo NOISE-set; return 1; }
alias() { builtin echo NOISE-alias; return 1; }
command() { builtin echo NOISE-command; return 1; }
unalias() { builtin echo NOISE-unalias; return 1; }
f() { builtin echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: "fn\n",
            status: 0,
        }],
    },
    Case {
        what: "export -f of a dashed name",
        files: &[(
            ".bashrc",
            r#"git-up() { echo up; }
export -f git-up
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "bash -c 'git-up'",
            stdout: "up\n",
            status: 0,
        }],
    },
    Case {
        what: "function bodies with heredoc, here-string, process substitution, coproc, ;;&, [[ =~ ]], (( )), nested function",
        files: &[(
            ".bashrc",
            r#"k() {
  cat <<EOF
h $1 \$x
EOF
  cat <<'EOF'
raw $1 `x`
EOF
  cat <<-EOF
	tabbed
	EOF
  cat <<< "here $1"
  read -r l < <(echo ps); echo "$l"
  case abc in a*) echo A;;& *c) echo C;& zzz) echo fall;; *) echo no;; esac
  [[ "x1" =~ ^x([0-9])$ ]] && echo "re ${BASH_REMATCH[1]}"
  for ((i=0;i<2;i++)); do echo -n "$i "; done; echo
  inner() { echo inner; }; inner
  echo "q'uo\"te" $'t\tab' # comment
}
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "k v",
            stdout: r#"h v $x
raw $1 `x`
tabbed
here v
ps
A
C
fall
re 1
0 1 
inner
q'uo"te t	ab
"#,
            status: 0,
        }],
    },
    Case {
        what: "readonly -f function",
        files: &[(
            ".bashrc",
            r#"lock() { echo locked; }
readonly -f lock
ok() { echo ok; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "lock; ok",
            stdout: r#"locked
ok
"#,
            status: 0,
        }],
    },
    Case {
        what: "lazy loader that replaces itself",
        files: &[
            (
                ".bashrc",
                r#"tool() { unset -f tool; . ~/.tool.sh; tool "$@"; }
"#,
            ),
            (
                ".tool.sh",
                r#"tool() { echo "real $1"; }
"#,
            ),
        ],
        environment: &[],
        runs: &[Run {
            script: "tool a; tool b",
            stdout: r#"real a
real b
"#,
            status: 0,
        }],
    },
    Case {
        what: "exported values with newline, quotes, backslash, unicode, dollar, backtick, tab, CR, empty, =",
        files: &[(
            ".bashrc",
            r#"export V1=$'a\nb' V2="it's" V3='say "x"' V4='back\slash\n' V5='ünïcødé ✓ 日本' V6='$HOME `id` $(id)' V7=$'t\tb\rc' V8= V9='a=b=c' V10='!bang' V11=$'\e[1m' V12='  lead trail  '
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"python3 -c 'import os;print([os.environ["V%d"%i] for i in range(1,13)])'"#,
            stdout: r#"['a\nb', "it's", 'say "x"', 'back\\slash\\n', 'ünïcødé ✓ 日本', '$HOME `id` $(id)', 't\tb\rc', '', 'a=b=c', '!bang', '\x1b[1m', '  lead trail  ']
"#,
            status: 0,
        }],
    },
    Case {
        what: "plain (not exported) shell variable",
        files: &[(
            ".bashrc",
            r#"COLOR='light blue'
export COLOR2=x
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"echo "[$COLOR]"; env | grep -c ^COLOR="#,
            stdout: r#"[light blue]
0
"#,
            status: 1,
        }],
    },
    Case {
        what: "indexed, sparse and associative arrays, not exported",
        files: &[(
            ".bashrc",
            r#"A=(one 'two three' "q'q")
S=([2]=c [5]=f)
declare -A M=([k]=v ['a b']='c d' [q\"q]=z)
use() { echo "${A[1]}|${A[2]}|${!S[*]}|${M['a b']}|${M[q\"q]}"; }
"#,
        )],
        environment: &[],
        runs: &[
            Run {
                script: "use",
                stdout: "two three|q'q|2 5|c d|z\n",
                status: 0,
            },
            Run {
                script: r#"echo "${#A[@]} ${#M[@]}""#,
                stdout: "3 3\n",
                status: 0,
            },
        ],
    },
    Case {
        what: "integer, lower-case, nameref attributes",
        files: &[(
            ".bashrc",
            r#"declare -i N=1
declare -l LOW=ABC
T=target
declare -n REF=T
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"N=N+4; LOW=XyZ; REF=new; echo "$N $LOW $T""#,
            stdout: "5 xyz new\n",
            status: 0,
        }],
    },
    Case {
        what: "readonly variable set by rc",
        files: &[(
            ".bashrc",
            r#"readonly TEAM=core
declare -rx TMO=300
f() { echo "$TEAM"; }
"#,
        )],
        environment: &[],
        runs: &[
            Run {
                script: "f; echo $TMO",
                stdout: r#"core
300
"#,
                status: 0,
            },
            Run {
                script: "TEAM=x; echo after",
                stdout: "",
                status: 1,
            },
        ],
    },
    Case {
        what: "an rc that fails if it is read twice",
        files: &[(
            ".bashrc",
            r#"readonly ONCE=1 || exit 9
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; f",
            stdout: r#"fn
fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "exported special read-only variables (SHELLOPTS, UID)",
        files: &[(
            ".bashrc",
            r#"export SHELLOPTS BASHOPTS UID EUID PPID
set -o pipefail
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; bash -c 'false | true; echo $?'",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "prompt variables",
        files: &[(
            ".bashrc",
            r#"PS1='me> '
PS4='+x '
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"echo "$PS1|$PS4""#,
            stdout: "me> |+x \n",
            status: 0,
        }],
    },
    Case {
        what: "set -u in rc",
        files: &[(
            ".bashrc",
            r#"set -u
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; [[ -o nounset ]] && echo on",
            stdout: r#"fn
on
"#,
            status: 0,
        }],
    },
    Case {
        what: "set -u in the script",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
alias z="echo z"
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "set -euo pipefail; f; echo done",
            stdout: r#"fn
done
"#,
            status: 0,
        }],
    },
    Case {
        what: "set -e in rc",
        files: &[(
            ".bashrc",
            r#"set -e
f() { echo fn; }
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
        what: "set -o pipefail in rc",
        files: &[(".bashrc", "set -o pipefail\n")],
        environment: &[],
        runs: &[Run {
            script: "false | true; echo $?",
            stdout: "1\n",
            status: 0,
        }],
    },
    Case {
        what: "set -f in rc",
        files: &[(
            ".bashrc",
            r#"set -f
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo *",
            stdout: r#"fn
*
"#,
            status: 0,
        }],
    },
    Case {
        what: "set -x in rc",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
set -x
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; f",
            stdout: r#"fn
fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "set -v in rc",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
set -v
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; f",
            stdout: r#"fn
fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "set -t (onecmd) captured",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
set -o onecmd
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "echo alive",
            stdout: "alive\n",
            status: 0,
        }],
    },
    Case {
        what: "set -k, set -a in rc",
        files: &[(
            ".bashrc",
            r#"set -a
AUTO=exported
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "printenv AUTO; NEWV=1; printenv NEWV",
            stdout: r#"exported
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "shopt options on and off",
        files: &[(
            ".bashrc",
            r#"shopt -s nullglob dotglob globstar nocasematch xpg_echo
shopt -u sourcepath
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"echo zz*zz; [[ A == a ]] && echo nc; echo "a\tb"; shopt -q sourcepath || echo off"#,
            stdout: r#"
nc
a	b
off
"#,
            status: 0,
        }],
    },
    Case {
        what: "IFS changed by rc",
        files: &[(
            ".bashrc",
            r#"IFS=,
f() { echo fn; }
export CSV=a,b,c
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; set -- $CSV; echo $#",
            stdout: r#"fn
3
"#,
            status: 0,
        }],
    },
    Case {
        what: "umask set by rc",
        files: &[(".bashrc", "umask 027\n")],
        environment: &[],
        runs: &[Run {
            script: "umask",
            stdout: "0027\n",
            status: 0,
        }],
    },
    Case {
        what: "soft limit set by rc",
        files: &[(".bashrc", "ulimit -S -n 256\n")],
        environment: &[],
        runs: &[Run {
            script: "ulimit -S -n",
            stdout: "256\n",
            status: 0,
        }],
    },
    Case {
        what: "SHLVL relative to the request",
        files: &[(".bashrc", "f() { :; }\n")],
        environment: &[("SHLVL", "4")],
        runs: &[
            Run {
                script: "echo $SHLVL",
                stdout: "5\n",
                status: 0,
            },
            Run {
                script: "echo $SHLVL",
                stdout: "5\n",
                status: 0,
            },
        ],
    },
    Case {
        what: "builtin disabled with enable -n",
        files: &[(
            ".bashrc",
            r#"enable -n printf
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"f; type -t printf; printf "%s\n" x"#,
            stdout: r#"fn
file
x
"#,
            status: 0,
        }],
    },
    Case {
        what: "the environment has nothing more",
        files: &[(".bashrc", "f() { :; }\n")],
        environment: &[],
        runs: &[Run {
            script: r#"env | cut -d= -f1 | sort | tr '\n' ' '; compgen -A function | grep -ic -e snapshot -e codex"#,
            stdout: "HOME LANG LOGNAME PATH PWD SHELL SHLVL TERM USER _ 0\n",
            status: 1,
        }],
    },
    Case {
        what: "no variable has our name",
        files: &[(".bashrc", "f() { :; }\n")],
        environment: &[],
        runs: &[Run {
            script: "compgen -v | grep -ic -e snapshot -e codex",
            stdout: "0\n",
            status: 1,
        }],
    },
    Case {
        what: "guard variable set while PATH is lost",
        files: &[
            (
                ".bashrc",
                r#"if [ -z "$GUARD_SET" ]; then export GUARD_SET=1 PATH="$HOME/bin:$PATH"; fi
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
            script: r#"mytool; [ -n "$GUARD_SET" ] && echo guarded"#,
            stdout: r#"tool ran
guarded
"#,
            status: 0,
        }],
    },
    Case {
        what: "cd in bashrc",
        files: &[(
            ".bashrc",
            r#"cd /
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; pwd; echo $PWD",
            stdout: r#"fn
@WORK@
@WORK@
"#,
            status: 0,
        }],
    },
    Case {
        what: "CDPATH makes cd print",
        files: &[(".bashrc", "CDPATH=@HOME@/projects\n"), ("projects/sub/x", "")],
        environment: &[],
        runs: &[Run {
            script: r#"cd sub && echo "${PWD##*/}""#,
            stdout: r#"@HOME@/projects/sub
sub
"#,
            status: 0,
        }],
    },
    Case {
        what: ".bash_profile wins over .bash_login and .profile",
        files: &[
            (".bash_profile", "export W=bp\n"),
            (".bash_login", "export W=bl\n"),
            (".profile", "export W=p\n"),
        ],
        environment: &[],
        runs: &[Run {
            script: "echo $W",
            stdout: "bp\n",
            status: 0,
        }],
    },
    Case {
        what: "only .profile",
        files: &[(
            ".profile",
            r#"export W=p
f() { echo pf; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "echo $W; f",
            stdout: r#"p
pf
"#,
            status: 0,
        }],
    },
    Case {
        what: "rc exports BASH_ENV: child scripts read it, the typed command does not",
        files: &[
            (
                ".bashrc",
                r#"export BASH_ENV=~/.benv
f() { echo fn; }
"#,
            ),
            (".benv", "echo BENV\n"),
        ],
        environment: &[],
        runs: &[Run {
            script: "f; bash -c 'echo child'",
            stdout: r#"fn
BENV
child
"#,
            status: 0,
        }],
    },
    Case {
        what: "rc returns early unless $- has i",
        files: &[(
            ".bashrc",
            r#"case $- in *i*) ;; *) return;; esac
f() { echo fn; }
export EV=1
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $EV",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "rc returns early when PS1 is empty",
        files: &[(
            ".bashrc",
            r#"[ -z "$PS1" ] && return
f() { echo fn; }
export EV=1
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $EV",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "rc prints a banner",
        files: &[(
            ".bashrc",
            r#"echo "Welcome!"
printf "\033[1mfortune\033[0m\n"
echo note >&2
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[
            Run {
                script: "f",
                stdout: "fn\n",
                status: 0,
            },
            Run {
                script: "f",
                stdout: "fn\n",
                status: 0,
            },
        ],
    },
    Case {
        what: "rc prints without a final newline",
        files: &[(
            ".bashrc",
            r#"printf 'loading...'
f() { echo fn; }
export EV=1
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $EV",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "shell prints control sequences when it ends",
        files: &[(
            ".bashrc",
            r#"trap 'printf "\033[0m\033]0;bye\007"' EXIT
export EV=1
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $EV",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "rc has a syntax error half way",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
export EV=1
if then fi (
export LATE=1
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"f; echo "$EV ${LATE-none}""#,
            stdout: r#"fn
1 none
"#,
            status: 0,
        }],
    },
    Case {
        what: "last line of rc fails",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
[ -s /nonexistent ] && . /nonexistent
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $?",
            stdout: r#"fn
0
"#,
            status: 0,
        }],
    },
    Case {
        what: "rc calls stty, tput, bind and sets TERM",
        files: &[(
            ".bashrc",
            r#"stty -ixon
stty erase '^?'
tput init
bind '"\e[A": history-search-backward'
export TERM=xterm-256color
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $TERM",
            stdout: r#"fn
xterm-256color
"#,
            status: 0,
        }],
    },
    Case {
        what: "rc closes or re-routes stdout",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
export EV=1
exec >/dev/null
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $EV",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "rc closes stdout, stderr, stdin",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
export EV=1
exec <&- >&- 2>&-
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $EV",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "the history file is not touched",
        files: &[(
            ".bashrc",
            r#"HISTFILE=~/hist
set -o history
shopt -s histappend
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: "fn\n",
            status: 0,
        }],
    },
    Case {
        what: "EXIT trap of the rc",
        files: &[(
            ".bashrc",
            r#"trap 'echo bye' EXIT
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: "fn\n",
            status: 0,
        }],
    },
    Case {
        what: "ERR trap of the rc",
        files: &[(".bashrc", "trap 'echo failed >&2' ERR\n")],
        environment: &[],
        runs: &[Run {
            script: "false; true",
            stdout: "",
            status: 0,
        }],
    },
    Case {
        what: "syntax error in the typed script",
        files: &[(".bashrc", "f() { echo fn; }\n")],
        environment: &[],
        runs: &[
            Run {
                script: r#"f; echo "open"#,
                stdout: "",
                status: 2,
            },
            Run {
                script: "f; }",
                stdout: "",
                status: 2,
            },
        ],
    },
    Case {
        what: "exit status, exec and signals",
        files: &[(".bashrc", "f() { return 5; }\n")],
        environment: &[],
        runs: &[
            Run {
                script: "f",
                stdout: "",
                status: 5,
            },
            Run {
                script: "exit 7",
                stdout: "",
                status: 7,
            },
            Run {
                script: "exec echo hi",
                stdout: "hi\n",
                status: 0,
            },
            Run {
                script: "set -e; f; echo no",
                stdout: "",
                status: 5,
            },
        ],
    },
    Case {
        what: "exclamation marks are literal",
        files: &[(
            ".bashrc",
            r#"set -H
f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"f; echo "a!b !! !x""#,
            stdout: r#"fn
a!b !! !x
"#,
            status: 0,
        }],
    },
    Case {
        what: "alias defined and used in the typed script on a later line",
        files: &[(".bashrc", "f() { :; }\n")],
        environment: &[],
        runs: &[Run {
            script: "alias q='echo qq'\nq",
            stdout: "qq\n",
            status: 0,
        }],
    },
    Case {
        what: "stdin is the command's",
        files: &[(".bashrc", "f() { :; }\n")],
        environment: &[],
        runs: &[Run {
            script: "read -r x || echo eof",
            stdout: "eof\n",
            status: 0,
        }],
    },
    Case {
        what: "a variable that is too large for any environment",
        files: &[(
            ".bashrc",
            "export JUST=$(head -c 131066 /dev/zero | tr '\\0' z)\n\
             export BIG=$(head -c 200000 /dev/zero | tr '\\0' y)\"'\"\nf() { echo ${#BIG}; }\n",
        )],
        environment: &[("BIG", "small")],
        runs: &[Run {
            script: "f; echo ${BIG: -2} ${BIG@a} ${#JUST}; env 2>&-; echo $?; unset BIG; env | grep -c ^JUST",
            stdout: "200001\ny' x 131066\n126\n1\n",
            status: 0,
        }],
    },
    Case {
        what: "an option that an assignment turns on and the rc turns off",
        files: &[(".bashrc", "GLOBIGNORE='b*'\nshopt -u dotglob\n")],
        environment: &[],
        runs: &[Run {
            script: "echo $GLOBIGNORE; shopt dotglob",
            stdout: "b*\ndotglob        \toff\n",
            status: 1,
        }],
    },
    Case {
        what: "an option that an exported assignment turns on and the rc turns off",
        files: &[(".bashrc", "export GLOBIGNORE='b*'\nshopt -u dotglob\n")],
        environment: &[],
        runs: &[Run {
            script: "echo \"$GLOBIGNORE\"; shopt -q dotglob",
            stdout: "b*\n",
            status: 1,
        }],
    },
    Case {
        what: "rc changes HOME itself",
        files: &[(
            ".bashrc",
            r#"f() { echo fn; }
export HOME=/nonexistent
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $HOME",
            stdout: r#"fn
/nonexistent
"#,
            status: 0,
        }],
    },
    Case {
        what: "functions that bash prints so that it cannot read them",
        files: &[(
            ".bashrc",
            r#"ok() { echo ok; }
piped() { echo | cat <<E && echo and
x
E
}
coprocess() { coproc cat; echo hi >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo "$x"; exec {COPROC[1]}>&-; wait; }
lost() { case esac in (esac) echo esac;; esac; }
function a=b { echo a=b; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "ok; piped; coprocess; a\\=b; type -t lost || echo lost",
            stdout: "ok\nx\nand\nhi\na=b\nlost\n",
            status: 0,
        }],
    },
];
