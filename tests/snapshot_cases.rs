//! What startup files do, by shell, and what a command makes of it: the cases of `snapshot_cases/*.json`, each with a
//! home, a daemon and a working directory of its own.
//!
//! In a case's texts `@HOME@` and `@WORK@` stand for its home and its working directory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use exec_tests::launch::file_uri;
use exec_tests::{Launch, Running, Server, ours_only, program, target};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A home, and the commands that are run there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    id: String,
    /// What it is about.
    kind: String,
    /// What is worth knowing.
    #[serde(default, rename = "note")]
    _note: String,
    /// It waits out whole attempts: a test of its own runs it.
    #[serde(default)]
    heavy: bool,
    /// The shell's program, if it is not the usual one.
    shell_path: Option<String>,
    /// The home's name.
    #[serde(default = "home_name")]
    home_name: String,
    /// The working directory's name.
    #[serde(default = "work_name")]
    work_name: String,
    /// The daemon's environment, beside the usual.
    #[serde(default)]
    daemon_env: BTreeMap<String, String>,
    /// The requests' policy; without, one that gives everything of the daemon's.
    env_policy: Option<Value>,
    /// The requests have no policy: their `env` is everything.
    #[serde(default)]
    without_policy: bool,
    /// The requests' environment, beside HOME.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Symbolic links in the home.
    #[serde(default)]
    links: BTreeMap<String, String>,
    /// Files in the home.
    files: BTreeMap<String, String>,
    commands: Vec<Command>,
    /// What is looked at when the session is over.
    #[serde(default)]
    after: Vec<After>,
}

/// A command, and what must come of it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Command {
    script: String,
    /// What /bin/sh does first, in the working directory.
    before: Option<String>,
    /// Another shell's.
    shell: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    pipe_stdin: bool,
    /// Started together with the next one, if that is too.
    #[serde(default)]
    together: bool,
    stdout: Option<String>,
    stderr: Option<String>,
    exit: i64,
    #[serde(default)]
    stdout_has: Vec<String>,
    #[serde(default)]
    stdout_lacks: Vec<String>,
    #[serde(default)]
    stderr_has: Vec<String>,
    #[serde(default)]
    stderr_lacks: Vec<String>,
    /// From the request to the end of the command.
    max_ms: Option<u64>,
}

/// What /bin/sh prints when the session is over.
#[derive(Debug, Deserialize)]
struct After {
    sh: String,
    stdout: String,
}

/// How long a command may take that has no bound of its own.
const PATIENCE: Duration = Duration::from_secs(60);

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn home_name() -> String {
    "home".into()
}

fn work_name() -> String {
    "work".into()
}

fn program_of(shell: &str) -> &'static str {
    match shell {
        "bash" => "/bin/bash",
        "zsh" => "/usr/bin/zsh",
        "sh" => "/bin/sh",
        "fish" => "/usr/bin/fish",
        other => panic!("no shell {other}"),
    }
}

/// Bytes as text; what is not UTF-8 as `\xNN`.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk
            .invalid()
            .iter()
            .for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// The places of a case.
struct Stage<'a> {
    case: &'a Case,
    shell: &'static str,
    home: PathBuf,
    work: PathBuf,
    _root: tempfile::TempDir,
}

impl<'a> Stage<'a> {
    fn new(case: &'a Case, shell: &'static str) -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let stage = Self {
            case,
            shell,
            home: root.path().join(&case.home_name),
            work: root.path().join(&case.work_name),
            _root: root,
        };
        fs::create_dir_all(&stage.home).unwrap();
        fs::create_dir_all(&stage.work).unwrap();
        for (name, text) in &case.files {
            let (path, text) = (stage.home.join(name), stage.filled(text));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
            if text.starts_with("#!") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        for (name, to) in &case.links {
            let path = stage.home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(to, path).unwrap();
        }
        stage
    }

    fn filled(&self, text: &str) -> String {
        text.replace("@HOME@", self.home.to_str().unwrap())
            .replace("@WORK@", self.work.to_str().unwrap())
    }

    fn shell_path(&self) -> String {
        let given = self.case.shell_path.as_deref();
        given.map_or_else(|| program_of(self.shell).to_owned(), |path| self.filled(path))
    }

