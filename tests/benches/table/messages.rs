//! The few messages the bench sends, and what it looks for in those that come back.

use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::{Value, json};

use crate::Error;

/// No message but a chunk of output is longer.
const LONGEST_SMALL_LINE: usize = 2_000;
/// The environment of every command.
const ENVIRONMENT: &str = r#"{"PATH":"/usr/local/bin:/usr/bin:/bin","LC_ALL":"C.UTF-8"}"#;
/// The same, of those that have a home.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const LOCALE: &str = "C.UTF-8";

/// What the descriptors of a process are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Descriptors {
    Pipes,
    Terminal,
}

/// The answer to a request, known by its id.
#[derive(Debug)]
pub(crate) struct Reply(memmem::Finder<'static>);

impl Reply {
    /// The one to the request with this id.
    pub(crate) fn to(id: u64) -> Self {
        Self(memmem::Finder::new(format!("\"id\":{id}").as_bytes()).into_owned())
    }

    /// Whether this line is it.
    pub(crate) fn is(&self, line: &[u8]) -> bool {
        if line.len() > LONGEST_SMALL_LINE * 4 || memmem::find(line, b"\"method\":").is_some() {
            return false;
        }
        let after = |at: usize| line.get(at + self.0.needle().len());
        self.0
            .find(line)
            .is_some_and(|at| !after(at).is_some_and(u8::is_ascii_digit))
    }
}

/// Whether an answer is a result.
///
/// # Errors
/// It is an error: the line.
pub(crate) fn expect_result(line: &[u8]) -> Result<(), Error> {
    if memmem::find(line, b"\"error\":").is_some() {
        return Err(String::from_utf8_lossy(line).into_owned().into());
    }
    Ok(())
}

/// A request that every server answers at once, without doing anything.
pub(crate) const NOTHING: &str = r#"{"processId":"none"}"#;

/// A request, with its newline.
pub(crate) fn request_line(id: u64, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
}

/// Params of `process/start`, the same for every server.
pub(crate) fn start_params(id: &str, argv: &[&str], stdio: Descriptors) -> String {
    let argv = Value::from(argv);
    let tty = stdio == Descriptors::Terminal;
    format!(
        r#"{{"processId":"{id}","argv":{argv},"cwd":"file:///","env":{ENVIRONMENT},"tty":{tty},"pipeStdin":false,"arg0":null}}"#
    )
}

/// A shell by name and path.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
}

/// A user's command: the same for every server.
#[derive(Debug)]
pub(crate) struct ShellCommand<'a> {
    pub(crate) shell: &'a Shell,
    pub(crate) flags: &'a str,
    pub(crate) script: &'a str,
    pub(crate) home: &'a Path,
    pub(crate) stdio: Descriptors,
    /// The scope of its snapshot; none: without one.
    pub(crate) scope: Option<&'a str>,
}

impl ShellCommand<'_> {
    /// Params of `process/start`.
    pub(crate) fn start(&self, id: &str) -> String {
        let mut params = self.surroundings();
        params["processId"] = id.into();
        params["argv"] = json!([self.shell.path, self.flags, self.script]);
        params["tty"] = (self.stdio == Descriptors::Terminal).into();
        params["pipeStdin"] = false.into();
        params["arg0"] = Value::Null;
        if let Some(scope) = self.scope {
            params["shellSnapshot"] = json!({"scopeId": scope, "shell": self.name_and_path()});
        }
        params.to_string()
    }

    /// Params of `shellSnapshot/prewarm`, for what its `process/start` would be given.
    pub(crate) fn prewarm(&self) -> String {
        let mut params = self.surroundings();
        params["scopeId"] = self.scope.into();
        params["shell"] = self.name_and_path();
        params.to_string()
    }

    fn surroundings(&self) -> Value {
        json!({
            "cwd": "file:///",
            "env": {"PATH": PATH, "LC_ALL": LOCALE, "HOME": self.home, "TERM": "dumb"},
        })
    }

    fn name_and_path(&self) -> Value {
        json!({"name": self.shell.name, "path": self.shell.path})
    }
}

/// Whether a line is the end of a process with another status than 0.
pub(crate) fn is_failure(line: &[u8]) -> bool {
    is_about(line, "process/exited") && memmem::find(line, b"\"exitCode\":0").is_none()
}

/// Whether a line is a notification of this method; never one with much output.
pub(crate) fn is_about(line: &[u8], method: &str) -> bool {
    line.len() < LONGEST_SMALL_LINE && memmem::find(line, method.as_bytes()).is_some()
}

/// Whether a line is output of the echoing terminal.
pub(crate) fn is_echo(line: &[u8]) -> bool {
    is_about(line, "process/output") && memmem::find(line, b"\"processId\":\"echo\"").is_some()
}
