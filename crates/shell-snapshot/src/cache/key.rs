//! What a snapshot depends on.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use exec_process::environment::{Environment, OF_ONE_CALL};
use exec_protocol::EnvPolicy;

use crate::{Request, ShellKind};

/// What a snapshot depends on; files aside, the shell's own among them: they are watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    scope: String,
    shell: ShellKind,
    path: PathBuf,
    cwd: PathBuf,
    policy: Option<EnvPolicy>,
    sandbox: Option<String>,
    /// What startup files can see, without what is another's in each call.
    environment: Environment,
}

/// Whose startup files: whatever the directory and the rest of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    pub(super) scope: String,
    shell: ShellKind,
    path: PathBuf,
    /// HOME and ZDOTDIR.
    homes: [Option<OsString>; 2],
}

impl Key {
    /// The key of a request.
    pub(crate) fn new(request: &Request) -> Self {
        let mut environment = request.environment.clone();
        for name in OF_ONE_CALL {
            environment.remove(OsStr::new(name));
        }
        Self {
            scope: request.scope.clone(),
            shell: request.shell,
            path: request.path.clone(),
            cwd: request.cwd.clone(),
            policy: request.policy.clone(),
            sandbox: request.sandbox.clone(),
            environment,
        }
    }

    pub(crate) fn scope(&self) -> &str {
        &self.scope
    }

    /// The same without variables that were found to make no difference.
    pub(super) fn without(mut self, names: &[OsString]) -> Self {
        for name in names {
            self.environment.remove(name);
        }
        self
    }

    /// The one variable in which the two differ, value or presence; `None`: they differ in more, or not at all.
    pub(super) fn lone_difference(&self, other: &Self) -> Option<OsString> {
        let (mine, others) = (&self.environment, &other.environment);
        let changed = mine
            .iter()
            .filter(|(name, value)| others.get(*name) != Some(*value));
        let gone = others.iter().filter(|(name, _)| !mine.contains_key(*name));
        let mut names = changed.chain(gone).map(|(name, _)| name);
        let name = names.next().filter(|_| names.next().is_none())?;
        let rest = |key: &Self| Self {
            environment: Environment::new(),
            ..key.clone()
        };
        (rest(self) == rest(other)).then(|| name.clone())
    }

    pub(super) fn home(&self) -> Home {
        let variable = |name| self.environment.get(OsStr::new(name)).cloned();
        Home {
            scope: self.scope.clone(),
            shell: self.shell,
            path: self.path.clone(),
            homes: [variable("HOME"), variable("ZDOTDIR")],
        }
    }
}
