//! The warden itself leaves nothing behind, and holds nothing that is not its own.

use std::fs;
use std::time::Duration;

use crate::Test;
use crate::fixture::{Event, Fixture, children, eventually};

pub(crate) const TESTS: &[Test] = &[
    (
        "two_hundred_launches_leave_nothing",
        two_hundred_launches_leave_nothing,
    ),
    (
        "launches_at_once_do_not_hold_each_other",
        launches_at_once_do_not_hold_each_other,
    ),
    ("the_warden_is_a_process_apart", the_warden_is_a_process_apart),
];

fn descriptors(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).expect("fds").count()
}

fn two_hundred_launches_leave_nothing(mut fixture: Fixture) {
    let warden = fixture.warden_pid();
    let launch = fixture.command(&["true"]);
    fixture.run(launch);
    eventually("idle", Duration::from_secs(2), || children(warden).is_empty());
    let before = (descriptors(warden), descriptors(std::process::id() as i32));
    for round in 0..200 {
        let launch = fixture.command(if round % 5 == 0 { &["/nowhere"] } else { &["true"] });
        let id = launch.id;
        fixture.warden().launch(launch);
        match fixture.next_of(id) {
            Event::Started(..) => assert!(fixture.exit_of(id).tree_ended),
            Event::Failed(..) => assert_eq!(round % 5, 0),
            other => panic!("{other:?}"),
        }
    }
    eventually("no zombie", Duration::from_secs(2), || {
        children(warden).is_empty()
    });
    assert_eq!(
        (descriptors(warden), descriptors(std::process::id() as i32)),
        before
    );
}

fn launches_at_once_do_not_hold_each_other(mut fixture: Fixture) {
    // Each `cat` ends when its stdin does: a descriptor held by another would keep it for ever.
    let mut pipes = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..64 {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe");
        let mut launch = fixture.command(&["cat"]);
        launch.stdin = Some(read);
        ids.push(launch.id);
        pipes.push(write);
        fixture.warden().launch(launch);
    }
    for (id, pipe) in ids.iter().zip(pipes) {
        assert!(matches!(fixture.next_of(*id), Event::Started(..)));
        drop(pipe);
        let exit = fixture.exit_of(*id);
        assert_eq!((exit.code, exit.tree_ended), (Some(0), true));
    }
}

fn the_warden_is_a_process_apart(fixture: Fixture) {
    let warden = fixture.warden_pid();
    let stat = fs::read_to_string(format!("/proc/{warden}/stat")).expect("stat");
    let session = stat
        .rsplit_once(") ")
        .expect("a name")
        .1
        .split(' ')
        .nth(3)
        .expect("session")
        .to_owned();
    assert_eq!(session, warden.to_string());
    for fd in 0..3 {
        let link = fs::read_link(format!("/proc/{warden}/fd/{fd}")).expect("link");
        assert_eq!(link.to_str(), Some("/dev/null"));
    }
    let status = fs::read_to_string(format!("/proc/{warden}/status")).expect("status");
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:\t"))
        .expect("SigIgn");
    assert_eq!(ignored, "0000000000000000");
}
