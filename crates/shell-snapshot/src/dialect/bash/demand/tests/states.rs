//! States: which parts of them a script gets, and which are given as a whole to all.

use std::collections::{BTreeSet, HashMap};

use crate::dialect::Try;
use crate::dialect::bash::demand::{Demand, Source};
use crate::dialect::bash::tests::Home;

const FUNCTIONS: &str = "f() { g; }\ng() { :; }\nalone() { :; }\nany() { \"$@\"; }\n";

/// The functions that a script gets of a state. `None`: all.
fn loaded(rc: &str, script: &str) -> Option<BTreeSet<String>> {
    let home = Home::new(&[(".bashrc", &[FUNCTIONS, rc].concat())], &[]);
    let state = home.capture(Try::Interactive).unwrap().state;
    let part = state.demand?.cut(&state.file, script.as_bytes())?;
    let part = String::from_utf8(part).unwrap();
    let name = |line: &str| Some(line.strip_prefix("function ")?.strip_suffix(" () ")?.to_owned());
    Some(part.lines().filter_map(name).collect())
}

fn set(names: &[&str]) -> Option<BTreeSet<String>> {
    Some(names.iter().map(ToString::to_string).collect())
}

#[test]
fn what_is_needed_brings_what_it_reaches() {
    assert_eq!(loaded("", "ls"), set(&[]));
    assert_eq!(loaded("", "f"), set(&["f", "g"]));
    assert_eq!(loaded("", "alone | g"), set(&["alone", "g"]));
    assert_eq!(loaded("", "any f"), None, "it may reach any");
    assert_eq!(loaded("", "$x"), None);
    assert_eq!(loaded("alias x='f y'\n", "x"), set(&["f", "g"]));
}

#[test]
fn some_are_there_whatever_is_needed() {
    assert_eq!(
        loaded("export -f any\nreadonly -f alone\n", "ls"),
        set(&["alone", "any"])
    );
    assert_eq!(
        loaded("trap alone USR1\ntrap 'echo \"$(f)\"' ERR\n", "ls"),
        set(&["alone", "f", "g"])
    );
    assert_eq!(loaded("trap '' INT\n", "ls"), set(&[]));
    let handler = "command_not_found_handle() { f; }\n";
    assert_eq!(
        loaded(handler, "ls"),
        set(&["command_not_found_handle", "f", "g"])
    );
}

#[test]
fn a_state_that_changes_what_scripts_mean_is_loaded_as_a_whole() {
    for rc in [
        "set -x",
        "set -v",
        "set -E",
        "set -T",
        "set -u",
        "set -e",
        "set -k",
        "set -a",
        "set -o posix",
        "set +B",
        "shopt -s extdebug",
        "shopt -u expand_aliases",
        "shopt -u interactive_comments",
        "shopt -s lastpipe",
        "shopt -s failglob",
        "shopt -s localvar_inherit",
        "shopt -s xpg_echo",
        "BASH_COMPAT=4.2",
        "enable -n test",
        "declare -n other=f",
        "declare -ft g",
        "builtin() { command builtin \"$@\"; }",
        "enable() { :; }",
        "trap 'eval x' USR1",
        "trap 'any f' ERR",
        "trap '$x' RETURN",
        "command_not_found_handle() { any \"$@\"; }",
        "export LINENO",
        "m() { echo | cat <<E && f\nx\nE\n}",
    ] {
        assert_eq!(loaded(&format!("{rc}\n"), "ls"), None, "{rc}");
    }
}

#[test]
fn options_that_change_nothing_of_that_keep_loading_on_demand() {
    let rc = "shopt -s histappend globstar extglob autocd cdspell nullglob; shopt -u checkwinsize; set -o pipefail -o noclobber\n";
    assert_eq!(loaded(rc, "ls"), set(&[]));
}

