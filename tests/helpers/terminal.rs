//! What a process sees of its terminal.

use std::os::fd::AsFd;
use std::process::ExitCode;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};

use crate::say;

/// Raw mode: no echo, no signals, bytes as they are, both ways.
pub(crate) fn make_raw(fd: impl AsFd) {
    if let Ok(mut attributes) = tcgetattr(&fd) {
        attributes.make_raw();
        tcsetattr(&fd, OptionalActions::Now, &attributes).ok();
    }
}

/// Line mode without echo.
pub(crate) fn no_echo(fd: impl AsFd) {
    if let Ok(mut attributes) = tcgetattr(&fd) {
        attributes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&fd, OptionalActions::Now, &attributes).ok();
    }
}

fn say_size() {
    match tcgetwinsize(std::io::stdin()) {
        Ok(size) => say(&format!("size {} {}", size.ws_row, size.ws_col)),
        Err(error) => say(&format!("size {error}")),
    }
}

/// `winch`: says its window's size, and again at each SIGWINCH; SIGUSR1 ends it.
pub(crate) fn winch(_args: &[String]) -> ExitCode {
    // SAFETY: an all-zero sigset_t is a valid argument for sigemptyset, which initialises it.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a live local; this program has one thread.
    unsafe {
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGWINCH);
        libc::sigaddset(&mut set, libc::SIGUSR1);
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
    loop {
        say_size();
        let mut signal = 0;
        // SAFETY: both point to live locals, `set` initialised above.
        unsafe { libc::sigwait(&set, &mut signal) };
        if signal == libc::SIGUSR1 {
            return ExitCode::SUCCESS;
        }
    }
}

/// `cursor-query PART…`: asks where the cursor is (CSI 6n), in one write for each part; says the answer in hex,
/// and what else comes until an `E` does.
pub(crate) fn cursor_query(args: &[String]) -> ExitCode {
    make_raw(std::io::stdin());
    for part in args {
        let bytes = part.replace("ESC", "\x1b");
        if rustix::io::write(std::io::stdout(), bytes.as_bytes()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    let mut answer = Vec::new();
    let mut byte = [0];
    while let Ok(1) = rustix::io::read(std::io::stdin(), &mut byte) {
        if byte[0] == b'E' {
            break;
        }
        answer.push(byte[0]);
    }
    say(&format!(
        "<{}>",
        answer.iter().map(|b| format!("{b:02x}")).collect::<String>()
    ));
    ExitCode::SUCCESS
}
