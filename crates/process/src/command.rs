//! What to start.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use exec_protocol::limits::{MAX_INHERITED, MAX_INHERITED_NUMBER};
use exec_protocol::process::{ResourceLimits, TerminalSize};

use crate::environment;

/// Everything the process table needs to start a process.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Program and arguments, not empty; a program without a slash is looked up on the PATH of `environment`.
    pub argv: Vec<OsString>,
    /// The first argument as the process sees it, if other than `argv[0]`.
    pub arg0: Option<OsString>,
    /// Working directory, absolute.
    pub cwd: PathBuf,
    /// The whole environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Pipes or a terminal.
    pub stdio: Stdio,
    /// Written to stdin first.
    pub input: Bytes,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Resource limits.
    pub limits: ResourceLimits,
    /// Descriptors it has besides 0–2: [`MAX_INHERITED`] at most.
    pub inherited: Vec<Inherited>,
}

/// The numbers that [`Inherited`] descriptors may have: those above the standard streams, up to
/// [`MAX_INHERITED_NUMBER`]. Where commands have a lower limit of open files ([`open_files_of_commands`]), dup3(2)
/// fails beyond it.
///
/// [`open_files_of_commands`]: crate::warden::open_files_of_commands
pub const INHERITED_NUMBERS: RangeInclusive<i32> = 3..=MAX_INHERITED_NUMBER;

/// A descriptor that a process inherits. It stays open here for as long as somebody holds it.
#[derive(Debug, Clone)]
pub struct Inherited {
    /// Its number in the child, 3 or more: of [`INHERITED_NUMBERS`].
    pub number: i32,
    /// What it is.
    pub descriptor: Arc<OwnedFd>,
}

/// The same number for the same descriptor.
impl PartialEq for Inherited {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && Arc::ptr_eq(&self.descriptor, &other.descriptor)
    }
}

/// What descriptors 0–2 of a process are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdio {
    /// Pipes.
    Pipes {
        /// Keep stdin open after `input`; else end of file follows it (with no input: /dev/null).
        keep_stdin: bool,
    },
    /// A PTY, the controlling terminal of the process's session.
    Terminal {
        /// Its first window.
        size: TerminalSize,
    },
}

/// Time limits of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// From exec.
    pub total: Option<Duration>,
    /// Without a byte in or out; stands still under back-pressure.
    pub idle: Option<Duration>,
    /// SIGTERM to SIGKILL for both; `None`: the default grace.
    pub grace: Option<Duration>,
}

/// Why a command cannot be started as given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {reason}")]
pub struct InvalidCommand {
    /// Path of the member at fault, as in the request: `argv`, `argv[1]`, `env.A=B`.
    pub member: String,
    /// What is wrong, and what would be right.
    pub reason: String,
}

/// A command in the shape execve(2) takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prepared {
    /// Paths to try in order, as execvp(3) does.
    pub(crate) programs: Vec<CString>,
    /// argv, with `arg0` in its place.
    pub(crate) argv: Vec<CString>,
    /// `NAME=value`.
    pub(crate) environment: Vec<CString>,
    /// Working directory.
    pub(crate) cwd: CString,
}

/// Where a program is looked for without a PATH: what confstr(3) says for `_CS_PATH`.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

impl Command {
    /// Checks it and puts it in the shape execve(2) takes.
    pub(crate) fn prepare(&self) -> Result<Prepared, InvalidCommand> {
        check_inherited(&self.inherited)?;
        Execution {
            argv: &self.argv,
            arg0: self.arg0.as_deref(),
            environment: &self.environment,
            cwd: &self.cwd,
        }
        .prepare()
    }
}

/// What execve(2) needs to know, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Execution<'a> {
    /// As in [`Command`].
    pub(crate) argv: &'a [OsString],
    /// As in [`Command`].
    pub(crate) arg0: Option<&'a OsStr>,
    /// As in [`Command`].
    pub(crate) environment: &'a BTreeMap<OsString, OsString>,
    /// As in [`Command`].
    pub(crate) cwd: &'a Path,
}

impl Execution<'_> {
    /// Checks it and puts it in the shape execve(2) takes.
    pub(crate) fn prepare(&self) -> Result<Prepared, InvalidCommand> {
        let Some(program) = self.argv.first() else {
            return Err(invalid("argv", "must not be empty"));
        };
        if program.is_empty() {
            return Err(invalid("argv[0]", "must not be empty"));
        }
        let mut argv = Vec::with_capacity(self.argv.len());
        for (index, argument) in self.argv.iter().enumerate() {
            let argument = CString::new(argument.as_bytes())
                .map_err(|_| invalid(format!("argv[{index}]"), "must not hold NUL"))?;
            argv.push(argument);
        }
        if let (Some(arg0), Some(first)) = (self.arg0, argv.first_mut()) {
            *first = CString::new(arg0.as_bytes()).map_err(|_| invalid("arg0", "must not hold NUL"))?;
        }
        if !self.cwd.is_absolute() {
            return Err(invalid("cwd", "must be absolute"));
        }
        let cwd =
            CString::new(self.cwd.as_os_str().as_bytes()).map_err(|_| invalid("cwd", "must not hold NUL"))?;
        let mut environment = Vec::with_capacity(self.environment.len());
        for (name, value) in self.environment {
            environment.push(variable(name, value)?);
        }
        let programs = self
            .programs(program.as_bytes())
            .into_iter()
            .map(|path| CString::new(path).map_err(|_| invalid("env.PATH", "must not hold NUL")))
            .collect::<Result<_, _>>()?;
        Ok(Prepared {
            programs,
            argv,
            environment,
            cwd,
        })
    }

    /// The paths a program may be at: itself if it has a slash, else one in each directory of the child's PATH.
    fn programs(&self, program: &[u8]) -> Vec<Vec<u8>> {
        if program.contains(&b'/') {
            return vec![program.to_vec()];
        }
        let path = self.environment.get(OsStr::new("PATH"));
        path.map_or(DEFAULT_PATH, |path| path.as_bytes())
            .split(|byte| *byte == b':')
            .map(|directory| match directory {
                // POSIX: an empty element is the working directory.
                b"" => [b"./", program].concat(),
                directory => [directory, b"/", program].concat(),
            })
            .collect()
    }
}

