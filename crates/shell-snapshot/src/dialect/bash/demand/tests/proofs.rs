//! Scripts that must be proven to need no more than these functions, and scripts that must not be proven.

use std::collections::{BTreeSet, HashMap};

use crate::dialect::bash::demand::context::{Context, Unproven};
use crate::dialect::bash::demand::scan::prove;

const FUNCTIONS: &[&str] = &["f", "g", "h", "evil", "ls", "cd", "a.b", "[", "@", "é", "x y"];

const ALIASES: &[(&str, &str)] = &[
    ("ll", "ls -l"),
    ("e", "evil"),
    ("ee", "e now"),
    ("ev", "eval"),
    ("sudo", "sudo "),
    ("bu", "builtin "),
    ("sub", "echo $(evil)"),
    ("two", "f; g"),
    ("empty", ""),
    ("kw", "if"),
    ("asg", "A=1 f"),
    ("..", "cd .."),
    ("loop1", "loop2 x"),
    ("loop2", "loop1 y"),
    ("q", "\"f\""),
];

fn context() -> Context {
    let functions = FUNCTIONS
        .iter()
        .zip(0..)
        .map(|(name, index)| (name.as_bytes().to_vec(), index))
        .collect();
    let aliases: HashMap<_, _> = ALIASES
        .iter()
        .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect();
    Context {
        functions,
        aliases,
        integers: BTreeSet::from([b"INT".to_vec()]),
        arrays: BTreeSet::new(),
    }
}

fn named(script: &str) -> Result<BTreeSet<&'static str>, Unproven> {
    let found = prove(script.as_bytes(), &context(), true)?;
    Ok(found
        .functions
        .into_iter()
        .map(|index| FUNCTIONS[index as usize])
        .collect())
}

/// A script, and the functions it needs.
const PROVEN: &[(&str, &str)] = &[
    ("", ""),
    ("echo hi", ""),
    ("f", "f"),
    ("  f ; g&h", "f g h"),
    ("f|g|&h && a.b || evil", "f g h a.b evil"),
    ("\\f 'g' \"h\"", "f g h"),
    ("f'' \"e\"vil", "f evil"),
    ("echo f", "f"),
    ("echo \"f g\" fg", ""),
    ("git status && git diff --stat | head -n 20", ""),
    ("cd /tmp && ls -la", "cd ls"),
    ("ll x", "ls"),
    ("\\ll", ""),
    ("ee", "evil"),
    ("sudo ll", "ls"),
    ("loop1", ""),
    ("echo ..", "cd"),
    ("\"x y\" 1", "x y"),
    ("'@' a", "@"),
    ("if f; then\n g\nelif true; then :; else h; fi >x", "f g h"),
    ("for i in 1 2 *.c; do f \"$i\"; done", "f"),
    ("for i\ndo f; done", "f"),
    ("for i; do f; done", "f"),
    ("while read -r l; do g \"$l\"; done < file", "g"),
    ("until f; do :; done", "f"),
    ("case $x in (a|f) g ;; *) h;& b) ;; esac", "f g h"),
    ("case x in a) f\nesac", "f"),
    ("{ f; g; } 2>&1", "f g"),
    ("(f; (g) )", "f g"),
    ("! f && ! g", "f g"),
    ("time f", "f"),
    ("A=1 B=$x f", "f"),
    ("A=(f $x \"$y\") ; A+=(1)", "f"),
    ("echo $(f) \"$(g)\" `h`", "f g h"),
    ("x=$(f | g \"$(h)\")", "f g h"),
    ("cat <<E\n$(f) g `\n", "!"),
    ("cat <<E\n$(f) g\nE\nh", "f h"),
    ("cat <<'E'\n$(f) `\nE\nh", "h"),
    ("cat <<-\"E\" | g\n\tf\n\tE\nh", "g h"),
    ("git commit -m \"$(cat <<'E'\nIt's `f` $(g)\nE\n)\"", ""),
    ("diff <(f) <(g)", "f g"),
    ("f > >(g) 2>/dev/null <<<\"$x\"", "f g"),
    (
        "[ -f x ] && [ \"$a\" = \"$b\" ] && [ ! -d y ] || [ $? -eq 0 ]",
        "[",
    ),
    ("[[ -f $x && ( $a == b* || ! -d c ) ]] && f", "f"),
    ("[[ $# ]] && [[ $? -eq 0 ]]", ""),
    ("[[ $a =~ $re ]]", ""),
    (
        "echo ${x} ${x:-f} ${x#*/} \"${x%%.*}\" ${#x} ${x//a/b} ${x^^} ${x:0:3} ${a[0]} \"${a[@]}\"",
        "",
    ),
    ("echo $((1+2*(3))) $(( $? + 1 ))", ""),
    (
        "export A=$x B C=\"$(f)\"; local d=1; declare -a v; readonly g",
        "f g",
    ),
    ("command -v f >/dev/null; type g; hash h", "f g h"),
    ("command f; builtin cd /x", "f cd"),
    ("set -euo pipefail; set -- a b; set +e", ""),
    ("shopt -s globstar nullglob", ""),
    ("trap 'f \"$x\"' EXIT INT; trap - EXIT", "f"),
    ("printf '%s\\n' \"$x\"; printf -v y %s a", ""),
    ("read -r -p 'a b' x y; read -ra z; mapfile -t w < f", "f"),
    ("unset x; unset -f f", "f"),
    ("f() { g; }; f", "f g"),
    ("new () ( h )", "h"),
    ("exec 3>x; exec >log 2>&1", ""),
    ("a \\\n  b \\\n&& f # g '", "f"),
    ("echo \"a\\\nb\"", ""),
    ("echo a#f 'été' \"日本\" été", ""),
    ("# f\n#g '\nh", "h"),
    ("find . -name '*.rs' -exec grep -n f {} \\;", "f"),
    ("ls | xargs -I{} sh -c 'eval {}'", "ls"),
    ("python3 - <<'E'\nprint(\"$(f)\")\nE", ""),
    ("sed -n '1,$p' x | awk '{print $1}' FS=:", ""),
    ("wait; wait $!; kill $x; getopts ab: o", ""),
    ("echo $'a\\'f' $x$y *.f {a,b} ~/x", ""),
    ("LC_ALL=C sort; IFS=, read -r a b", ""),
    ("echo }; echo {; echo done if", ""),
];

