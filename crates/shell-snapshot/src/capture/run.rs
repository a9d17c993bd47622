//! One run of a user's shell: on a terminal of its own, its state coming out through a descriptor of its own.

use exec_protocol::limits::{SNAPSHOT_PIPE_BYTES, SNAPSHOT_READ_BYTES};
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use exec_process::environment::{Environment, OF_ONE_CALL};
use exec_process::warden::open_files_of_commands;
use exec_process::{Command, Ended, Inherited, ProcessTable, Stdio, Timeouts, watch_fd};
use exec_protocol::limits::SnapshotLimits;
use exec_protocol::process::{ResourceLimits, TerminalSize};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::GUARD;
use super::helpers::Alive;
use super::phase::Phase;
use super::stream::Stream;
use super::terminal::{END_OF_INPUT, Terminal};
use crate::dialect::{Dialect, Try};
use crate::sections::Frame;
use crate::snapshot::{Capture, ReplayKind};
use crate::{Failure, Request};

/// The descriptor that the state leaves through: above all that startup files and shells use (bash keeps its own
/// copies from 10 up and at 255, zsh from 10 up), and close (`for fd in {3..255}`), and no round number, for those are
/// what people write (`exec 200>lock; flock 200`).
const DESCRIPTOR: i32 = 947;

/// The same where commands may not have that many.
const LOW_DESCRIPTOR: i32 = 187;

/// The window of the terminal, as a command's has it.
const SIZE: TerminalSize = TerminalSize { rows: 24, cols: 80 };

/// A run that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run<C> {
    /// How it ended.
    pub(super) ending: Ending<C>,
    /// The shell has said, or shown, that its login files are done.
    pub(super) past_login: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending<C> {
    /// With its state.
    Complete(C),
    /// The shell ended without its state: by itself with 0, as another program, or by a signal.
    Left,
    /// It did not come to an end.
    TimedOut,
    /// It failed, and would again.
    Failed(Failure),
}

/// Runs the shell until its state is there, it ends, or the moment comes. What is left of it is ended: all of it
/// after a failure, all but helpers that stay on purpose after a success.
pub(super) async fn run(
    table: &Arc<ProcessTable>,
    alive: &Arc<Alive>,
    dialect: &dyn Dialect,
    request: &Request,
    (try_, until): (Try, Instant),
    limits: &SnapshotLimits,
) -> Run<Capture> {
    let failed = |failure| Run {
        ending: Ending::Failed(failure),
        past_login: false,
    };
    let frame = Frame {
        nonce: uuid::Uuid::new_v4().simple().to_string(),
        descriptor: descriptor(open_files_of_commands()),
    };
    let Ok((state, child_state)) = state_pipe() else {
        return failed(Failure::SpawnFailed);
    };
    let mut given = request.environment.clone();
    // What startup files made of them would be every command's.
    given.retain(|name, _| !OF_ONE_CALL.iter().any(|known| name == known));
    let command = command(dialect, request, try_, &frame, &given, child_state);
    let phase = Phase::watch(&dialect.phase_files(&given));
    let Ok(hidden) = table.start_hidden(command) else {
        return failed(Failure::SpawnFailed);
    };
    let mut reader = Reader {
        fd: state,
        stream: Stream::new(&frame.nonce, limits.capture_bytes),
    };
    let ending = tokio::select! {
        biased;
        read = reader.until_end() => read.map_or_else(Ending::Failed, Ending::Complete),
        ended = hidden.exited() => reader.rest().unwrap_or(match ended {
            Ended::Exited(0) | Ended::Killed(_) => Ending::Left,
            Ended::Exited(_) if is_another(&request.path, hidden.last_program().as_deref()) => Ending::Left,
            Ended::Exited(_) => Ending::Failed(Failure::NonzeroExit),
            Ended::NotStarted => Ending::Failed(Failure::SpawnFailed),
            Ended::WardenLost => Ending::Failed(Failure::WaitFailed),
        }),
        nobody = attend(hidden.terminal(), limits) => match nobody {},
        () = sleep_until(until) => Ending::TimedOut,
    };
    let past_login = reader.stream.is_past_login() || phase.is_past_login();
    let ending = match ending {
        Ending::Complete(()) => {
            alive.leave(hidden, limits.helpers);
            Ending::Complete(Capture {
                stream: reader.stream.into_bytes(),
                nonce: frame.nonce,
                given,
                // Without a sandbox, descriptors can be opened by path.
                replay: ReplayKind::File,
                interactive: try_ == Try::Interactive,
            })
        }
        failed => {
            hidden.kill();
            failed.without_capture()
        }
    };
    Run { ending, past_login }
}

impl Ending<()> {
    /// The same, where it is not complete.
    fn without_capture<C>(self) -> Ending<C> {
        match self {
            Self::Left | Self::Complete(()) => Ending::Left,
            Self::TimedOut => Ending::TimedOut,
            Self::Failed(failure) => Ending::Failed(failure),
        }
    }
}

/// Whether what ended with an error was no longer the shell: it became another program (exec), and that failed.
fn is_another(shell: &Path, ended: Option<&[u8]>) -> bool {
    /// Bytes of a program's file name that the system keeps.
    const KEPT: usize = 15;
    let name = shell.file_name().unwrap_or_default().as_bytes();
    ended.is_some_and(|ended| ended != &name[..name.len().min(KEPT)])
}

