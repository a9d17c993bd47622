//! What is asked of snapshots.

use std::collections::BTreeSet;
use std::path::PathBuf;

use exec_process::environment::Environment;
use exec_protocol::EnvPolicy;

use crate::ShellKind;
use crate::environment::Overrides;

/// Whose shell state, and where.
#[derive(Debug, Clone)]
pub struct Request {
    /// What snapshots are shared within.
    pub scope: String,
    /// The shell.
    pub shell: ShellKind,
    /// Its program.
    pub path: PathBuf,
    /// The working directory.
    pub cwd: PathBuf,
    /// The policy that the environment was prepared with.
    pub policy: Option<EnvPolicy>,
    /// The names in the request's `env`.
    pub env_names: BTreeSet<String>,
    /// The sandbox, as it stands in the request.
    pub sandbox: Option<String>,
    /// The prepared environment.
    pub environment: Environment,
}

impl Request {
    /// The variables that count more than those of a snapshot.
    pub(crate) fn stated(&self) -> Environment {
        let overrides = self.overrides();
        self.environment
            .iter()
            .filter(|(name, _)| overrides.has(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// What of it comes after a snapshot.
    pub(crate) fn overrides(&self) -> Overrides<'_> {
        Overrides {
            policy: self.policy.as_ref(),
            env_names: &self.env_names,
        }
    }
}
