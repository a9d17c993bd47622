//! The command line.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use exec_telemetry::logs::LogFormat;

use super::{run, snapshot};
use crate::daemon;

/// Runs commands for a coding agent: JSON-RPC on stdin and stdout.
///
/// A frontend starts it and sends one JSON-RPC 2.0 message a line; the first is the request "initialize". It
/// starts processes on pipes or a terminal, streams what they print, feeds them, and ends them with everything
/// they started. When its input ends, or its client is gone, it ends every process and exits.
///
/// To run one command by hand: exec-server run -- COMMAND
///
/// To see what commands can be given of your own shell: exec-server snapshot
#[derive(Debug, Parser)]
#[command(
    name = "exec-server",
    version,
    override_usage = "exec-server [OPTIONS]\n       exec-server run [OPTIONS] [--] COMMAND [ARGUMENT]...\n       exec-server snapshot [OPTIONS]",
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    after_help = ENVIRONMENT
)]
pub(crate) struct Cli {
    #[command(flatten)]
    serve: Serve,
    #[command(subcommand)]
    command: Option<Command>,
}

const ENVIRONMENT: &str = "\
Environment:
  RUST_LOG  What is logged on stderr: error, warn (the default), info, debug, or
            a filter such as exec_server=debug,exec_process=info
  EXEC_SERVER_METRICS_LISTEN, EXEC_SERVER_METRICS_ALLOW_REMOTE, EXEC_SERVER_OTLP
            As --metrics-listen, --metrics-allow-remote (on) and --otlp (on, auto, off)
  OTEL_EXPORTER_OTLP_ENDPOINT and the other OTEL_* variables
            Where and how metrics and traces are pushed; see docs/metrics.md";

/// What a person is told who starts the daemon at a terminal, where a client should be.
const AT_A_TERMINAL: &str = "\
exec-server: waiting for JSON-RPC messages on stdin, one a line; ^D ends it.
To run a command: exec-server run -- COMMAND";

/// Options of the daemon.
#[derive(Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct Serve {
    /// Where the client is
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = Listen::Stdio)]
    pub(crate) listen: Listen,

    /// How log lines on stderr look
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub(crate) log_format: Format,

    /// What is logged on stderr, in place of what RUST_LOG says
    #[arg(long, value_name = "FILTER")]
    pub(crate) log: Option<String>,

    /// Whether a command gets a cgroup of its own
    ///
    /// It is how descendants of a command are tracked, where a cgroup v2 is writable. Without one, a subreaper
    /// tracks them.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Cgroup::Auto)]
    pub(crate) cgroup: Cgroup,

    /// Live on when the process that started the daemon ends
    ///
    /// The end of stdin still ends it.
    #[arg(long)]
    pub(crate) no_watch_parent: bool,

    /// Where metrics can be scraped: an IP address and port, unix:PATH, or off
    ///
    /// Answers GET /metrics (Prometheus text, or OpenMetrics), /livez and /readyz. Only this machine may reach it,
    /// unless --metrics-allow-remote says more.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics_listen: Option<String>,

    /// Let --metrics-listen be an address that other machines reach
    ///
    /// Nobody who asks is asked who they are.
    #[arg(long)]
    pub(crate) metrics_allow_remote: bool,

    /// Whether metrics and traces are pushed to an OTLP collector
    ///
    /// Where to, and how, say the standard variables OTEL_EXPORTER_OTLP_*; the protocols are http/protobuf and
    /// http/json. Without this option, they are pushed if one of those variables names an endpoint.
    #[arg(long, value_name = "WHEN", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    pub(crate) otlp: Option<Otlp>,
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

impl Default for Serve {
    /// What a daemon does that was given no options.
    fn default() -> Self {
        Self {
            listen: Listen::Stdio,
            log_format: Format::Text,
            log: None,
            cgroup: Cgroup::Auto,
            no_watch_parent: false,
            metrics_listen: None,
            metrics_allow_remote: false,
            otlp: None,
        }
    }
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

/// Whether telemetry is pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Otlp {
    /// To the endpoint that variables name, or the standard one on this machine
    On,
    /// Where a variable names an endpoint
    Auto,
    /// Never
    Off,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one command, through a daemon of its own
    ///
    /// The command's output, input, signals, terminal and exit code are passed through. Whatever it leaves
    /// running is ended when it exits.
    ///
    /// Output waits for whoever reads it, as in a pipeline. Only when the command has ended by --timeout, SIGTERM or
    /// SIGHUP, output of which nobody takes anything for 2 seconds is dropped.
    #[command(
        override_usage = "exec-server run [OPTIONS] [--] COMMAND [ARGUMENT]...",
        after_help = run::EXIT_STATUS
    )]
    Run(run::Args),
    /// Show what a snapshot of your shell holds, or why there is none
    ///
    /// Commands can start from a snapshot of your own shell: its functions, aliases, options and variables, without
    /// your startup files being run again. This takes one and shows it: names, sizes and times, never a value.
    ///
    /// If startup fails, it is run once more, traced, to find the line (bash and zsh). A line that is for people at a
    /// terminal can be guarded: EXEC_SERVER_SNAPSHOT is set while a snapshot is taken.
    #[command(after_help = snapshot::EXIT_STATUS)]
    Snapshot(snapshot::Args),
    /// The helper process that starts commands; the daemon starts it itself
    #[command(hide = true)]
    Warden,
}

impl Cli {
    /// The command line of this process; ends the process if it is wrong, or asks only for help.
    ///
    /// The two ways in which clients start a daemon are known at sight: to build the whole parser for them takes
    /// a tenth of the time in which a session begins.
    pub(crate) fn of_this_process() -> Self {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        Self::plain(&arguments).unwrap_or_else(Self::parse)
    }

    /// The command line of a daemon without options.
    fn plain(arguments: &[OsString]) -> Option<Self> {
        let plain = arguments.is_empty() || arguments == ["--listen", "stdio"];
        plain.then(|| Self {
            serve: Serve::default(),
            command: None,
        })
    }

    /// The daemon's options.
    #[cfg(test)]
    pub(crate) fn serve(&self) -> &Serve {
        &self.serve
    }

    /// Does what was asked.
    pub(crate) fn run(self) -> ExitCode {
        match self.command {
            None => {
                let Listen::Stdio = self.serve.listen;
                if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
                    // A terminal that is gone cannot be told.
                    let _ = writeln!(std::io::stderr(), "{AT_A_TERMINAL}");
                }
                daemon::run(&self.serve)
            }
            Some(Command::Run(args)) => run::main(args),
            Some(Command::Snapshot(args)) => snapshot::main(args),
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
    fn what_is_known_at_sight_is_what_the_parser_makes_of_it() {
        for line in [&["exec-server"][..], &["exec-server", "--listen", "stdio"]] {
            let parsed = Cli::try_parse_from(line).unwrap();
            let arguments: Vec<OsString> = line[1..].iter().map(OsString::from).collect();
            let plain = Cli::plain(&arguments).unwrap();
            assert!(parsed.command.is_none() && plain.command.is_none());
            assert_eq!(parsed.serve, plain.serve);
        }
        for other in [
            &["--version"][..],
            &["--listen", "tcp"],
            &["--listen=stdio"],
            &["run", "true"],
            &[""],
        ] {
            let arguments: Vec<OsString> = other.iter().map(OsString::from).collect();
            assert!(Cli::plain(&arguments).is_none(), "{other:?}");
        }
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        assert!(Cli::try_parse_from(["exec-server", "--listen", "tcp"]).is_err());
        assert!(Cli::try_parse_from(["exec-server", "--cgroup", "off", "warden"]).is_err());
    }
}
