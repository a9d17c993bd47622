//! A command that starts from the user's shell state, and the capture of that state.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Contest, Round, in_turns, milliseconds};
use crate::Error;
use crate::client::Server;
use crate::figures::{Figure, Subject};
use crate::homes;
use crate::messages::{Descriptors, Shell, ShellCommand};

/// Samples that are not kept.
const WARM_UP: usize = 10;

/// Commands of a user whose snapshot is warm.
struct Commands {
    figure: Figure,
    shell: &'static str,
    home: fn(&Path) -> io::Result<()>,
    /// Ends with 0 only if the state is there.
    script: &'static str,
    /// The same work in a bare shell.
    floor: &'static str,
}

const COMMANDS: [Commands; 4] = [
    Commands {
        figure: Figure::SnapshotSmall,
        shell: "bash",
        home: homes::small_bash,
        script: homes::PROBE,
        floor: ":",
    },
    Commands {
        figure: Figure::SnapshotFew,
        shell: "bash",
        home: homes::large_bash,
        script: homes::PROBE,
        floor: ":",
    },
    Commands {
        figure: Figure::SnapshotAll,
        shell: "bash",
        home: homes::large_bash,
        // Which function runs is known only when it runs.
        script: "word=probe; $word",
        floor: ". ~/.bashrc; word=probe; $word",
    },
    Commands {
        figure: Figure::SnapshotZsh,
        shell: "zsh",
        home: homes::large_zsh,
        script: homes::PROBE,
        floor: ":",
    },
];

/// A server, and whose commands it runs.
struct User {
    // Ends before its home goes.
    server: Server,
    home: TempDir,
}

impl User {
    fn new(command: &[String], make: fn(&Path) -> io::Result<()>) -> Result<Self, Error> {
        let home = tempfile::tempdir()?;
        make(home.path())?;
        let server = Server::open_at(command, home.path())?;
        Ok(Self { server, home })
    }
}

/// One round.
///
/// # Errors
/// None: failures are told for each server.
pub(crate) fn measure(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    for commands in &COMMANDS {
        let what = commands.figure.name();
        let outcome = warm(contest, round, commands);
        round.attempt(what, Subject::Ours, outcome);
    }
    let outcome = captures(contest, round);
    round.attempt(Figure::SnapshotCapture.name(), Subject::Ours, outcome);
    Ok(())
}

fn warm(contest: &Contest<'_>, round: &mut Round<'_>, commands: &Commands) -> Result<(), Error> {
    let shell = installed(commands.shell)?;
    let mut subjects = Vec::new();
    for (subject, command) in with_floor(contest) {
        let outcome = User::new(command, commands.home).and_then(|mut user| {
            user.server
                .expect_success(&line(commands, &shell, subject, &user.home).start("first"))?;
            Ok(user)
        });
        match outcome {
            Ok(user) => subjects.push((subject, (subject, user))),
            Err(error) => round.attempt(commands.figure.name(), subject, Err(error)),
        }
    }
    let samples = in_turns(
        round,
        commands.figure.name(),
        &mut subjects,
        contest.sizes.snapshots + WARM_UP,
        |(subject, user), number| {
            let params = line(commands, &shell, *subject, &user.home).start(&format!("s{number}"));
            Ok(milliseconds(user.server.run_params(&params)?))
        },
    );
    for (subject, samples) in samples {
        round.add_median(commands.figure, subject, samples[WARM_UP..].to_vec());
    }
    Ok(())
}

/// What a subject is asked to run. The floor is this server without a snapshot, so that the difference is the
/// snapshot's alone.
fn line<'a>(commands: &Commands, shell: &'a Shell, subject: Subject, home: &'a TempDir) -> ShellCommand<'a> {
    let (flags, script, scope) = match subject {
        Subject::Floor => ("-c", commands.floor, None),
        Subject::Ours | Subject::Peer => ("-lc", commands.script, Some("bench")),
    };
    ShellCommand {
        shell,
        flags,
        script,
        home: home.path(),
        stdio: Descriptors::Pipes,
        scope,
    }
}

/// Captures, each in a scope of its own, against the startup they cannot do without. The peer has no method that
/// captures and does no more.
fn captures(contest: &Contest<'_>, round: &mut Round<'_>) -> Result<(), Error> {
    let shell = installed("bash")?;
    let mut subjects = Vec::new();
    for (subject, command) in with_floor(contest) {
        if subject != Subject::Peer {
            subjects.push((subject, (subject, User::new(command, homes::medium_bash)?)));
        }
    }
    let samples = in_turns(
        round,
        Figure::SnapshotCapture.name(),
        &mut subjects,
        contest.sizes.captures + 1,
        |(subject, user), number| {
            let scope = format!("scope {number}");
            let mut command = ShellCommand {
                shell: &shell,
                flags: "-lic",
                script: ":",
                home: user.home.path(),
                stdio: Descriptors::Terminal,
                scope: None,
            };
            if *subject == Subject::Floor {
                let params = command.start(&format!("c{number}"));
                return Ok(milliseconds(user.server.run_params(&params)?));
            }
            command.scope = Some(&scope);
            Ok(milliseconds(
                user.server
                    .timed_call("shellSnapshot/prewarm", &command.prewarm())?,
            ))
        },
    );
    for (subject, samples) in samples {
        round.add_median(Figure::SnapshotCapture, subject, samples[1..].to_vec());
    }
    Ok(())
}

/// The servers, and this one once more as the floor.
fn with_floor<'a>(contest: &Contest<'a>) -> Vec<(Subject, &'a [String])> {
    let ours = contest
        .servers
        .iter()
        .find(|(subject, _)| *subject == Subject::Ours);
    let floor = ours.map(|&(_, command)| (Subject::Floor, command));
    floor.into_iter().chain(contest.servers.iter().copied()).collect()
}

/// A shell, where systems have it.
fn installed(name: &'static str) -> Result<Shell, Error> {
    ["/bin", "/usr/bin", "/usr/local/bin"]
        .iter()
        .map(|folder| PathBuf::from(folder).join(name))
        .find(|path| path.exists())
        .map(|path| Shell { name, path })
        .ok_or_else(|| format!("{name} is not installed").into())
}
