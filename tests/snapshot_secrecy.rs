//! What a capture finds is in no file, no command line, no log, no metric, no span and no answer.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use exec_tests::home::Shell;
use exec_tests::http::{Collector, Endpoint, Manner};
use exec_tests::server::{Ending, PATIENCE};
use exec_tests::{BASH, FISH, Home, SH, Server, ZSH, ours_only, target};
use serde_json::json;

/// A word that nobody has said before.
fn secret() -> String {
    let mut random = [0; 16];
    let mut source = fs::File::open("/dev/urandom").expect("random bytes");
    source.read_exact(&mut random).expect("random bytes");
    random
        .iter()
        .fold("s".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    memchr::memmem::find(bytes, secret.as_bytes()).is_some()
}

/// A startup file with a secret in everything that is kept.
fn startup_text(shell: Shell, secret: &str) -> String {
    let bourne = format!(
        "export EXPORTED='{secret}-exported'\nPLAIN='{secret}-plain'\nalias known='echo {secret}-alias'\n\
         tell() {{ echo {secret}-function; }}\n# {secret}-comment\ntrap ': {secret}-trap' USR1\n"
    );
    match shell.name {
        "bash" => format!(
            "{bourne}list=(1 '{secret}-list')\ndeclare -A map=([key]='{secret}-map')\nreadonly FIXED='{secret}-fixed'\n\
             trap ': {secret}-error' ERR\nexported() {{ echo {secret}-exported-function; }}\nexport -f exported\n"
        ),
        "zsh" => format!(
            "{bourne}list=(1 '{secret}-list')\ntypeset -A map=(key '{secret}-map')\nalias -g GLOBAL='{secret}-global'\n\
             alias -s suffix='echo {secret}-suffix'\nhash -d named=/{secret}-folder\n"
        ),
        "fish" => format!(
            "set -gx EXPORTED '{secret}-exported'\nset -g PLAIN '{secret}-plain' '{secret}-list'\n\
             alias known 'echo {secret}-alias'\nfunction tell; echo {secret}-function; end\nabbr short '{secret}-abbreviation'\n"
        ),
        _ => bourne,
    }
}

const SHELLS: [(Shell, &str); 4] = [
    (BASH, ".bash_profile"),
    (ZSH, ".zshrc"),
    (SH, ".profile"),
    (FISH, ".config/fish/config.fish"),
];

/// A daemon that tells all it can, and where.
struct Talkative {
    server: Server,
    folder: Home,
    collector: Collector,
}

impl Talkative {
    fn start() -> Self {
        let folder = Home::new(&[]);
        for name in ["tmp", "run", "cache"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        let collector = Collector::start(Manner::Takes);
        // All of its log, whatever it comes to.
        let command = format!(
            "exec '{}' --metrics-listen unix:{} 2>'{}'",
            target::server_command().join("' '"),
            folder.path("metrics.sock").display(),
            folder.path("log").display()
        );
        let place = |name: &str| folder.path(name).to_str().unwrap().to_owned();
        let server = Server::builder()
            .env("RUST_LOG", "trace")
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
            .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
            .env("TMPDIR", &place("tmp"))
            .env("XDG_RUNTIME_DIR", &place("run"))
            .env("XDG_CACHE_HOME", &place("cache"))
            .command(vec!["/bin/sh".into(), "-c".into(), command])
            .start();
        server.ok("initialize", json!({"clientName": "exec-tests"}));
        server.notify("initialized", json!({}));
        Self {
            server,
            folder,
            collector,
        }
    }

    /// Ends the session; then nothing of what was told, or is left on disk, may hold the secret.
    #[track_caller]
    fn told_nothing_of(self, secret: &str, told_to_be: &str) {
        let page = Endpoint::Unix(self.folder.path("metrics.sock"))
            .get("/metrics")
            .body;
        assert!(
            page.contains("codex_shell_snapshot_command"),
            "it tells of snapshots: {page}"
        );
        assert!(!page.contains(secret), "a metric: {page}");
        for message in self.server.messages_from(0) {
            assert!(!message.to_string().contains(secret), "an answer: {message}");
        }
        self.server.close_stdin();
        assert_eq!(self.server.await_end(PATIENCE), Some(Ending::Exit(0)));
        let posts = self.collector.posts();
        let is_capture = |body: &[u8]| {
            memchr::memmem::find(body, b"codex.exec_server.process_capture_shell_snapshot").is_some()
        };
        assert!(
            posts.iter().any(|post| is_capture(&post.body)),
            "it tells of captures"
        );
        for post in &posts {
            assert!(
                !holds(&post.body, secret),
                "{}",
                String::from_utf8_lossy(&post.body)
            );
        }
        let log = fs::read_to_string(self.folder.path("log")).unwrap();
        assert!(log.contains(told_to_be), "{told_to_be}: {log}");
        assert!(!log.contains(secret), "the log: {log}");
        assert_eq!(found_on_disk(self.folder.dir(), secret, 6), Vec::<PathBuf>::new());
    }
}

/// Files and links below a folder that hold the secret, or have it in their names.
fn found_on_disk(folder: &Path, secret: &str, depth: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        let has = |text: &OsStr| holds(text.as_bytes(), secret);
        let is_found = has(&entry.file_name())
            || kind.is_symlink() && fs::read_link(&path).is_ok_and(|to| has(to.as_os_str()))
            || kind.is_file() && fs::read(&path).is_ok_and(|bytes| holds(&bytes, secret));
        if is_found {
            found.push(path);
        } else if kind.is_dir() && depth > 0 {
            found.extend(found_on_disk(&path, secret, depth - 1));
        }
    }
    found
}

/// Looks at every command line on the machine again and again until told to stop: those that held the secret.
fn watch_command_lines(secret: &str, stop: &AtomicBool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            if !entry.file_name().as_bytes().iter().all(u8::is_ascii_digit) {
                continue;
            }
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if holds(&line, secret) {
                found.insert(String::from_utf8_lossy(&line).replace('\0', " "));
            }
        }
    }
    found
}

