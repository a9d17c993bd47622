//! Waits.

use std::io::Write;
use std::pin::pin;
use std::time::Duration;

use exec_protocol::Stream;
use exec_protocol::limits::Limits;
use exec_protocol::process::{OutputMatch, WaitReason, WaitUntil};
use tokio::time::{Instant, timeout};

use super::stage::{Stage, command, exit, exit_leaving, settle, terminal};
use crate::WaitError;

const MS: Duration = Duration::from_millis(1);

fn literal(text: &str) -> WaitUntil {
    WaitUntil::Output {
        literal: Some(text.into()),
        regex: None,
        stream: None,
        from_offset: None,
    }
}

fn quiet(ms: u64) -> WaitUntil {
    WaitUntil::Quiet { ms, stream: None }
}

fn bytes(count: u64, stream: Option<Stream>) -> WaitUntil {
    WaitUntil::Bytes { count, stream }
}

#[tokio::test(start_paused = true)]
async fn each_condition_is_met() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    let id = child.id;
    let (exited, tree, text, count) = (
        WaitUntil::Exit,
        WaitUntil::TreeEnded,
        literal("needle"),
        bytes(9, None),
    );
    let mut exited = pin!(process.wait(&exited, None));
    let mut tree = pin!(process.wait(&tree, None));
    let mut text = pin!(process.wait(&text, None));
    let mut count = pin!(process.wait(&count, None));
    assert!(timeout(Duration::ZERO, &mut exited).await.is_err());
    assert!(timeout(Duration::ZERO, &mut tree).await.is_err());
    assert!(timeout(Duration::ZERO, &mut text).await.is_err());
    assert!(timeout(Duration::ZERO, &mut count).await.is_err());
    for part in ["a nee", "dle"] {
        child
            .stdout
            .as_mut()
            .expect("pipes")
            .write_all(part.as_bytes())
            .expect("room");
        settle().await;
    }
    let answer = text.await.expect("valid");
    assert_eq!(
        (answer.reason, answer.next_seq, answer.exit_code),
        (WaitReason::Output, 3, None)
    );
    assert_eq!(
        answer.found,
        Some(OutputMatch {
            stream: Stream::Stdout,
            offset: 2,
            length: 6
        })
    );
    assert!(timeout(Duration::ZERO, &mut count).await.is_err(), "8 of 9");
    child
        .stderr
        .as_mut()
        .expect("pipes")
        .write_all(b"!")
        .expect("room");
    assert_eq!(count.await.expect("valid").reason, WaitReason::Bytes);
    stage.exit(child, exit_leaving(5));
    let answer = exited.await.expect("valid");
    assert_eq!((answer.reason, answer.exit_code), (WaitReason::Exit, Some(5)));
    assert!(timeout(Duration::ZERO, &mut tree).await.is_err());
    stage.events.tree_ended(id);
    assert_eq!(tree.await.expect("valid").reason, WaitReason::TreeEnded);
}

#[tokio::test(start_paused = true)]
async fn what_is_already_true_answers_at_once() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    child
        .stdout
        .as_mut()
        .expect("pipes")
        .write_all(b"already")
        .expect("room");
    settle().await;
    let before = Instant::now();
    let from = WaitUntil::Output {
        literal: None,
        regex: Some("a".into()),
        stream: Some(Stream::Stdout),
        from_offset: Some(1),
    };
    let found = process
        .wait(&from, Some(Duration::ZERO))
        .await
        .expect("valid")
        .found;
    assert_eq!(found.map(|found| found.offset), Some(4));
    for until in [
        bytes(7, Some(Stream::Stdout)),
        bytes(0, Some(Stream::Stderr)),
        quiet(0),
    ] {
        let answer = process.wait(&until, Some(Duration::ZERO)).await.expect("valid");
        assert!(!matches!(answer.reason, WaitReason::Timeout), "{until:?}");
    }
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_an_answer() {
    let stage = Stage::new(Limits::default());
    let (process, _child) = stage.run("p", command());
    let before = Instant::now();
    let answer = process
        .wait(&WaitUntil::Exit, Some(50 * MS))
        .await
        .expect("valid");
    assert_eq!(answer.reason, WaitReason::Timeout);
    assert!((50 * MS..52 * MS).contains(&before.elapsed()));
}

