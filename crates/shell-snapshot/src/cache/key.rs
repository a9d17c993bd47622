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

/// Whose startup files hang: whatever the directory and the rest of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Culprit {
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

    pub(super) fn culprit(&self) -> Culprit {
        let variable = |name| self.environment.get(OsStr::new(name)).cloned();
        Culprit {
            scope: self.scope.clone(),
            shell: self.shell,
            path: self.path.clone(),
            homes: [variable("HOME"), variable("ZDOTDIR")],
        }
    }
}
