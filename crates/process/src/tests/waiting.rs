//! Waits.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use exec_protocol::Stream;
use exec_protocol::limits::{Limits, REGEX_TEXT_BYTES};
use exec_protocol::process::{OutputMatch, WaitReason, WaitUntil};
use tokio::time::{Instant, timeout};

use super::stage::{
    MS, Stage, assert_pending, command, exit, exit_leaving, settle, take_all, terminal, wait,
};
use crate::WaitError;

fn literal(text: &str) -> WaitUntil {
    WaitUntil::Output {
        literal: Some(text.into()),
        regex: None,
        stream: None,
        from_offset: None,
    }
}

fn regex(text: &str) -> WaitUntil {
    WaitUntil::Output {
        literal: None,
        regex: Some(text.into()),
        stream: None,
        from_offset: None,
    }
}

/// One that takes a while to compile.
fn slow_regex() -> WaitUntil {
    regex(&format!("(?i){}x", r"\pL".repeat(4)))
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
    let mut exited = pin!(wait(&process, &exited, None));
    let mut tree = pin!(wait(&process, &tree, None));
    let mut text = pin!(wait(&process, &text, None));
    let mut count = pin!(wait(&process, &count, None));
    assert_pending(&mut exited).await;
    assert_pending(&mut tree).await;
    assert_pending(&mut text).await;
    assert_pending(&mut count).await;
    for part in ["a nee", "dle"] {
        child.print(part.as_bytes());
        settle().await;
    }
    let answer = text.await;
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
    assert_pending(&mut count).await; // 8 of 9
    child.complain(b"!");
    assert_eq!(count.await.reason, WaitReason::Bytes);
    stage.exit(child, exit_leaving(5));
    let answer = exited.await;
    assert_eq!((answer.reason, answer.exit_code), (WaitReason::Exit, Some(5)));
    assert_pending(&mut tree).await;
    stage.events.tree_ended(id);
    assert_eq!(tree.await.reason, WaitReason::TreeEnded);
}

#[tokio::test(start_paused = true)]
async fn what_is_already_true_answers_at_once() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    child.print(b"already");
    settle().await;
    let before = Instant::now();
    let from = WaitUntil::Output {
        literal: None,
        regex: Some("a".into()),
        stream: Some(Stream::Stdout),
        from_offset: Some(1),
    };
    let found = wait(&process, &from, Some(Duration::ZERO)).await.found;
    assert_eq!(found.map(|found| found.offset), Some(4));
    for until in [
        bytes(7, Some(Stream::Stdout)),
        bytes(0, Some(Stream::Stderr)),
        quiet(0),
    ] {
        let answer = wait(&process, &until, Some(Duration::ZERO)).await;
        assert!(!matches!(answer.reason, WaitReason::Timeout), "{until:?}");
    }
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_an_answer() {
    let stage = Stage::new(Limits::default());
    let (process, _child) = stage.run("p", command());
    let before = Instant::now();
    let answer = wait(&process, &WaitUntil::Exit, Some(50 * MS)).await;
    assert_eq!(answer.reason, WaitReason::Timeout);
    assert!((50 * MS..52 * MS).contains(&before.elapsed()));
}

#[tokio::test(start_paused = true)]
async fn what_can_no_longer_come_answers_closed() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    child.stderr = None;
    settle().await;
    let answer = wait(&process, &bytes(1, Some(Stream::Stderr)), None).await;
    assert_eq!(answer.reason, WaitReason::Closed);
    let (text, count, silence) = (literal("x"), bytes(1, None), quiet(1000));
    let mut text = pin!(wait(&process, &text, None));
    let mut count = pin!(wait(&process, &count, None));
    let mut silence = pin!(wait(&process, &silence, None));
    assert_pending(&mut text).await;
    assert_pending(&mut count).await;
    assert_pending(&mut silence).await;
    stage.exit(child, exit(0));
    settle().await;
    assert_eq!(text.await.reason, WaitReason::Closed);
    assert_eq!(count.await.reason, WaitReason::Closed);
    assert_eq!(silence.await.reason, WaitReason::Closed);
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
    let mut wait = pin!(wait(&process, &until, None));
    assert!(timeout(90 * MS, &mut wait).await.is_err());
    child.print(b"x");
    settle().await;
    assert!(
        timeout(1000 * MS, &mut wait).await.is_err(),
        "held back is not quiet"
    );
    take_all(&process);
    settle().await;
    let before = Instant::now();
    assert_eq!(wait.await.reason, WaitReason::Quiet);
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
    let mut wait = pin!(wait(&process, &until, None));
    assert_pending(&mut wait).await;
    for part in ["..nee", "dle..", "much more"] {
        child.print(part.as_bytes());
        settle().await;
        take_all(&process);
    }
    let found = wait.await.found.expect("found");
    assert_eq!(found.offset, 2);
}

#[tokio::test]
async fn a_cancelled_wait_leaves_nothing_behind() {
    let stage = Stage::new(Limits::default());
    let (process, _child) = stage.run("p", command());
    let until = literal("never");
    assert!(timeout(MS, wait(&process, &until, None)).await.is_err());
    assert_eq!(process.pattern_count(), 0);
}