#[tokio::test(start_paused = true)]
async fn what_can_no_longer_come_answers_closed() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    child.stderr = None;
    settle().await;
    let answer = process
        .wait(&bytes(1, Some(Stream::Stderr)), None)
        .await
        .expect("valid");
    assert_eq!(answer.reason, WaitReason::Closed);
    let (text, count, silence) = (literal("x"), bytes(1, None), quiet(1000));
    let mut text = pin!(process.wait(&text, None));
    let mut count = pin!(process.wait(&count, None));
    let mut silence = pin!(process.wait(&silence, None));
    assert!(timeout(Duration::ZERO, &mut text).await.is_err());
    assert!(timeout(Duration::ZERO, &mut count).await.is_err());
    assert!(timeout(Duration::ZERO, &mut silence).await.is_err());
    stage.exit(child, exit(0));
    settle().await;
    assert_eq!(text.await.expect("valid").reason, WaitReason::Closed);
    assert_eq!(count.await.expect("valid").reason, WaitReason::Closed);
    assert_eq!(silence.await.expect("valid").reason, WaitReason::Closed);
}

#[tokio::test(start_paused = true)]
async fn quiet_counts_from_the_last_byte_and_stands_still_while_held_back() {
    let stage = Stage::new(Limits {
        process_unsent_bytes: 1,
        ..Limits::default()
    });
    let (process, mut child) = stage.run("p", command());
    settle().await;
    let until = quiet(100);
    let mut wait = pin!(process.wait(&until, None));
    assert!(timeout(90 * MS, &mut wait).await.is_err());
    child
        .stdout
        .as_mut()
        .expect("pipes")
        .write_all(b"x")
        .expect("room");
    settle().await;
    assert!(
        timeout(1000 * MS, &mut wait).await.is_err(),
        "held back is not quiet"
    );
    while process.next_notification().is_some() {}
    settle().await;
    let before = Instant::now();
    assert_eq!(wait.await.expect("valid").reason, WaitReason::Quiet);
    assert!(
        (99 * MS..102 * MS).contains(&before.elapsed()),
        "{:?}",
        before.elapsed()
    );
}

#[tokio::test]
async fn a_pattern_sees_every_byte_however_fast_they_are_evicted() {
    let stage = Stage::new(Limits {
        retained_bytes: 1,
        ..Limits::default()
    });
    let (process, mut child) = stage.run("p", command());
    let until = literal("needle");
    let mut wait = pin!(process.wait(&until, None));
    assert!(timeout(Duration::ZERO, &mut wait).await.is_err());
    for part in ["..nee", "dle..", "much more"] {
        child
            .stdout
            .as_mut()
            .expect("pipes")
            .write_all(part.as_bytes())
            .expect("room");
        settle().await;
        while process.next_notification().is_some() {}
    }
    let found = wait.await.expect("valid").found.expect("found");
    assert_eq!(found.offset, 2);
}

#[tokio::test]
async fn a_cancelled_wait_leaves_nothing_behind() {
    let stage = Stage::new(Limits::default());
    let (process, _child) = stage.run("p", command());
    let until = literal("never");
    assert!(timeout(MS, process.wait(&until, None)).await.is_err());
    assert_eq!(process.pattern_count(), 0);
}

#[tokio::test]
async fn a_stream_the_process_does_not_have_is_refused() {
    let stage = Stage::new(Limits::default());
    let (pipes, _a) = stage.run("p", command());
    let (pty, _b) = stage.run("q", terminal());
    for (process, stream) in [(pipes, Stream::Pty), (pty, Stream::Stdout)] {
        let error = process.wait(&bytes(1, Some(stream)), None).await;
        assert!(matches!(
            error,
            Err(WaitError::Invalid {
                member: "until.stream",
                ..
            })
        ));
    }
}

#[tokio::test]
async fn a_read_waits_for_the_next_event() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    {
        let mut event = pin!(process.event_after(0));
        assert!(timeout(MS, &mut event).await.is_err());
        child
            .stdout
            .as_mut()
            .expect("pipes")
            .write_all(b"x")
            .expect("room");
        event.await;
    }
    let page = process.read(0, 1);
    assert_eq!((page.chunks.len(), page.next_seq, page.closed), (1, 2, false));
    stage.exit(child, exit(0));
    process.event_after(1).await;
    process.event_after(u64::MAX).await;
    assert!(process.read(1, 1).closed);
}
