//! The local terminal: its size, and raw mode that is undone on every way out.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Mutex, Once, PoisonError};

use exec_protocol::process::TerminalSize;
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};

/// The settings to go back to, while they are changed. A release build aborts on a panic and runs no drop,
/// so the panic hook needs them too.
static ORIGINAL: Mutex<Option<Termios>> = Mutex::new(None);
static RESTORE_ON_PANIC: Once = Once::new();

/// Whether this process may touch the terminal on stdin: another job's terminal is not ours to read or set.
pub(super) fn is_in_foreground() -> bool {
    // ENOTTY: not this session's terminal, so there are no jobs to be careful of.
    tcgetpgrp(stdin()).map_or(true, |group| group == rustix::process::getpgrp())
}

/// The size of the local terminal, wherever it is.
pub(super) fn size() -> Option<TerminalSize> {
    [stdin().as_fd(), stdout().as_fd(), stderr().as_fd()]
        .into_iter()
        .find_map(|descriptor| tcgetwinsize(descriptor).ok())
        // A serial line and some editors' terminals say 0 × 0.
        .filter(|size| size.ws_row > 0 && size.ws_col > 0)
        .map(|size| TerminalSize {
            rows: size.ws_row,
            cols: size.ws_col,
        })
}

/// The terminal on stdin in raw mode: every byte goes to the command. Undone when dropped.
#[derive(Debug)]
pub(super) struct RawTerminal(());

impl RawTerminal {
    /// Raw mode; `None` when stdin is no terminal. In the background this stops the process until it is in
    /// the foreground (SIGTTOU), as it does any program that wants the terminal.
    pub(super) fn enter() -> io::Result<Option<Self>> {
        if !rustix::termios::isatty(stdin()) {
            return Ok(None);
        }
        RESTORE_ON_PANIC.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        let terminal = Self(());
        terminal.make_raw()?;
        Ok(Some(terminal))
    }

    /// Raw mode again: after [`suspend`](Self::suspend), when what the user set meanwhile is what is gone
    /// back to, or after someone else changed it.
    pub(super) fn make_raw(&self) -> io::Result<()> {
        let current = tcgetattr(stdin())?;
        let mut kept = ORIGINAL.lock().unwrap_or_else(PoisonError::into_inner);
        // Kept before the change: there is no moment at which a panic would find it changed and not kept.
        let mut raw = kept.get_or_insert(current).clone();
        drop(kept);
        raw.make_raw();
        Ok(tcsetattr(stdin(), OptionalActions::Now, &raw)?)
    }

    /// The original mode, for a while.
    pub(super) fn suspend(&self) {
        restore();
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    let original = ORIGINAL.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(original) = original
        && is_in_foreground()
    {
        // A terminal that hung up has no mode to restore.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &original);
    }
}
