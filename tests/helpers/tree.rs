//! Trees of processes: sleepers that can be found by their marker, in every place a child can hide.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use crate::{say, wait_for_ever};

/// The `i`-th argument as a number.
pub(crate) fn number(args: &[String], i: usize) -> u64 {
    args.get(i).and_then(|a| a.parse().ok()).unwrap_or_default()
}

fn again(args: &[&str]) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("helper").args(args);
    command
}

/// `sleep MARKER [setsid] [ignoring]`: waits for ever.
pub(crate) fn sleep(args: &[String]) -> ExitCode {
    if args.iter().any(|a| a == "setsid") {
        rustix::process::setsid().ok();
    }
    if args.iter().any(|a| a == "ignoring") {
        crate::endings::ignore();
    }
    wait_for_ever()
}

/// `tree MARKER [KIND…]`: starts one child of each kind (`child`, `setsid`, `ignoring`, `double-fork`, `clean-env`),
/// says `up` and waits for ever. Without kinds: one of each.
pub(crate) fn tree(args: &[String]) -> ExitCode {
    let Some((marker, kinds)) = args.split_first() else {
        return ExitCode::from(64);
    };
    let all: Vec<String> = ["child", "setsid", "ignoring", "double-fork", "clean-env"]
        .map(String::from)
        .to_vec();
    let mut children = Vec::new();
    for kind in if kinds.is_empty() { &all } else { kinds } {
        let mut command = match kind.as_str() {
            "double-fork" => again(&["double-fork", marker]),
            "clean-env" => {
                let mut command = again(&["sleep", marker]);
                command.env_clear();
                command
            }
            kind => again(&["sleep", marker, kind]),
        };
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            return ExitCode::from(70);
        };
        if kind == "double-fork" {
            // Its middle process ends at once: then the sleeper is an orphan.
            drop(child.wait());
        } else {
            children.push(child);
        }
    }
    say("up");
    wait_for_ever()
}

/// `double-fork MARKER`: starts a sleeper in a session of its own and ends: a daemon's classic start.
pub(crate) fn double_fork(args: &[String]) -> ExitCode {
    rustix::process::setsid().ok();
    let marker = args.first().map_or("", String::as_str);
    match again(&["sleep", marker, "setsid", "ignoring"]).spawn() {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(70),
    }
}

/// `background MARKER CODE [own-stdio] [setsid]`: leaves a sleeper behind, says `hi`, and exits with CODE.
/// The sleeper holds this process's stdio, unless `own-stdio`.
pub(crate) fn background(args: &[String]) -> ExitCode {
    let marker = args.first().map_or("", String::as_str);
    let mut command = again(&["sleep", marker]);
    if args.iter().any(|a| a == "setsid") {
        command.arg("setsid");
    }
    if args.iter().any(|a| a == "own-stdio") {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
    }
    if command.spawn().is_err() {
        return ExitCode::from(70);
    }
    say("hi");
    ExitCode::from(number(args, 1) as u8)
}
