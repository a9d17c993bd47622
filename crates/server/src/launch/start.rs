//! From a start request to a command and the shell state it starts from, as one list a reader can check. The sandbox
//! takes its place here.

use std::time::Duration;

use bytes::Bytes;
use exec_process::environment::{self, Environment};
use exec_process::{Command, InvalidCommand, Stdio, Timeouts};
use exec_protocol::ExecParams;
use exec_protocol::envelope::Trace;
use exec_protocol::process::{ResourceLimits, TerminalSize};
use exec_protocol::sandbox::SandboxRequest;
use exec_protocol::snapshot::SnapshotParams;
use exec_shell_snapshot::Request;

use super::snapshot::{Asked, snapshot_request};

/// The window of a terminal whose size was not given.
const DEFAULT_SIZE: TerminalSize = TerminalSize { rows: 24, cols: 80 };

/// Why a start request makes no command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LaunchError {
    /// A member that is wrong.
    #[error(transparent)]
    Invalid(#[from] InvalidCommand),
    /// A member that asks for what this server does not have: it is refused, never left out.
    #[error("{member}: unsupported: {reason}")]
    Unsupported {
        /// Its path.
        member: &'static str,
        /// What is missing, and what would do.
        reason: &'static str,
    },
}

/// What a start request comes to.
#[derive(Debug)]
pub(crate) struct Launch {
    /// What is started, unless a snapshot rewrites it.
    pub(crate) command: Command,
    /// The shell state it is to start from.
    pub(crate) snapshot: Option<Request>,
}

/// Prepares commands.
#[derive(Debug)]
pub(crate) struct Launcher {
    /// The daemon's own environment.
    own: Environment,
}

impl Launcher {
    pub(crate) fn new(own: Environment) -> Self {
        Self { own }
    }

    /// Makes the command of a start request. What execve(2) would not take (argv, arg0, cwd) is refused by
    /// whoever starts it.
    ///
    /// # Errors
    /// The first member that is wrong, or that cannot be honoured.
    pub(crate) fn prepare(&self, params: ExecParams, trace: Option<&Trace>) -> Result<Launch, LaunchError> {
        refuse_sandbox(params.sandbox.as_ref())?;
        refuse_managed_network(&params)?;
        let environment = environment::prepare(
            &self.own,
            params.env_policy.as_ref(),
            &params.env,
            params.metadata.as_ref(),
            trace,
        )?;
        let stdio = stdio(params.tty, params.pipe_stdin, params.size)?;
        let timeouts = Timeouts {
            total: at_least_one("timeoutMs", params.timeout_ms)?.map(Duration::from_millis),
            idle: at_least_one("idleTimeoutMs", params.idle_timeout_ms)?.map(Duration::from_millis),
            grace: params.grace_ms.map(Duration::from_millis),
        };
        let snapshot = match &params.shell_snapshot {
            Some(asked) => {
                let asked = Asked {
                    member: "shellSnapshot.",
                    scope_id: &asked.scope_id,
                    shell: &asked.shell,
                    cwd: &params.cwd,
                    env: &params.env,
                    env_policy: params.env_policy.as_ref(),
                    sandbox: params.sandbox.as_ref(),
                };
                Some(snapshot_request(asked, environment.clone())?)
            }
            None => None,
        };
        let command = Command {
            argv: params.argv.into_iter().map(Into::into).collect(),
            arg0: params.arg0.map(Into::into),
            cwd: params.cwd.into_path(),
            environment,
            stdio,
            input: params.stdin.map(|stdin| Bytes::from(stdin.0)).unwrap_or_default(),
            timeouts,
            limits: limits(params.limits)?,
            inherited: Vec::new(),
        };
        Ok(Launch { command, snapshot })
    }

    /// The request for shell state that commands with these params would make.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub(crate) fn prepare_snapshot(&self, params: &SnapshotParams) -> Result<Request, LaunchError> {
        refuse_sandbox(params.sandbox.as_ref())?;
        let policy = params.env_policy.as_ref();
        let environment = environment::prepare(&self.own, policy, &params.env, None, None)?;
        let asked = Asked {
            member: "",
            scope_id: &params.scope_id,
            shell: &params.shell,
            cwd: &params.cwd,
            env: &params.env,
            env_policy: policy,
            sandbox: params.sandbox.as_ref(),
        };
        Ok(snapshot_request(asked, environment)?)
    }
}

