//! Starts whose launch comes later.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use exec_protocol::exit::ExitCause;
use exec_protocol::limits::Limits;
use exec_protocol::process::ProcessState;
use tokio::time::{Instant, advance, timeout};

use super::stage::{Stage, command, exit, settle, terminal};
use crate::warden::FailedStep;
use crate::{
    Command, Inherited, InvalidCommand, Notification, Process, Reserved, Rewrite, Signal, StartError,
    StartRefused, Timeouts,
};

fn stage() -> Stage {
    Stage::new(Limits::default())
}

fn reserve(stage: &Stage, start_id: Option<&str>) -> Reserved {
    stage
        .table
        .reserve("p".into(), start_id.map(Into::into), command())
        .expect("not refused")
}

fn rewrite() -> Rewrite {
    let null: OwnedFd = File::open("/dev/null").expect("there").into();
    Rewrite {
        argv: vec!["/bin/y".into(), "-c".into()],
        arg0: Some("-y".into()),
        environment: [("A".into(), "b".into())].into(),
        inherited: vec![Inherited {
            number: 9,
            descriptor: Arc::new(null),
        }],
        notice: Bytes::new(),
    }
}

/// Its start has failed with that, its id is free, and the warden was asked for nothing.
async fn is_gone(stage: &Stage, process: &Arc<Process>, error: StartError) {
    assert_eq!(process.started().await, Err(error.clone()));
    assert!(matches!(process.turn().await, Err(found) if found == error));
    assert!(stage.table.get("p").is_none());
    assert!(stage.table.list().is_empty());
    assert!(stage.launches().is_empty());
    assert_eq!(stage.ends(), []);
    settle().await;
    assert_eq!(
        Arc::strong_count(process),
        1,
        "its streams are read to their ends"
    );
}

#[tokio::test]
async fn the_id_is_taken_at_once_and_requests_wait_in_order() {
    let stage = stage();
    let reserved = reserve(&stage, None);
    let process = Arc::clone(reserved.process());
    let known = stage.table.get("p").expect("known");
    assert!(Arc::ptr_eq(&known, &process));
    assert_eq!(process.info().state, ProcessState::Starting);
    let again = stage.table.reserve("p".into(), None, command());
    assert_eq!(again.err(), Some(StartRefused::IdInUse));
    assert!(stage.launches().is_empty());

    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(process.turn());
    let mut second = pin!(process.turn());
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    reserved.launch(None);
    assert!(first.as_mut().poll(&mut context).is_pending(), "not started yet");
    let child = stage.child(&process);
    stage.events.started(child.id, 7, Instant::now().into_std());
    let Poll::Ready(Ok(turn)) = first.as_mut().poll(&mut context) else {
        panic!("its turn");
    };
    assert!(second.as_mut().poll(&mut context).is_pending());
    drop(turn);
    assert!(second.as_mut().poll(&mut context).is_ready());
    assert_eq!(process.started().await.map(|started| started.pid), Ok(7));
}

#[tokio::test]
async fn what_is_launched_is_what_it_was_rewritten_to() {
    let stage = stage();
    let reserved = reserve(&stage, None);
    let process = Arc::clone(reserved.process());
    let rewrite = rewrite();
    reserved.launch(Some(rewrite.clone()));
    let launch = stage.launch();
    assert_eq!(launch.id, process.launch_id());
    assert_eq!(launch.programs, [c"/bin/y".to_owned()]);
    assert_eq!(launch.argv, [c"-y".to_owned(), c"-c".to_owned()]);
    assert_eq!(launch.environment, [c"A=b".to_owned()]);
    assert_eq!(launch.inherited, rewrite.inherited);
    assert_eq!(launch.cwd, c"/".to_owned());
    assert!(launch.stdin.is_some() && launch.output.is_some());
    // A failure names what was tried.
    let exec = FailedStep::Exec {
        program: 0,
        exists: false,
    };
    let failure = crate::warden::LaunchFailure {
        step: exec,
        errno: libc::ENOENT,
    };
    stage.events.failed(launch.id, failure);
    let Err(StartError::NotFound { path, .. }) = process.started().await else {
        panic!("not found");
    };
    assert_eq!(path.to_string(), "file:///bin/y");
}

#[tokio::test]
async fn a_rewrite_that_cannot_be_started_fails_the_start() {
    type Spoil = fn(&mut Rewrite);
    let cases: [(&str, Spoil); 3] = [
        ("argv", |rewrite| rewrite.argv.clear()),
        ("env.", |rewrite| {
            drop(rewrite.environment.insert("".into(), "".into()))
        }),
        ("inherited[0].number", |rewrite| rewrite.inherited[0].number = 2),
    ];
    for (member, spoil) in cases {
        let stage = stage();
        let reserved = reserve(&stage, None);
        let process = Arc::clone(reserved.process());
        let mut rewrite = rewrite();
        spoil(&mut rewrite);
        reserved.launch(Some(rewrite));
        let Err(StartError::Invalid(InvalidCommand {
            member: found,
            reason,
        })) = process.started().await
        else {
            panic!("{member}");
        };
        assert_eq!(found, member);
        let error = StartError::Invalid(InvalidCommand {
            member: found,
            reason,
        });
        is_gone(&stage, &process, error).await;
    }
}

