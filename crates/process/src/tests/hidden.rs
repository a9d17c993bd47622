//! Processes that no client sees.

use std::os::fd::OwnedFd;
use std::pin::pin;
use std::time::Duration;

use exec_protocol::limits::Limits;
use exec_protocol::process::ResourceLimits;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};
use tokio::time::{Instant, timeout};

use super::stage::{Stage, command, exit, exit_leaving, terminal};
use crate::warden::{Exit, FailedStep, Launch, LaunchFailure, LaunchId};
use crate::{Command, Ended, Hidden, Signal, StartError, StartHiddenError, StartRefused, Timeouts};

fn stage() -> Stage {
    Stage::new(Limits::default())
}

impl Stage {
    fn hide(&self) -> (Hidden, Launch) {
        let hidden = self.table.start_hidden(terminal()).expect("not refused");
        (hidden, self.launch())
    }

    fn run_hidden(&self) -> (Hidden, Launch) {
        let (hidden, launch) = self.hide();
        self.events.started(launch.id, 7, Instant::now().into_std());
        (hidden, launch)
    }

    fn left(&self) -> Vec<LaunchId> {
        self.warden.left.lock().expect("unpoisoned").clone()
    }
}

/// Nobody has the other side of a terminal open.
fn is_hung_up(slave: &OwnedFd) -> bool {
    let mut look = [PollFd::new(slave, PollFlags::IN)];
    poll(&mut look, Some(&Timespec::default())).expect("poll");
    look[0].revents().contains(PollFlags::HUP)
}

#[tokio::test]
async fn nobody_sees_it_and_it_counts_for_nothing() {
    let stage = Stage::new(Limits {
        max_processes: 1,
        ..Limits::default()
    });
    let (hidden, launch) = stage.hide();
    assert!(launch.terminal && launch.output.is_none() && launch.stdin.is_some());
    assert!(timeout(Duration::ZERO, hidden.started()).await.is_err());
    stage.events.started(launch.id, 7, Instant::now().into_std());
    assert_eq!(hidden.started().await, Ok(7));
    assert!(stage.table.list().is_empty());
    stage.ask("p", command());
    assert!(timeout(Duration::ZERO, hidden.exited()).await.is_err());
    stage.events.exited(launch.id, exit_leaving(3));
    assert_eq!(hidden.exited().await, Ended::Exited(3));
    assert!(timeout(Duration::ZERO, hidden.tree_ended()).await.is_err());
    stage.events.tree_ended(launch.id);
    hidden.tree_ended().await;
    assert_eq!(hidden.exited().await, Ended::Exited(3), "as often as asked");
    drop(hidden);
    assert_eq!(stage.ends(), [], "nothing is left to kill");
    assert!(stage.listener.calls.lock().expect("unpoisoned").is_empty());
}

#[tokio::test]
async fn a_signal_is_told_as_one() {
    let stage = stage();
    let (hidden, launch) = stage.run_hidden();
    stage.events.exited(
        launch.id,
        Exit {
            code: None,
            signal: Some(libc::SIGSEGV),
            ..exit(0)
        },
    );
    assert_eq!(
        hidden.exited().await,
        Ended::Killed(Signal::from_number(libc::SIGSEGV))
    );
    hidden.tree_ended().await;
}

#[tokio::test]
async fn what_it_was_in_the_end_is_told_where_it_is_known() {
    for (comm, name) in [
        (*b"tmux\n\0\0\0\0\0\0\0\0\0\0\0", Some(&b"tmux"[..])),
        (*b"a-program-of-a-\n", Some(b"a-program-of-a-")),
        ([0; 16], None),
    ] {
        let stage = stage();
        let (hidden, launch) = stage.run_hidden();
        assert_eq!(hidden.last_program(), None, "it has not ended");
        stage.events.exited(launch.id, Exit { comm, ..exit(1) });
        hidden.exited().await;
        assert_eq!(hidden.last_program().as_deref(), name);
    }
}

#[tokio::test]
async fn a_start_that_fails_says_why_and_leaves_nothing() {
    let stage = stage();
    let (hidden, launch) = stage.hide();
    let step = FailedStep::Exec {
        program: 0,
        exists: false,
    };
    let failure = LaunchFailure {
        step,
        errno: libc::ENOENT,
    };
    stage.events.failed(launch.id, failure);
    let started = hidden.started().await;
    assert!(matches!(started, Err(StartError::NotFound { .. })), "{started:?}");
    assert_eq!(hidden.exited().await, Ended::NotStarted);
    hidden.tree_ended().await;
    drop(hidden);
    assert_eq!(stage.ends(), []);
}

