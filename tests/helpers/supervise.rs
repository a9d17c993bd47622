//! One daemon and everything below it, kept together: the harness's own process.
//!
//! A subreaper above the daemon catches every orphan, so that the harness can see (and end) all that a session
//! left behind, and no test sees another's processes. It also prepares what the daemon inherits.

use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::fs::Mode;
use rustix::process::{
    Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, kill_process, nice, set_child_subreaper,
    setrlimit, umask, wait,
};

use crate::wait_for_ever;

/// Takes over a descriptor that the harness placed, and keeps it from the daemon's children.
fn placed(fd: RawFd) -> OwnedFd {
    // SAFETY: the harness puts the daemon's stdio at 3, 4 and 5; each is taken once.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC).ok();
    fd
}

/// `supervise [OPTION…] -- COMMAND…`: runs the daemon on descriptors 3, 4 and 5; says `pid N`, then `exit N` or
/// `signal N` on stdout; at end of its own stdin ends everything below it and goes.
///
/// Options: `nofile=SOFT:HARD`, `core=SOFT`, `umask=OCTAL`, `nice=N`, `ignore=N`, `block=N`, `stray`, `session` (it
/// leads a session whose terminal is its stdin).
pub(crate) fn supervise(args: &[String]) -> ExitCode {
    set_child_subreaper(Some(getpid())).ok();
    // Who runs the tests may ignore them (nohup does): what is below must find them as at a login.
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: SIG_DFL is a valid disposition, and this process has no handler of its own.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let stdio = [3, 4, 5].map(placed);
    let Some(split) = args.iter().position(|a| a == "--") else {
        return ExitCode::from(64);
    };
    let (options, command) = (&args[..split], &args[split + 1..]);
    let Some((program, arguments)) = command.split_first() else {
        return ExitCode::from(64);
    };
    let [stdin, stdout, stderr] = stdio.map(Stdio::from);
    let mut daemon = Command::new(program);
    daemon.args(arguments).stdin(stdin).stdout(stdout).stderr(stderr);
    // The leader of a group cannot start a session.
    if !options.iter().any(|o| o == "session") {
        daemon.process_group(0);
    }
    // Without close-on-exec, as a careless parent leaves them: the daemon has them, its children must not.
    let strays = options.iter().any(|o| o == "stray").then(|| {
        let pipe = rustix::pipe::pipe().ok();
        let file = rustix::fs::open("/etc/passwd", rustix::fs::OFlags::RDONLY, Mode::empty()).ok();
        (pipe, file)
    });
    let options: Vec<String> = options.to_vec();
    // SAFETY: this process has one thread, so nothing can hold a lock at the fork; the closure only makes
    // system calls and reads what was prepared.
    unsafe { daemon.pre_exec(move || options.iter().try_for_each(|option| apply(option))) };
    let mut report = std::io::stdout();
    let child = match daemon.spawn() {
        Ok(child) => child,
        Err(error) => {
            drop(writeln!(report, "failed {error}"));
            return ExitCode::from(70);
        }
    };
    // The daemon's stdin, stdout and stderr must have no other holder.
    drop(daemon);
    drop(strays);
    let pid = child.id();
    drop(writeln!(report, "pid {pid}"));
    std::thread::spawn(move || {
        // The harness writes nothing: this ends when it closes its end, or dies.
        drop(std::io::stdin().read(&mut [0]));
        end_all();
    });
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended.as_raw_nonzero().get() == pid as i32 => {
                drop(writeln!(report, "{}", ending(status)));
            }
            Ok(_) => {}
            // No child at all: the end of stdin is what is left to wait for.
            Err(_) => wait_for_ever(),
        }
    }
}

fn ending(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "lost".to_owned(),
    }
}

