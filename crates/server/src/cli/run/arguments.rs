//! The command line of `exec-server run`, and the start request it stands for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueHint;
use exec_protocol::process::TerminalSize;
use exec_protocol::{ExecParams, PathUri, milliseconds};

use super::failure::Failure;
use crate::cli::own_daemon::environment;
use crate::cli::user_shell::UserShell;

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
    /// Run it in your shell, with the functions, aliases, options and variables of your startup files
    ///
    /// Startup files run once, to see what they make (see `exec-server snapshot`); the command starts from that. SHELL
    /// is bash, zsh, fish, sh, or a path of one; without it, your own shell.
    ///
    /// COMMAND is then a script of that shell if it is one word: run --snapshot -- 'll | head'. More words are a
    /// command and its arguments, each quoted where the shell would read it as something else.
    #[arg(
        short,
        long,
        value_name = "SHELL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_hint = ValueHint::CommandName
    )]
    snapshot: Option<String>,
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

    /// Whether the command is to start from a shell's state; within it, the shell that was named.
    pub(super) fn snapshot(&self) -> Option<Option<&str>> {
        self.snapshot
            .as_deref()
            .map(|shell| Some(shell).filter(|shell| !shell.is_empty()))
    }

    /// Finds out what cannot be asked for, before a daemon is asked.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.start_request("", None, None).map(|_| ())
    }

    /// The start request; `size` is the local terminal's, `shell` the one whose state the command starts from.
    pub(super) fn start_request(
        &self,
        process_id: &str,
        size: Option<TerminalSize>,
        shell: Option<&UserShell>,
    ) -> Result<ExecParams, Failure> {
        let words = self.command.iter().enumerate().map(|(index, argument)| {
            argument
                .to_str()
                .map(str::to_owned)
                .ok_or(Failure::ArgumentNotUtf8 { index })
        });
        let words = words.collect::<Result<Vec<_>, _>>()?;
        let argv = match shell {
            Some(shell) => vec![shell.path.clone(), "-lc".to_owned(), shell.script(&words)],
            None => words,
        };
        let cwd = self.working_directory()?;
        let mut params = ExecParams::new(process_id, argv, cwd);
        let (env, policy) = environment(&self.env);
        params.env = env;
        params.env_policy = Some(policy);
        params.shell_snapshot = shell.map(UserShell::request);
        params.tty = self.tty;
        params.pipe_stdin = !self.tty && !self.no_stdin;
        params.size = size.filter(|_| self.tty);
        params.timeout_ms = self.timeout.map(|timeout| milliseconds::ceil(timeout).max(1));
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
    use std::collections::BTreeMap;

    use clap::Parser;
    use exec_protocol::EnvPolicy;
    use exec_shell_snapshot::ShellKind;

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
        let params = arguments
            .expect("good")
            .start_request("p", None, None)
            .expect("valid");
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
    fn a_snapshots_shell_is_given_the_words_as_a_script() {
        for (option, asked) in [
            ("--snapshot", None),
            ("--snapshot=zsh", Some("zsh")),
            ("-s", None),
        ] {
            let arguments = parse(&[option, "ll", "a b"]).expect("good");
            assert_eq!(arguments.snapshot(), Some(asked));
            let shell = UserShell {
                kind: ShellKind::Zsh,
                path: "/bin/zsh".to_owned(),
            };
            let params = arguments.start_request("p", None, Some(&shell)).expect("valid");
            assert_eq!(params.argv, ["/bin/zsh", "-lc", "ll 'a b'"]);
            assert_eq!(params.shell_snapshot, Some(shell.request()));
        }
        assert_eq!(parse(&["ll"]).expect("good").snapshot(), None);
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
