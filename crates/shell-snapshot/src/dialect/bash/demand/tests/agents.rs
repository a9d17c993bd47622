//! Scripts as agents write them, of which nine in ten must be proven: loading on demand is for them.

use std::collections::{BTreeSet, HashMap};

use crate::dialect::bash::demand::context::Context;
use crate::dialect::bash::demand::scan::prove;

/// The aliases that Debian's and Ubuntu's .bashrc come with, and a few that people add.
const ALIASES: &[(&str, &str)] = &[
    ("..", "cd .."),
    (
        "alert",
        "notify-send --urgency=low -i \"$([ $? = 0 ] && echo terminal || echo error)\" \"$(history|tail -n1)\"",
    ),
    ("egrep", "egrep --color=auto"),
    ("fgrep", "fgrep --color=auto"),
    ("gd", "git diff"),
    ("grep", "grep --color=auto"),
    ("gs", "git status -sb"),
    ("l", "ls -CF"),
    ("la", "ls -A"),
    ("ll", "ls -alF"),
    ("ls", "ls --color=auto"),
    ("sudo", "sudo "),
    ("vi", "vim"),
];

/// Blocks separated by lines of two percent signs.
const SCRIPTS: &str = include_str!("agents.txt");

#[test]
fn nine_in_ten_scripts_are_proven() {
    let context = Context {
        functions: HashMap::new(),
        aliases: ALIASES
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect(),
        integers: BTreeSet::new(),
        arrays: BTreeSet::new(),
    };
    let scripts: Vec<&str> = SCRIPTS.split("\n%%\n").collect();
    let mut reasons = String::new();
    let mut unproven = 0;
    for script in &scripts {
        if let Err(reason) = prove(script.as_bytes(), &context, true) {
            unproven += 1;
            reasons.push_str(&format!("{}: {script}\n", reason.0));
        }
    }
    assert!(scripts.len() > 150, "{}", scripts.len());
    assert!(
        unproven * 10 <= scripts.len(),
        "{unproven} of {}:\n{reasons}",
        scripts.len()
    );
}
