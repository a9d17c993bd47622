//! Startup files that turn the shell against whoever wants to list or restore its state.

use crate::dialect::case::{Case, Run};

pub(super) const STRANGE: &[Case] = &[
    Case {
        // zsh lists the last byte of each as \M-' or \M-\, which it cannot read again between quotes.
        what: "text that is not the locale's",
        files: &[(
            ".zshrc",
            r#"v='§'; a=('ç' 'Ü' x); typeset -A h; h[é✓]='§'; alias g="echo 'ç'"; f() { echo '✓'; }
raw=$'a\xa7'
"#,
        )],
        environment: &[("LC_ALL", "C")],
        runs: &[Run {
            script: "print -r -- $v $a ${(kv)h}; g; f; print -rn -- $raw | od -An -tx1",
            stdout: "§ ç Ü x é✓ §\nç\n✓\n 61 a7\n",
            status: 0,
        }],
    },
    Case {
        // zsh encodes the bytes 83 to a2 in memory, and an assignment to functions[...] encodes them once more.
        what: "glyphs, and bytes that are not UTF-8, in functions, variables and aliases",
        files: &[(
            ".zshrc",
            r#"f() { echo ' ✓ 😀'; }; v=''; a=('😀' x); alias g="echo ''"
raw=$'\x83\xa2\x84\x9f\xa0\x80'; eval "r() { print -rn -- '$raw'; }"
"#,
        )],
        environment: &[("LC_ALL", "C.UTF-8")],
        runs: &[Run {
            script: "f; echo $v $a; g; r | od -An -tx1; print -rn -- $raw | od -An -tx1",
            stdout: " ✓ 😀\n 😀 x\n\n 83 a2 84 9f a0 80\n 83 a2 84 9f a0 80\n",
            status: 0,
        }],
    },
    Case {
        // zsh lists the byte 1c as \C-\, after which it reads what it does not say, or no end.
        what: "bytes 1c and 9c in traps, named directories and disabled functions",
        files: &[(
            ".zshrc",
            r#"trap $'print -r "a\x1cb" "\\\\C-\\\\" é \x9c' USR1; trap $'print ✓\x1c' USR2; trap '' HUP
hash -d odd=$'/tmp/a\x1cb' bad=$'/tmp/\\a\x9cb' é=/tmp/ç
f() { print '✓ 😀 ç'; }; eval "r() { print -rn -- '"$'\x1c\x83\xa2\x9c\x80'"'; }"; disable -f f r
"#,
        )],
        environment: &[("LC_ALL", "C.UTF-8")],
        runs: &[
            Run {
                script: "kill -USR1 $$; kill -USR2 $$; print -r -- ~odd ~bad ~é",
                stdout: "a\x1cb \\C-\\ é \u{fffd}\n✓\x1c\n/tmp/a\x1cb /tmp/\\a\u{fffd}b /tmp/ç\n",
                status: 0,
            },
            Run {
                script: "enable -f f r; f; r | od -An -tx1",
                stdout: "✓ 😀 ç\n 1c 83 a2 9c 80\n",
                status: 0,
            },
        ],
    },
    Case {
        what: "what getopts left",
        files: &[(".zshrc", "while getopts ab: o -a -b hello rest; do :; done\n")],
        environment: &[],
        runs: &[Run {
            script: "echo $o $OPTARG $OPTIND; OPTIND=1; getopts x: o -x new; echo $o $OPTARG",
            stdout: "b hello 4\nx new\n",
            status: 0,
        }],
    },
    Case {
        what: "a function that shadows builtin",
        files: &[(
            ".zshrc",
            r#"builtin() { echo NO >&2; }; f() { echo fn; }; alias hi="echo hi"
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; hi; builtin echo x",
            stdout: r#"fn
hi
"#,
            status: 0,
        }],
    },
    Case {
        what: "builtin is disabled",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; disable builtin
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; whence -w builtin",
            stdout: r#"fn
builtin: none
"#,
            status: 1,
        }],
    },
    Case {
        what: "every builtin that a capture uses is disabled",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; disable print printf typeset export setopt unsetopt emulate eval trap kill functions alias unset zmodload read autoload hash umask ulimit unalias shift zcompile exec .
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; whence -w print",
            stdout: r#"fn
print: command
"#,
            status: 0,
        }],
    },
    Case {
        what: "aliases of what a capture uses",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; alias builtin='echo NO' eval='echo NO' print=: emulate=: typeset='echo NO' export=no if=no while=no for=no '{'=no
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; alias if",
            stdout: r#"fn
if=no
"#,
            status: 0,
        }],
    },
    Case {
        what: "global aliases of what a capture uses",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; alias -g eval=NO builtin=NO -- -r=NO -m=NO '*'=NO
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
        what: "reserved words are disabled",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; disable -r if for while case '[[' '{' '}' '!' do done then fi esac function time typeset export declare local readonly integer float
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; whence -w if",
            stdout: r#"fn
if: none
"#,
            status: 1,
        }],
    },
    Case {
        what: "TRAPDEBUG",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; TRAPDEBUG() { print dbg; }
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
        what: "EXIT trap",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; trap 'print bye' EXIT; zshexit() { print zx }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; trap",
            stdout: r#"fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "ERR trap exit",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; trap 'exit 3' ZERR
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; false; echo no",
            stdout: r#"fn
"#,
            status: 3,
        }],
    },
    Case {
        what: "TRAPZERR exit",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; TRAPZERR() { print zerr; exit 3 }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; false; echo no",
            stdout: r#"fn
zerr
"#,
            status: 3,
        }],
    },
    Case {
        what: "emulate sh",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; emulate sh
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"f; emulate; x="a b"; printf "%s
" $x; [[ -o shwordsplit ]] && echo on"#,
            stdout: r#"fn
sh
a
b
on
"#,
            status: 0,
        }],
    },
    Case {
        what: "emulate ksh",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; emulate ksh
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; emulate; a=(x y); echo ${a[0]}",
            stdout: r#"fn
ksh
x
"#,
            status: 0,
        }],
    },
    Case {
        what: "emulate csh",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; emulate csh
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; emulate",
            stdout: r#"fn
csh
"#,
            status: 0,
        }],
    },
    Case {
        what: "nounset",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; setopt nounset noglob
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo *; echo $UNSETX; echo no",
            stdout: r#"fn
*
"#,
            status: 1,
        }],
    },
    Case {
        what: "errexit+nounset+errreturn",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; setopt nounset errreturn errexit
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $-",
            stdout: r#"fn
569Xeu
"#,
            status: 0,
        }],
    },
    Case {
        what: "closed fds",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; exec 0<&- 1>&- 2>&-
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
        what: "err prefix",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"nosuch

nosuch2; f"#,
            stdout: r#"fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "modules",
        files: &[(
            ".zshrc",
            r#"zmodload zsh/stat; f() { echo fn; }; zmodload -F zsh/datetime p:EPOCHSECONDS
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "whence -w stat; whence -w strftime; (( EPOCHSECONDS )) && echo y",
            stdout: r#"stat: builtin
strftime: none
y
"#,
            status: 0,
        }],
    },
    Case {
        what: "zdotdir unset",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "echo ${ZDOTDIR-unset}; env | grep -i -e exec_server -e zdot",
            stdout: r#"unset
"#,
            status: 1,
        }],
    },
    Case {
        what: "zdotdir param",
        files: &[(
            ".zshrc",
            r#"ZDOTDIR=$HOME/x
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "echo ${ZDOTDIR##*/}; env | grep -i -e exec_server -e zdot",
            stdout: r#"x
"#,
            status: 1,
        }],
    },
    Case {
        what: "zdotdir exp",
        files: &[(
            ".zshrc",
            r#"export ZDOTDIR='/a b'
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "echo $ZDOTDIR; printenv ZDOTDIR",
            stdout: r#"/a b
/a b
"#,
            status: 0,
        }],
    },
    Case {
        what: "nested",
        files: &[(
            ".zshrc",
            r#"f() { g() { cat <<'E'
x $y
E
}; g; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"x $y
"#,
            status: 0,
        }],
    },
    Case {
        what: "cmd not found",
        files: &[(
            ".zshrc",
            r#"command_not_found_handler() { echo nf $1; return 4 }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "zork; echo $?",
            stdout: r#"nf zork
4
"#,
            status: 0,
        }],
    },
    Case {
        what: "odd names",
        files: &[(
            ".zshrc",
            r#"function 'a b' { echo ab; }; function '{x' { echo br; }; function $'n\nl' { echo nl; }; function 'a=b' { echo eq }; function '*' { echo st; }; function '~x' { echo ti; }; function if2 { echo i; }; function 'q'\''q' { echo qq; }; function '[[x' { :; }; function '1' { echo one; }; function '=z' { echo z; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"'a b'; '{x'; $'n\nl'; 'a=b'; '*'; '~x'; if2; "q'q"; 1; '=z'"#,
            stdout: r#"ab
br
nl
eq
st
ti
i
qq
one
z
"#,
            status: 0,
        }],
    },
    Case {
        what: "aliased fn",
        files: &[(
            ".zshrc",
            r#"alias -g XX=foo; function XX { echo xx; }; function ls { echo myls; }; alias ls='ls -l'
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "ls",
            stdout: r#"myls
"#,
            status: 0,
        }],
    },
    Case {
        what: "xtrace",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; PS4='T> '; setopt xtrace
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"echo "[$_]"; f"#,
            stdout: r#"[]
fn
"#,
            status: 0,
        }],
    },
    Case {
        what: "cshjunkie",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; setopt cshjunkiequotes cshjunkieloops cshjunkiehistory cshnullcmd
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
        what: "ignorebraces",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; setopt ignorebraces ignoreclosebraces
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo {a,b}",
            stdout: r#"fn
{a,b}
"#,
            status: 0,
        }],
    },
    Case {
        what: "posix",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; setopt posixaliases posixargzero posixbuiltins posixcd posixidentifiers posixjobs posixstrings posixtraps
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
        what: "params named oddly",
        files: &[(
            ".zshrc",
            r#"typeset -a reply=(1 2); typeset -A opts=(a 1); x=1 y=2 name=z line=q; f() { echo fn; }; typeset -g match mbegin MATCH=3
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; echo $line $name $reply",
            stdout: r#"fn
q z 1 2
"#,
            status: 0,
        }],
    },
    Case {
        what: "env funcs",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; export -f f 2>/dev/null
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
        what: "loads of globals",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; setopt warncreateglobal warnnestedvar typesetsilent globalexport allexport
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; X=1; printenv X",
            stdout: r#"fn
1
"#,
            status: 0,
        }],
    },
    Case {
        what: "noexec-ish",
        files: &[(
            ".zshrc",
            r#"f() { echo fn; }; setopt autocd autopushd pushdsilent chaselinks cdablevars; hash -d w=/usr; setopt autonamedirs; WW=/tmp
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f; cd ~w && pwd",
            stdout: r#"fn
/usr
"#,
            status: 0,
        }],
    },
    Case {
        what: "mathfuncs",
        files: &[(
            ".zshrc",
            r#"functions -M sq 1 1 mysq; mysq() { (( $1 * $1 )) }; f() { echo $(( sq(3) )); }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "f",
            stdout: r#"9
"#,
            status: 0,
        }],
    },
    Case {
        what: "trap multi",
        files: &[(
            ".zshrc",
            r#"trap 'print a
print b' USR1; trap '' INT
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "kill -USR1 $$; trap",
            stdout: r#"a
b
trap -- '' INT
trap -- $'print a\nprint b' USR1
"#,
            status: 0,
        }],
    },
    Case {
        what: "umask/limits",
        files: &[(
            ".zshrc",
            r#"umask 077; ulimit -S -n 333; ulimit -S -c 0
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "umask; ulimit -S -n",
            stdout: r#"077
333
"#,
            status: 0,
        }],
    },
    Case {
        what: "chpwd",
        files: &[(
            ".zshrc",
            r#"autoload -Uz add-zsh-hook; g() { echo moved; }; add-zsh-hook chpwd g
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: "cd /",
            stdout: r#"moved
"#,
            status: 0,
        }],
    },
    Case {
        what: "alias dis",
        files: &[(
            ".zshrc",
            r#"alias zz='echo zz'; disable -a zz; f() { echo fn; }; disable -f f
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"zz; f; enable -a zz; enable -f f; eval "zz; f""#,
            stdout: r#"zz
fn
"#,
            status: 0,
        }],
    },
    Case {
        // zsh lists what RC_QUOTES made one quote of two as one quote, which ends the string.
        what: "functions whose quotes were doubled",
        files: &[(
            ".zshrc",
            r#"setopt rc_quotes
f() { print -r 'it''s' 'a''''b' '''' "it's" $'it\'s' 'é''ç'; case $1 in ('x''y') print yes;; esac }
g() { local A='x''y' b=( 'c''d' 'e' ); print -r $A $b ${none:-'p''q'} "$(print 'r''s')" }
h() { print 'a'"'"'b' }
"#,
        )],
        environment: &[],
        runs: &[
            Run {
                script: r#"f "x'y"; g; h"#,
                stdout: "it's a''b ' it's it's é'ç\nyes\nx'y c'd e p'q r's\na'b\n",
                status: 0,
            },
            Run {
                script: "setopt | grep rcquotes; print 'a''b'",
                stdout: "rcquotes\na'b\n",
                status: 0,
            },
        ],
    },
    Case {
        what: "functions named like reserved words",
        files: &[(
            ".zshrc",
            r#"function if { echo i; }; function nocorrect { echo n; }; function '!' { echo x; }; function function { echo f; }
function time { echo t; }; function do { echo d; }; function '{' { echo b; }; function while { echo w; }
function $'a\x1c' { echo c; }; function export { echo e; }; disable -f while; plain() { echo p; }
"#,
        )],
        environment: &[],
        runs: &[Run {
            script: r#"plain; \if; \nocorrect; \!; \function; \time; \do; \{; $'a'; \export; print ${+dis_functions[while]}"#,
            stdout: "p
i
n
x
f
t
d
b
c
e
1
",
            status: 0,
        }],
    },
    Case {
        what: "only functions named like reserved words",
        files: &[(
            ".zshrc",
            "unfunction -m '*'; function if { echo i; }
",
        )],
        environment: &[],
        runs: &[Run {
            script: r"\if; print -r -- ${(k)functions:#*run-help}",
            stdout: "i
if
",
            status: 0,
        }],
    },
    Case {
        what: "functions that are autoloaded without any option",
        files: &[(
            ".zshrc",
            "mkdir -p ~/fn; echo 'echo mine' >~/fn/mine; fpath=(~/fn $fpath); autoload mine theirs
",
        )],
        environment: &[],
        runs: &[Run {
            script: "print -r ${+functions[--]} ${+functions[theirs]}; mine",
            stdout: "0 1
mine
",
            status: 0,
        }],
    },
    Case {
        what: "everything is exported",
        files: &[(
            ".zshrc",
            "setopt allexport; A=1
",
        )],
        environment: &[],
        runs: &[Run {
            script: "env | grep -c __es; echo $A; B=2; env | grep -x B=2",
            stdout: "0
1
B=2
",
            status: 0,
        }],
    },
    Case {
        what: "what is exported and never had a value",
        files: &[(".zshrc", "typeset -x NX; export XZ; export EMPTY=\n")],
        environment: &[("GIVEN", "")],
        runs: &[Run {
            script: "env | grep -e ^NX -e ^XZ -e ^EMPTY -e ^GIVEN | sort; print ${(t)NX} ${(t)XZ} \"<$NX>\"; NX=1; env | grep ^NX",
            stdout: "EMPTY=\nGIVEN=\nscalar-export scalar-export <>\nNX=1\n",
            status: 0,
        }],
    },
    Case {
        what: "the line editor's own parameters",
        files: &[(".zshrc", "RPROMPT=a RPROMPT2=b POSTEDIT=c ZLE_RPROMPT_INDENT=0\n")],
        environment: &[],
        runs: &[Run {
            script: "print $RPROMPT $RPROMPT2 $POSTEDIT $ZLE_RPROMPT_INDENT",
            stdout: "a b c 0\n",
            status: 0,
        }],
    },
    Case {
        what: "a PATH that is read-only",
        files: &[(".zshrc", "PATH=/opt/x:$PATH; typeset -r PATH; typeset -rU path\n")],
        environment: &[],
        runs: &[Run {
            script: "print ${(t)PATH} ${(t)path} $path[1]; path=(); print no",
            stdout: "scalar-readonly-tied-export-special array-readonly-tied-unique-special /opt/x\n",
            status: 1,
        }],
    },
    Case {
        what: "a PATH that is not exported",
        files: &[(".zshrc", "PATH=/opt/x:$PATH; typeset +x PATH\n")],
        environment: &[],
        runs: &[Run {
            script: "print ${(t)PATH} $path[1]; env | grep -c ^PATH",
            stdout: "scalar-tied-special /opt/x\n0\n",
            status: 1,
        }],
    },
    Case {
        what: "parameters that functions hide",
        files: &[(
            ".zshrc",
            "typeset -h H=1; typeset -rh R=2; typeset -hA A; A=(k v)\n",
        )],
        environment: &[],
        runs: &[Run {
            script: "print ${(t)H} $H ${(t)R} $R ${(t)A} $A[k]",
            stdout: "scalar-hide 1 scalar-readonly-hide 2 association-hide v\n",
            status: 0,
        }],
    },
    Case {
        what: "more variables than a quadratic capture has time for",
        files: &[(".zshrc", "for i in {1..12000}; do typeset -g V$i=x$i; done\n")],
        environment: &[],
        runs: &[Run {
            script: "print $V1 $V12000",
            stdout: "x1 x12000\n",
            status: 0,
        }],
    },
];