#[tokio::test]
async fn a_regex_is_compiled_elsewhere_and_in_turn() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", command());
    let mut context = Context::from_waker(Waker::noop());
    let turn = process.turn().await.expect("running");
    let until = slow_regex();
    let mut begun = pin!(process.begin_wait(&until, None));
    assert!(begun.as_mut().poll(&mut context).is_pending());
    assert_eq!(process.pattern_count(), 0, "not compiled here");
    // What was asked for later waits for it.
    let mut next = pin!(process.turn());
    assert!(next.as_mut().poll(&mut context).is_pending());
    let begun = begun.await.expect("valid");
    assert_eq!(process.pattern_count(), 1);
    drop(turn);
    next.await.expect("running");
    child.print("...äBcdx");
    assert_eq!(begun.over().await.found.map(|found| found.offset), Some(3));
}

#[tokio::test]
async fn so_many_wait_for_a_regex_and_no_more() {
    let stage = Stage::new(Limits {
        max_regex_waits: 2,
        ..Limits::default()
    });
    let (process, _a) = stage.run("p", command());
    let (other, _b) = stage.run("q", command());
    let until = regex("never");
    let first = process.begin_wait(&until, None).await.expect("room");
    let _second = other.begin_wait(&until, None).await.expect("room");
    let refused = WaitError::LimitReached {
        limit: "maxRegexWaits",
        value: 2,
    };
    assert_eq!(other.begin_wait(&until, None).await.err(), Some(refused.clone()));
    // Others are not counted.
    other.begin_wait(&literal("never"), None).await.expect("no regex");
    drop(first);
    let third = process.begin_wait(&until, None).await.expect("room");
    assert_eq!(other.begin_wait(&until, None).await.err(), Some(refused));
    drop(third);
    // One that is no regex keeps no place.
    for _ in 0..3 {
        let wrong = process.begin_wait(&regex("("), None).await;
        assert!(matches!(wrong.err(), Some(WaitError::Invalid { .. })));
    }
    process.begin_wait(&until, None).await.expect("room");
}

#[tokio::test]
async fn a_compilation_that_nobody_waits_for_keeps_its_place_until_it_is_over() {
    let stage = Stage::new(Limits {
        max_regex_waits: 1,
        ..Limits::default()
    });
    let (process, _child) = stage.run("p", command());
    let mut context = Context::from_waker(Waker::noop());
    {
        let until = slow_regex();
        let mut begun = pin!(process.begin_wait(&until, None));
        assert!(begun.as_mut().poll(&mut context).is_pending());
    }
    let until = regex("never");
    let again = async {
        loop {
            match process.begin_wait(&until, None).await {
                Err(WaitError::LimitReached { .. }) => tokio::task::yield_now().await,
                begun => return begun.map(drop),
            }
        }
    };
    assert!(matches!(
        process.begin_wait(&until, None).await.err(),
        Some(WaitError::LimitReached { .. })
    ));
    assert_eq!(again.await, Ok(()));
}

#[tokio::test]
async fn the_end_of_the_session_waits_for_no_regex() {
    let stage = Stage::new(Limits::default());
    let (process, _child) = stage.run("p", command());
    let mut context = Context::from_waker(Waker::noop());
    let until = slow_regex();
    let mut begun = pin!(process.begin_wait(&until, None));
    assert!(begun.as_mut().poll(&mut context).is_pending());
    stage.table.begin_ending();
    let begun = begun.await.expect("valid");
    assert_eq!(process.pattern_count(), 0, "not compiled yet");
    assert_eq!(begun.over().await.reason, WaitReason::SessionEnding);
}

#[tokio::test]
async fn a_long_regex_is_refused_unread() {
    let stage = Stage::new(Limits::default());
    let (process, _child) = stage.run("p", command());
    let longest = "x".repeat(REGEX_TEXT_BYTES);
    process.begin_wait(&regex(&longest), None).await.expect("valid");
    let refused = process.begin_wait(&regex(&(longest + "x")), None).await;
    assert!(matches!(
        refused.err(),
        Some(WaitError::Invalid {
            member: "until.regex",
            ..
        })
    ));
}

#[tokio::test]
async fn a_stream_the_process_does_not_have_is_refused() {
    let stage = Stage::new(Limits::default());
    let (pipes, _a) = stage.run("p", command());
    let (pty, _b) = stage.run("q", terminal());
    for (process, stream) in [(pipes, Stream::Pty), (pty, Stream::Stdout)] {
        let error = process.begin_wait(&bytes(1, Some(stream)), None).await;
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
        child.print(b"x");
        event.await;
    }
    let page = process.read(0, 1);
    assert_eq!((page.chunks.len(), page.next_seq, page.closed), (1, 2, false));
    stage.exit(child, exit(0));
    process.event_after(1).await;
    process.event_after(u64::MAX).await;
    assert!(process.read(1, 1).closed);
}