/// A sandbox is applied in full or refused, never left out.
fn refuse_sandbox(sandbox: Option<&SandboxRequest>) -> Result<(), LaunchError> {
    if sandbox.is_some_and(|sandbox| !sandbox.is_disabled()) {
        return Err(LaunchError::Unsupported {
            member: "sandbox",
            reason: "this server has no sandbox yet; leave `sandbox` out, or say \
                     `permissions: {type: \"disabled\"}`",
        });
    }
    Ok(())
}

/// `managedNetwork` without its enforcement asks for nothing.
fn refuse_managed_network(params: &ExecParams) -> Result<(), LaunchError> {
    if params.enforce_managed_network == Some(true) {
        return Err(LaunchError::Unsupported {
            member: "enforceManagedNetwork",
            reason: "this server has no managed network yet",
        });
    }
    Ok(())
}

fn stdio(tty: bool, pipe_stdin: bool, size: Option<TerminalSize>) -> Result<Stdio, InvalidCommand> {
    match (tty, size) {
        (true, size) => {
            let size = size.unwrap_or(DEFAULT_SIZE);
            match size.member_out_of_range() {
                Some(member) => Err(invalid(&format!("size.{member}"), TerminalSize::RANGE)),
                None => Ok(Stdio::Terminal { size }),
            }
        }
        (false, Some(_)) => Err(invalid("size", "only a terminal has one: give `tty: true`")),
        (false, None) => Ok(Stdio::Pipes {
            keep_stdin: pipe_stdin,
        }),
    }
}

fn limits(limits: Option<ResourceLimits>) -> Result<ResourceLimits, InvalidCommand> {
    let limits = limits.unwrap_or_default();
    at_least_one("limits.memoryBytes", limits.memory_bytes)?;
    at_least_one("limits.cpuSeconds", limits.cpu_seconds)?;
    at_least_one("limits.processes", limits.processes)?;
    at_least_one("limits.openFiles", limits.open_files)?;
    Ok(limits)
}

fn at_least_one(member: &str, value: Option<u64>) -> Result<Option<u64>, InvalidCommand> {
    match value {
        Some(0) => Err(invalid(member, "at least 1 expected, or nothing for no limit")),
        value => Ok(value),
    }
}

fn invalid(member: &str, reason: &str) -> InvalidCommand {
    InvalidCommand {
        member: member.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exec_protocol::envelope::decode_params_text;
    use serde_json::{Value, json};

    fn prepare(changes: &Value) -> Result<Launch, LaunchError> {
        let mut params = json!({
            "processId": "p", "argv": ["true"], "cwd": "file:///", "env": {}, "tty": false
        });
        for (member, value) in changes.as_object().unwrap() {
            params[member] = value.clone();
        }
        let params = decode_params_text(Some(&params.to_string())).unwrap();
        Launcher::new(Environment::new()).prepare(params, None)
    }

    fn member_at_fault(changes: &Value) -> String {
        match prepare(changes).unwrap_err() {
            LaunchError::Invalid(InvalidCommand { member, .. }) => member,
            LaunchError::Unsupported { member, .. } => format!("unsupported {member}"),
        }
    }

    #[test]
    fn the_member_at_fault_is_named() {
        for (changes, member) in [
            (json!({"env": {"A=": ""}}), "env.A="),
            (json!({"size": {"rows": 1, "cols": 1}}), "size"),
            (json!({"tty": true, "size": {"rows": 0, "cols": 1}}), "size.rows"),
            (json!({"tty": true, "size": {"rows": 1, "cols": 0}}), "size.cols"),
            (json!({"timeoutMs": 0}), "timeoutMs"),
            (json!({"idleTimeoutMs": 0}), "idleTimeoutMs"),
            (json!({"limits": {"memoryBytes": 0}}), "limits.memoryBytes"),
            (json!({"limits": {"openFiles": 0}}), "limits.openFiles"),
            (
                json!({"enforceManagedNetwork": true}),
                "unsupported enforceManagedNetwork",
            ),
        ] {
            assert_eq!(member_at_fault(&changes), member, "{changes}");
        }
    }

    #[test]
    fn stdin_is_a_terminal_a_pipe_or_ends() {
        for (tty, pipe_stdin, expected) in [
            (true, false, Stdio::Terminal { size: DEFAULT_SIZE }),
            (true, true, Stdio::Terminal { size: DEFAULT_SIZE }),
            (false, true, Stdio::Pipes { keep_stdin: true }),
            (false, false, Stdio::Pipes { keep_stdin: false }),
        ] {
            assert_eq!(stdio(tty, pipe_stdin, None), Ok(expected));
        }
    }
}
