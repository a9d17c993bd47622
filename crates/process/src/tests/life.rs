//! From start to forgotten.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use exec_protocol::Stream;
use exec_protocol::error::SpawnSubject;
use exec_protocol::exit::{ExitCause, Tree};
use exec_protocol::limits::Limits;
use exec_protocol::process::{ProcessState, ResourceLimits, WaitReason, WaitUntil};
use tokio::time::{advance, timeout};

use super::stage::{Stage, assert_pending, command, exit, exit_leaving, settle, take_all, wait};
use crate::warden::FailedStep;
use crate::{Notification, Signal, StartError, StartRefused};

fn stage() -> Stage {
    Stage::new(Limits::default())
}

fn seq(notification: &Notification) -> Option<u64> {
    match notification {
        Notification::Output { seq, .. }
        | Notification::Exited { seq, .. }
        | Notification::Closed { seq, .. } => Some(*seq),
        Notification::TreeEnded => None,
    }
}

#[tokio::test]
async fn a_process_is_told_whole_and_in_order() {
    let stage = stage();
    let (process, mut child) = stage.run("p", command());
    child.print(b"out");
    let first = stage.next(&process).await;
    assert_eq!(
        first,
        Notification::Output {
            seq: 1,
            stream: Stream::Stdout,
            offset: 0,
            bytes: "out".into()
        }
    );
    child.complain(b"err");
    stage.exit(child, exit(3));
    let rest = stage.rest(&process).await;
    assert_eq!(
        rest.iter().map(seq).collect::<Vec<_>>(),
        [Some(2), Some(3), Some(4)]
    );
    assert!(rest.iter().any(|told| matches!(
        told,
        Notification::Exited {
            exit_code: 3,
            cause: ExitCause::Exited,
            ..
        }
    )));
    assert_eq!(
        rest.last(),
        Some(&Notification::Closed {
            seq: 4,
            output_bytes: 6,
            tree: Tree::Ended
        })
    );
    assert_eq!(process.next_notification(), None);
    let info = process.info();
    assert_eq!(
        (info.state, info.exit_code, info.next_seq),
        (ProcessState::Closed, Some(3), 5)
    );
}

#[tokio::test]
async fn nothing_is_told_before_the_start_reply_has_left() {
    let stage = stage();
    let (process, child) = stage.start("p", command());
    stage.events.started(child.id, 7, std::time::Instant::now());
    stage.exit(child, exit(0));
    settle().await;
    assert_eq!(process.next_notification(), None);
    assert!(stage.listener.calls.lock().expect("unpoisoned").is_empty());
    process.open_notifications();
    assert_eq!(stage.listener.calls.lock().expect("unpoisoned").len(), 1);
    assert_eq!(stage.rest(&process).await.len(), 2);
}

#[tokio::test]
async fn the_subscriber_is_called_once_until_it_has_taken_everything() {
    let stage = stage();
    let (process, mut child) = stage.run("p", command());
    let calls = || stage.listener.calls.lock().expect("unpoisoned").len();
    for _ in 0..3 {
        child.print(b"x");
        settle().await;
    }
    assert_eq!(calls(), 1);
    take_all(&process);
    child.print(b"x");
    settle().await;
    assert_eq!(calls(), 2);
}

#[tokio::test]
async fn a_child_without_streams_is_not_closed_before_it_exits() {
    let stage = stage();
    let (process, mut child) = stage.run("p", command());
    child.stdout = None;
    child.stderr = None;
    settle().await;
    assert_eq!(process.info().state, ProcessState::Running);
    assert_eq!(process.next_notification(), None);
    stage.exit(child, exit(9));
    assert_eq!(stage.rest(&process).await.len(), 2);
}

#[tokio::test]
async fn a_holder_of_the_pipe_delays_closed_and_not_exited() {
    let stage = stage();
    let (process, child) = stage.run("p", command());
    stage.events.exited(child.id, exit_leaving(0));
    assert!(matches!(stage.next(&process).await, Notification::Exited { .. }));
    settle().await;
    assert_eq!(process.info().state, ProcessState::Exited);
    assert_eq!(process.next_notification(), None);
    drop(child);
    let closed = stage.next(&process).await;
    assert!(matches!(
        closed,
        Notification::Closed {
            tree: Tree::Running,
            ..
        }
    ));
}

#[tokio::test]
async fn the_end_of_a_tree_is_told_once_if_closed_said_otherwise() {
    let stage = stage();
    let (process, child) = stage.run("p", command());
    let id = child.id;
    stage.exit(child, exit_leaving(0));
    stage.rest(&process).await;
    stage.events.tree_ended(id);
    assert_eq!(stage.next(&process).await, Notification::TreeEnded);
    assert_eq!(process.next_notification(), None);

    // A tree that ends before closed is sent is in closed.
    let (process, child) = stage.run("q", command());
    let id = child.id;
    stage.exit(child, exit_leaving(0));
    settle().await;
    stage.events.tree_ended(id);
    let last = stage.rest(&process).await.pop();
    assert!(matches!(
        last,
        Some(Notification::Closed {
            tree: Tree::Ended,
            ..
        })
    ));
    assert_eq!(process.next_notification(), None);
}

