//! Small programs that put a process in one situation each: `helper SITUATION ARGS…`.
//!
//! They stand in for shell tricks: each does one thing, says on stdout when it is in place, and waits for
//! an event (a signal, end of file, a FIFO), never for time.

mod endings;
mod inherited;
mod output;
mod stdin;
mod supervise;
mod terminal;
mod tree;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let Some((situation, rest)) = args.get(1..).and_then(<[String]>::split_first) else {
        return ExitCode::from(64);
    };
    match situation.as_str() {
        // The harness's own: one daemon and everything below it.
        "supervise" => supervise::supervise(rest),
        "client" => supervise::client(rest),
        // Trees of processes.
        "sleep" => tree::sleep(rest),
        "tree" => tree::tree(rest),
        "background" => tree::background(rest),
        "double-fork" => tree::double_fork(rest),
        // What a process prints.
        "flood" => output::flood(rest),
        "zeros" => output::zeros(rest),
        "numbers" => output::numbers(rest),
        "trickle" => output::trickle(rest),
        // How a process ends.
        "exit" => ExitCode::from(tree::number(rest, 0) as u8),
        "raise" => endings::raise(rest),
        "ignore-signals" => endings::ignore_signals(rest),
        "stop" => endings::stop(rest),
        "close-stdio" => endings::close_stdio(rest),
        "signals" => endings::signals(rest),
        // How a process treats its stdin.
        "closed-stdin" => stdin::closed(rest),
        "deaf" => stdin::deaf(rest),
        "digest" => stdin::digest(rest),
        // What a process sees of its terminal, and what it was given.
        "winch" => terminal::winch(rest),
        "cursor-query" => terminal::cursor_query(rest),
        "inherited" => inherited::inherited(rest),
        _ => ExitCode::from(64),
    }
}

/// Writes a line to stdout and flushes it.
pub(crate) fn say(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    // A reader that is gone is no reason to end: the situation is what counts.
    drop(out.write_all(format!("{text}\n").as_bytes()));
    drop(out.flush());
}

/// Waits for ever; only a signal ends it.
pub(crate) fn wait_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}
