//! Runs real shells: a home directory with startup files, a capture, and commands with and without it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use exec_process::environment::Environment;

use crate::Failure;
use crate::dialect::{Dialect, Try};
use crate::sections::{Frame, Sections};
use crate::state::{Captured, Transport};

const NONCE: &str = "0123456789abcdef0123456789abcdef";

/// The descriptor a capture is written to.
const STREAM: i32 = 200;

/// A home directory and a folder to work in, gone with the value.
pub(crate) struct Home {
    root: PathBuf,
}

impl Home {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("exec-snapshot-{}-{name}", std::process::id()));
        let home = Self { root };
        for folder in [home.path(), home.work()] {
            fs::create_dir_all(folder).unwrap();
        }
        for (file, text) in files {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        home
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    pub(crate) fn environment(&self) -> Environment {
        let home = self.path();
        [
            ("PATH", OsStr::new("/usr/local/bin:/usr/bin:/bin")),
            ("HOME", home.as_os_str()),
            ("USER", OsStr::new("tester")),
            ("LANG", OsStr::new("C.UTF-8")),
            ("TERM", OsStr::new("dumb")),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A shell that must be there: a test of it must not pass without it.
pub(crate) fn shell(path: &str) -> PathBuf {
    let path = PathBuf::from(path);
    assert!(
        path.exists(),
        "{} is missing: this test is about it",
        path.display()
    );
    path
}

/// Runs a capture and reads it.
pub(crate) fn capture(
    dialect: &dyn Dialect,
    shell: &Path,
    home: &Home,
    environment: &Environment,
    try_: Try,
) -> Result<Captured, Failure> {
    let stream = stream(dialect, shell, home, environment, try_);
    dialect.read(&Sections::read(&stream, NONCE)?, environment)
}

/// What a capture writes.
pub(crate) fn stream(
    dialect: &dyn Dialect,
    shell: &Path,
    home: &Home,
    environment: &Environment,
    try_: Try,
) -> Vec<u8> {
    let frame = Frame {
        nonce: NONCE.to_owned(),
        descriptor: STREAM,
    };
    let capture = dialect.capture(shell, try_, &frame, environment);
    // bash, because it can name descriptors of three digits.
    let mut words = vec![
        OsString::from(format!(
            "exec {STREAM}>&1 </dev/null >/dev/null 2>&1; exec \"$@\""
        )),
        "bash".into(),
    ];
    words.extend(capture.argv);
    let mut command = Command::new("/bin/bash");
    command
        .arg("-c")
        .args(words)
        .env_clear()
        .envs(environment)
        .envs(&capture.set);
    run(command, home).stdout
}

/// Runs a script with a snapshot: its environment and its state, and nothing else of the startup.
pub(crate) fn replay(
    dialect: &dyn Dialect,
    shell: &Path,
    home: &Home,
    captured: &Captured,
    transport: Transport,
    script: &OsStr,
    arguments: &[OsString],
) -> Output {
    let replay = dialect
        .replay(shell, &captured.state, transport, script, arguments)
        .expect("a replay");
    let file = home.root.join("state");
    fs::write(&file, &captured.state.file).unwrap();
    let mut environment = captured.environment.clone();
    environment.extend(replay.set);
    environment.retain(|name, _| {
        !replay.unset.contains(name) && !matches!(name.as_bytes(), b"PWD" | b"OLDPWD" | b"SHLVL" | b"_")
    });
    // Another name for the shell: what matters of it is its last part.
    let mut program = PathBuf::from(&replay.argv[0]);
    if let Some(name) = &replay.arg0 {
        let link = home.root.join(name);
        std::os::unix::fs::symlink(fs::canonicalize(&program).unwrap(), &link).unwrap();
        program = link;
    }
    let mut command = match transport {
        // dash, because it reads nothing that the environment names.
        Transport::File(descriptor) => {
            let mut command = Command::new("/bin/dash");
            command
                .args(["-c", &format!("exec {descriptor}<\"$0\"; unset PWD; exec \"$@\"")])
                .arg(&file)
                .arg(program);
            command
        }
        Transport::Environment => Command::new(program),
    };
    command.args(&replay.argv[1..]).env_clear().envs(&environment);
    run(command, home)
}

fn run(mut command: Command, home: &Home) -> Output {
    let mut child = command
        .current_dir(home.work())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let pid = child.id();
    let (done, end) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        // Nothing that a test starts outlives it by more.
        if end.recv_timeout(Duration::from_secs(20)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = Command::new("/bin/kill")
                .args(["-KILL", "--", &format!("-{pid}")])
                .status();
        }
    });
    let begun = Instant::now();
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    drop(done);
    guard.join().unwrap();
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "a shell did not come to an end"
    );
    output
}