/// Whether a child can be given these.
pub(crate) fn check_inherited(inherited: &[Inherited]) -> Result<(), InvalidCommand> {
    if inherited.len() > MAX_INHERITED {
        return Err(invalid("inherited", &format!("at most {MAX_INHERITED}")));
    }
    for (index, one) in inherited.iter().enumerate() {
        let member = format!("inherited[{index}].number");
        if !INHERITED_NUMBERS.contains(&one.number) {
            let (first, last) = (INHERITED_NUMBERS.start(), INHERITED_NUMBERS.end());
            return Err(invalid(member, &format!("must be {first} to {last}")));
        }
        let twice = |other: &Inherited| other.number == one.number;
        if inherited
            .get(..index)
            .is_some_and(|before| before.iter().any(twice))
        {
            return Err(invalid(member, "must be given once"));
        }
    }
    Ok(())
}

fn variable(name: &OsStr, value: &OsStr) -> Result<CString, InvalidCommand> {
    let refuse = |reason| invalid(format!("env.{}", name.to_string_lossy()), reason);
    environment::check(name, value).map_err(refuse)?;
    CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).map_err(|_| refuse("must not hold NUL"))
}

fn invalid(member: impl Into<String>, reason: &str) -> InvalidCommand {
    InvalidCommand {
        member: member.into(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(argv: &[&str]) -> Command {
        Command {
            argv: argv.iter().map(Into::into).collect(),
            arg0: None,
            cwd: "/".into(),
            environment: BTreeMap::new(),
            stdio: Stdio::Pipes { keep_stdin: false },
            input: Bytes::new(),
            timeouts: Timeouts::default(),
            limits: ResourceLimits::default(),
            inherited: Vec::new(),
        }
    }

    fn c(text: &str) -> CString {
        CString::new(text).expect("no NUL")
    }

    #[test]
    fn programs_are_looked_for_as_execvp_does() {
        for (program, path, want) in [
            ("/bin/sh", Some("/a:/b"), vec!["/bin/sh"]),
            ("./x", Some("/a"), vec!["./x"]),
            ("x", Some("/a:/b"), vec!["/a/x", "/b/x"]),
            ("x", Some(":/b:"), vec!["./x", "/b/x", "./x"]),
            ("x", Some(""), vec!["./x"]),
            ("x", None, vec!["/bin/x", "/usr/bin/x"]),
        ] {
            let mut command = command(&[program]);
            if let Some(path) = path {
                command.environment.insert("PATH".into(), path.into());
            }
            let want: Vec<CString> = want.into_iter().map(c).collect();
            assert_eq!(
                command.prepare().expect(program).programs,
                want,
                "{program} {path:?}"
            );
        }
    }

    #[test]
    fn arg0_takes_the_place_of_the_first_argument_only() {
        let mut command = command(&["/bin/sh", "-c"]);
        command.arg0 = Some("-sh".into());
        command.environment.insert("A".into(), "b=c".into());
        let prepared = command.prepare().expect("valid");
        assert_eq!(
            prepared,
            Prepared {
                programs: vec![c("/bin/sh")],
                argv: vec![c("-sh"), c("-c")],
                environment: vec![c("A=b=c")],
                cwd: c("/"),
            }
        );
    }

    #[test]
    fn what_cannot_be_executed_is_refused_by_name() {
        type Spoil = fn(&mut Command);
        let cases: &[(&str, Spoil)] = &[
            ("argv", |command| command.argv.clear()),
            ("argv[0]", |command| command.argv = vec!["".into()]),
            ("argv[1]", |command| command.argv.push("a\0b".into())),
            ("arg0", |command| command.arg0 = Some("a\0b".into())),
            ("cwd", |command| command.cwd = "relative".into()),
            ("cwd", |command| command.cwd = "/a\0b".into()),
            ("env.A=", |command| {
                drop(command.environment.insert("A=".into(), "".into()))
            }),
            ("env.", |command| {
                drop(command.environment.insert("".into(), "".into()))
            }),
            ("env.A", |command| {
                drop(command.environment.insert("A".into(), "\0".into()))
            }),
        ];
        for (member, spoil) in cases {
            let mut command = command(&["/bin/true"]);
            spoil(&mut command);
            assert_eq!(command.prepare().expect_err(member).member, *member);
        }
    }

    #[test]
    fn descriptors_have_numbers_of_their_own_above_the_streams() {
        let null: Arc<OwnedFd> = Arc::new(std::fs::File::open("/dev/null").expect("there").into());
        for (numbers, wrong) in [
            (&[][..], None),
            (&[3], None),
            (&[1023, 3], None),
            (&[2], Some("inherited[0].number")),
            (&[9, -1], Some("inherited[1].number")),
            (&[1024], Some("inherited[0].number")),
            (&[9, 9], Some("inherited[1].number")),
            (&[3, 4, 5], Some("inherited")),
        ] {
            let mut command = command(&["/bin/true"]);
            command.inherited = numbers
                .iter()
                .map(|number| Inherited {
                    number: *number,
                    descriptor: Arc::clone(&null),
                })
                .collect();
            let refused = command.prepare().err().map(|error| error.member);
            assert_eq!(refused.as_deref(), wrong, "{numbers:?}");
        }
    }
}
