//! Options: what the user's shell has, and the statements that give it to a shell that runs a script.

use std::collections::BTreeSet;

use crate::Failure;
use crate::inventory::Name;

/// What `set -o` has that is not kept: it belongs to a shell that reads from a terminal, ends it, or needs a privilege.
/// `ignoreeof` comes with its variable, and posix is last of all.
const SET_NOT_KEPT: &[&str] = &[
    "emacs",
    "histexpand",
    "history",
    "ignoreeof",
    "monitor",
    "noexec",
    "nolog",
    "onecmd",
    "posix",
    "privileged",
    "vi",
];

/// On in every shell that starts. Anything else is off.
const SET_BARE: &[&str] = &["braceexpand", "hashall", "interactive-comments"];

/// They print what is run or read: on when nothing more is to be run.
const SET_LAST: &[&str] = &["verbose", "xtrace"];

/// Of `shopt`, what says how the shell was started and cannot be set.
const SHOPT_NOT_KEPT: &[&str] = &["login_shell", "restricted_shell"];

/// Changed by entering or leaving posix mode, which the dump does. Of these BASHOPTS, noted before, tells; it does not
/// tell of what an assignment to GLOBIGNORE or BASH_COMPAT turns on.
const SHOPT_OF_POSIX: &[&str] = &[
    "expand_aliases",
    "inherit_errexit",
    "interactive_comments",
    "shift_verbose",
    "sourcepath",
];

/// On in a bare interactive shell.
const SHOPT_BARE: &[&str] = &[
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "expand_aliases",
    "extquote",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "hostcomplete",
    "interactive_comments",
    "patsub_replacement",
    "progcomp",
    "promptvars",
    "sourcepath",
];

/// Off in every shell that starts, in all versions so far: not worth a word when they are off.
const SHOPT_OFF: &[&str] = &[
    "array_expand_once",
    "assoc_expand_once",
    "autocd",
    "bash_source_fullpath",
    "cdable_vars",
    "cdspell",
    "checkhash",
    "checkjobs",
    "compat31",
    "compat32",
    "compat40",
    "compat41",
    "compat42",
    "compat43",
    "compat44",
    "direxpand",
    "dirspell",
    "dotglob",
    "execfail",
    "extdebug",
    "failglob",
    "globstar",
    "gnu_errfmt",
    "histappend",
    "histreedit",
    "histverify",
    "huponexit",
    "inherit_errexit",
    "lastpipe",
    "lithist",
    "localvar_inherit",
    "localvar_unset",
    "mailwarn",
    "no_empty_cmd_completion",
    "nocaseglob",
    "nocasematch",
    "noexpand_translation",
    "nullglob",
    "progcomp_alias",
    "shift_verbose",
    "varredir_close",
    "xpg_echo",
];

/// Of all, those that change neither how a script is read nor what it runs: for loading on demand.
const PLAIN: &[&str] = &[
    "autocd",
    "cdable_vars",
    "cdspell",
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "dotglob",
    "extglob",
    "force_fignore",
    "globstar",
    "histappend",
    "histreedit",
    "histverify",
    "hostcomplete",
    "huponexit",
    "lithist",
    "mailwarn",
    "no_empty_cmd_completion",
    "nocaseglob",
    "nocasematch",
    "noclobber",
    "notify",
    "nullglob",
    "pipefail",
    "progcomp",
    "progcomp_alias",
];

/// The options of a capture.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `shopt`: on.
    on: Vec<String>,
    /// `shopt`: off, less those that are off anyway.
    off: Vec<String>,
    /// `set`: arguments, less those that print.
    set: Vec<String>,
    /// `set`: those that print.
    set_last: Vec<String>,
    /// Whether posix mode is on.
    pub(super) posix: bool,
    /// Those that are not as in a bare interactive shell.
    pub(super) names: BTreeSet<Name>,
}

