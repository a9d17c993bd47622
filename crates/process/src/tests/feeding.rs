//! What is written to stdin.

use std::io::{Read, Write};
use std::os::fd::AsFd;

use bytes::Bytes;
use exec_protocol::limits::Limits;
use exec_protocol::process::WriteStatus;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::stage::{Child, Stage, command, exit, settle, terminal};
use crate::{CloseStdinError, Command, ResizeError, Stdio, WriteError};

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

/// Reads what is there, `step` bytes at a time, until the end or until nothing comes.
async fn drain(child: &mut Child, step: usize) -> (Vec<u8>, bool) {
    let stdin = child.stdin.as_mut().expect("a stdin");
    fcntl_setfl(stdin.as_fd(), OFlags::NONBLOCK).expect("open");
    let mut got = Vec::new();
    let mut buffer = vec![0; step];
    let mut empty = 0;
    while empty < 3 {
        match stdin.read(&mut buffer) {
            Ok(0) => return (got, true),
            Ok(count) => {
                got.extend_from_slice(&buffer[..count]);
                empty = 0;
            }
            Err(_) => {
                empty += 1;
                settle().await;
            }
        }
    }
    (got, false)
}

#[tokio::test]
async fn more_than_a_pipe_holds_arrives_in_order_and_then_the_end() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    let data = pattern(700_000);
    for (index, part) in data.chunks(100_000).enumerate() {
        let close = index == 6;
        let status = process.write(Bytes::copy_from_slice(part), None, close);
        assert_eq!(status, Ok(WriteStatus::Accepted));
    }
    assert_eq!(
        process.close_stdin(),
        Ok(WriteStatus::StdinClosed),
        "its end is queued"
    );
    let (got, ended) = drain(&mut child, 7_777).await;
    assert!(got == data, "{} of {} bytes", got.len(), data.len());
    assert!(ended);
}

#[tokio::test]
async fn input_comes_first_and_the_end_after_it() {
    let stage = Stage::new(Limits::default());
    for keep_stdin in [false, true] {
        let command = Command {
            stdio: Stdio::Pipes { keep_stdin },
            input: pattern(300_000).into(),
            ..command()
        };
        let id = format!("{keep_stdin}");
        let (process, mut child) = stage.run(&id, command);
        let status = process.write("more".into(), None, false);
        let (got, ended) = drain(&mut child, 50_000).await;
        if keep_stdin {
            assert_eq!(status, Ok(WriteStatus::Accepted));
            assert!(got == [&pattern(300_000)[..], b"more"].concat());
            assert_eq!(process.close_stdin(), Ok(WriteStatus::Accepted));
        } else {
            assert_eq!(status, Ok(WriteStatus::StdinClosed));
            assert!(got == pattern(300_000));
            assert_eq!(process.close_stdin(), Err(CloseStdinError::NotPiped));
        }
        assert_eq!(ended, !keep_stdin);
        assert_eq!(
            process.resize(exec_protocol::process::TerminalSize { rows: 1, cols: 1 }),
            Err(ResizeError::NotTerminal)
        );
    }
}

#[tokio::test]
async fn without_input_and_unkept_there_is_no_stdin() {
    let stage = Stage::new(Limits::default());
    let command = Command {
        stdio: Stdio::Pipes { keep_stdin: false },
        ..command()
    };
    let (_process, child) = stage.run("p", command);
    assert!(child.stdin.is_none());
}

#[tokio::test]
async fn a_full_backlog_refuses_until_the_refusal_is_answered() {
    let stage = Stage::new(Limits {
        stdin_backlog_bytes: 10,
        ..Limits::default()
    });
    let (process, mut child) = stage.run("p", command());
    let big = pattern(200_000);
    assert_eq!(
        process.write(big.clone().into(), Some("w"), false),
        Ok(WriteStatus::Accepted)
    );
    let Err(WriteError::BacklogFull {
        queued_bytes,
        limit_bytes: 10,
    }) = process.write("a".into(), None, false)
    else {
        panic!("taken");
    };
    assert!(queued_bytes > 100_000);
    let (got, _) = drain(&mut child, 64 * 1024).await;
    assert!(got == big);
    assert!(
        process.write("b".into(), None, false).is_err(),
        "the first refusal is not answered"
    );
    assert_eq!(
        process.write(big.into(), Some("w"), false),
        Ok(WriteStatus::Accepted),
        "known"
    );
    process.refusal_answered();
    assert_eq!(process.write("c".into(), None, false), Ok(WriteStatus::Accepted));
    assert_eq!(drain(&mut child, 10).await.0, b"c");
}

