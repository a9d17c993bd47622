//! Whatever a command does, its tree ends.

use std::io::BufReader;
use std::time::{Duration, Instant};

use exec_process::Signal;
use exec_process::warden::FailedStep;

use crate::Test;
use crate::fixture::{Event, Fixture, eventually, line, null, state};

pub(crate) const TESTS: &[Test] = &[
    ("a_polite_program_ends_itself", a_polite_program_ends_itself),
    (
        "a_deaf_program_is_killed_after_its_grace",
        a_deaf_program_is_killed_after_its_grace,
    ),
    ("less_grace_shortens", less_grace_shortens),
    ("a_stopped_program_ends", a_stopped_program_ends),
    ("a_child_in_its_own_session_ends", a_child_in_its_own_session_ends),
    (
        "a_daemon_ends_after_its_leader_exited",
        a_daemon_ends_after_its_leader_exited,
    ),
    ("a_fork_bomb_ends", a_fork_bomb_ends),
    ("two_hundred_sessions_end", two_hundred_sessions_end),
    (
        "an_end_before_exec_ends_the_start",
        an_end_before_exec_ends_the_start,
    ),
    (
        "an_end_before_the_start_is_told_has_its_grace",
        an_end_before_the_start_is_told_has_its_grace,
    ),
    (
        "a_killed_keeper_takes_its_tree_along",
        a_killed_keeper_takes_its_tree_along,
    ),
    (
        "a_command_that_stops_its_parent_ends",
        a_command_that_stops_its_parent_ends,
    ),
    (
        "a_command_that_keeps_stopping_its_parent_ends",
        a_command_that_keeps_stopping_its_parent_ends,
    ),
    (
        "a_child_that_leaves_its_cgroup_ends",
        a_child_that_leaves_its_cgroup_ends,
    ),
    ("a_cgroup_below_is_of_the_tree", a_cgroup_below_is_of_the_tree),
];

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(100);

fn ready(fixture: &mut Fixture, program: &[&str]) -> crate::fixture::Running {
    let launch = fixture.program(program);
    let mut running = fixture.start(launch);
    assert_eq!(line(&mut running.stdout), "ready");
    running
}

fn a_polite_program_ends_itself(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["exits-on-term", "3"]);
    let began = Instant::now();
    fixture.warden().end(running.id, Signal::TERM, LONG);
    let exit = fixture.end_of(running.id);
    assert_eq!(exit.code, Some(3));
    assert!(began.elapsed() < LONG / 2);
}

fn a_deaf_program_is_killed_after_its_grace(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["ignores-term"]);
    let began = Instant::now();
    fixture
        .warden()
        .end(running.id, Signal::TERM, Duration::from_millis(200));
    assert_eq!(fixture.end_of(running.id).signal, Some(libc::SIGKILL));
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert!(began.elapsed() < Duration::from_secs(2));
}

fn less_grace_shortens(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["ignores-term"]);
    fixture.warden().end(running.id, Signal::TERM, LONG);
    fixture.warden().end(running.id, Signal::TERM, Duration::ZERO);
    fixture.warden().end(running.id, Signal::TERM, LONG);
    assert_eq!(fixture.end_of(running.id).signal, Some(libc::SIGKILL));
}

fn a_stopped_program_ends(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["stops-itself"]);
    let pid = running.pid as i32;
    eventually("stopped", Duration::from_secs(5), || state(pid) == Some('T'));
    fixture.warden().end(running.id, Signal::TERM, LONG);
    assert_eq!(fixture.end_of(running.id).signal, Some(libc::SIGTERM));
}

fn a_child_in_its_own_session_ends(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["setsid-child"]);
    assert_eq!(fixture.survivors().len(), 2);
    fixture.warden().end(running.id, Signal::TERM, SHORT);
    assert_eq!(fixture.exit_of(running.id).signal, Some(libc::SIGTERM));
    assert_eq!(fixture.next_of(running.id), Event::TreeEnded(running.id));
    assert!(fixture.survivors().is_empty());
}

fn a_daemon_ends_after_its_leader_exited(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["double-fork"]);
    assert!(!fixture.exit_of(running.id).tree_ended);
    fixture.warden().end(running.id, Signal::TERM, LONG);
    assert_eq!(fixture.next_of(running.id), Event::TreeEnded(running.id));
    assert!(fixture.survivors().is_empty());
}

fn a_fork_bomb_ends(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["fork-bomb", "14"]);
    fixture.warden().end(running.id, Signal::TERM, Duration::ZERO);
    assert_eq!(fixture.end_of(running.id).signal, Some(libc::SIGKILL));
    assert!(fixture.survivors().is_empty());
}