#[tokio::test]
async fn a_process_that_does_not_start_is_forgotten_at_once() {
    let stage = stage();
    let (process, child) = stage.start("p", command());
    let mut started = pin!(process.started());
    let mut turn = pin!(process.turn());
    assert_pending(&mut started).await;
    assert_pending(&mut turn).await;
    stage.fail(
        child,
        FailedStep::Exec {
            program: 0,
            exists: false,
        },
        libc::ENOENT,
    );
    let Err(StartError::NotFound {
        subject: SpawnSubject::Program,
        path,
    }) = started.await
    else {
        panic!("not found");
    };
    assert_eq!(path.to_string(), "file:///bin/x");
    assert!(turn.await.is_err());
    assert!(stage.table.get("p").is_none());
    assert!(stage.table.list().is_empty());
    stage.ask("p", command());
}

#[tokio::test]
async fn terminate_works_while_starting() {
    let stage = stage();
    let (process, child) = stage.start("p", command());
    assert!(process.terminate(Some(Duration::from_millis(5))));
    assert_eq!(stage.ends(), [(child.id, Signal::TERM, Duration::from_millis(5))]);
    stage.fail(child, FailedStep::Ended, 0);
    assert_eq!(process.started().await, Err(StartError::Terminated));
    assert!(!process.terminate(None));
    assert_eq!(stage.ends().len(), 1);
}

#[tokio::test]
async fn terminated_while_starting_but_already_executed_is_a_start_and_an_end() {
    let stage = stage();
    let (process, child) = stage.start("p", command());
    process.terminate(None);
    stage.events.started(child.id, 7, std::time::Instant::now());
    process.open_notifications();
    assert_eq!(process.started().await.map(|started| started.pid), Ok(7));
    stage.exit(child, exit(0));
    let told = stage.next(&process).await;
    assert!(matches!(
        told,
        Notification::Exited {
            cause: ExitCause::Terminated,
            ..
        }
    ));
}

#[tokio::test]
async fn terminate_says_whether_the_leader_ran_and_ends_what_it_left() {
    let stage = stage();
    let (process, child) = stage.run("p", command());
    let id = child.id;
    assert!(process.terminate(None));
    stage.exit(child, exit_leaving(0));
    stage.rest(&process).await;
    assert!(!process.terminate(None), "after closed");
    assert_eq!(stage.ends().len(), 2, "its tree runs");
    stage.events.tree_ended(id);
    assert!(!process.terminate(None));
    assert_eq!(stage.ends().len(), 2);
}

#[tokio::test]
async fn requests_take_their_turns_in_order_behind_the_start() {
    let stage = stage();
    let (process, child) = stage.start("p", command());
    let mut context = Context::from_waker(Waker::noop());
    let mut second = pin!(process.turn());
    let mut first = pin!(process.turn());
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    stage.events.started(child.id, 7, std::time::Instant::now());
    assert!(second.as_mut().poll(&mut context).is_pending());
    let Poll::Ready(Ok(turn)) = first.as_mut().poll(&mut context) else {
        panic!("its turn");
    };
    assert!(second.as_mut().poll(&mut context).is_pending());
    drop(turn);
    assert!(second.as_mut().poll(&mut context).is_ready());
}

