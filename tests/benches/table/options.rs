//! What to measure, against whom, how often.

use std::path::{Path, PathBuf};

use crate::Error;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Measures an exec-server through its wire.

environment
  EXEC_SERVER=\"CMD ARGS\"   the server (default: exec-server beside this program's target folder)
  PEER=\"CMD ARGS\"          another one, measured in the same run

options
  --quick                  fewer rounds and samples: a look, not a figure to keep
  --rounds N               rounds (default 5, quick 2)
  --only NAME[,NAME]       initialize, spawn, output, round-trip, echo, memory, crowd,
                           snapshot, telemetry
  --markdown               print Markdown
  --record                 also write the table into README.md and docs/benchmarks.md";

/// What this run of the program is.
#[derive(Debug)]
pub(crate) enum Mode {
    /// The bench.
    Bench(Box<Options>),
    /// A floor: answers every request with `{}`.
    NullServer,
    /// A floor: reads, encodes and writes `bytes` bytes of a child.
    Relay {
        /// How many.
        bytes: u64,
    },
    /// Says what there is.
    Help,
}

/// Options of the bench.
#[derive(Debug)]
pub(crate) struct Options {
    /// The server under test: program and arguments.
    pub(crate) ours: Vec<String>,
    /// The server to compare with.
    pub(crate) peer: Option<Vec<String>>,
    /// How much of each.
    pub(crate) sizes: Sizes,
    /// The groups to measure; empty: all.
    pub(crate) only: Vec<String>,
    /// Markdown instead of text.
    pub(crate) markdown: bool,
    /// Write the table into the documents.
    pub(crate) record: bool,
    /// Figures of this run are not to be kept.
    pub(crate) quick: bool,
}

/// Rounds, and samples within one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) rounds: usize,
    pub(crate) initializes: usize,
    pub(crate) spawns: usize,
    pub(crate) output_bytes: u64,
    pub(crate) round_trips: usize,
    pub(crate) pipelined_requests: usize,
    pub(crate) echoes: usize,
    pub(crate) finished: usize,
    pub(crate) live: usize,
    pub(crate) crowd_samples: usize,
    pub(crate) snapshots: usize,
    pub(crate) captures: usize,
    pub(crate) telemetry_pairs: usize,
}

const FULL: Sizes = Sizes {
    rounds: 5,
    initializes: 20,
    spawns: 200,
    output_bytes: 200_000_000,
    round_trips: 3_000,
    pipelined_requests: 100_000,
    echoes: 400,
    finished: 200,
    live: 1_000,
    crowd_samples: 200,
    snapshots: 60,
    captures: 15,
    telemetry_pairs: 2_000,
};

const QUICK: Sizes = Sizes {
    rounds: 2,
    initializes: 5,
    spawns: 40,
    output_bytes: 40_000_000,
    round_trips: 500,
    pipelined_requests: 20_000,
    echoes: 80,
    finished: 200,
    live: 200,
    crowd_samples: 80,
    snapshots: 20,
    captures: 5,
    telemetry_pairs: 400,
};

/// Reads the arguments and the environment.
///
/// # Errors
/// An argument nobody knows.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Mode, Error> {
    let mut arguments = arguments.peekable();
    let mut options = Options {
        ours: command("EXEC_SERVER").map_or_else(built_server, Ok)?,
        peer: command("PEER"),
        sizes: FULL,
        only: Vec::new(),
        markdown: false,
        record: false,
        quick: false,
    };
    let mut rounds = None;
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            // cargo bench adds it.
            "--bench" => {}
            "--null-server" => return Ok(Mode::NullServer),
            "--relay" => {
                return Ok(Mode::Relay {
                    bytes: value()?.parse()?,
                });
            }
            "--help" | "-h" => return Ok(Mode::Help),
            "--quick" => options.quick = true,
            "--markdown" => options.markdown = true,
            "--record" => options.record = true,
            "--rounds" => rounds = Some(value()?.parse()?),
            "--only" => options.only.extend(value()?.split(',').map(str::to_owned)),
            other => return Err(format!("unknown argument {other}; --help tells what there is").into()),
        }
    }
    if options.quick {
        options.sizes = QUICK;
    }
    if let Some(rounds) = rounds {
        options.sizes.rounds = rounds;
    }
    Ok(Mode::Bench(Box::new(options)))
}

/// A command line in an environment variable, split at white space; a path in it starts at the workspace.
fn command(variable: &str) -> Option<Vec<String>> {
    let text = std::env::var(variable).ok()?;
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    // cargo bench runs this program in its package's folder, not where a person typed.
    if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
        *program = workspace().join(&program).to_string_lossy().into_owned();
    }
    (!words.is_empty()).then_some(words)
}

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// `target/release/exec-server`, seen from `target/release/deps/table-…`.
fn built_server() -> Result<Vec<String>, Error> {
    let here = std::env::current_exe()?;
    let server: PathBuf = here
        .parent()
        .and_then(|deps| deps.parent())
        .ok_or("this program is in no target folder; set EXEC_SERVER")?
        .join("exec-server");
    Ok(vec![server.to_string_lossy().into_owned()])
}