#[tokio::test]
async fn dropped_it_is_killed_unless_it_was_left() {
    let stage = stage();
    let (dropped, launch) = stage.run_hidden();
    drop(dropped);
    let kill = |id| (id, Signal::KILL, Duration::ZERO);
    assert_eq!(stage.ends(), [kill(launch.id)]);
    let (killed, other) = stage.hide();
    killed.kill();
    killed.kill();
    drop(killed);
    assert_eq!(stage.ends(), [kill(launch.id), kill(other.id)]);
    let (left, third) = stage.run_hidden();
    left.leave_helpers();
    left.leave_helpers();
    drop(left);
    assert_eq!(stage.left(), [third.id]);
    assert_eq!(stage.ends().len(), 2);
    let (both, fourth) = stage.run_hidden();
    both.leave_helpers();
    both.kill();
    both.leave_helpers();
    assert_eq!(stage.left(), [third.id, fourth.id]);
    assert_eq!(stage.ends().pop(), Some(kill(fourth.id)));
}

#[tokio::test]
async fn the_terminal_is_ours_alone_and_ends_with_its_last_user() {
    let stage = stage();
    let (hidden, launch) = stage.run_hidden();
    let slave = launch.stdin.expect("a terminal");
    write(&slave, b"hi").expect("written");
    let mut ready = hidden.terminal().readable().await.expect("registered");
    let mut buffer = [0u8; 8];
    assert_eq!(read(hidden.terminal().get_ref(), &mut buffer), Ok(2));
    assert_eq!(read(hidden.terminal().get_ref(), &mut buffer), Err(Errno::AGAIN));
    ready.clear_ready();
    drop(slave);
    drop(hidden.terminal().readable().await.expect("registered"));
    assert_eq!(read(hidden.terminal().get_ref(), &mut buffer), Err(Errno::IO));
}

#[tokio::test]
async fn a_leader_that_is_to_be_killed_is_not_hung_up_on_before() {
    let stage = stage();
    let (hidden, launch) = stage.run_hidden();
    let slave = launch.stdin.expect("a terminal");
    hidden.leave_helpers();
    drop(hidden);
    assert!(!is_hung_up(&slave));
    stage.events.exited(launch.id, exit_leaving(0));
    assert!(is_hung_up(&slave));
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let stage = stage();
    let member = |command: Command| match stage.table.start_hidden(command).map(drop) {
        Err(StartHiddenError::Refused(StartRefused::Invalid(invalid))) => invalid.member,
        other => panic!("{other:?}"),
    };
    assert_eq!(member(command()), "stdio");
    assert_eq!(
        member(Command {
            input: "x".into(),
            ..terminal()
        }),
        "input"
    );
    assert_eq!(
        member(Command {
            timeouts: Timeouts {
                total: Some(Duration::ZERO),
                ..Timeouts::default()
            },
            ..terminal()
        }),
        "timeouts"
    );
    assert_eq!(
        member(Command {
            argv: Vec::new(),
            ..terminal()
        }),
        "argv"
    );
    let limited = Command {
        limits: ResourceLimits {
            memory_bytes: Some(1),
            ..ResourceLimits::default()
        },
        ..terminal()
    };
    let refused = |command| stage.table.start_hidden(command).map(drop).err();
    assert_eq!(
        refused(limited),
        Some(StartRefused::Unenforceable("limits.memoryBytes").into())
    );
    stage.table.begin_ending();
    assert_eq!(refused(terminal()), Some(StartRefused::Ending.into()));
    assert!(stage.launches().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_ends_it_and_waits_for_it() {
    let stage = stage();
    let (captures, launch) = stage.run_hidden();
    let (left, other) = stage.run_hidden();
    left.leave_helpers();
    stage.events.exited(other.id, exit_leaving(0));
    drop(left);
    let mut end = pin!(stage.table.end());
    assert!(timeout(Duration::ZERO, &mut end).await.is_err());
    let grace = Limits::default().session_end_grace;
    assert_eq!(
        stage.ends(),
        [
            (launch.id, Signal::KILL, Duration::ZERO),
            (other.id, Signal::TERM, grace)
        ]
    );
    stage.events.exited(launch.id, exit(0));
    assert!(
        timeout(Duration::ZERO, &mut end).await.is_err(),
        "helpers are left"
    );
    stage.events.tree_ended(other.id);
    let before = Instant::now();
    end.await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    captures.tree_ended().await;
}

#[tokio::test]
async fn a_lost_warden_fails_it() {
    let stage = stage();
    let (starting, _launch) = stage.hide();
    let (running, _launch) = stage.run_hidden();
    let (exited, launch) = stage.run_hidden();
    stage.events.exited(launch.id, exit_leaving(4));
    stage.events.lost();
    assert_eq!(starting.started().await, Err(StartError::WardenLost));
    assert_eq!(starting.exited().await, Ended::NotStarted);
    assert_eq!(running.started().await, Ok(7));
    assert_eq!(running.exited().await, Ended::WardenLost);
    assert_eq!(exited.exited().await, Ended::Exited(4));
    for hidden in [&starting, &running, &exited] {
        hidden.tree_ended().await;
    }
    drop((starting, running, exited));
    assert_eq!(stage.ends(), []);
}
