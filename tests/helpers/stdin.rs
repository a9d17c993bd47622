//! How a process treats its stdin.

use std::io::Read;
use std::process::ExitCode;

use crate::tree::number;
use crate::{say, wait_for_ever};

/// `closed-stdin FIFO`: closes stdin, says `up`; says `done` once the FIFO was opened and closed for writing.
pub(crate) fn closed(args: &[String]) -> ExitCode {
    // SAFETY: nothing in this process uses descriptor 0 after this.
    unsafe { libc::close(0) };
    say("up");
    drop(std::fs::read(args.first().map_or("", String::as_str)));
    say("done");
    ExitCode::SUCCESS
}

/// `deaf [raw]`: never reads its stdin.
pub(crate) fn deaf(args: &[String]) -> ExitCode {
    if args.iter().any(|a| a == "raw") {
        crate::terminal::make_raw(std::io::stdin());
    }
    say("up");
    wait_for_ever()
}

/// `digest COUNT`: reads so many bytes, on a terminal line by line and without echo; says their FNV-1a hash.
pub(crate) fn digest(args: &[String]) -> ExitCode {
    crate::terminal::no_echo(std::io::stdin());
    say("up");
    let mut left = number(args, 0) as usize;
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut buffer = [0; 65_536];
    let mut stdin = std::io::stdin().lock();
    while left > 0 {
        let limit = left.min(buffer.len());
        let Ok(n @ 1..) = stdin.read(&mut buffer[..limit]) else {
            break;
        };
        left -= n;
        for byte in &buffer[..n] {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    say(&format!("hash {hash:016x} left {left}"));
    ExitCode::SUCCESS
}
