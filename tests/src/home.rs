//! The home of a user: startup files, and commands that ask for a snapshot of the user's shell.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::launch::{Launch, file_uri, program};

/// A shell, as a request names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shell {
    /// Its kind.
    pub name: &'static str,
    /// Its program.
    pub path: &'static str,
}

/// GNU bash.
pub const BASH: Shell = Shell {
    name: "bash",
    path: "/bin/bash",
};
/// zsh.
pub const ZSH: Shell = Shell {
    name: "zsh",
    path: "/usr/bin/zsh",
};
/// dash, on Debian.
pub const SH: Shell = Shell {
    name: "sh",
    path: "/bin/sh",
};
/// fish.
pub const FISH: Shell = Shell {
    name: "fish",
    path: "/usr/bin/fish",
};

/// A home of its own, gone with the test. It is the working directory of its commands too.
#[derive(Debug)]
pub struct Home(tempfile::TempDir);

impl Home {
    /// One with these files: path below it, and text. A text that begins with `#!` is executable.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn new(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().expect("a directory"));
        for (name, text) in files {
            home.write(name, text);
        }
        home
    }

    /// Where it is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.0.path()
    }

    /// Where a file in it is.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    /// Writes a file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("in the home")).expect("a directory");
        fs::write(&path, text).expect("written");
        if text.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        }
    }

    /// How many lines a file has; none if it is not there.
    #[must_use]
    pub fn lines(&self, name: &str) -> usize {
        fs::read_to_string(self.path(name)).map_or(0, |text| text.lines().count())
    }

    /// Makes a FIFO that a startup file can wait at: `read -r _ <~/NAME`.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn gate(&self, name: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let made = rustix::fs::mknodat(
            rustix::fs::CWD,
            self.path(name),
            rustix::fs::FileType::Fifo,
            mode,
            0,
        );
        made.expect("a FIFO");
    }

    /// Waits until somebody waits at the gate, and lets one through.
    ///
    /// # Panics
    /// When the gate is none.
    pub fn let_through(&self, name: &str) {
        let gate = fs::OpenOptions::new().write(true).open(self.path(name));
        gate.expect("a gate").write_all(b"\n").expect("somebody waits");
    }

    /// What a login session there starts from.
    #[must_use]
    pub fn variables(&self) -> Value {
        json!({
            "HOME": self.dir(), "USER": "tester", "LOGNAME": "tester",
            "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "dumb", "LANG": "C.UTF-8",
        })
    }

    /// A command of that shell, with a snapshot.
    #[must_use]
    pub fn command(&self, shell: Shell, script: &str) -> Launch {
        program(&[shell.path, "-lc", script])
            .set("env", self.variables())
            .cwd(self.dir())
            .set("shellSnapshot", snapshot("scope", shell))
    }

    /// Params of the methods of a snapshot: the same one.
    #[must_use]
    pub fn params(&self, shell: Shell) -> Value {
        let mut params = snapshot("scope", shell);
        params["cwd"] = json!(file_uri(self.dir()));
        params["env"] = self.variables();
        params
    }
}

/// What asks for a snapshot in a start.
#[must_use]
pub fn snapshot(scope: &str, shell: Shell) -> Value {
    json!({"scopeId": scope, "shell": {"name": shell.name, "path": shell.path}})
}
