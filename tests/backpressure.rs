//! A client that does not read holds the processes back, and costs neither memory nor bytes nor control.

use std::time::{Duration, Instant};

use exec_tests::procfs::{self, await_blocked};
use exec_tests::{Server, helper, marker, ours_only};
use rustix::process::Signal;
use serde_json::json;

const MIB: u64 = 1 << 20;

#[test]
fn a_flood_waits_for_the_reader() {
    ours_only!();
    let server = Server::builder().count_only().start();
    server.ping();
    let before = server.memory("VmRSS");
    let mark = marker();
    let process = server.spawn(helper(&["flood", &mark]));
    process.await_length("stdout", MIB);
    server.stop_reading();
    await_blocked(server.await_marked(&mark, 1)[0]);
    let grown = server.memory("VmRSS").saturating_sub(before);
    assert!(grown < 100 * MIB, "{} MiB", grown / MIB);
    server.read_again();
    let so_far = process.stream_length("stdout");
    process.await_length("stdout", so_far + 8 * MIB);
    process.terminate();
    process.closed();
}

#[test]
fn nothing_is_lost_while_nobody_reads() {
    ours_only!();
    let server = Server::start();
    let count = 4_000_000 / 8;
    let process = server.spawn(helper(&["numbers", &count.to_string()]));
    server.stop_reading();
    await_blocked(server.await_marked("numbers", 1)[0]);
    server.read_again();
    process.closed();
    let output = process.stream("stdout");
    assert_eq!(output.len(), 4_000_000);
    let wrong = output
        .chunks(8)
        .enumerate()
        .find(|(i, line)| *line != format!("{i:07}\n").as_bytes());
    assert_eq!(wrong, None);
}

#[test]
fn ending_does_not_wait_for_the_reader() {
    ours_only!();
    let server = Server::builder().count_only().start();
    let mark = marker();
    let process = server.spawn(helper(&["flood", &mark]));
    server.stop_reading();
    let pid = server.await_marked(&mark, 1)[0];
    await_blocked(pid);
    process.post("terminate", json!({"graceMs": 100}));
    let start = Instant::now();
    server.assert_none_marked(&mark, Duration::from_secs(5));
    assert!(start.elapsed() < Duration::from_secs(5));
    server.read_again();
    process.closed();
}

#[test]
fn idle_time_stands_still_meanwhile() {
    ours_only!();
    let server = Server::builder().count_only().start();
    let mark = marker();
    let process = server.spawn(helper(&["flood", &mark]).set("idleTimeoutMs", 400));
    server.stop_reading();
    let pid = server.await_marked(&mark, 1)[0];
    await_blocked(pid);
    // Held back for longer than the limit: the time is the measure here…
    std::thread::sleep(Duration::from_secs(1));
    assert!(procfs::alive(pid), "ended as idle while it was held back");
    server.read_again();
    // …then stopped, so that it is idle by itself.
    process.await_length("stdout", MIB);
    server.kill(pid, Signal::STOP);
    assert_eq!(process.exited()["cause"], "idle");
}