fn apply(option: &str) -> std::io::Result<()> {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let number = |text: &str| text.parse::<u64>().unwrap_or_default();
    match name {
        "nofile" => {
            let (soft, hard) = value.split_once(':').unwrap_or((value, value));
            let limit = Rlimit {
                current: Some(number(soft)),
                maximum: Some(number(hard)),
            };
            setrlimit(Resource::Nofile, limit)?;
        }
        "core" => {
            let maximum = rustix::process::getrlimit(Resource::Core).maximum;
            setrlimit(
                Resource::Core,
                Rlimit {
                    current: Some(number(value)),
                    maximum,
                },
            )?;
        }
        "umask" => {
            umask(Mode::from_raw_mode(
                u32::from_str_radix(value, 8).unwrap_or_default(),
            ));
        }
        "nice" => {
            nice(number(value) as i32)?;
        }
        "session" => {
            rustix::process::setsid()?;
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        "ignore" => {
            // SAFETY: signal(2) with a number and SIG_IGN; no memory involved.
            unsafe { libc::signal(number(value) as i32, libc::SIG_IGN) };
        }
        "block" => {
            // SAFETY: a zeroed set is initialised by sigemptyset before use; both calls take a live local.
            unsafe {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&mut set);
                libc::sigaddset(&mut set, number(value) as i32);
                libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            }
        }
        _ => {}
    }
    Ok(())
}

/// Kills every descendant until none is left, then this process.
fn end_all() -> ! {
    loop {
        let left = exec_tests::procfs::descendants(std::process::id());
        if left.is_empty() {
            break;
        }
        for pid in left {
            if let Some(pid) = rustix::process::Pid::from_raw(pid as i32) {
                kill_process(pid, Signal::KILL).ok();
            }
        }
        // The main thread reaps; it is woken by each death.
        std::thread::yield_now();
    }
    // SAFETY: ends this process, on purpose without running destructors of a thread that is blocked in wait.
    unsafe { libc::_exit(0) }
}

/// `client MARKER HOLDER [COMMAND…]`: a client that can be killed. It starts the daemon on pipes of its own, says its
/// handshake, starts `helper tree MARKER` and a flood, relays what the daemon says, and waits for ever. With a HOLDER that is
/// not empty, another process (`helper sleep HOLDER setsid`) holds the daemon's stdin open.
pub(crate) fn client(args: &[String]) -> ExitCode {
    let [marker, holder, program, arguments @ ..] = args else {
        return ExitCode::from(64);
    };
    let own = std::env::current_exe().unwrap_or_default();
    let Ok(mut daemon) = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    else {
        return ExitCode::from(70);
    };
    let (Some(mut stdin), Some(mut stdout)) = (daemon.stdin.take(), daemon.stdout.take()) else {
        return ExitCode::from(70);
    };
    if !holder.is_empty() {
        let Ok(copy) = rustix::io::dup(&stdin) else {
            return ExitCode::from(70);
        };
        // Holds the write end as its stdin: enough to keep the daemon from seeing end of file.
        let started = Command::new(&own)
            .args(["sleep", holder, "setsid"])
            .stdin(copy)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if started.is_err() {
            return ExitCode::from(70);
        }
    }
    let own = own.to_string_lossy();
    let start = |id: u64, argv: serde_json::Value| {
        serde_json::json!({"jsonrpc": "2.0", "id": id, "method": "process/start", "params": {
            "processId": format!("p{id}"), "argv": argv, "cwd": "file:///", "env": {"PATH": "/usr/bin:/bin"}, "tty": false,
        }})
    };
    let messages = [
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"clientName": "doomed"}}),
        serde_json::json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
        start(2, serde_json::json!([own, "tree", marker])),
        start(3, serde_json::json!([own, "flood", marker])),
    ];
    for message in messages {
        if writeln!(stdin, "{message}").is_err() {
            return ExitCode::from(70);
        }
    }
    let mut buffer = vec![0; 65_536];
    while let Ok(1..) = stdout.read(&mut buffer) {}
    wait_for_ever()
}