/// The number that the shell finds its end under. `limit`: of open files.
fn descriptor(limit: Option<u64>) -> i32 {
    let fits = |limit| limit > u64::from(DESCRIPTOR.cast_unsigned());
    if limit.is_none_or(fits) {
        DESCRIPTOR
    } else {
        LOW_DESCRIPTOR
    }
}

/// The pipe that the state comes through: our end, non-blocking, and the shell's.
fn state_pipe() -> io::Result<(AsyncFd<OwnedFd>, OwnedFd)> {
    let (ours, shells) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setfl(&ours, OFlags::NONBLOCK)?;
    // It does without, slower.
    let _ = fcntl_setpipe_size(&ours, SNAPSHOT_PIPE_BYTES);
    Ok((watch_fd(ours, Interest::READABLE)?, shells))
}

/// The command of a try.
fn command(
    dialect: &dyn Dialect,
    request: &Request,
    try_: Try,
    frame: &Frame,
    given: &Environment,
    state: OwnedFd,
) -> Command {
    let capture = dialect.capture(&request.path, try_, frame, given);
    let mut environment = given.clone();
    environment.insert(GUARD.into(), "1".into());
    environment.extend(capture.set);
    Command {
        argv: capture.argv,
        arg0: capture.arg0,
        cwd: request.cwd.clone(),
        environment,
        stdio: Stdio::Terminal { size: SIZE },
        input: bytes::Bytes::new(),
        timeouts: Timeouts::default(),
        limits: ResourceLimits::default(),
        inherited: vec![Inherited {
            number: frame.descriptor,
            descriptor: Arc::new(state),
        }],
    }
}

/// Our end of the state pipe, and what came through it.
struct Reader {
    fd: AsyncFd<OwnedFd>,
    stream: Stream,
}

impl Reader {
    /// Reads until the end marker has come. At the end of the file it waits for ever: the shell has closed its end,
    /// and its own end tells more.
    async fn until_end(&mut self) -> Result<(), Failure> {
        let mut piece = vec![0; SNAPSHOT_READ_BYTES];
        loop {
            let read = self
                .fd
                .async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut piece)?));
            match read.await {
                Ok(0) => return pending().await,
                Ok(count) => {
                    if self.stream.take(&piece[..count])? {
                        return Ok(());
                    }
                }
                Err(_) => return Err(Failure::ReadFailed),
            }
        }
    }

    /// Reads what is there once the shell has ended: what it wrote last. `None`: that was not the end marker.
    fn rest(&mut self) -> Option<Ending<()>> {
        let mut piece = vec![0; SNAPSHOT_READ_BYTES];
        loop {
            match rustix::io::read(self.fd.get_ref(), &mut piece) {
                Ok(0) | Err(_) => return None,
                Ok(count) => match self.stream.take(&piece[..count]) {
                    Ok(true) => return Some(Ending::Complete(())),
                    Ok(false) => {}
                    Err(failure) => return Some(Ending::Failed(failure)),
                },
            }
        }
    }
}

/// Attends to the terminal for as long as it is waited for: drops what is printed, answers what is asked, and says
/// again and again that the input has ended.
async fn attend(terminal: &AsyncFd<OwnedFd>, limits: &SnapshotLimits) -> Infallible {
    let mut ticks = interval(limits.end_of_input);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut printed = vec![0; SNAPSHOT_READ_BYTES];
    let mut attendant = Terminal::new(limits.terminal_answers);
    let mut open = true;
    // A terminal that takes no more has unread input enough.
    let say = |what: &[u8]| {
        let _ = rustix::io::write(terminal.get_ref(), what);
    };
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                say(&[END_OF_INPUT]);
                open = true;
            }
            read = terminal.async_io(Interest::READABLE, |fd| Ok(rustix::io::read(fd, &mut printed)?)), if open => {
                match read {
                    Ok(count) if count > 0 => {
                        let answer = attendant.answer(&printed[..count]);
                        if !answer.is_empty() {
                            say(&answer);
                        }
                    }
                    // Nobody has it open; somebody may open it again.
                    Ok(_) | Err(_) => open = false,
                }
                // There may always be more to read: everybody else's turn comes first.
                tokio::task::yield_now().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_that_became_another_program_is_told_from_one_that_left() {
        for (shell, ended, another) in [
            ("/bin/bash", Some(&b"bash"[..]), false),
            ("/bin/bash", Some(b"tmux"), true),
            ("/bin/bash", None, false),
            ("/opt/a-shell-of-a-long-name", Some(b"a-shell-of-a-lo"), false),
        ] {
            assert_eq!(is_another(Path::new(shell), ended), another, "{shell} {ended:?}");
        }
    }

    #[test]
    fn the_descriptor_is_below_the_limit_of_open_files() {
        for (limit, number) in [
            (None, 947),
            (Some(1024), 947),
            (Some(948), 947),
            (Some(947), 187),
            (Some(256), 187),
        ] {
            assert_eq!(descriptor(limit), number, "{limit:?}");
        }
    }
}
