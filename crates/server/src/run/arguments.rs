//! The command line of `exec-server run`, and the start request it stands for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueHint;
use exec_protocol::process::TerminalSize;
use exec_protocol::{EnvPolicy, ExecParams, Inherit, PathUri};

use super::failure::Failure;

/// What `exec-server run --help` says after the options.
pub(crate) const EXIT_STATUS: &str = "\
Exit status:
  The command's own, or 128 + N when signal N killed it.
  124  --timeout ended it
  125  it could not be run at all
  126  it is not executable
  127  it was not found";

/// The options of `exec-server run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Give the command a terminal
    #[arg(short, long)]
    tty: bool,
    /// End the command and everything it started after so many seconds, such as 10 or 0.5
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, value_hint = ValueHint::Other)]
    timeout: Option<Duration>,
    /// Run in this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// Set a variable on top of the environment here; may be repeated
    #[arg(
        long = "env",
        value_name = "NAME=VALUE",
        value_parser = parse_variable,
        value_hint = ValueHint::Other
    )]
    env: Vec<(String, String)>,
    /// Do not read standard input: the command finds its own at end of file
    #[arg(short, long)]
    no_stdin: bool,
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        value_name = "COMMAND",
        value_hint = ValueHint::CommandWithArguments
    )]
    command: Vec<OsString>,
}

impl Args {
    /// The program, as the user wrote it.
    pub(super) fn program(&self) -> String {
        self.command
            .first()
            .map(|program| program.to_string_lossy().into_owned())
            .unwrap_or_default()
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.tty
    }

    pub(super) fn reads_stdin(&self) -> bool {
        !self.no_stdin
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The start request; `size` is the local terminal's.
    pub(super) fn start_request(
        &self,
        process_id: &str,
        size: Option<TerminalSize>,
    ) -> Result<ExecParams, Failure> {
        let argv = self.command.iter().enumerate().map(|(index, argument)| {
            argument
                .to_str()
                .map(str::to_owned)
                .ok_or(Failure::ArgumentNotUtf8 { index })
        });
        let argv = argv.collect::<Result<Vec<_>, _>>()?;
        let cwd = self.working_directory()?;
        let mut params = ExecParams::new(process_id, argv, cwd);
        params.env = self.env.iter().cloned().collect::<BTreeMap<_, _>>();
        // It is the user's own command: nothing of the user's environment is kept from it.
        params.env_policy = Some(EnvPolicy {
            inherit: Inherit::All,
            ignore_default_excludes: true,
            ..EnvPolicy::default()
        });
        params.tty = self.tty;
        params.pipe_stdin = !self.tty && !self.no_stdin;
        params.size = size.filter(|_| self.tty);
        params.timeout_ms = self.timeout.map(|timeout| {
            let milliseconds = timeout.as_nanos().div_ceil(1_000_000);
            u64::try_from(milliseconds).unwrap_or(u64::MAX).max(1)
        });
        Ok(params)
    }

    fn working_directory(&self) -> Result<PathUri, Failure> {
        let here = std::env::current_dir().map_err(Failure::CurrentDirectory)?;
        let path = here.join(self.cwd.as_deref().unwrap_or(Path::new("")));
        PathUri::from_path(&path).ok_or(Failure::BadDirectory(path))
    }
}

/// Seconds, with a fraction if need be; more than none.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "expected a number of seconds, like 10 or 0.5".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("expected more than 0 seconds".to_owned()),
    }
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        run: Args,
    }

    fn parse(arguments: &[&str]) -> Result<Args, clap::Error> {
        Cli::try_parse_from([&["run"], arguments].concat()).map(|cli| cli.run)
    }

    #[test]
    fn options_end_where_the_command_begins() {
        for arguments in [
            &["--tty", "--", "ls", "--tty", "-n"][..],
            &["--tty", "ls", "--tty", "-n"],
        ] {
            let parsed = parse(arguments).expect("good");
            assert_eq!(parsed.command, ["ls", "--tty", "-n"]);
            assert!(parsed.tty && parsed.reads_stdin());
        }
    }

    #[test]
    fn a_start_request_says_what_the_options_say() {
        let arguments = parse(&[
            "--timeout",
            "0.0001",
            "--cwd",
            "/tmp/x",
            "--env",
            "A=1",
            "--env",
            "A=2=3",
            "--",
            "a",
            "b",
        ]);
        let params = arguments.expect("good").start_request("p", None).expect("valid");
        let cwd = PathUri::from_path("/tmp/x".as_ref()).expect("absolute");
        let mut expected = ExecParams::new("p", vec!["a".to_owned(), "b".to_owned()], cwd);
        expected.env = BTreeMap::from([("A".to_owned(), "2=3".to_owned())]);
        expected.env_policy = Some(EnvPolicy {
            ignore_default_excludes: true,
            ..EnvPolicy::default()
        });
        expected.pipe_stdin = true;
        expected.timeout_ms = Some(1);
        assert_eq!(params, expected);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for arguments in [
            &[][..],
            &["--"],
            &["--timeout", "0", "--", "a"],
            &["--timeout", "-1", "--", "a"],
            &["--timeout", "nan", "--", "a"],
            &["--env", "A", "--", "a"],
            &["--env", "=1", "--", "a"],
            // A mistyped option is no command.
            &["--tti", "--", "a"],
            &["-x", "a"],
        ] {
            assert!(parse(arguments).is_err(), "{arguments:?}");
        }
    }
}
