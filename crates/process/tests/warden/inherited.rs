//! A command is given the descriptors it inherits, and no others.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use exec_process::{Inherited, Signal};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::Test;
use crate::fixture::Fixture;

pub(crate) const TESTS: &[Test] = &[
    (
        "inherited_descriptors_are_there_and_no_others",
        inherited_descriptors_are_there_and_no_others,
    ),
    (
        "a_limit_of_open_files_leaves_it_open",
        a_limit_of_open_files_leaves_it_open,
    ),
    (
        "a_shared_descriptor_is_the_callers_still",
        a_shared_descriptor_is_the_callers_still,
    ),
    (
        "nobody_but_the_command_holds_what_it_inherits",
        nobody_but_the_command_holds_what_it_inherits,
    ),
];

/// A readable descriptor that holds a text.
fn holding(text: &str) -> Arc<OwnedFd> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe");
    rustix::io::write(&write, text.as_bytes()).expect("write");
    Arc::new(read)
}

fn inherited_descriptors_are_there_and_no_others(mut fixture: Fixture) {
    // Whatever numbers they have in the warden, some of these are in each other's way: both orders of those that
    // the report (3 or 4) and the received ones stand at.
    let pairs = (3..24).flat_map(|a| [(a, a + 1), (a + 1, a), (3, a + 1), (a + 1, 4)]);
    for (one, other) in pairs.chain([(255, 3), (200, 255)]) {
        if one == other {
            continue;
        }
        let script = format!("echo $(ls /proc/self/fd); cat <&{one}; cat <&{other}");
        // bash's own: dash takes no number above 9.
        let mut launch = fixture.command(&["bash", "-c", &script]);
        for (number, text) in [(one, "one\n"), (other, "other\n")] {
            launch.inherited.push(Inherited {
                number,
                descriptor: holding(text),
            });
        }
        let text = fixture.output(launch);
        let mut lines = text.lines();
        let mut seen: Vec<i32> = lines
            .next()
            .expect("ls")
            .split(' ')
            .map(|fd| fd.parse().expect("a number"))
            .collect();
        // The directory ls reads is at the lowest free number.
        let mut want = vec![0, 1, 2, one, other];
        want.push((3..).find(|fd| !want.contains(fd)).expect("free"));
        want.sort_unstable();
        seen.sort_unstable();
        assert_eq!(seen, want, "{one} {other}: {text}");
        assert_eq!(lines.collect::<Vec<_>>(), ["one", "other"], "{one} {other}");
    }
}

fn a_limit_of_open_files_leaves_it_open(mut fixture: Fixture) {
    let mut launch = fixture.command(&["bash", "-c", "ulimit -n; cat <&200"]);
    launch.limits.open_files = Some(33);
    launch.inherited.push(Inherited {
        number: 200,
        descriptor: holding("state\n"),
    });
    assert_eq!(fixture.output(launch), "33\nstate\n");
}

fn a_shared_descriptor_is_the_callers_still(mut fixture: Fixture) {
    let descriptor = holding("");
    for _ in 0..2 {
        let mut launch = fixture.command(&["sh", "-c", "readlink /proc/self/fd/7"]);
        launch.inherited.push(Inherited {
            number: 7,
            descriptor: Arc::clone(&descriptor),
        });
        assert!(fixture.output(launch).starts_with("pipe:"));
    }
    assert_eq!(Arc::strong_count(&descriptor), 1, "nothing of it is left here");
}

fn nobody_but_the_command_holds_what_it_inherits(mut fixture: Fixture) {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe");
    let mut launch = fixture.command(&["sh", "-c", "echo state >&9; exec 9>&-; exec sleep 1000"]);
    launch.inherited.push(Inherited {
        number: 9,
        descriptor: Arc::new(write),
    });
    let running = fixture.start(launch);
    let mut text = [0u8; 16];
    assert_eq!(rustix::io::read(&read, &mut text), Ok(6));
    // Ends though the command runs: neither the warden nor a keeper has it open.
    let mut end = [PollFd::new(&read, PollFlags::IN)];
    let bound = Timespec {
        tv_sec: 10,
        tv_nsec: 0,
    };
    assert_eq!(poll(&mut end, Some(&bound)), Ok(1), "in time");
    assert_eq!(rustix::io::read(&read, &mut text), Ok(0));
    fixture.warden().end(running.id, Signal::TERM, Duration::ZERO);
    fixture.end_of(running.id);
}
