//! What a process was given.

use std::os::fd::BorrowedFd;
use std::process::ExitCode;

use rustix::fs::{Mode, OFlags, fcntl_getfl};
use rustix::process::{Resource, getpgrp, getpid, getrlimit, getsid, nice, umask};
use serde_json::json;

/// `inherited`: one line of JSON with descriptors, signals, group, session, terminal, limits, umask and nice value.
pub(crate) fn inherited(_args: &[String]) -> ExitCode {
    // Read first: what follows opens files.
    let mut descriptors = serde_json::Map::new();
    if let Ok(entries) = std::fs::read_dir("/proc/self/fd") {
        for entry in entries.flatten() {
            let target = std::fs::read_link(entry.path()).unwrap_or_default();
            let own = target.starts_with("/proc") && target.ends_with("fd");
            if !own {
                let name = entry.file_name().to_string_lossy().into_owned();
                descriptors.insert(name, json!(target.to_string_lossy()));
            }
        }
    }
    // SAFETY: every situation is started with 0–2 open, and nothing closes them here.
    let stdio = [0, 1, 2].map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = |name: &str| {
        let line = status
            .lines()
            .find_map(|l| l.strip_prefix(name))
            .unwrap_or_default();
        u64::from_str_radix(line.trim_start_matches(':').trim(), 16).ok()
    };
    let limit = |resource| {
        let limit = getrlimit(resource);
        json!([limit.current, limit.maximum])
    };
    let pid = getpid();
    let report = json!({
        "descriptors": descriptors,
        "nonBlocking": stdio.map(|fd| fcntl_getfl(fd).is_ok_and(|f| f.contains(OFlags::NONBLOCK))),
        "terminals": stdio.map(rustix::termios::isatty),
        "devTty": std::fs::File::open("/dev/tty").is_ok(),
        "blocked": mask("SigBlk"),
        // The Rust runtime of this helper ignores SIGPIPE; the tests look at that one in another way.
        "ignored": mask("SigIgn"),
        "leadsGroup": getpgrp() == pid,
        "leadsSession": getsid(None).ok() == Some(pid),
        "foreground": rustix::termios::tcgetpgrp(stdio[0]).ok() == Some(getpgrp()),
        "openFiles": limit(Resource::Nofile),
        "core": limit(Resource::Core),
        "stack": limit(Resource::Stack),
        "umask": umask(Mode::empty()).bits(),
        "nice": nice(0).ok(),
    });
    crate::say(&report.to_string());
    ExitCode::SUCCESS
}
