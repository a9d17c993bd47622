//! Output is held back, never dropped.

use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use exec_protocol::limits::{Limits, READ_CHUNK_BYTES};
use rustix::fs::{OFlags, fcntl_setfl};

use super::stage::{Child, Stage, command, exit, exit_leaving, output, settle, take_all, terminal};
use crate::{Notification, Process};

/// Writes a pattern until the pipe is full and stays full; gives what was written.
async fn flood(child: &mut Child, seed: usize) -> Vec<u8> {
    let stdout = child.stdout.as_mut().expect("pipes");
    fcntl_setfl(stdout.as_fd(), OFlags::NONBLOCK).expect("a pipe");
    let mut written = Vec::new();
    let mut full = 0;
    while full < 3 {
        let start = seed + written.len();
        let chunk: Vec<u8> = (start..start + 4096).map(|i| (i % 251) as u8).collect();
        match stdout.write(&chunk) {
            Ok(count) => {
                written.extend_from_slice(&chunk[..count]);
                full = 0;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                full += 1;
                settle().await;
            }
            Err(error) => panic!("{error}"),
        }
        assert!(written.len() < 64 << 20, "nothing holds it back");
    }
    written
}

fn limits() -> Limits {
    Limits {
        process_unsent_bytes: 100_000,
        total_unsent_bytes: 150_000,
        ..Limits::default()
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_blocks_the_child_and_loses_nothing() {
    let stage = Stage::new(limits());
    let (process, mut child) = stage.run("p", command());
    let mut written = flood(&mut child, 0).await;
    let read = process.info().output_bytes as usize;
    assert!(
        (100_000..100_000 + READ_CHUNK_BYTES).contains(&read),
        "{read} bytes were read"
    );
    assert!(process.read(0, 1).chunks.len() == 1, "what is logged can be read");

    let mut got = Vec::new();
    for _ in 0..10 {
        while let Some(told) = process.next_notification() {
            got.extend(output(&[told]));
        }
        settle().await;
        let more = flood(&mut child, written.len()).await;
        written.extend(more);
    }
    stage.exit(child, exit(0));
    got.extend(output(&stage.rest(&process).await));
    assert!(written.len() > 1_000_000, "it went on: {}", written.len());
    assert!(got == written, "{} of {} bytes", got.len(), written.len());
}

#[tokio::test]
async fn all_processes_share_one_budget() {
    let stage = Stage::new(limits());
    let mut all = Vec::new();
    for id in ["a", "b", "c", "d"] {
        let (process, mut child) = stage.run(id, command());
        let written = flood(&mut child, 0).await;
        all.push((process, child, written));
    }
    let read: u64 = all.iter().map(|(process, ..)| process.info().output_bytes).sum();
    assert!(read as usize <= 150_000 + READ_CHUNK_BYTES, "{read}");
    assert_eq!(all[3].0.info().output_bytes, 0, "the last came too late");
    for (process, child, written) in all {
        stage.exit(child, exit(0));
        let got = output(&stage.rest(&process).await);
        assert!(got == written, "{} of {} bytes", got.len(), written.len());
    }
}

#[tokio::test]
async fn single_bytes_are_bounded_too() {
    let stage = Stage::new(Limits {
        process_unsent_events: 10,
        retained_chunks: 4,
        ..Limits::default()
    });
    let (process, mut child) = stage.run("p", command());
    for _ in 0..30 {
        child.print(b"x");
        settle().await;
    }
    assert_eq!(process.info().output_bytes, 10);
    stage.exit(child, exit(0));
    assert_eq!(output(&stage.rest(&process).await).len(), 30);
    assert!(
        process.read(0, usize::MAX).chunks.len() <= 4,
        "once they are sent"
    );
}

#[tokio::test]
async fn a_process_that_is_over_costs_nothing() {
    let stage = Stage::new(limits());
    let (process, mut child) = stage.run("p", command());
    flood(&mut child, 0).await;
    let session = process.session();
    assert!(session.budget.used() > 100_000);
    let weak = Arc::downgrade(&process);
    stage.exit(child, exit(0));
    stage.rest(&process).await;
    assert_eq!(session.budget.used(), 0);
    drop((process, stage));
    settle().await;
    assert!(weak.upgrade().is_none(), "nothing holds a process that is over");
}

#[tokio::test]
async fn the_log_keeps_the_tail_and_counts_the_rest() {
    let stage = Stage::new(Limits {
        retained_bytes: 50_000,
        ..Limits::default()
    });
    let (process, mut child) = stage.run("p", command());
    let mut written = Vec::new();
    for _ in 0..4 {
        written.extend(flood(&mut child, written.len()).await);
        take_all(&process);
        settle().await;
    }
    stage.exit(child, exit(0));
    stage.rest(&process).await;
    let page = process.read(0, usize::MAX);
    let kept: Vec<u8> = page
        .chunks
        .iter()
        .flat_map(|(_, _, bytes)| bytes.to_vec())
        .collect();
    assert!(kept.len() <= 50_000);
    assert_eq!(page.evicted_bytes as usize + kept.len(), written.len());
    assert!(written.ends_with(&kept));
    assert_eq!(page.first_seq, page.chunks.first().map(|(seq, ..)| *seq));
    assert!(page.closed);
}

#[tokio::test]
async fn a_terminal_ends_when_nobody_has_it_open() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", terminal());
    child.show(b"hi\n");
    stage.exit(child, exit(0));
    let told = stage.rest(&process).await;
    assert_eq!(output(&told), b"hi\r\n");
    assert_eq!(process.read(0, 1).failure, None, "EIO is its end of file");
    assert!(matches!(told.last(), Some(Notification::Closed { .. })));
}

#[tokio::test]
async fn a_leader_may_close_its_terminal_and_open_it_again() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", terminal());
    let path = rustix::termios::ttyname(child.stdin.as_ref().expect("the slave"), Vec::new());
    child.stdin = None;
    settle().await;
    let path = path.expect("a terminal").into_string().expect("UTF-8");
    let again = std::fs::OpenOptions::new().write(true).open(path);
    child.stdin = Some(again.expect("still there"));
    child.show(b"back");
    assert_eq!(output(&[stage.next(&process).await]), b"back");
    stage.exit(child, exit(0));
    assert_eq!(stage.rest(&process).await.len(), 2);
}

