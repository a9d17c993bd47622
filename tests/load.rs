//! Load leaves nothing behind, and one busy process does not starve the rest.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use exec_tests::{Server, eventually, helper, marker, ours_only, procfs, program, sh};
use serde_json::json;

const MIB: u64 = 1 << 20;

/// What is measured here is measured alone: one test's load is not another's latency.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|e| e.into_inner())
}

#[test]
fn descriptors_come_back_after_pipes_and_failed_starts() {
    let _alone = alone();
    let server = Server::start();
    for _ in 0..3 {
        server.assert_works();
    }
    let before = server.descriptors();
    for i in 0..100 {
        let process = server.spawn(program(&["/bin/echo", "x"]).set("pipeStdin", i % 2 == 1));
        process.closed();
    }
    for i in 0..50 {
        server.start_refused(program(&["/no/such"]).on(i % 2 == 1), -32603, "spawnNotFound");
    }
    let back = eventually(Duration::from_secs(3), || {
        (server.descriptors() <= before + 2).then_some(())
    });
    assert!(back.is_some(), "{before} → {}", server.descriptors());
}

#[test]
fn descriptors_come_back_after_terminals() {
    let _alone = alone();
    let server = Server::start();
    server.assert_works();
    let before = server.descriptors();
    for _ in 0..50 {
        server.run(program(&["/bin/echo", "x"]).tty());
    }
    let back = eventually(Duration::from_secs(5), || {
        (server.descriptors() <= before + 2).then_some(())
    });
    assert!(back.is_some(), "{before} → {}", server.descriptors());
}

#[test]
fn one_flood_does_not_starve_the_rest() {
    let _alone = alone();
    let server = Server::builder().count_only().start();
    let flood = server.spawn(helper(&["flood", &"x".repeat(200)]));
    flood.await_length("stdout", MIB);
    let mut pings: Vec<Duration> = (0..10).map(|_| server.ping()).collect();
    pings.sort();
    assert!(pings[5] < Duration::from_millis(250), "{pings:?}");
    let start = Instant::now();
    server.spawn(sh("true")).closed();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    flood.terminate();
    flood.closed();
}

#[test]
fn memory_does_not_grow_with_output() {
    let _alone = alone();
    let server = Server::builder().count_only().start();
    server.spawn(sh("true")).closed();
    let before = server.memory("VmRSS");
    let process = server.spawn(helper(&["zeros", "300000000", "0"]));
    process.closed_within(Duration::from_secs(240));
    assert_eq!(process.stream_length("stdout"), 300_000_000);
    let grown = server.memory("VmHWM").saturating_sub(before);
    assert!(grown < 100 * MIB, "{} MiB", grown / MIB);
}

#[test]
fn idle_processes_and_polls_cost_no_cpu() {
    ours_only!();
    let _alone = alone();
    let server = Server::start();
    let all: Vec<_> = (0..20)
        .map(|i| server.spawn(helper(&["sleep", &marker()]).on(i % 2 == 1)))
        .collect();
    for process in &all {
        process.post("read", json!({"waitMs": 20_000}));
    }
    server.ping();
    let before = server.cpu();
    // The time is the measure here, not a way to wait for something.
    std::thread::sleep(Duration::from_secs(2));
    let used = server.cpu() - before;
    assert!(used <= Duration::from_millis(60), "{used:?} in 2 s");
}

#[test]
fn two_hundred_live_processes_are_told_apart() {
    ours_only!();
    let _alone = alone();
    let server = Server::start();
    let all: Vec<_> = (0..200)
        .map(|_| server.spawn(program(&["/bin/cat"]).pipe_stdin()))
        .collect();
    for (i, process) in all.iter().enumerate() {
        process.write(format!("line {i}\n").as_bytes());
    }
    for (i, process) in all.iter().enumerate() {
        process.await_output(format!("line {i}\n").as_bytes());
        process.ask("closeStdin", json!({}));
    }
    for process in &all {
        assert_eq!(process.closed(), 0);
    }
    let ping = server.ping();
    assert!(ping < Duration::from_secs(1), "{ping:?}");
}

#[test]
fn the_warden_keeps_no_more_from_round_to_round() {
    ours_only!();
    let _alone = alone();
    let server = Server::start();
    let warden = server.warden().expect("a warden");
    let round = || {
        let all: Vec<_> = (0..80)
            .map(|i| server.spawn(helper(&["sleep", "x"]).on(i % 2 == 1)))
            .collect();
        for process in &all {
            process.terminate();
        }
        for process in &all {
            process.closed();
            process.wait(json!({"type": "treeEnded"}));
        }
    };
    // The first fills what it keeps for the next commands; after that nothing may be added.
    round();
    let first = procfs::descriptors(warden);
    round();
    round();
    let same = eventually(Duration::from_secs(3), || {
        (procfs::descriptors(warden) <= first + 4).then_some(())
    });
    assert!(
        same.is_some(),
        "descriptors: {first} → {}",
        procfs::descriptors(warden)
    );
}
