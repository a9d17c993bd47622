//! The pipes, or the PTY, between the daemon and a process.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use exec_protocol::Stream;
use exec_protocol::process::TerminalSize;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::{StartError, StartStep};
use crate::Stdio;
use crate::sys_async_fd::watch_fd;

/// A descriptor of ours, non-blocking and known to the runtime.
pub(crate) type Polled = Arc<AsyncFd<OwnedFd>>;

/// Both ends of a process's standard streams.
#[derive(Debug, Default)]
pub(crate) struct Plumbing {
    /// Our ends of the output streams.
    pub(crate) outputs: Vec<(Stream, Polled)>,
    /// Our end of stdin.
    pub(crate) stdin: StdinEnd,
    /// The process's ends.
    pub(crate) child: ChildEnds,
    /// A slave of our own, held while the leader runs: one that closes its terminal and opens it again would
    /// else end it for us, and what it prints then would be lost.
    pub(crate) slave: Option<OwnedFd>,
}

/// A process's ends of its standard streams.
#[derive(Debug, Default)]
pub(crate) struct ChildEnds {
    /// Descriptor 0; for a terminal the slave.
    pub(crate) stdin: Option<OwnedFd>,
    /// Descriptors 1 and 2; `None` for a terminal.
    pub(crate) output: Option<(OwnedFd, OwnedFd)>,
}

/// Our end of stdin.
#[derive(Debug, Default)]
pub(crate) enum StdinEnd {
    /// There is none, or no longer.
    #[default]
    Closed,
    /// A pipe that the runtime does not know yet: most are never full, and need no watching.
    Pipe(OwnedFd),
    /// A pipe or PTY that the runtime watches.
    Polled(Polled),
}

impl Plumbing {
    /// Makes what `stdio` says; `has_input`: stdin is needed even if it is not kept.
    pub(crate) fn new(stdio: Stdio, has_input: bool) -> Result<Self, StartError> {
        match stdio {
            Stdio::Pipes { keep_stdin } => pipes(keep_stdin || has_input).map_err(at(StartStep::Pipe)),
            Stdio::Terminal { size } => terminal(size).map_err(at(StartStep::Pty)),
        }
    }
}

fn at(step: StartStep) -> impl Fn(Errno) -> StartError {
    move |errno| StartError::Failed {
        step,
        errno: errno.raw_os_error(),
    }
}

fn pipes(stdin: bool) -> Result<Plumbing, Errno> {
    let (stdout, child_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, child_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
    let (child_stdin, stdin) = if stdin {
        let (child_stdin, stdin) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setfl(&stdin, OFlags::NONBLOCK)?;
        (Some(child_stdin), StdinEnd::Pipe(stdin))
    } else {
        (None, StdinEnd::Closed)
    };
    Ok(Plumbing {
        outputs: vec![
            (Stream::Stdout, polled(stdout, Interest::READABLE)?),
            (Stream::Stderr, polled(stderr, Interest::READABLE)?),
        ],
        stdin,
        child: ChildEnds {
            stdin: child_stdin,
            output: Some((child_stdout, child_stderr)),
        },
        slave: None,
    })
}

fn terminal(size: TerminalSize) -> Result<Plumbing, Errno> {
    // openpt(3) of Linux is open(2) of /dev/ptmx and takes its other flags too.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    unlockpt(&master)?;
    let slave = ioctl_tiocgptpeer(&master, flags)?;
    // Before the child runs: programs look once.
    set_size(&master, size)?;
    let mut modes = tcgetattr(&slave)?;
    // As terminal emulators set it: erasing takes a whole character.
    modes.input_modes |= InputModes::IUTF8;
    tcsetattr(&slave, OptionalActions::Now, &modes)?;
    let master = polled(master, Interest::READABLE | Interest::WRITABLE)?;
    Ok(Plumbing {
        outputs: vec![(Stream::Pty, Arc::clone(&master))],
        stdin: StdinEnd::Polled(master),
        slave: Some(fcntl_dupfd_cloexec(&slave, 3)?),
        child: ChildEnds {
            stdin: Some(slave),
            output: None,
        },
    })
}

/// Makes our end non-blocking (the child's end is a description of its own and stays as it is) and has the
/// runtime watch it.
pub(crate) fn polled(fd: OwnedFd, interest: Interest) -> Result<Polled, Errno> {
    fcntl_setfl(&fd, OFlags::NONBLOCK)?;
    watch_fd(fd, interest)
        .map(Arc::new)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Changes the window; the kernel sends SIGWINCH to the foreground group.
pub(crate) fn set_size(master: &OwnedFd, size: TerminalSize) -> Result<(), Errno> {
    tcsetwinsize(
        master,
        Winsize {
            ws_row: size.rows,
            ws_col: size.cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        },
    )
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use rustix::fs::fcntl_getfl;
    use rustix::io::{FdFlags, fcntl_getfd};
    use rustix::termios::tcgetwinsize;

    use super::*;

    fn is_blocking(fd: impl AsFd) -> bool {
        !fcntl_getfl(fd).expect("open").contains(OFlags::NONBLOCK)
    }

    #[tokio::test]
    async fn the_childs_ends_block_and_ours_do_not() {
        let plumbing = Plumbing::new(Stdio::Pipes { keep_stdin: true }, false).expect("pipes");
        let (stdout, stderr) = plumbing.child.output.expect("pipes");
        let stdin = plumbing.child.stdin.expect("kept");
        for fd in [&stdout, &stderr, &stdin] {
            assert!(is_blocking(fd));
            assert!(fcntl_getfd(fd).expect("open").contains(FdFlags::CLOEXEC));
        }
        for (_, fd) in &plumbing.outputs {
            assert!(!is_blocking(fd.get_ref()));
        }
        let StdinEnd::Pipe(stdin) = plumbing.stdin else {
            panic!("{:?}", plumbing.stdin);
        };
        assert!(!is_blocking(&stdin));
    }

    #[tokio::test]
    async fn stdin_is_a_pipe_only_when_needed() {
        let plumbing = Plumbing::new(Stdio::Pipes { keep_stdin: false }, false).expect("pipes");
        assert!(plumbing.child.stdin.is_none());
        let plumbing = Plumbing::new(Stdio::Pipes { keep_stdin: false }, true).expect("pipes");
        assert!(plumbing.child.stdin.is_some());
    }

    #[tokio::test]
    async fn a_terminal_has_its_size_and_utf8_before_anything_runs() {
        let size = TerminalSize { rows: 11, cols: 222 };
        let plumbing = Plumbing::new(Stdio::Terminal { size }, false).expect("a PTY");
        let slave = plumbing.child.stdin.expect("the slave");
        assert!(is_blocking(&slave));
        let window = tcgetwinsize(&slave).expect("a terminal");
        assert_eq!((window.ws_row, window.ws_col), (11, 222));
        let modes = tcgetattr(&slave).expect("a terminal");
        assert!(modes.input_modes.contains(InputModes::IUTF8));
    }
}
