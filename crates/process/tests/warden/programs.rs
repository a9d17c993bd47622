//! Programs that behave badly, one a situation. Each prints `ready` when it is in it.

use std::io::Write;
use std::process::ExitCode;

fn say(text: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

fn fork() -> i32 {
    // SAFETY: these programs have one thread.
    unsafe { libc::fork() }
}

fn sleep_for_ever() -> ! {
    loop {
        // SAFETY: pause(2) takes nothing.
        unsafe { libc::pause() };
    }
}

fn ignore(signal: i32) {
    // SAFETY: SIG_IGN runs no code.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

fn stop_parent() {
    // SAFETY: kill(2) and getppid(2) take no pointer.
    unsafe { libc::kill(libc::getppid(), libc::SIGSTOP) };
}

const HIERARCHIES: [&str; 2] = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];

fn leave_cgroup() {
    for hierarchy in HIERARCHIES {
        let _ = std::fs::write(format!("{hierarchy}/cgroup.procs"), "0");
    }
}

fn make_cgroup() {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .unwrap_or("/");
    for hierarchy in HIERARCHIES {
        let below = format!("{hierarchy}{own}/below");
        if std::fs::create_dir(&below).is_ok() {
            let _ = std::fs::write(format!("{below}/cgroup.procs"), "0");
        }
    }
}

fn session_member(kind: &str) -> ! {
    // SAFETY: setpgid(2), setsid(2), getpid(2) and raise(3) take no pointer; SIG_DFL runs no code.
    unsafe {
        match kind {
            "deaf" => {
                ignore(libc::SIGHUP);
                if fork() == 0 {
                    session_member("stopped")
                }
            }
            "apart" => drop(libc::setsid()),
            "stopped" => {
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                libc::setpgid(0, 0);
            }
            _ => {}
        }
        say(&format!("{kind} {}", libc::getpid()));
        if kind == "stopped" {
            libc::raise(libc::SIGSTOP);
        }
    }
    sleep_for_ever()
}

/// Runs one of them.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    match arguments {
        ["sleeps"] => {
            say("ready");
            sleep_for_ever()
        }
        ["ignores-term"] => {
            ignore(libc::SIGTERM);
            say("ready");
            sleep_for_ever()
        }
        ["stops-itself"] => {
            say("ready");
            // SAFETY: raise(3) takes no pointer.
            unsafe { libc::raise(libc::SIGSTOP) };
            sleep_for_ever()
        }
        ["exits-on-term", code] => {
            // SAFETY: blocks SIGTERM before it says so, then waits for it.
            unsafe {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&raw mut set);
                libc::sigaddset(&raw mut set, libc::SIGTERM);
                libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
                say("ready");
                let mut got = 0;
                libc::sigwait(&raw const set, &raw mut got);
            }
            ExitCode::from(code.parse::<u8>().unwrap_or(1))
        }
        // A child in a session of its own that ignores SIGTERM; the leader stays.
        ["setsid-child"] => {
            if fork() == 0 {
                // SAFETY: setsid(2) takes nothing.
                unsafe { libc::setsid() };
                ignore(libc::SIGTERM);
                say("ready");
                sleep_for_ever()
            }
            sleep_for_ever()
        }
        // What a login shell may leave: a child in its session, one that ignores SIGHUP and has a stopped one of its
        // own, which is in no orphaned group, so that the kernel does not wake it; and one in a session of its own.
        // Each says what it is, then its process id.
        ["session"] => {
            ignore(libc::SIGTERM);
            for kind in ["plain", "deaf", "apart"] {
                if fork() == 0 {
                    session_member(kind)
                }
            }
            sleep_for_ever()
        }
        // A daemon by the book: fork, setsid, fork; the leader exits.
        ["double-fork"] => {
            let (read, write) = rustix::pipe::pipe().expect("pipe");
            if fork() == 0 {
                // SAFETY: setsid(2) takes nothing.
                unsafe { libc::setsid() };
                if fork() == 0 {
                    drop(write);
                    say("ready");
                    sleep_for_ever()
                }
                return ExitCode::SUCCESS;
            }
            drop(write);
            // The middle one and the daemon have closed the pipe: the daemon is ready.
            let _ = rustix::io::read(&read, &mut [0u8; 1]);
            ExitCode::SUCCESS
        }
        // Forks at every level until `count` were made, each of which ignores SIGTERM.
        ["fork-bomb", count] => {
            ignore(libc::SIGTERM);
            let mut left: u32 = count.parse().unwrap_or(10);
            while left > 0 {
                left -= 1;
                if fork() == 0 {
                    if left.is_multiple_of(3) {
                        // SAFETY: setsid(2) takes nothing.
                        unsafe { libc::setsid() };
                    }
                    if left.is_multiple_of(2) {
                        continue;
                    }
                    sleep_for_ever()
                }
                if left.is_multiple_of(5) {
                    continue;
                }
                break;
            }
            say("ready");
            sleep_for_ever()
        }
        ["many-children", count] => {
            ignore(libc::SIGTERM);
            for _ in 0..count.parse().unwrap_or(10) {
                if fork() == 0 {
                    // SAFETY: setsid(2) takes nothing.
                    unsafe { libc::setsid() };
                    sleep_for_ever()
                }
            }
            say("ready");
            sleep_for_ever()
        }
        // Stops its parent: its keeper, or the warden.
        ["stops-its-parent"] => {
            stop_parent();
            say("ready");
            sleep_for_ever()
        }
        // As often as it can.
        ["keeps-stopping-its-parent"] => {
            ignore(libc::SIGTERM);
            stop_parent();
            say("ready");
            loop {
                stop_parent();
            }
        }
        // A child in the topmost cgroup, if this user may go there; the leader stays.
        ["child-leaves-its-cgroup"] => {
            if fork() == 0 {
                leave_cgroup();
                say("ready");
                sleep_for_ever()
            }
            sleep_for_ever()
        }
        // The same as a daemon: nobody is left who knows whose it is.
        ["daemon-leaves-its-cgroup"] => {
            if fork() == 0 {
                // SAFETY: setsid(2) takes nothing.
                unsafe { libc::setsid() };
                leave_cgroup();
                say("ready");
                sleep_for_ever()
            }
            ExitCode::SUCCESS
        }
        // In a cgroup of its own below the one it was started in, if this user may make one.
        ["makes-a-cgroup"] => {
            make_cgroup();
            if fork() == 0 {
                say("ready");
                sleep_for_ever()
            }
            ExitCode::SUCCESS
        }
        // A tracer: until it waits or is dead, nobody else can reap what it traces.
        ["traces", pid] => {
            // SAFETY: PTRACE_SEIZE takes a process id and options, and no pointer.
            let seized =
                unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid.parse().unwrap_or(0), 0usize, 0usize) };
            if seized != 0 {
                say("forbidden");
                return ExitCode::FAILURE;
            }
            say("ready");
            sleep_for_ever()
        }
        // Uses the processor in two processes.
        ["spins"] => {
            ignore(libc::SIGXCPU);
            fork();
            say("ready");
            loop {
                std::hint::spin_loop();
            }
        }
        // A daemon that cannot be, or just.
        ["begin", resource, count] => crate::failures::begin(resource, count),
        // A daemon of the warden, to be killed: starts what it was told to, and waits.
        ["daemon", tracker, mark] => crate::loss::daemon(*tracker == "cgroup", mark),
        _ => ExitCode::FAILURE,
    }
}
