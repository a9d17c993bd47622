//! bash itself, with the whole state and with what a script needs of it: nobody can tell which.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::generated::Generator;
use crate::dialect::Try;
use crate::dialect::bash::tests::Home;
use crate::state::Captured;

/// For how long scripts are compared, in seconds, if not for [`SECONDS`].
const SECONDS_VARIABLE: &str = "EXEC_SERVER_DEMAND_SECONDS";
const SECONDS: u64 = 8;

/// Where the generator starts, if not at 1.
const SEED_VARIABLE: &str = "EXEC_SERVER_DEMAND_SEED";

const RC: &str = include_str!("differential.bashrc");

/// Behind each script: what it made of the shell, less what no two shells have in common.
const DUMP: &str = r#"
{ declare -p; set -o; shopt; trap -p; alias; umask; pwd; } 2>&1 | /usr/bin/grep -vE '^declare -[-a-zA-Z]* (BASHPID|EPOCHREALTIME|EPOCHSECONDS|LINENO|PPID|RANDOM|SECONDS|SRANDOM)(=|$)|^declare -- _="[0-9]+"$'
"#;

/// The programs that generated scripts may run: whatever comes of mutations, they do no harm.
const PROGRAMS: &[&str] = &[
    "bash", "cat", "env", "head", "seq", "sort", "tr", "uniq", "wc", "xargs", "mkdir", "touch", "basename",
];

/// How often a script is run both ways before a difference counts.
const TRIES: u32 = 8;

struct Shells {
    captured: Captured,
    /// The folders of the environment are there as long as this is.
    _home: Home,
    root: tempfile::TempDir,
}

/// What a shell did.
#[derive(Debug, PartialEq, Eq)]
struct Done {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Shells {
    fn new() -> Self {
        let home = Home::new(
            &[(".bashrc", RC)],
            &[
                ("FUNCNEST", "40"),
                ("PAYLOAD", "a[$(evil)]"),
                ("NAMED", "evil"),
                ("TIMEFORMAT", "timed"),
                ("COMPOUND", "([a[$(evil)]]=1)"),
                ("COMMAND", "evil now"),
                ("ASSIGNMENT", "PS4=$(evil)"),
            ],
        );
        let captured = home.capture(Try::Interactive).unwrap();
        let root = tempfile::tempdir().unwrap();
        let programs = root.path().join("bin");
        fs::create_dir(&programs).unwrap();
        for program in PROGRAMS {
            let found = ["/usr/bin", "/bin"]
                .iter()
                .map(|folder| Path::new(folder).join(program))
                .find(|path| path.exists())
                .unwrap();
            std::os::unix::fs::symlink(found, programs.join(program)).unwrap();
        }
        Self {
            captured,
            _home: home,
            root,
        }
    }

    /// What a script needs. `None`: all.
    fn part(&self, script: &str) -> Option<Vec<u8>> {
        let state = &self.captured.state;
        state.demand.as_ref().unwrap().cut(&state.file, script.as_bytes())
    }

    fn run(&self, state: &[u8], script: &str) -> Done {
        let work = self.root.path().join("work");
        match fs::remove_dir_all(&work) {
            Ok(()) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
        }
        fs::create_dir(&work).unwrap();
        fs::write(work.join("file"), "evil\na[$(evil)]\nPS4=x\n").unwrap();
        // The state closes the descriptor that the last part of its file's name says.
        let file: PathBuf = self.root.path().join("9");
        fs::write(&file, state).unwrap();
        let mut environment = self.captured.environment.clone();
        environment.insert("PATH".into(), self.root.path().join("bin").into());
        environment.insert("BASH_ENV".into(), file.into());
        let whole = [script, "\n", DUMP].concat();
        let output = Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", "5", "/bin/bash", "-c"])
            .arg(OsString::from(whole))
            .args(["bash", "first", "$(evil)"])
            .env_clear()
            .envs(&environment)
            .current_dir(&work)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Done {
            status: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Whether a script was proven; what differs, if something does.
    fn compare(&self, script: &str, differences: &mut String) -> bool {
        let Some(part) = self.part(script) else {
            return false;
        };
        // Processes side by side do not come in the same order each time.
        let mut tries = 0;
        let (whole, part) = loop {
            let (mut whole, mut part) = (
                self.run(&self.captured.state.file, script),
                self.run(&part, script),
            );
            tries += 1;
            // A loop without an end prints as often as it comes to.
            let is_endless = whole.status.is_none() && part.status.is_none();
            if whole == part || is_endless {
                return true;
            }
            if tries == TRIES {
                break (whole, part);
            }
            if tries == TRIES - 1 {
                whole.sort();
                part.sort();
                if whole == part {
                    break (whole, part);
                }
            }
        };
        if whole != part {
            writeln!(
                differences,
                "{script:?}\n  whole: {}\n  part:  {}",
                first_difference(&whole, &part),
                first_difference(&part, &whole)
            )
            .unwrap();
        }
        true
    }
}

impl Done {
    /// Of processes that write at once not even lines stay whole.
    fn sort(&mut self) {
        for text in [&mut self.stdout, &mut self.stderr] {
            let mut characters: Vec<char> = text.chars().collect();
            characters.sort_unstable();
            *text = characters.into_iter().collect();
        }
    }
}

/// The lines of the one that the other has not.
fn first_difference(one: &Done, other: &Done) -> String {
    let lines = |done: &Done| -> Vec<String> {
        done.stdout
            .lines()
            .chain(done.stderr.lines())
            .map(str::to_owned)
            .collect()
    };
    let others = lines(other);
    let own: Vec<String> = lines(one)
        .into_iter()
        .filter(|line| !others.contains(line))
        .take(5)
        .collect();
    format!("{:?} {own:?}", one.status)
}

#[test]
fn scripts_with_a_reason_see_no_difference() {
    let shells = Shells::new();
    let mut differences = String::new();
    let mut proven = 0;
    for script in super::generated::WRITTEN {
        proven += usize::from(shells.compare(script, &mut differences));
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(
        proven * 2 > super::generated::WRITTEN.len(),
        "only {proven} proven"
    );
}

#[test]
fn generated_scripts_see_no_difference() {
    let number =
        |name: &str, default: u64| std::env::var(name).map_or(default, |value| value.parse().unwrap());
    let until = Instant::now() + Duration::from_secs(number(SECONDS_VARIABLE, SECONDS));
    let mut generator = Generator::new(number(SEED_VARIABLE, 1));
    let shells = Shells::new();
    let mut differences = String::new();
    let (mut proven, mut all) = (0, 0);
    while Instant::now() < until && differences.len() < 10_000 {
        let script = generator.script();
        // Mutations ask for the numbers of processes, which are never the same.
        if ["$$", "$!"].iter().any(|process| script.contains(process)) {
            continue;
        }
        all += 1;
        proven += usize::from(shells.compare(&script, &mut differences));
    }
    assert!(differences.is_empty(), "{proven} of {all} proven:\n{differences}");
    assert!(proven * 10 > all, "only {proven} of {all} proven");
}