    fn usual_environment(&self) -> Map<String, Value> {
        let home = self.home.to_str().unwrap();
        let shell = self.shell_path();
        [
            ("PATH", PATH),
            ("HOME", home),
            ("USER", "tester"),
            ("LOGNAME", "tester"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("SHELL", &shell),
        ]
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .into_iter()
        .collect()
    }

    /// A daemon that has exactly the usual environment.
    fn daemon(&self) -> Server {
        let mut environment = self.usual_environment();
        for (name, value) in &self.case.daemon_env {
            environment.insert(name.clone(), json!(self.filled(value)));
        }
        let mut command = vec!["/usr/bin/env".to_owned(), "-i".to_owned()];
        let pairs = environment.iter();
        command.extend(pairs.map(|(name, value)| format!("{name}={}", value.as_str().unwrap())));
        command.extend_from_slice(target::server_command());
        let server = Server::builder().command(command).start();
        server.ok("initialize", json!({"clientName": "exec-tests"}));
        server.notify("initialized", json!({}));
        server
    }

    fn launch(&self, command: &Command) -> Launch {
        let (name, path) = match &command.shell {
            Some(shell) => (shell.as_str(), program_of(shell).to_owned()),
            None => (self.shell, self.shell_path()),
        };
        let mut environment = if self.case.without_policy {
            self.usual_environment()
        } else {
            Map::from_iter([("HOME".to_owned(), json!(self.home))])
        };
        for (name, value) in self.case.env.iter().chain(&command.env) {
            environment.insert(name.clone(), json!(self.filled(value)));
        }
        let cwd = self.filled(command.cwd.as_deref().unwrap_or("@WORK@"));
        let launch = program(&[&path, "-lc", &self.filled(&command.script)])
            .set("env", environment)
            .set("cwd", file_uri(Path::new(&cwd)))
            .set("pipeStdin", command.pipe_stdin)
            .set(
                "shellSnapshot",
                json!({"scopeId": "cases", "shell": {"name": name, "path": path}}),
            );
        if self.case.without_policy {
            return launch;
        }
        let usual = json!({"inherit": "all", "ignoreDefaultExcludes": true, "exclude": [], "set": {}, "includeOnly": []});
        launch.set("envPolicy", self.case.env_policy.clone().unwrap_or(usual))
    }

    fn sh(&self, script: &str) -> String {
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &self.filled(script)])
            .current_dir(&self.work)
            .env_clear()
            .envs([("PATH", PATH.as_ref()), ("HOME", self.home.as_os_str())])
            .output();
        readable(&output.expect("sh runs").stdout)
    }

    /// What is not as it must be.
    fn differences(&self, command: &Command, process: &Running<'_>, began: Instant) -> Vec<String> {
        let exit = process.closed_within(PATIENCE);
        let took = began.elapsed();
        let (stdout, stderr) = (
            readable(&process.stream("stdout")),
            readable(&process.stream("stderr")),
        );
        let mut wrong = Vec::new();
        for (what, is, expected) in [
            ("stdout", &stdout, &command.stdout),
            ("stderr", &stderr, &command.stderr),
        ] {
            if let Some(expected) = expected
                && *is != self.filled(expected)
            {
                wrong.push(format!("{what} is {is:?}, expected {expected:?}"));
            }
        }
        for (what, is, words, has) in [
            ("stdout", &stdout, &command.stdout_has, true),
            ("stdout", &stdout, &command.stdout_lacks, false),
            ("stderr", &stderr, &command.stderr_has, true),
            ("stderr", &stderr, &command.stderr_lacks, false),
        ] {
            for word in words.iter().map(|word| self.filled(word)) {
                if is.contains(&word) != has {
                    wrong.push(format!("{what} is {is:?}, {word:?} in it must be {has}"));
                }
            }
        }
        if exit != command.exit {
            wrong.push(format!(
                "exit code {exit}, expected {}, stderr {stderr:?}",
                command.exit
            ));
        }
        if let Some(limit) = command.max_ms.map(Duration::from_millis)
            && took > limit
        {
            wrong.push(format!("took {took:?}, at most {limit:?} expected"));
        }
        wrong
    }
}

fn run(case: &Case, shell: &'static str) -> Vec<String> {
    let stage = Stage::new(case, shell);
    let server = stage.daemon();
    let mut wrong = Vec::new();
    let is_one_group = |a: &Command, b: &Command| a.together && b.together;
    for group in case.commands.chunk_by(is_one_group) {
        for command in group {
            if let Some(script) = &command.before {
                stage.sh(script);
            }
        }
        let began = Instant::now();
        let started: Vec<_> = group
            .iter()
            .map(|command| server.spawn_later(stage.launch(command)))
            .collect();
        for (command, (process, start)) in group.iter().zip(&started) {
            let reply = server.reply_within(start, PATIENCE);
            let found = match reply.get("error") {
                Some(error) => vec![format!("was not started: {error}")],
                None => stage.differences(command, process, began),
            };
            let told = |what| format!("{} ({}): {:?}: {what}", case.id, case.kind, command.script);
            wrong.extend(found.into_iter().map(told));
        }
    }
    // Exit status 0, no process left behind.
    server.finish();
    for after in &case.after {
        let printed = stage.sh(&after.sh);
        if printed != after.stdout {
            wrong.push(format!(
                "{}: afterwards {printed:?}, expected {:?}",
                case.id, after.stdout
            ));
        }
    }
    wrong
}

/// Runs those cases, or the one that `SNAPSHOT_CASE` names.
fn run_all(shell: &'static str, text: &str, is_meant: impl Fn(usize, &Case) -> bool) {
    let cases: Vec<Case> = serde_json::from_str(text).expect("cases");
    let only = std::env::var("SNAPSHOT_CASE").ok();
    let mut wrong = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let is_asked = only.as_ref().is_none_or(|only| *only == case.id);
        if is_asked && is_meant(at, case) {
            let ran = std::panic::catch_unwind(|| run(case, shell));
            wrong.extend(ran.unwrap_or_else(|_| vec![format!("{}: panicked, see above", case.id)]));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

const BASH: &str = include_str!("snapshot_cases/bash.json");
const ZSH: &str = include_str!("snapshot_cases/zsh.json");
const SH: &str = include_str!("snapshot_cases/sh.json");
const FISH: &str = include_str!("snapshot_cases/fish.json");

#[test]
fn bash_first_half() {
    ours_only!();
    run_all("bash", BASH, |at, case| !case.heavy && at % 2 == 0);
}

#[test]
fn bash_second_half() {
    ours_only!();
    run_all("bash", BASH, |at, case| !case.heavy && at % 2 == 1);
}

#[test]
fn bash_startup_files_that_hang() {
    ours_only!();
    run_all("bash", BASH, |_, case| case.heavy);
}

#[test]
fn zsh() {
    ours_only!();
    run_all("zsh", ZSH, |_, _| true);
}

#[test]
fn sh() {
    ours_only!();
    run_all("sh", SH, |_, _| true);
}

#[test]
fn fish() {
    ours_only!();
    run_all("fish", FISH, |_, _| true);
}