fn two_hundred_sessions_end(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["many-children", "200"]);
    assert_eq!(fixture.survivors().len(), 201);
    let began = Instant::now();
    fixture.warden().end(running.id, Signal::TERM, SHORT);
    assert_eq!(fixture.end_of(running.id).signal, Some(libc::SIGKILL));
    assert!(fixture.survivors().is_empty());
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

fn an_end_before_exec_ends_the_start(mut fixture: Fixture) {
    let mut ended = 0;
    for _ in 0..100 {
        let launch = fixture.program(&["sleeps"]);
        let id = launch.id;
        fixture.warden().launch(launch);
        fixture.warden().end(id, Signal::TERM, LONG);
        match fixture.next_of(id) {
            Event::Failed(_, failure) => {
                assert_eq!(failure.step, FailedStep::Ended);
                ended += 1;
            }
            Event::Started(..) => {
                fixture.end_of(id);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(ended > 0, "the end was never before exec");
    assert!(fixture.survivors().is_empty());
}

fn an_end_before_the_start_is_told_has_its_grace(mut fixture: Fixture) {
    for _ in 0..50 {
        let mut launch = fixture.program(&["exits-on-term", "3"]);
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe");
        launch.output = Some((write, null()));
        let id = launch.id;
        fixture.warden().launch(launch);
        // It runs, whatever the warden has noticed of that.
        assert_eq!(line(&mut BufReader::new(read.into())), "ready");
        fixture.warden().end(id, Signal::TERM, LONG);
        assert!(matches!(fixture.next_of(id), Event::Started(..)));
        assert_eq!(fixture.end_of(id).code, Some(3));
    }
}

fn a_killed_keeper_takes_its_tree_along(mut fixture: Fixture) {
    if fixture.cgroup {
        return;
    }
    let running = ready(&mut fixture, &["setsid-child"]);
    let bystander = ready(&mut fixture, &["sleeps"]);
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid)).expect("status");
    let keeper = status
        .lines()
        .find_map(|line| line.strip_prefix("PPid:\t"))
        .expect("PPid");
    let keeper = keeper.parse().expect("a pid");
    // SAFETY: kill(2) takes no pointer.
    let killed = unsafe { libc::kill(keeper, libc::SIGKILL) };
    assert_eq!(killed, 0);
    assert_eq!(fixture.exit_of(running.id).signal, Some(libc::SIGKILL));
    assert_eq!(fixture.next_of(running.id), Event::TreeEnded(running.id));
    assert_eq!(fixture.survivors(), [bystander.pid as i32]);
    fixture.warden().end(bystander.id, Signal::TERM, LONG);
    fixture.end_of(bystander.id);
}

fn a_command_that_stops_its_parent_ends(mut fixture: Fixture) {
    // Its start may be told only after somebody has woken who tells it.
    let running = ready(&mut fixture, &["stops-its-parent"]);
    let bystander = fixture.command(&["true"]);
    assert_eq!(fixture.run(bystander).code, Some(0));
    fixture.warden().end(running.id, Signal::TERM, LONG);
    assert_eq!(fixture.end_of(running.id).signal, Some(libc::SIGTERM));
    assert!(fixture.survivors().is_empty());
}

fn a_command_that_keeps_stopping_its_parent_ends(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["keeps-stopping-its-parent"]);
    fixture.warden().end(running.id, Signal::TERM, SHORT);
    assert_eq!(fixture.end_of(running.id).signal, Some(libc::SIGKILL));
    assert!(fixture.survivors().is_empty());
}

fn a_child_that_leaves_its_cgroup_ends(mut fixture: Fixture) {
    for grace in [SHORT, Duration::ZERO] {
        let running = ready(&mut fixture, &["child-leaves-its-cgroup"]);
        assert_eq!(fixture.survivors().len(), 2);
        fixture.warden().end(running.id, Signal::TERM, grace);
        fixture.end_of(running.id);
        // It was killed before its parent was, and dies as fast as it can.
        eventually("gone", Duration::from_secs(2), || fixture.survivors().is_empty());
    }
}

fn a_cgroup_below_is_of_the_tree(mut fixture: Fixture) {
    let running = ready(&mut fixture, &["makes-a-cgroup"]);
    assert!(!fixture.exit_of(running.id).tree_ended);
    assert_eq!(fixture.survivors().len(), 1);
    fixture.warden().end(running.id, Signal::TERM, SHORT);
    assert_eq!(fixture.next_of(running.id), Event::TreeEnded(running.id));
    assert!(fixture.survivors().is_empty());
    fixture.shut_down();
    assert!(!crate::loss::cgroup_exists(std::process::id()));
}