#[tokio::test]
async fn terminate_fails_it_at_once_and_a_later_launch_does_nothing() {
    let stage = stage();
    let reserved = reserve(&stage, None);
    let process = Arc::clone(reserved.process());
    assert!(process.terminate(None));
    assert_eq!(process.started().await, Err(StartError::Terminated));
    // Its id is another's by now, whom a late launch must not disturb.
    let other = reserve(&stage, None);
    reserved.launch(Some(rewrite()));
    assert!(stage.launches().is_empty());
    assert!(!process.terminate(None));
    assert!(Arc::ptr_eq(
        &stage.table.get("p").expect("known"),
        other.process()
    ));
    drop(other);
    is_gone(&stage, &process, StartError::Terminated).await;
}

#[tokio::test]
async fn dropped_it_fails() {
    for on in [command(), terminal()] {
        let stage = stage();
        let reserved = stage.table.reserve("p".into(), None, on).expect("not refused");
        let process = Arc::clone(reserved.process());
        drop(reserved);
        is_gone(&stage, &process, StartError::Terminated).await;
    }
}

#[tokio::test]
async fn the_end_of_the_session_fails_it() {
    let stage = stage();
    let reserved = reserve(&stage, None);
    let process = Arc::clone(reserved.process());
    stage.table.begin_ending();
    reserved.launch(None);
    is_gone(&stage, &process, StartError::Terminated).await;
    timeout(Duration::ZERO, stage.table.end())
        .await
        .expect("nothing to wait for");
    assert_eq!(
        stage.table.reserve("q".into(), None, command()).err(),
        Some(StartRefused::Ending)
    );
}

#[tokio::test]
async fn the_same_start_again_is_the_same_process_and_launches_nothing() {
    let stage = stage();
    let reserved = reserve(&stage, Some("once"));
    assert!(!reserved.is_repeated());
    let process = Arc::clone(reserved.process());
    for launch in [false, true] {
        let again = reserve(&stage, Some("once"));
        assert!(again.is_repeated());
        assert!(Arc::ptr_eq(again.process(), &process));
        if launch {
            again.launch(Some(rewrite()));
        } else {
            drop(again);
        }
    }
    let started = stage.table.start("p".into(), Some("once".into()), command());
    assert!(Arc::ptr_eq(&started.expect("not refused"), &process));
    assert!(stage.launches().is_empty());
    reserved.launch(None);
    assert_eq!(stage.launch().argv, [c"/bin/x".to_owned()]);
    assert!(reserve(&stage, Some("once")).is_repeated());
}

#[tokio::test]
async fn a_lost_warden_is_no_loss_to_it() {
    let stage = stage();
    let reserved = reserve(&stage, None);
    let process = Arc::clone(reserved.process());
    stage.events.lost();
    assert!(stage.table.get("p").is_some());
    reserved.launch(None);
    let child = stage.child(&process);
    stage.events.started(child.id, 7, Instant::now().into_std());
    assert!(process.started().await.is_ok());
}

#[tokio::test]
async fn it_counts_as_a_process() {
    let stage = Stage::new(Limits {
        max_processes: 1,
        ..Limits::default()
    });
    let reserved = reserve(&stage, None);
    let limit = StartRefused::LimitReached {
        limit: "maxProcesses",
        value: 1,
    };
    assert_eq!(
        stage.table.reserve("q".into(), None, command()).err(),
        Some(limit)
    );
    drop(reserved);
    stage.ask("q", command());
}

#[tokio::test(start_paused = true)]
async fn its_deadline_counts_from_exec() {
    let stage = stage();
    let total = Duration::from_millis(100);
    let timed = Command {
        timeouts: Timeouts {
            total: Some(total),
            idle: Some(total),
            grace: Some(Duration::from_millis(7)),
        },
        ..command()
    };
    let reserved = stage.table.reserve("p".into(), None, timed);
    let reserved = reserved.expect("not refused");
    let process = Arc::clone(reserved.process());
    settle().await;
    advance(10 * total).await;
    settle().await;
    reserved.launch(None);
    let child = stage.child(&process);
    stage.events.started(child.id, 7, Instant::now().into_std());
    process.open_notifications();
    settle().await;
    assert_eq!(stage.ends(), []);
    advance(total).await;
    settle().await;
    assert_eq!(stage.ends(), [(child.id, Signal::TERM, Duration::from_millis(7))]);
    stage.exit(child, exit(0));
    let told = stage.next(&process).await;
    assert!(
        matches!(
            told,
            Notification::Exited {
                cause: ExitCause::Deadline,
                ..
            }
        ),
        "{told:?}"
    );
}