#[tokio::test]
async fn a_reader_that_goes_away_closes_stdin_and_nothing_else() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    process
        .write(pattern(200_000).into(), None, false)
        .expect("taken");
    child.stdin = None;
    settle().await;
    assert_eq!(
        process.write("x".into(), None, false),
        Ok(WriteStatus::StdinClosed)
    );
    assert_eq!(process.close_stdin(), Ok(WriteStatus::StdinClosed));
    child
        .stdout
        .as_mut()
        .expect("pipes")
        .write_all(b"alive")
        .expect("read");
    assert!(matches!(
        stage.next(&process).await,
        crate::Notification::Output { .. }
    ));
}

#[tokio::test]
async fn closed_lets_go_of_stdin_though_bytes_wait() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    process
        .write(pattern(200_000).into(), None, false)
        .expect("taken");
    settle().await;
    let mut stdin = child.stdin.take().expect("kept");
    stage.exit(child, exit(0));
    stage.rest(&process).await;
    settle().await;
    let mut got = Vec::new();
    stdin.read_to_end(&mut got).expect("its other end is closed");
    assert!(pattern(200_000).starts_with(&got));
    assert_eq!(
        process.write("x".into(), None, false),
        Ok(WriteStatus::StdinClosed)
    );
}

#[tokio::test]
async fn a_paste_of_lines_gets_through_a_terminal() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", terminal());
    assert_eq!(process.close_stdin(), Err(CloseStdinError::Terminal));
    let mut modes = tcgetattr(child.stdin.as_ref().expect("the slave")).expect("a terminal");
    modes.local_modes -= LocalModes::ECHO;
    tcsetattr(
        child.stdin.as_ref().expect("the slave"),
        OptionalActions::Now,
        &modes,
    )
    .expect("set");
    let paste: Vec<u8> = (0..1024)
        .flat_map(|i| format!("{i:063}\n").into_bytes())
        .collect();
    assert_eq!(paste.len(), 65_536);
    process.write(paste.clone().into(), None, false).expect("taken");
    let stdin = child
        .stdin
        .as_mut()
        .expect("the slave")
        .try_clone()
        .expect("a descriptor");
    // A blocking reader, as a shell is.
    let reader = tokio::task::spawn_blocking(move || {
        let mut stdin = stdin;
        let mut got = Vec::new();
        let mut line = [0; 4096];
        while got.len() < 65_536 {
            let count = stdin.read(&mut line).expect("a line");
            got.extend_from_slice(&line[..count]);
        }
        got
    });
    let got = tokio::time::timeout(std::time::Duration::from_secs(20), reader).await;
    assert!(got.expect("in time").expect("no panic") == paste);
}

#[tokio::test]
async fn a_raw_terminal_that_nobody_reads_holds_the_writer_and_does_not_spin() {
    let stage = Stage::new(Limits::default());
    let (process, child) = stage.run("p", terminal());
    let slave = child.stdin.as_ref().expect("the slave");
    let mut modes = tcgetattr(slave).expect("a terminal");
    modes.make_raw();
    tcsetattr(slave, OptionalActions::Now, &modes).expect("set");
    process
        .write(pattern(500_000).into(), None, false)
        .expect("taken");
    settle().await;
    let before = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let after = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let spent = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1_000_000;
    assert!(spent < 100, "{spent} ms of CPU time in 200 ms of nothing to do");
    stage.exit(child, exit(0));
    stage.rest(&process).await;
}

#[tokio::test]
async fn a_window_is_changed_until_the_exit() {
    let stage = Stage::new(Limits::default());
    let (process, child) = stage.run("p", terminal());
    let size = exec_protocol::process::TerminalSize { rows: 50, cols: 132 };
    assert_eq!(process.resize(size), Ok(()));
    let window = rustix::termios::tcgetwinsize(child.stdin.as_ref().expect("the slave")).expect("a terminal");
    assert_eq!((window.ws_row, window.ws_col), (50, 132));
    stage.exit(child, exit(0));
    stage.rest(&process).await;
    assert_eq!(process.resize(size), Ok(()));
}