#[test]
fn variables_of_the_state_that_evaluate_are_not_to_be_assigned() {
    let rc = "declare -i NUMBER=1 REPLY MAPFILE; declare -ai NUMBERS; export NUMBER; PLAIN=1\n";
    assert_eq!(loaded(rc, "PLAIN=$x; read PLAIN; f"), set(&["f", "g"]));
    for script in [
        "NUMBER=$x",
        "NUMBERS=(x)",
        "for NUMBER in x; do :; done",
        "read -r",
        "mapfile -t",
    ] {
        assert_eq!(loaded(rc, script), None, "{script}");
    }
}

#[test]
fn what_looks_like_an_array_is_not_to_be_declared_of_one() {
    let rc = "LIST=(a b); fills() { local names; read -ra names; }; local_() { local names=$1 other=$2; }\n";
    assert_eq!(loaded(rc, "export A=$x; declare LIST=a; fills"), set(&["fills"]));
    assert_eq!(loaded(rc, "local_ x y"), set(&["local_"]));
    for script in [
        "export LIST=$x",
        "A=(a); export A=$x",
        "export A=$x; A+=(b)",
        "read -ra A; readonly A=\"$x\"",
        "mapfile A; declare A=$x",
        "mapfile; declare MAPFILE=$x",
        "declare -A A; declare A='([x]=1)'",
        "declare -a A; declare A=\\($x",
        "local_ x y; fills",
    ] {
        assert_eq!(loaded(rc, script), None, "{script}");
    }
}

#[test]
fn parts_keep_their_line_numbers() {
    let far = "\n".repeat(100) + "    :";
    let bodies = [
        ("a", "\n\n    :"),
        ("b", &far),
        ("c", "\n    :"),
        ("d", "\n    $x"),
    ];
    let functions: Vec<(Vec<u8>, Vec<u8>)> = bodies
        .iter()
        .map(|(name, body)| {
            let definition = format!("function {name} () \n{{ {body}\n}}\n");
            (name.as_bytes().to_vec(), definition.into_bytes())
        })
        .collect();
    let head = b"one\ntwo\n".to_vec();
    let mut text = [&head[..], b"every pattern\nguard\n"].concat();
    for (_, definition) in &functions {
        text.extend(definition);
    }
    let functions_end = text.len();
    text.extend(b"{\nno guard\nlast\n}");
    let source = |kept: &[&'static [u8]]| Source {
        text: &text,
        functions: &functions,
        functions_end,
        head_end: head.len(),
        unguarded_group: b"{\nlast\n}".to_vec(),
        kept: kept.iter().copied().collect(),
        aliases: HashMap::new(),
        integers: BTreeSet::new(),
        arrays: BTreeSet::new(),
        traps: Vec::new(),
    };
    let demand = Demand::new(source(&[])).unwrap();
    let cut = |script: &str| String::from_utf8(demand.cut(&text, script.as_bytes()).unwrap()).unwrap();
    let counts_on = |line: usize| format!("{{ [[ x ]]; }} 9<&${{BASH:LINENO={line}:0}}-\n");
    let text_of = |index: usize| String::from_utf8(functions[index].1.clone()).unwrap();
    let (head, group) = ("one\ntwo\n", "{\nlast\n}");
    assert_eq!(cut("ls"), [head, group].concat());
    assert_eq!(cut("a"), [head, "\n\n", &text_of(0), group].concat());
    assert_eq!(cut("b"), [head, "\n\n\n\n\n\n\n", &text_of(1), group].concat());
    assert_eq!(cut("c"), [head, &counts_on(112), &text_of(2), group].concat());
    assert_eq!(
        cut("a; c"),
        [head, "\n\n", &text_of(0), &counts_on(112), &text_of(2), group].concat()
    );
    assert_eq!(demand.cut(b"one", b"a"), None, "a state of another length");

    // One that is not proven is read with all that it takes.
    let kept = Demand::new(source(&[b"d"])).unwrap();
    let cut = String::from_utf8(kept.cut(&text, b"a").unwrap()).unwrap();
    let guarded = [
        "one\ntwo\nevery pattern\nguard\n",
        &text_of(0),
        &counts_on(116),
        &text_of(3),
        "{\nno guard\nlast\n}",
    ];
    assert_eq!(cut, guarded.concat());
}
