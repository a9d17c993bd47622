//! What a client asks of shell snapshots, checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use exec_process::InvalidCommand;
use exec_process::environment::Environment;
use exec_protocol::limits::MAX_SCOPE_ID_BYTES;
use exec_protocol::sandbox::SandboxRequest;
use exec_protocol::snapshot::Shell;
use exec_protocol::{EnvPolicy, PathUri};
use exec_shell_snapshot::{Request, ShellKind};

/// Whose shell state is asked for, as it came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The path of the member that holds `scope_id` and `shell`, with a dot, or nothing.
    pub(crate) member: &'a str,
    pub(crate) scope_id: &'a str,
    pub(crate) shell: &'a Shell,
    pub(crate) cwd: &'a PathUri,
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) env_policy: Option<&'a EnvPolicy>,
    pub(crate) sandbox: Option<&'a SandboxRequest>,
}

/// Checks it. `environment`: the prepared one.
///
/// # Errors
/// The scope's name is empty or too long, or the shell is none that is known.
pub(crate) fn snapshot_request(
    asked: Asked<'_>,
    environment: Environment,
) -> Result<Request, InvalidCommand> {
    let invalid = |member: &str, reason: String| InvalidCommand {
        member: format!("{}{member}", asked.member),
        reason,
    };
    let length = asked.scope_id.len();
    if !(1..=MAX_SCOPE_ID_BYTES).contains(&length) {
        let reason = format!("1 to {MAX_SCOPE_ID_BYTES} bytes expected, {length} given");
        return Err(invalid("scopeId", reason));
    }
    let Some(shell) = ShellKind::from_name(&asked.shell.name) else {
        let shown: String = asked.shell.name.chars().take(80).collect();
        let reason = format!("`bash`, `zsh`, `sh` or `fish` expected, {shown:?} given");
        return Err(invalid("shell.name", reason));
    };
    if asked.shell.path.is_empty() {
        return Err(invalid("shell.path", "a path expected".to_owned()));
    }
    Ok(Request {
        scope: asked.scope_id.to_owned(),
        shell,
        path: shell_path(asked.shell),
        cwd: asked.cwd.as_path().to_owned(),
        policy: asked.env_policy.cloned(),
        env_names: asked.env.keys().cloned().collect(),
        // It is written as it was read.
        sandbox: asked
            .sandbox
            .and_then(|sandbox| serde_json::to_string(sandbox).ok()),
        environment,
    })
}

fn shell_path(shell: &Shell) -> PathBuf {
    match shell.path_uri() {
        Some(uri) => uri.as_path().to_owned(),
        None => Path::new(&shell.path).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(scope_id: &str, name: &str, path: &str) -> Result<Request, String> {
        let shell = Shell {
            name: name.to_owned(),
            path: path.to_owned(),
        };
        let asked = Asked {
            member: "shellSnapshot.",
            scope_id,
            shell: &shell,
            cwd: &PathUri::root(),
            env: &BTreeMap::new(),
            env_policy: None,
            sandbox: None,
        };
        snapshot_request(asked, Environment::new()).map_err(|error| error.member)
    }

    #[test]
    fn the_member_at_fault_is_named() {
        let long = "x".repeat(MAX_SCOPE_ID_BYTES + 1);
        for (scope, name, path, member) in [
            ("", "bash", "/bin/bash", "shellSnapshot.scopeId"),
            (long.as_str(), "bash", "/bin/bash", "shellSnapshot.scopeId"),
            ("s", "tcsh", "/bin/tcsh", "shellSnapshot.shell.name"),
            ("s", "bash", "", "shellSnapshot.shell.path"),
        ] {
            assert_eq!(request(scope, name, path).unwrap_err(), member);
        }
        assert!(request(&long[1..], "bash", "/bin/bash").is_ok());
    }

    #[test]
    fn a_shell_is_named_by_path_or_uri() {
        for path in ["/bin/my shell", "file:///bin/my%20shell"] {
            let request = request("s", "sh", path).unwrap();
            assert_eq!(request.path, Path::new("/bin/my shell"));
        }
    }
}