/// Scripts that may do what cannot be seen in them.
const UNPROVEN: &[&str] = &[
    // Commands named by expansions.
    "$x",
    "\"$x\" a",
    "f$x",
    "A=1 $x",
    "${x:-f}",
    "$(echo f)",
    "`echo f`",
    "f*",
    "{f,x}",
    "~/x",
    "$'f'",
    "$\"f\"",
    "x[1]=2",
    "\"$@\"",
    "$1",
    "é",
    // Halves of words.
    "fo\\\no",
    "f\\\n",
    "a &&\\\nb",
    "$x\\\ny",
    "echo $x\\\ny",
    "echo \"$x\\\ny\"",
    "&\\\n& f",
    // Text that is evaluated.
    "eval f",
    "source x",
    ". x",
    "\\eval f",
    "'eval' f",
    "e\"val\" f",
    "command eval f",
    "builtin eval f",
    "builtin command eval f",
    "bu eval f",
    "ev f",
    "bu ev f",
    "let x=1",
    "trap f DEBUG",
    "trap f ERR",
    "trap f RETURN",
    "trap \"$x\" EXIT",
    "trap 'eval x' EXIT",
    "trap 'ev x' EXIT",
    "trap",
    "trap -p",
    "coproc f",
    "coproc f { g; }",
    "time -p f",
    "time",
    "time -- f",
    "select x in a; do f; done",
    "jobs -x f",
    "enable -n f",
    "bind -x f",
    "complete -F f g",
    "compgen -A function",
    "mapfile -C f -c 1 x",
    "mapfile -tC f x",
    "%1",
    "%% f",
    "fc -s",
    "history",
    // Functions that are listed or tested.
    "declare",
    "declare -f",
    "declare -F",
    "declare -p",
    "typeset -F",
    "set",
    "export -f f",
    "export -pf",
    "readonly -f",
    "local",
    "type -t $x",
    "command -v \"$x\"",
    "command -V $x",
    "hash $x",
    "type",
    "type $(echo f)",
    "unset $x",
    "unset -f $x",
    "unset 'a[$(f)]'",
    "unset -nf x",
    "alias f=g",
    "alias",
    "unalias f",
    "unalias -a",
    "caller",
    // Arithmetic.
    "((x))",
    "((x++)) ; f",
    "echo $((x))",
    "echo $(($x))",
    "echo $((a[0]))",
    "echo $(( $(f) ))",
    "echo $[x]",
    "for ((i=0;i<1;i++)); do f; done",
    "[[ x -eq 1 ]]",
    "[[ 1 -eq $x ]]",
    "[[ $x -lt 1 ]]",
    "[[ -v x ]]",
    "[[ -v a[f] ]]",
    "[[ -R x ]]",
    "echo ${a[x]}",
    "echo ${a[$x]}",
    "a[$x]=1",
    "a=([x]=1)",
    "a=([x]=1 b)",
    "a=({[x],y}=1)",
    "echo ${x:y}",
    "echo ${x:0:y}",
    "echo ${x:$y}",
    "echo ${#a[x]}",
    "echo \"${a[$(f)]}\"",
    // Indirection.
    "echo ${!x}",
    "echo ${!x*}",
    "echo ${!a[@]}",
    "echo ${x@P}",
    "echo ${x@A}",
    "echo ${x@a}",
    "declare -n r=x",
    "local -n r=$1",
    "declare -i x=y",
    "typeset -i x",
    "local -in x",
    "read \"$x\"",
    "read $x",
    "read -ra \"$x\"",
    "read 'a[f]'",
    "read -e x",
    "read -t $x y",
    "read -i x",
    "mapfile \"$x\"",
    "readarray -t $x",
    "printf -v \"$x\" a",
    "printf -v 'a[f]' a",
    "printf $x a",
    "printf \"$x\"",
    "printf {-v,x} y",
    "getopts ab $x",
    "getopts $x y",
    "export $x",
    "export \"$x\"=1",
    "export \"$x=1\"",
    "declare \"a[f]=1\"",
    "declare -a x=$y",
    "declare -a x=\"$y\"",
    "local -a 'x=(f)'",
    "declare -a x='([f]=1)'",
    "declare x=$y -A",
    "local $x",
    "command export A=$x",
    "\\export A=$x",
    "'declare' A=$x",
    "builtin local A=*",
    "for INT in x; do :; done",
    "wait -n -p x",
    "wait $x",
    "wait \"$x\"",
    "wait -p x",
    "[ -v x ]",
    "[ -v \"$x\" ]",
    "test -v x",
    "[ $x ]",
    "[ $x = y ]",
    "[ -n $x ]",
    "[ \"$x\" \"$y\" ]",
    "[ \"$x\" -a \"$y\" ]",
    "[ a = b -o \"$x\" \"$y\" ]",
    "[ \"$@\" ]",
    "[ \"${a[@]}\" ]",
    "[ \"${x:-$@}\" ]",
    "[ -f *.c ]",
    "[ \"$x\" $y \"$z\" ]",
    "[ ! \"$x\" \"$y\" ]",
    "[ x",
    "test \"$a\" \"$b\"",
    "[ \"$a\" -v \"$b\" ]",
    // Variables that do more than hold a value.
    "PS4='$(f)'",
    "INT=x",
    "INT=x f",
    "export INT=x",
    "read INT",
    "printf -v INT x",
    "echo ${INT:=x}",
    "RANDOM=x",
    "OPTIND=x",
    "SECONDS=x",
    "BASH_ENV=x f",
    "BASH_XTRACEFD=2",
    "BASH_ALIASES=x",
    "SHELLOPTS=x",
    "POSIXLY_CORRECT=1",
    "export POSIXLY_CORRECT",
    "unset POSIXLY_CORRECT",
    "BASH_COMPAT=3",
    "histchars=x",
    "LINENO=1",
    "FUNCNEST=1",
    "HISTCMD=x",
    // Options.
    "set -x",
    "set -ex",
    "set -k",
    "set -o posix",
    "set -o xtrace",
    "set -T",
    "set -E",
    "set -n",
    "set -v",
    "set -a",
    "set -H",
    "set -m",
    "set -o",
    "set +o",
    "set $x",
    "set -o $x",
    "shopt",
    "shopt -s expand_aliases",
    "shopt -s extdebug",
    "shopt -u sourcepath",
    "shopt -p",
    "shopt -s lastpipe",
    // Redirections that assign.
    "exec {x}>y",
    "f {INT}<y",
    "exec -a x f",
    "exec $x",
    "exec -c f",
    // Quotes and documents that are read otherwise than they look.
    "echo `echo \\`f\\``",
    "echo \"`echo \"a\"`\"",
    "cat <<E\n`f`\nE\n",
    "cat <<E\na\\\nE\nE\n",
    "cat <<E",
    "cat <<E\nx",
    "cat <<$x\nf\n$x\n",
    "cat <<\"E\n\"\nf\n",
    "cat <<E$x\n",
    "cat <<'a'b\n",
    "cat <<\\E\nf\nE\n",
    "cat <<E $(echo\nf)\nE\n",
    "cat <<E 'a\nE\n'",
    "echo $(cat <<E)\nx\nE\n",
    "echo $(cat <<E | f\nx\nE\n)",
    "echo $(cat <<E && f\nx\nE\n)",
    "( cat <<E )\nf\nE",
    // Aliases that are more than plain words, wherever they stand.
    "sub",
    "echo sub",
    "two",
    "empty f",
    "kw",
    "asg",
    "q",
    "sudo sub",
    "case sub in x) ;; esac",
    "for x in sub; do :; done",
    "echo $(sub)",
    "sudo ev f",
    "A=1 two",
    "echo `two`",
    ">x two",
    "ll() { :; }",
    // Grammar that is not known.
    "function f { g; }",
    "f() g",
    "f() [[ x ]]",
    "f( ) if :; then :; fi",
    "((f))",
    "((f); g)",
    "@(f)",
    "!(f)",
    "echo @(a|b)",
    "[[ $x == @(a|b) ]]",
    "[[ $x =~ (a|b) ]]",
    "[[ # ]]\n x ]]",
    "case x in @(a)) f;; esac",
    "a | time f",
    "a | ! f",
    "! ! f",
    "! time f",
    "time ! f",
    "f )",
    "f ;; g",
    "if f; fi",
    "{ f",
    "(f",
    "$(f",
    "echo \"a",
    "echo 'a",
    "echo ${x",
    "echo $((1",
    "}",
    "done",
    "f & & g",
    "f ; ; g",
    "> x if f",
    "A=1 { f; }",
    "a=(b",
    "a=(b)c",
    "x=y=(f)",
    "${ f; }",
    "${|f;}",
    "echo ${x:-(f)}",
    "echo ${x:-`f`}",
    "echo ${x:-<(f)}",
    "echo \"${x:-'f'}\"",
    "echo \"${x:-\"f\"}\"",
    // Bytes.
    "f\u{1}",
    "f\u{7f}",
    "echo é`f`",
    "echo '日\\'",
    "echo \"é|\"",
    "command -- f",
    "command -p f",
    "command $x",
    "builtin $x",
    "builtin -x",
];

