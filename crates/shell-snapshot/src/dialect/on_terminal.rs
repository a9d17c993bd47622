//! Runs a capture as the engine does, with nothing but the standard library's processes: a home, a terminal, a stream.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use exec_process::environment::Environment;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

use crate::Failure;
use crate::dialect::{Dialect, Try};
use crate::sections::{Frame, Sections};
use crate::state::{Captured, State, Transport};

/// A dialect whose shell is on this machine. Without it the tests about it fail, they do not pass.
pub(super) trait Installed: Dialect {
    const DIALECT: Self;
    const SHELL: &'static str;
    /// Variables of a capture that the tests keep from commands, as the engine does: they are the shell's own.
    const KEPT_BACK: &'static [&'static str] = &[];
}

/// A home with startup files of a shell, and a working directory.
pub(super) struct Home<D> {
    root: TempDir,
    pub(super) environment: Environment,
    dialect: D,
}

impl<D: Installed> Home<D> {
    pub(super) fn new(files: &[(&str, &str)], environment: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "work"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let mut home = Self {
            root,
            environment: Environment::new(),
            dialect: D::DIALECT,
        };
        for (path, content) in files {
            let path = home.home().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, home.placed(content)).unwrap();
            if content.starts_with("#!") {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(&path, mode).unwrap();
            }
        }
        let own_home = home.home().display().to_string();
        let base = [
            ("HOME", &own_home[..]),
            ("LANG", "C.UTF-8"),
            ("LOGNAME", "tester"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("SHELL", D::SHELL),
            ("TERM", "dumb"),
            ("USER", "tester"),
        ];
        for (name, value) in base.iter().chain(environment) {
            home.environment.insert(name.into(), home.placed(value).into());
        }
        home
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// The text with the folders' names in place of `@HOME@` and `@WORK@`.
    pub(super) fn placed(&self, text: &str) -> String {
        let (home, work) = (
            self.home().display().to_string(),
            self.work().display().to_string(),
        );
        text.replace("@HOME@", &home).replace("@WORK@", &work)
    }

    /// What the shell makes of its files.
    pub(super) fn capture(&self, try_: Try) -> Result<Captured, Failure> {
        assert!(
            Path::new(D::SHELL).exists(),
            "these tests are about {}, and it is not there",
            D::SHELL
        );
        let frame = frame();
        let command = self
            .dialect
            .capture(Path::new(D::SHELL), try_, &frame, &self.environment);
        let stream = self.root.path().join("stream");
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let side = ptsname(&terminal, Vec::new()).unwrap();
        let open = || {
            use std::os::unix::fs::OpenOptionsExt;
            let mut options = File::options();
            let noctty = rustix::fs::OFlags::NOCTTY.bits().cast_signed();
            Stdio::from(
                options
                    .read(true)
                    .write(true)
                    .custom_flags(noctty)
                    .open(OsStr::from_bytes(side.to_bytes()))
                    .unwrap(),
            )
        };
        // setsid makes the terminal the session's; the shell in front of it has the descriptor in place.
        let wrapper = format!("exec {}>\"$0\"; exec setsid -c \"$@\"", frame.descriptor);
        #[expect(
            clippy::zombie_processes,
            reason = "waited for below, also when it only stops"
        )]
        let shell = Command::new("/bin/bash")
            .args(["--norc", "--noprofile", "-c", &wrapper])
            .arg(&stream)
            .args(&command.argv)
            .env_clear()
            .envs(&self.environment)
            .current_dir(self.work())
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        // What it prints must go somewhere; reading ends with an error when the last descriptor of its side is closed.
        let mut printed = File::from(terminal);
        let reader = thread::spawn(move || drop(printed.read_to_end(&mut Vec::new())));
        let pid = Pid::from_child(&shell);
        let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
        if status.stopped() {
            kill_process(pid, Signal::KILL).unwrap();
            waitpid(Some(pid), WaitOptions::empty()).unwrap();
        }
        reader.join().unwrap();
        let stream = fs::read(stream).unwrap();
        self.dialect
            .read(&Sections::read(&stream, &frame.nonce)?, &self.environment)
    }

    /// A command with the state and the environment of a capture.
    pub(super) fn run(&self, captured: &Captured, transport: Transport, script: &OsStr) -> Output {
        self.run_state(&captured.state, &captured.environment, transport, script)
    }

    pub(super) fn run_state(
        &self,
        state: &State,
        environment: &Environment,
        transport: Transport,
        script: &OsStr,
    ) -> Output {
        self.run_keeping(state, environment, &Environment::new(), transport, script)
    }

    /// The same, with what tells the state which variables the request itself sets.
    pub(super) fn run_keeping(
        &self,
        state: &State,
        environment: &Environment,
        kept: &Environment,
        transport: Transport,
        script: &OsStr,
    ) -> Output {
        let replay = self
            .dialect
            .replay(Path::new(D::SHELL), state, transport, script, &[])
            .unwrap();
        let mut environment = environment.clone();
        environment.retain(|name, _| {
            !replay.unset.contains(name) && !D::KEPT_BACK.iter().any(|kept_back| name == kept_back)
        });
        environment.extend(replay.set);
        environment.extend(kept.clone());
        let file = self.root.path().join("state");
        fs::write(&file, replay.file.as_ref().unwrap_or(&state.file)).unwrap();
        let descriptor = matches!(transport, Transport::File(_));
        // Through env(1), which hands on an environment as it is; dash has the descriptor in place.
        let assignments = environment
            .iter()
            .map(|(name, value)| OsString::from_vec([name.as_bytes(), b"=", value.as_bytes()].concat()));
        Command::new("/bin/sh")
            .arg("-c")
            .arg(if descriptor {
                "exec 9<\"$0\"; exec \"$@\""
            } else {
                "exec \"$@\""
            })
            .arg(&file)
            .args(["/usr/bin/env", "-i"])
            .args(assignments)
            .args(&replay.argv)
            .env_clear()
            .current_dir(self.work())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

pub(super) fn frame() -> Frame {
    Frame {
        nonce: "0123456789abcdef0123456789abcdef".to_owned(),
        descriptor: 200,
    }
}

/// As a shell would tell it.
pub(super) fn status(output: &Output) -> i32 {
    output
        .status
        .code()
        .or_else(|| Some(128 + output.status.signal()?))
        .unwrap()
}
