//! The command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use exec_telemetry::logs::LogFormat;

use crate::{daemon, run};

/// Runs commands for a coding agent: JSON-RPC on stdin and stdout.
///
/// A frontend starts it and sends one JSON-RPC 2.0 message a line; the first is `initialize`. It starts
/// processes on pipes or a terminal, streams what they print, feeds them, and ends them with everything they
/// started. When its input ends, or its client is gone, it ends every process and exits.
///
/// To run a single command by hand: exec-server run -- CMD…
#[derive(Debug, Parser)]
#[command(name = "exec-server", version, args_conflicts_with_subcommands = true, after_help = ENVIRONMENT)]
pub(crate) struct Cli {
    #[command(flatten)]
    serve: Serve,
    #[command(subcommand)]
    command: Option<Command>,
}

const ENVIRONMENT: &str = "\
Environment:
  RUST_LOG  what is logged on stderr: warn (the default), info, debug, or a filter such as
            exec_server=debug,exec_process=info";

/// Options of the daemon.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Where the client is
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = Listen::Stdio)]
    pub(crate) listen: Listen,

    /// How log lines on stderr look
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub(crate) log_format: Format,

    /// Whether commands get a cgroup of their own where one is writable; without, their descendants are
    /// tracked by a subreaper
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Cgroup::Auto)]
    pub(crate) cgroup: Cgroup,

    /// Live on when the process that started the daemon ends, as long as stdin is open
    #[arg(long)]
    pub(crate) no_watch_parent: bool,
}

/// Where the client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listen {
    /// On stdin and stdout
    Stdio,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

impl From<Format> for LogFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}

/// Whether cgroups are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cgroup {
    /// Where one is writable
    Auto,
    /// Never
    Off,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a command through a daemon, as a person would
    Run(run::Args),
    /// The helper process that starts commands; the daemon starts it itself
    #[command(hide = true)]
    Warden,
}

impl Cli {
    /// Does what was asked.
    pub(crate) fn run(self) -> ExitCode {
        match self.command {
            None => {
                let Listen::Stdio = self.serve.listen;
                daemon::run(&self.serve)
            }
            Some(Command::Run(args)) => run::main(args),
            Some(Command::Warden) => exec_process::warden::run_replacement(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn bare_and_listen_stdio_are_the_same() {
        for line in [&["exec-server"][..], &["exec-server", "--listen", "stdio"]] {
            let cli = Cli::try_parse_from(line).unwrap();
            assert!(cli.command.is_none());
            assert_eq!(
                (cli.serve.listen, cli.serve.cgroup),
                (Listen::Stdio, Cgroup::Auto)
            );
        }
        assert!(Cli::try_parse_from(["exec-server", "--listen", "tcp"]).is_err());
        assert!(Cli::try_parse_from(["exec-server", "--cgroup", "off", "warden"]).is_err());
    }
}