/// Folders where others' files may be too: what anybody may write, and where a daemon would put what it keeps.
fn shared_places(home: &Path) -> Vec<(PathBuf, u32)> {
    vec![
        (home.to_owned(), 6),
        ("/dev/shm".into(), 3),
        ("/run".into(), 2),
        ("/var/tmp".into(), 2),
    ]
}

#[test]
fn a_captured_value_is_nowhere_but_in_commands() {
    ours_only!();
    for (shell, file) in SHELLS {
        let secret = secret();
        // It waits while we look.
        let text = format!("{}read -r _ <~/gate\n", startup_text(shell, &secret));
        let text = if shell == FISH {
            text.replace("read -r _ <", "read _ <")
        } else {
            text
        };
        let home = Home::new(&[(file, &text)]);
        home.gate("gate");
        let daemon = Talkative::start();
        let server = &daemon.server;
        let stop = AtomicBool::new(false);
        let command_lines = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| watch_command_lines(&secret, &stop));
            let prewarm = server.post("shellSnapshot/prewarm", home.params(shell));
            home.let_through("gate");
            assert!(server.reply(&prewarm)["result"].is_object(), "{shell:?}");
            // It lives, with all of the state, while we look.
            let process = server.spawn(home.command(shell, "echo begun; cat; tell >~/told").pipe_stdin());
            process.await_output(b"begun\n");
            let told = server.ok("shellSnapshot/describe", home.params(shell));
            assert_eq!(told["availability"], "prewarm_ready", "{told}");
            assert!(
                told["snapshot"]["functions"].to_string().contains("tell"),
                "{told}"
            );
            let mut on_disk = Vec::new();
            for (place, depth) in shared_places(home.dir()) {
                on_disk.extend(found_on_disk(&place, &secret, depth));
            }
            on_disk.extend(found_on_disk(daemon.folder.dir(), &secret, 6));
            assert_eq!(on_disk, [home.path(file)], "{shell:?}");
            process.ask("closeStdin", json!({}));
            assert_eq!(process.closed(), 0, "{}", process.text());
            // What it prints is what it is told to print.
            assert_eq!(process.text(), "begun\n", "{shell:?}");
            assert_eq!(
                fs::read_to_string(home.path("told")).unwrap(),
                format!("{secret}-function\n")
            );
            stop.store(true, Ordering::Relaxed);
            watcher.join().expect("it looks")
        });
        assert!(command_lines.is_empty(), "{shell:?}: {command_lines:?}");
        daemon.told_nothing_of(&secret, "INFO");
    }
}

#[test]
fn a_startup_file_that_fails_with_a_value_on_its_lips_tells_nobody() {
    ours_only!();
    for (shell, file) in SHELLS {
        let secret = secret();
        // What it prints and what the shell says of its mistakes goes nowhere.
        let text = format!(
            "{}echo {secret}-printed; echo {secret}-error >&2\n{secret}-not-found\n(exit 3\n",
            startup_text(shell, &secret)
        );
        for (mistake, text, told) in [
            ("syntax", text.clone(), "INFO"),
            (
                "exit",
                text.replace("(exit 3\n", "exit 3\n"),
                "a shell's state could not be captured",
            ),
        ] {
            let home = Home::new(&[(file, &text)]);
            let daemon = Talkative::start();
            let (_, output) = daemon.server.run(home.command(shell, "echo out"));
            let output = String::from_utf8_lossy(&output).into_owned();
            assert!(
                output.starts_with("out\n") && !output.contains(&secret),
                "{shell:?}, {mistake}: {output}"
            );
            // fish goes on after an `exit` there.
            let told = if shell == FISH { "INFO" } else { told };
            daemon.told_nothing_of(&secret, told);
        }
    }
}
