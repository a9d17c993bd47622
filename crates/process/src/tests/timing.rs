//! Time limits, on a clock the test moves.

use std::time::Duration;

use exec_protocol::exit::ExitCause;
use exec_protocol::limits::Limits;
use tokio::time::advance;

use super::stage::{MS, Stage, command, exit, exit_leaving, settle};
use crate::{Command, Notification, Signal, Timeouts};

fn timed(total: Option<Duration>, idle: Option<Duration>) -> Command {
    Command {
        timeouts: Timeouts {
            total,
            idle,
            grace: Some(7 * MS),
        },
        ..command()
    }
}

/// Moves the clock, and lets everything that became due happen.
async fn pass(time: Duration) {
    settle().await;
    advance(time).await;
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_deadline_counts_from_exec() {
    let stage = Stage::new(Limits::default());
    let (process, child) = stage.start("p", timed(Some(100 * MS), None));
    pass(500 * MS).await;
    stage
        .events
        .started(child.id, 7, tokio::time::Instant::now().into_std());
    process.open_notifications();
    pass(99 * MS).await;
    assert_eq!(stage.ends(), []);
    pass(2 * MS).await;
    assert_eq!(stage.ends(), [(child.id, Signal::TERM, 7 * MS)]);
    process.terminate(None);
    stage.exit(child, exit(0));
    let told = stage.next(&process).await;
    let Notification::Exited { cause, duration, .. } = told else {
        panic!("{told:?}");
    };
    assert_eq!(
        (cause, duration),
        (ExitCause::Deadline, 101 * MS),
        "the first that acted"
    );
}

#[tokio::test(start_paused = true)]
async fn a_byte_in_or_out_resets_the_idle_clock() {
    let stage = Stage::new(Limits::default());
    let (process, mut child) = stage.run("p", timed(None, Some(100 * MS)));
    pass(90 * MS).await;
    child.print(b"x");
    pass(90 * MS).await;
    process.write("y".into(), None, false).expect("taken");
    pass(90 * MS).await;
    assert_eq!(stage.ends(), []);
    pass(11 * MS).await;
    assert_eq!(stage.ends().len(), 1);
    stage.exit(child, exit(0));
    let told = stage.rest(&process).await;
    assert!(told.iter().any(|told| matches!(
        told,
        Notification::Exited {
            cause: ExitCause::Idle,
            ..
        }
    )));
}

#[tokio::test(start_paused = true)]
async fn the_idle_clock_stands_still_while_output_is_held_back() {
    let stage = Stage::new(Limits {
        process_unsent_bytes: 1,
        ..Limits::default()
    });
    let (process, mut child) = stage.run("p", timed(None, Some(100 * MS)));
    child.print(b"x");
    pass(1000 * MS).await;
    assert_eq!(stage.ends(), [], "it is not heard");
    assert!(process.next_notification().is_some());
    pass(99 * MS).await;
    assert_eq!(stage.ends(), []);
    pass(2 * MS).await;
    assert_eq!(stage.ends().len(), 1);
    drop(child);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_reaches_what_holds_the_pipes_and_no_further() {
    let stage = Stage::new(Limits::default());
    let (process, child) = stage.run("p", timed(Some(100 * MS), None));
    stage.events.exited(child.id, exit_leaving(0));
    let (closed, gone) = stage.run("q", timed(Some(100 * MS), None));
    stage.exit(gone, exit_leaving(0));
    pass(101 * MS).await;
    assert_eq!(stage.ends(), [(child.id, Signal::TERM, 7 * MS)]);
    drop((process, closed));
}
