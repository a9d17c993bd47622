//! A tree that is left as a terminal leaves it: the session ends, its helpers live on.

use std::collections::HashMap;
use std::time::Duration;

use exec_process::Signal;

use crate::Test;
use crate::fixture::{Event, Fixture, eventually, line, state};

pub(crate) const TESTS: &[Test] = &[
    ("a_session_that_is_left_ends", a_session_that_is_left_ends),
    (
        "a_session_whose_leader_has_exited_is_left_too",
        a_session_whose_leader_has_exited_is_left_too,
    ),
    (
        "what_is_left_before_its_start_is_told_ends",
        what_is_left_before_its_start_is_told_ends,
    ),
];

const LONG: Duration = Duration::from_secs(10);

fn sorted(mut pids: Vec<i32>) -> Vec<i32> {
    pids.sort_unstable();
    pids
}

fn a_session_that_is_left_ends(mut fixture: Fixture) {
    let launch = fixture.program(&["session"]);
    let mut running = fixture.start(launch);
    let pids: HashMap<String, i32> = (0..4)
        .map(|_| {
            let said = line(&mut running.stdout);
            let (kind, pid) = said.split_once(' ').expect("two words");
            (kind.to_owned(), pid.parse().expect("a number"))
        })
        .collect();
    eventually("stopped", LONG, || state(pids["stopped"]) == Some('T'));
    fixture.warden().leave_helpers(running.id);
    let exit = fixture.exit_of(running.id);
    assert_eq!((exit.signal, exit.tree_ended), (Some(libc::SIGKILL), false));
    let helpers = sorted(vec![pids["deaf"], pids["apart"]]);
    eventually("only helpers are left", LONG, || {
        sorted(fixture.survivors()) == helpers
    });
    // They are still of its tree.
    fixture.warden().end(running.id, Signal::TERM, Duration::ZERO);
    assert_eq!(fixture.next_of(running.id), Event::TreeEnded(running.id));
    assert!(fixture.survivors().is_empty());
}

fn a_session_whose_leader_has_exited_is_left_too(mut fixture: Fixture) {
    let launch = fixture.command(&["sh", "-c", "sleep 1000 & setsid sleep 1000 & echo ready"]);
    let mut running = fixture.start(launch);
    assert_eq!(line(&mut running.stdout), "ready");
    assert!(!fixture.exit_of(running.id).tree_ended);
    eventually("setsid has executed sleep", LONG, || {
        let name = |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/comm"));
        let names = fixture.survivors().iter().map(name).collect::<Vec<_>>();
        names.len() == 2
            && names
                .iter()
                .all(|name| name.as_ref().is_ok_and(|name| name == "sleep\n"))
    });
    fixture.warden().leave_helpers(running.id);
    eventually("one is left", LONG, || fixture.survivors().len() == 1);
    fixture.warden().end(running.id, Signal::TERM, LONG);
    assert_eq!(fixture.next_of(running.id), Event::TreeEnded(running.id));
}

fn what_is_left_before_its_start_is_told_ends(mut fixture: Fixture) {
    for _ in 0..20 {
        let launch = fixture.command(&["sleep", "1000"]);
        let id = launch.id;
        fixture.warden().launch(launch);
        fixture.warden().leave_helpers(id);
        assert!(matches!(fixture.next_of(id), Event::Started(..)));
        assert_eq!(fixture.end_of(id).signal, Some(libc::SIGKILL));
    }
}