#[tokio::test]
async fn an_id_is_free_once_closed_was_sent() {
    let stage = stage();
    let (process, child) = stage.run("p", command());
    let again = |start_id: Option<&str>| stage.table.start("p".into(), start_id.map(Into::into), command());
    assert_eq!(again(None).err(), Some(StartRefused::IdInUse));
    stage.exit(child, exit(0));
    settle().await;
    assert_eq!(process.info().state, ProcessState::Closed);
    assert_eq!(again(None).err(), Some(StartRefused::IdInUse), "not told yet");
    stage.rest(&process).await;
    let new = again(Some("once")).expect("free");
    assert_ne!(new.launch_id(), process.launch_id());
    assert_eq!(
        again(Some("once")).expect("the same").launch_id(),
        new.launch_id()
    );
    assert_eq!(again(Some("twice")).err(), Some(StartRefused::IdInUse));
    assert_eq!(stage.table.list().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_closed_process_is_known_for_its_retention() {
    let stage = stage();
    stage.run_to_end("p", exit(0)).await;
    advance(Duration::from_millis(29_999)).await;
    settle().await;
    assert!(stage.table.get("p").is_some());
    advance(Duration::from_millis(2)).await;
    settle().await;
    assert!(stage.table.get("p").is_none());
    assert!(stage.table.list().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_runs_is_never_forgotten_and_counts() {
    let stage = Stage::new(Limits {
        max_processes: 1,
        ..Limits::default()
    });
    let (process, child) = stage.run("p", command());
    let id = child.id;
    stage.exit(child, exit_leaving(0));
    stage.rest(&process).await;
    advance(Duration::from_secs(3600)).await;
    settle().await;
    assert!(
        stage
            .table
            .get("p")
            .is_some_and(|process| !process.terminate(None))
    );
    assert_eq!(stage.ends().len(), 1);
    let limit = StartRefused::LimitReached {
        limit: "maxProcesses",
        value: 1,
    };
    assert_eq!(stage.table.start("q".into(), None, command()).err(), Some(limit));
    stage.events.tree_ended(id);
    assert!(stage.table.get("p").is_none(), "its retention was over");
    stage.ask("q", command());
}

#[tokio::test]
async fn the_oldest_closed_process_goes_first() {
    let stage = Stage::new(Limits {
        max_closed_processes: 2,
        ..Limits::default()
    });
    for id in ["a", "b", "c"] {
        stage.run_to_end(id, exit(0)).await;
    }
    let names: Vec<String> = stage
        .table
        .list()
        .iter()
        .map(|row| row.process_id.to_string())
        .collect();
    assert_eq!(names, ["b", "c"]);
}

#[tokio::test]
async fn a_lost_warden_ends_everything_it_had() {
    let stage = stage();
    let starting = stage.ask("starting", command());
    let (running, child) = stage.run("running", command());
    let (exited, gone) = stage.run("exited", command());
    let gone_id = gone.id;
    stage.events.exited(gone_id, exit_leaving(4));
    stage.events.lost();
    assert_eq!(starting.started().await, Err(StartError::WardenLost));
    drop((child, gone));
    let told = stage.rest(&running).await;
    assert!(matches!(
        told[..],
        [
            Notification::Exited {
                exit_code: 137,
                cause: ExitCause::WardenLost,
                ..
            },
            Notification::Closed {
                tree: Tree::Unknown,
                ..
            },
        ]
    ));
    let told = stage.rest(&exited).await;
    assert!(matches!(
        told[0],
        Notification::Exited {
            exit_code: 4,
            cause: ExitCause::Exited,
            ..
        }
    ));
    assert!(stage.table.get("starting").is_none());
    let lost = wait(&exited, &WaitUntil::TreeEnded, None).await;
    assert_eq!(lost.reason, WaitReason::Closed);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_ends_every_tree() {
    let stage = stage();
    let (running, child) = stage.run("running", command());
    let (left, gone) = stage.run("left", command());
    let left_id = gone.id;
    stage.exit(gone, exit_leaving(0));
    let read = running.event_after(9);
    stage.table.begin_ending();
    read.await;
    let waited = wait(&running, &WaitUntil::Exit, None).await;
    assert_eq!(waited.reason, WaitReason::SessionEnding);
    assert_eq!(
        stage.table.start("new".into(), None, command()).err(),
        Some(StartRefused::Ending)
    );
    let mut end = pin!(stage.table.end());
    assert_pending(&mut end).await;
    assert_eq!(stage.ends().len(), 2);
    stage.events.tree_ended(left_id);
    stage.exit(child, exit(0));
    let before = tokio::time::Instant::now();
    end.await;
    assert_eq!(before.elapsed(), Duration::ZERO, "no longer than it takes");
    let told = stage.rest(&running).await;
    assert!(matches!(
        told[0],
        Notification::Exited {
            cause: ExitCause::ClientGone,
            ..
        }
    ));
    drop(left);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_is_bounded() {
    let stage = stage();
    let (_process, _child) = stage.run("immortal", command());
    timeout(Duration::from_secs(2), stage.table.end())
        .await
        .expect("bounded");
}

#[tokio::test]
async fn limits_are_held_or_refused() {
    let stage = stage();
    let mut held = command();
    held.limits = ResourceLimits {
        open_files: Some(9),
        ..ResourceLimits::default()
    };
    let (process, _child) = stage.run("p", held);
    let limits = process.started().await.expect("started").limits.expect("asked");
    assert!(limits.open_files.is_some() && limits.memory_bytes.is_none());
    let mut refused = command();
    refused.limits = ResourceLimits {
        memory_bytes: Some(9),
        ..ResourceLimits::default()
    };
    let refused = stage.table.start("q".into(), None, refused);
    assert_eq!(
        refused.err(),
        Some(StartRefused::Unenforceable("limits.memoryBytes"))
    );
}

#[tokio::test]
async fn signals_go_to_the_warden_while_the_leader_runs() {
    let stage = stage();
    let (process, child) = stage.run("p", command());
    let id = child.id;
    process.signal(Signal::INT);
    stage.exit(child, exit(0));
    process.signal(Signal::INT);
    assert_eq!(
        *stage.warden.signals.lock().expect("unpoisoned"),
        [(id, Signal::INT)]
    );
}
