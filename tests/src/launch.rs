//! The params of a `process/start`, in the making.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::target;

/// Params of a `process/start`. Without more: pipes, stdin at end of file, a small exact environment, cwd `/tmp`.
#[derive(Debug, Clone)]
pub struct Launch(Map<String, Value>);

/// PATH, HOME and LC_ALL: what a [`Launch`] gives unless told otherwise.
#[must_use]
pub fn base_env() -> Map<String, Value> {
    let mut env = Map::new();
    env.insert("PATH".into(), json!("/usr/local/bin:/usr/bin:/bin"));
    env.insert("HOME".into(), json!("/tmp"));
    env.insert("LC_ALL".into(), json!("C.UTF-8"));
    env
}

/// A program with arguments.
#[must_use]
pub fn program(argv: &[&str]) -> Launch {
    let mut params = Map::new();
    params.insert("argv".into(), json!(argv));
    params.insert("cwd".into(), json!("file:///tmp"));
    params.insert("env".into(), Value::Object(base_env()));
    params.insert("tty".into(), json!(false));
    params.insert("pipeStdin".into(), json!(false));
    params.insert("arg0".into(), Value::Null);
    Launch(params)
}

/// A shell script.
#[must_use]
pub fn sh(script: &str) -> Launch {
    program(&["/bin/sh", "-c", script])
}

/// A situation of the helper program (see `helpers/main.rs`).
#[must_use]
pub fn helper(args: &[&str]) -> Launch {
    let path = target::helper_path();
    let mut argv = vec![path.as_str()];
    argv.extend(args);
    program(&argv)
}

impl Launch {
    /// Sets any member.
    #[must_use]
    pub fn set(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.0.insert(member.into(), value.into());
        self
    }

    /// Leaves a member out.
    #[must_use]
    pub fn without(mut self, member: &str) -> Self {
        self.0.remove(member);
        self
    }

    /// The process's id; without, the server handle makes one.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        self.set("processId", id)
    }

    /// On a terminal.
    #[must_use]
    pub fn tty(self) -> Self {
        self.on(true)
    }

    /// On a terminal or on pipes.
    #[must_use]
    pub fn on(self, tty: bool) -> Self {
        self.set("tty", tty)
    }

    /// Stdin stays open for writes.
    #[must_use]
    pub fn pipe_stdin(self) -> Self {
        self.set("pipeStdin", true)
    }

    /// One more variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        if let Some(Value::Object(env)) = self.0.get_mut("env") {
            env.insert(name.into(), json!(value));
        }
        self
    }

    /// The working directory.
    #[must_use]
    pub fn cwd(self, path: &Path) -> Self {
        self.set("cwd", file_uri(path))
    }

    /// The params, with this id if none was set.
    #[must_use]
    pub fn params(mut self, id: &str) -> Value {
        self.0.entry("processId").or_insert_with(|| json!(id));
        Value::Object(self.0)
    }
}

/// The `file://` URI of a path.
#[must_use]
pub fn file_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte))
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
