//! How a process ends, or does not.

use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};

use crate::tree::number;
use crate::{say, wait_for_ever};

fn set_disposition(signal: i32, handler: libc::sighandler_t) {
    // SAFETY: signal(2) takes a number and SIG_DFL or SIG_IGN; neither refers to memory.
    unsafe { libc::signal(signal, handler) };
}

/// Ignores what a polite ending sends.
pub(crate) fn ignore() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
        set_disposition(signal, libc::SIG_IGN);
    }
}

/// `ignore-signals`: only SIGKILL ends it.
pub(crate) fn ignore_signals(_args: &[String]) -> ExitCode {
    ignore();
    say(&format!("PID {}", std::process::id()));
    wait_for_ever()
}

/// `raise N`: dies by signal N, without a core file.
pub(crate) fn raise(args: &[String]) -> ExitCode {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    setrlimit(Resource::Core, none).ok();
    let signal = number(args, 0) as i32;
    set_disposition(signal, libc::SIG_DFL);
    // SAFETY: kill(2) on the own process id with a number; no memory involved.
    unsafe { libc::kill(libc::getpid(), signal) };
    ExitCode::from(70)
}

/// `stop CODE`: stops itself; continued, says `resumed` and exits.
pub(crate) fn stop(args: &[String]) -> ExitCode {
    say(&format!("PID {}", std::process::id()));
    kill_process(getpid(), Signal::STOP).ok();
    say("resumed");
    ExitCode::from(number(args, 0) as u8)
}

/// `close-stdio FIFO CODE`: says `x`, closes all three, lives until the FIFO is opened and closed for writing.
pub(crate) fn close_stdio(args: &[String]) -> ExitCode {
    say("x");
    for fd in 0..3 {
        // SAFETY: nothing in this process uses 0–2 after this; the file opened below may reuse them.
        unsafe { libc::close(fd) };
    }
    // Reading blocks until a writer opens, and ends when it closes.
    drop(std::fs::read(args.first().map_or("", String::as_str)));
    ExitCode::from(number(args, 1) as u8)
}

/// `signals CODE NAME=N…`: says `up`, then the name of each signal that comes; SIGUSR1 ends it with CODE.
pub(crate) fn signals(args: &[String]) -> ExitCode {
    let named: Vec<(&str, i32)> = args
        .iter()
        .skip(1)
        .filter_map(|a| a.split_once('='))
        .filter_map(|(name, n)| Some((name, n.parse().ok()?)))
        .collect();
    // SAFETY: an all-zero sigset_t is a valid argument for sigemptyset, which initialises it.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a live local; each call only writes to it.
    unsafe {
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR1);
        for (_, n) in &named {
            libc::sigaddset(&mut set, *n);
        }
        // This program has one thread: the mask holds for the whole process.
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
    say("up");
    loop {
        let mut signal = 0;
        // SAFETY: both point to live locals, `set` initialised above.
        unsafe { libc::sigwait(&set, &mut signal) };
        match named.iter().find(|(_, n)| *n == signal) {
            Some((name, _)) => say(&format!("got {name}")),
            None => return ExitCode::from(number(args, 0) as u8),
        }
    }
}
