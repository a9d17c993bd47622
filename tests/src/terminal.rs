//! A terminal whose other end the test holds.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::run::Heard;

/// The test's end of a PTY, and a descriptor of the other one, which keeps it open between its users.
#[derive(Debug)]
pub struct Terminal {
    master: Arc<OwnedFd>,
    slave: OwnedFd,
    /// While it is open, someone looks at the screen.
    watched: OwnedFd,
    /// What was printed on it so far.
    pub screen: Arc<Heard>,
}

impl Terminal {
    /// A fresh one, of this size.
    ///
    /// # Panics
    /// When the system gives none.
    #[must_use]
    pub fn new(rows: u16, cols: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = Arc::new(openpt(flags).expect("a PTY"));
        grantpt(&master).expect("grantpt");
        unlockpt(&master).expect("unlockpt");
        let slave = ioctl_tiocgptpeer(&master, flags).expect("the other end");
        let (stop, watched) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
        let terminal = Self {
            screen: Heard::listen_unless(Arc::clone(&master), Some(stop)),
            watched,
            master,
            slave,
        };
        terminal.resize(rows, cols);
        terminal
    }

    /// The window gets another size.
    ///
    /// # Panics
    /// When the system refuses.
    pub fn resize(&self, rows: u16, cols: u16) {
        let size = Winsize {
            ws_row: rows,
            ws_col: cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.master, size).expect("TIOCSWINSZ");
    }

    /// Keys are pressed.
    ///
    /// # Panics
    /// When the terminal does not take them.
    pub fn type_in(&self, keys: &[u8]) {
        let written = rustix::io::write(&self.master, keys).expect("write to the PTY");
        assert_eq!(written, keys.len());
    }

    /// Its window is closed.
    ///
    /// # Panics
    /// When that takes long.
    pub fn hang_up(self) {
        let Self {
            master,
            slave,
            watched,
            screen,
        } = self;
        drop((master, watched));
        // The last descriptor of the test's end is the listener's.
        drop(screen.all());
        drop(slave);
    }

    /// Waits until the screen shows this.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn await_text(&self, text: &str) {
        self.screen.await_bytes(text.as_bytes());
    }

    /// Its mode.
    ///
    /// # Panics
    /// When the system does not tell.
    #[must_use]
    pub fn mode(&self) -> Termios {
        tcgetattr(&self.slave).expect("tcgetattr")
    }

    /// Whether it is in line mode.
    #[must_use]
    pub fn is_in_line_mode(&self) -> bool {
        self.mode()
            .local_modes
            .contains(rustix::termios::LocalModes::ICANON)
    }

    /// Waits until it is in raw mode.
    ///
    /// # Panics
    /// When it stays in line mode.
    pub fn await_raw_mode(&self) {
        let raw = crate::eventually(Duration::from_secs(20), || {
            (!self.is_in_line_mode()).then_some(())
        });
        assert!(raw.is_some(), "still in line mode");
    }

    /// The end that programs have.
    ///
    /// # Panics
    /// When descriptors run out.
    #[must_use]
    pub fn device(&self) -> OwnedFd {
        self.slave.try_clone().expect("dup")
    }
}