/// Reads the flags, SHELLOPTS and BASHOPTS, a line each, and the names of `shopt -p`.
///
/// # Errors
/// [`Failure::InvalidCapture`] if it is not that.
pub(super) fn read(options: &[u8], shopt: &[u8]) -> Result<Options, Failure> {
    let options = std::str::from_utf8(options).map_err(|_| Failure::InvalidCapture)?;
    let shopt = std::str::from_utf8(shopt).map_err(|_| Failure::InvalidCapture)?;
    let mut lines = options.lines();
    let mut line = || lines.next().ok_or(Failure::InvalidCapture);
    let (flags, set_on, shopt_on) = (line()?, line()?, line()?);
    let set_on: BTreeSet<&str> = set_on.split(':').filter(|name| !name.is_empty()).collect();
    let shopt_noted: BTreeSet<&str> = shopt_on.split(':').collect();
    let mut all = BTreeSet::new();
    let mut shopt_on = BTreeSet::new();
    for line in shopt.lines().filter(|line| !line.is_empty()) {
        let (is_on, name) = match (line.strip_prefix("shopt -s "), line.strip_prefix("shopt -u ")) {
            (Some(name), _) => (true, name),
            (_, Some(name)) => (false, name),
            _ => return Err(Failure::InvalidCapture),
        };
        all.insert(name);
        if (is_on && !SHOPT_OF_POSIX.contains(&name)) || shopt_noted.contains(name) {
            shopt_on.insert(name);
        }
    }
    if !flags.contains('i') {
        // What a user types is read by an interactive shell.
        shopt_on.insert("expand_aliases");
    }

    let mut read = Options {
        posix: set_on.contains("posix"),
        ..Options::default()
    };
    for &name in set_on
        .iter()
        .chain(SET_BARE)
        .filter(|name| !SET_NOT_KEPT.contains(name))
    {
        let (is_on, is_bare) = (set_on.contains(name), SET_BARE.contains(&name));
        if is_on != is_bare {
            read.names.insert(name.into());
            let last = SET_LAST.contains(&name);
            let arguments = if last { &mut read.set_last } else { &mut read.set };
            arguments.extend([if is_on { "-o" } else { "+o" }.to_owned(), name.to_owned()]);
        }
    }
    if read.posix {
        read.names.insert("posix".into());
    }
    for &name in all.union(&shopt_on).filter(|name| !SHOPT_NOT_KEPT.contains(name)) {
        let is_on = shopt_on.contains(name);
        if name.starts_with("compat") {
            // With BASH_COMPAT, which turning this on would set.
        } else if is_on {
            read.on.push(name.to_owned());
        } else if name == "extglob" || !SHOPT_OFF.contains(&name) {
            read.off.push(name.to_owned());
        }
        // An option of a version not known here is told of only when it is on.
        if is_on != SHOPT_BARE.contains(&name) {
            read.names.insert(name.into());
        }
    }
    Ok(read)
}

impl Options {
    /// Turns that one of `shopt` off, if it is, though it is off in every shell that starts: something turned it on.
    pub(super) fn restate(&mut self, name: &str) {
        let stated = self.on.iter().chain(&self.off).any(|known| known == name);
        if !stated {
            self.off.push(name.to_owned());
        }
    }

    /// Whether every option that differs from a bare shell leaves alone how a script is read and what it runs.
    pub(super) fn are_plain(&self) -> bool {
        self.names
            .iter()
            .all(|name| PLAIN.iter().any(|plain| plain.as_bytes() == &name[..]))
    }

    /// The statements for `shopt`.
    pub(super) fn shopt(&self) -> String {
        statement("shopt -s", &self.on) + &statement("shopt -u", &self.off)
    }

    /// The same for a shell in which extglob is off already, as it is in every shell that starts.
    pub(super) fn shopt_without_every_pattern(&self) -> String {
        let mut off = self.off.clone();
        off.retain(|name| name != "extglob");
        statement("shopt -s", &self.on) + &statement("shopt -u", &off)
    }

    /// The statement for `set`, less what prints.
    pub(super) fn set(&self) -> String {
        statement("set", &self.set)
    }

    /// The statement for the options that print.
    pub(super) fn set_last(&self) -> String {
        statement("set", &self.set_last)
    }
}

fn statement(command: &str, arguments: &[String]) -> String {
    if arguments.is_empty() {
        return String::new();
    }
    format!("\\builtin {command} {}\n", arguments.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_options_take_no_words_and_no_names() {
        let read = read(
            b"himBHc\nbraceexpand:emacs:hashall:histexpand:history:interactive-comments:monitor\nexpand_aliases:sourcepath\n",
            b"shopt -u autocd\nshopt -s expand_aliases\nshopt -u login_shell\nshopt -u extglob\nshopt -s sourcepath\n",
        )
        .unwrap();
        assert_eq!(
            read.shopt(),
            "\\builtin shopt -s expand_aliases sourcepath\n\\builtin shopt -u extglob\n"
        );
        assert_eq!((read.set(), read.set_last()), (String::new(), String::new()));
        assert!(read.names.is_empty());
    }

    #[test]
    fn what_prints_is_apart() {
        let read = read(
            b"hxuBc\nerrexit:hashall:interactive-comments:noexec:onecmd:posix:xtrace\nextglob\n",
            b"shopt -s extglob\nshopt -u brand_new\n",
        )
        .unwrap();
        assert_eq!(read.set(), "\\builtin set -o errexit +o braceexpand\n");
        assert_eq!(read.set_last(), "\\builtin set -o xtrace\n");
        assert_eq!(
            read.shopt(),
            "\\builtin shopt -s expand_aliases extglob\n\\builtin shopt -u brand_new\n"
        );
        assert!(read.posix);
        let names: Vec<_> = read
            .names
            .iter()
            .map(|name| std::str::from_utf8(name).unwrap())
            .collect();
        assert_eq!(names, ["braceexpand", "errexit", "extglob", "posix", "xtrace"]);
    }

    #[test]
    fn other_text_is_refused() {
        for (options, shopt) in [
            (&b"a\nb"[..], &b""[..]),
            (b"a\nb\nc", b"set -s x"),
            (b"\xff\nb\nc", b""),
        ] {
            assert_eq!(super::read(options, shopt), Err(Failure::InvalidCapture));
        }
    }
}
