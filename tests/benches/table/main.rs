//! The table of `docs/benchmarks.md`: what this server costs, against bars, floors and another server.
//!
//! Every figure is measured through the wire by a blocking client that does next to nothing, in rounds; within
//! a round the subjects (this server, the peer, the floor) take turns, so that drift of the machine hits all.
//! What is compared is the median over rounds of the ratio within a round. Nothing here fails a build: a bar
//! that is missed is printed as missed.
//!
//! ```text
//! make bench                                   this server against its floors and bars
//! make bench PEER="other-server --its args"    and beside it another one
//! make bench BENCH_ARGS=--help                 the rest
//! ```
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "its output is the table, its progress on stderr"
)]

mod bars;
mod client;
mod figures;
mod floor;
mod homes;
mod lines;
mod machine;
mod measure;
mod messages;
mod options;
mod own_processes;
mod record;
mod report;
mod watchdog;

use std::process::ExitCode;

use options::{Mode, Options};

/// What stops the program: told to the person who started it.
type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let outcome = match options::parse(std::env::args().skip(1)) {
        Ok(Mode::NullServer) => floor::null_server::serve(),
        Ok(Mode::Relay { bytes }) => floor::relay::relay(bytes),
        Ok(Mode::Help) => {
            println!("{}", options::HELP);
            Ok(())
        }
        Ok(Mode::Bench(options)) => bench(&options),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(options: &Options) -> Result<(), Error> {
    let machine = machine::describe();
    let figures = measure::all(options)?;
    let report = report::Report::new(options, machine, &figures);
    if options.record {
        record::record(&report)?;
    }
    println!(
        "{}",
        if options.markdown {
            report.markdown()
        } else {
            report.text()
        }
    );
    Ok(())
}