/// What is told up to the leader's end: the output, and the number of `exited`.
async fn until_exited(stage: &Stage, process: &Process) -> (Vec<u8>, u64) {
    let mut told = Vec::new();
    loop {
        let notification = stage.next(process).await;
        if let Notification::Exited { seq, .. } = notification {
            return (output(&told), seq);
        }
        told.push(notification);
    }
}

#[tokio::test]
async fn what_was_printed_before_the_exit_is_numbered_before_it() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    // A background child has them too, and they do not end.
    let mut holder = child.stdout.as_ref().expect("pipes").try_clone().expect("open");
    let _error_holder = child.stderr.as_ref().expect("pipes").try_clone().expect("open");
    let text: Vec<u8> = (0..50_000u32).map(|i| (i % 251) as u8).collect();
    for stream in [&mut child.stdout, &mut child.stderr] {
        stream.as_mut().expect("pipes").write_all(&text).expect("room");
    }
    // Nothing has been read yet.
    stage.exit(child, exit_leaving(0));
    holder.write_all(b"later").expect("room");
    let (printed, seq) = until_exited(&stage, &process).await;
    assert!(
        printed == [&text[..], &text[..]].concat(),
        "{} bytes",
        printed.len()
    );
    let Notification::Output { seq: next, bytes, .. } = stage.next(&process).await else {
        panic!("what came later");
    };
    assert_eq!((next, bytes.as_ref()), (seq + 1, &b"later"[..]));
}

#[tokio::test]
async fn a_client_that_does_not_read_delays_no_exit() {
    let stage = Stage::new(limits());
    let (process, mut child) = stage.run("p", command());
    let holder = child.stdout.as_ref().expect("pipes").try_clone().expect("open");
    let written = flood(&mut child, 0).await;
    stage.exit(child, exit_leaving(0));
    let info = process.info();
    assert_eq!(info.exit_code, Some(0));
    assert_eq!(
        info.output_bytes,
        written.len() as u64,
        "what the pipe held is read"
    );
    let (printed, _) = until_exited(&stage, &process).await;
    assert!(printed == written, "{} of {} bytes", printed.len(), written.len());
    drop(holder);
    assert!(stage.rest(&process).await.len() == 1, "closed");
}

#[tokio::test]
async fn what_a_terminal_holds_at_the_exit_is_numbered_before_it() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", terminal());
    let holder = child
        .stdin
        .as_ref()
        .expect("the slave")
        .try_clone()
        .expect("open");
    fcntl_setfl(holder.as_fd(), OFlags::NONBLOCK).expect("a terminal");
    let slave = child.stdin.as_mut().expect("the slave");
    let mut written = 0;
    // More than one buffer of the kernel's: as much as it takes.
    while let Ok(count) = slave.write(&[b'x'; 1000]) {
        written += count;
    }
    assert!(written > 4096, "{written}");
    stage.exit(child, exit_leaving(0));
    let (printed, _) = until_exited(&stage, &process).await;
    assert_eq!(printed.len(), written);
    assert!(printed.iter().all(|byte| *byte == b'x'));
    drop(holder);
    assert!(stage.rest(&process).await.len() == 1, "closed");
}