#[test]
fn what_is_proven_needs_what_it_names() {
    let mut failures = String::new();
    for (script, expected) in PROVEN {
        let expected: BTreeSet<&str> = match *expected {
            "x y" => BTreeSet::from(["x y"]),
            names => names.split(' ').filter(|name| !name.is_empty()).collect(),
        };
        let found = named(script);
        let is_as_expected = match &found {
            Ok(found) => *found == expected,
            Err(_) => expected.contains("!"),
        };
        if !is_as_expected {
            failures.push_str(&format!("{script:?}: {found:?}, not {expected:?}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn what_may_do_more_than_it_says_is_not_proven() {
    let proven: Vec<_> = UNPROVEN
        .iter()
        .filter_map(|script| Some((script, named(script).ok()?)))
        .collect();
    assert!(proven.is_empty(), "{proven:#?}");
}

#[test]
fn an_alias_of_a_reserved_word_changes_the_grammar() {
    for name in ["if", "then", "fi", "[[", "]]", "{", "}", "!", "do", "in"] {
        let mut context = context();
        context.aliases.insert(name.into(), b"f".to_vec());
        let script = "if ! [[ x ]]; then { :; }; fi; for i in a; do :; done";
        assert!(prove(script.as_bytes(), &context, true).is_err(), "{name}");
    }
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [
        ("$(", ")"),
        ("(", ")"),
        ("{ ", ";}"),
        ("if ", ""),
        ("\"${x:-", "}\""),
        ("! ", ""),
        ("! { ", ""),
    ] {
        let script = [open.repeat(5000), "f".into(), close.repeat(5000)].concat();
        assert!(named(&script).is_err(), "{open}");
    }
    assert!(named(&"f\n".repeat(100_000)).is_err());
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_proven_or_not(script: Vec<u8>) {
        let _ = prove(&script, &context(), true);
    }

    #[test]
    fn any_text_of_the_shells_characters_is_proven_or_not(script in "[f $(){}<>|&;'\"`\\\\\n#=!\\[\\]*?~@:/%,^-]{0,60}") {
        let _ = prove(script.as_bytes(), &context(), true);
    }
}

#[test]
fn fuzz_script() {
    bolero::check!().for_each(|bytes: &[u8]| {
        let _ = prove(bytes, &context(), true);
    });
}
