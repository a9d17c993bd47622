//! The shell that a person means on the command line, and a script for it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use exec_protocol::snapshot::{Shell, ShellSnapshotRequest, SnapshotParams};
use exec_protocol::{EnvPolicy, PathUri};
use exec_shell_snapshot::ShellKind;

/// What snapshots of a daemon of one's own are shared within: nobody else is there.
const SCOPE_ID: &str = "exec-server";

/// A shell whose state can be captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserShell {
    pub(crate) kind: ShellKind,
    pub(crate) path: String,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoShell {
    /// Another program.
    #[error("{0} is no shell whose state can be captured: bash, zsh, fish and sh (dash, ash, mksh) are")]
    Unknown(String),
    /// A name without a file.
    #[error("{0}: not found in the PATH")]
    NotFound(String),
}

impl UserShell {
    /// The shell of that name or path; without one, `own`: the user's. A name is `own` if that is its name, else it is
    /// looked for in `search`, a PATH.
    ///
    /// # Errors
    /// It is not there, or is none that can be captured.
    pub(crate) fn choose(asked: Option<&str>, own: &str, search: Option<&OsStr>) -> Result<Self, NoShell> {
        let asked = asked.unwrap_or(own);
        let kind = kind_of(asked).ok_or_else(|| NoShell::Unknown(asked.to_owned()))?;
        let path = if asked.contains('/') {
            std::path::absolute(asked)
                .map_or_else(|_| asked.to_owned(), |path| path.to_string_lossy().into_owned())
        } else if file_name(own) == asked {
            own.to_owned()
        } else {
            found(asked, search).ok_or_else(|| NoShell::NotFound(asked.to_owned()))?
        };
        Ok(Self { kind, path })
    }

    /// As a request names it.
    pub(crate) fn shell(&self) -> Shell {
        Shell {
            name: self.kind.name().to_owned(),
            path: self.path.clone(),
        }
    }

    /// As a start asks for its state.
    pub(crate) fn request(&self) -> ShellSnapshotRequest {
        ShellSnapshotRequest {
            scope_id: SCOPE_ID.to_owned(),
            shell: self.shell(),
        }
    }

    /// As a question about its state names it.
    pub(crate) fn snapshot_params(
        &self,
        cwd: PathUri,
        env: BTreeMap<String, String>,
        env_policy: Option<EnvPolicy>,
    ) -> SnapshotParams {
        let ShellSnapshotRequest { scope_id, shell } = self.request();
        SnapshotParams {
            scope_id,
            shell,
            cwd,
            env,
            env_policy,
            sandbox: None,
        }
    }

    /// One word is a script. More are one command: each is quoted where this shell would read it as something else
    /// than itself.
    pub(crate) fn script(&self, words: &[String]) -> String {
        match words {
            [script] => script.clone(),
            words => {
                let words = words.iter().enumerate();
                let words: Vec<String> = words.map(|(index, word)| self.word(word, index == 0)).collect();
                words.join(" ")
            }
        }
    }

    fn word(&self, word: &str, is_command: bool) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@%".contains(c);
        // An assignment is one where the command stands; in zsh `=name` is a path.
        let may_stand = |(index, c): (usize, char)| is_plain(c) || (c == '=' && index > 0 && !is_command);
        if !word.is_empty() && word.char_indices().all(may_stand) {
            return word.to_owned();
        }
        let inside = match self.kind {
            ShellKind::Fish => word.replace('\\', "\\\\").replace('\'', "\\'"),
            ShellKind::Bash | ShellKind::Zsh | ShellKind::Sh => word.replace('\'', "'\\''"),
        };
        format!("'{inside}'")
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn kind_of(shell: &str) -> Option<ShellKind> {
    match file_name(shell) {
        "dash" | "ash" | "mksh" | "lksh" => Some(ShellKind::Sh),
        // Versions beside each other: `bash-5.2`, `zsh-5.9`.
        name => ShellKind::from_name(name.split('-').next().unwrap_or(name)),
    }
}

fn found(name: &str, search: Option<&OsStr>) -> Option<String> {
    std::env::split_paths(search?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| Path::is_file(path))
        .map(|path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(asked: Option<&str>, own: &str, search: &str) -> Result<(ShellKind, String), NoShell> {
        let chosen = UserShell::choose(asked, own, Some(OsStr::new(search)));
        chosen.map(|shell| (shell.kind, shell.path))
    }

    #[test]
    fn a_shell_is_the_users_own_or_the_one_of_that_name_or_path() {
        let folder = tempfile::tempdir().unwrap();
        let search = folder.path().to_str().unwrap();
        std::fs::write(folder.path().join("zsh"), "").unwrap();
        let own = "/opt/bin/bash";
        let found = |kind, path: &str| Ok((kind, path.to_owned()));
        assert_eq!(choose(None, own, search), found(ShellKind::Bash, own));
        assert_eq!(choose(Some("bash"), own, search), found(ShellKind::Bash, own));
        let zsh = format!("{search}/zsh");
        assert_eq!(choose(Some("zsh"), own, search), found(ShellKind::Zsh, &zsh));
        for (path, kind) in [
            ("/x/zsh-5.9", ShellKind::Zsh),
            ("/x/dash", ShellKind::Sh),
            ("/x/sh", ShellKind::Sh),
            ("/x/fish", ShellKind::Fish),
        ] {
            assert_eq!(choose(Some(path), own, search), found(kind, path));
        }
    }

    #[test]
    fn what_is_no_such_shell_is_refused_by_its_name() {
        let unknown = choose(None, "/bin/tcsh", "");
        assert_eq!(unknown, Err(NoShell::Unknown("/bin/tcsh".to_owned())));
        let missing = choose(Some("fish"), "/bin/bash", "/nowhere");
        assert_eq!(missing, Err(NoShell::NotFound("fish".to_owned())));
    }

    #[test]
    fn one_word_is_a_script_and_more_are_a_command() {
        let script = |kind, words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            let path = String::new();
            UserShell { kind, path }.script(&words)
        };
        let bash = |words: &[&str]| script(ShellKind::Bash, words);
        assert_eq!(bash(&["ll && x=$y"]), "ll && x=$y");
        assert_eq!(bash(&["ll", "/a-b_c.d", "--x=y"]), "ll /a-b_c.d --x=y");
        assert_eq!(
            bash(&["a b", "", "it's", "$x", "*", "~", "A=1"]),
            r"'a b' '' 'it'\''s' '$x' '*' '~' A=1"
        );
        // What stands first is a command, whatever it looks like.
        assert_eq!(bash(&["A=1", "x"]), "'A=1' x");
        assert_eq!(script(ShellKind::Zsh, &["x", "=ls"]), "x '=ls'");
        assert_eq!(
            script(ShellKind::Fish, &["x", r"a\b's", "(y)"]),
            r"x 'a\\b\'s' '(y)'"
        );
    }
}
