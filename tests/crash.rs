//! Whatever dies first, nothing of the session is left after two seconds.

use std::time::Duration;

use exec_tests::server::Ending;
use exec_tests::{Server, eventually, helper, marker, ours_only, procfs, program};
use rustix::process::Signal;
use serde_json::json;

const BOUND: Duration = Duration::from_secs(2);

/// Load that is hard to get rid of: trees in every place, on pipes and terminals, and two floods.
fn load(server: &Server, mark: &str) {
    for tty in [false, true] {
        for _ in 0..3 {
            server.spawn(helper(&["tree", mark]).on(tty)).await_output(b"up");
        }
        server.spawn(helper(&["flood", mark]).on(tty));
    }
    server.await_marked(mark, 6 * 6 + 2);
}

#[test]
fn the_daemon_is_killed() {
    ours_only!();
    let server = Server::builder().ended_by_test().start();
    let mark = marker();
    load(&server, &mark);
    server.kill(server.pid(), Signal::KILL);
    assert_eq!(server.await_end(BOUND), Some(Ending::Signal(9)));
    let gone = eventually(BOUND, || server.processes().is_empty().then_some(()));
    let left: Vec<_> = server.processes().into_iter().map(procfs::arguments).collect();
    assert!(gone.is_some(), "left: {left:?}");
}

#[test]
fn a_daemon_that_starts_meanwhile_sweeps_nothing_from_under_the_old_warden() {
    ours_only!();
    let server = Server::builder().ended_by_test().start();
    let mark = marker();
    server.spawn(helper(&["sleep", &mark, "ignoring"]));
    let child = server.await_marked(&mark, 1)[0];
    let warden = server.warden().expect("a warden");
    server.kill(server.pid(), Signal::KILL);
    assert_eq!(server.await_end(BOUND), Some(Ending::Signal(9)));
    // Held before it can see its command end; the next daemon finds a cgroup of nobody's that is empty.
    server.kill(warden, Signal::STOP);
    server.kill(child, Signal::KILL);
    let next = Server::start();
    next.spawn(program(&["/bin/true"])).closed();
    server.kill(warden, Signal::CONT);
    assert!(
        eventually(BOUND, || server.processes().is_empty().then_some(())).is_some(),
        "the warden waits for ever"
    );
}

#[test]
fn the_daemon_is_killed_though_it_has_only_plain_children() {
    let server = Server::builder().ended_by_test().start();
    let mark = marker();
    server.spawn(helper(&["sleep", &mark]));
    server.spawn(helper(&["sleep", &mark]).tty());
    server.await_marked(&mark, 2);
    server.kill(server.pid(), Signal::KILL);
    assert_eq!(server.await_end(BOUND), Some(Ending::Signal(9)));
    server.assert_none_marked(&mark, Duration::from_secs(4));
}

#[test]
fn the_warden_is_killed_and_the_daemon_lives_on() {
    ours_only!();
    let server = Server::builder().start();
    let mark = marker();
    load(&server, &mark);
    let victim = server.spawn(helper(&["sleep", &mark]));
    let warden = server.warden().expect("a warden");
    server.kill(warden, Signal::KILL);
    server.assert_none_marked(&mark, BOUND);
    let exited = victim.exited();
    assert_eq!(
        (&exited["cause"], &exited["exitCode"]),
        (&json!("wardenLost"), &json!(137)),
        "{exited}"
    );
    assert_eq!(victim.closed_params()["tree"], "unknown");
    // A new one serves as the old one did.
    let again = server.spawn(program(&["/bin/cat"]).pipe_stdin());
    again.ask("write", json!({"chunk": "aGkK", "closeStdin": true}));
    assert_eq!(again.closed(), 0);
    assert_eq!(again.stream_length("stdout"), 3);
    let next = server.warden().expect("another warden");
    assert_ne!(next, warden);
    // And once more, so that this was no single spare.
    server.kill(next, Signal::KILL);
    let last = eventually(Duration::from_secs(10), || {
        server.try_spawn(program(&["/bin/true"])).ok()
    })
    .expect("a third");
    assert_eq!(last.closed(), 0);
}

#[test]
fn the_warden_is_killed_while_processes_start() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    let starts: Vec<_> = (0..40)
        .map(|_| server.spawn_later(helper(&["sleep", &mark])))
        .collect();
    if let Some(warden) = server.warden() {
        server.kill(warden, Signal::KILL);
    }
    // Each is answered, one way or the other, and each that started is ended.
    for (process, start) in &starts {
        let reply = server.reply(start);
        if reply.get("result").is_some() {
            process.post("terminate", json!({}));
            process.closed();
        } else {
            assert_eq!(reply["error"]["code"], -32603, "{reply}");
        }
    }
    server.assert_none_marked(&mark, BOUND);
    server.assert_works();
}

/// A daemon whose client is a process that can be killed, below the same supervisor.
fn doomed_client(mark: &str, holder: &str) -> (Server, u32, u32) {
    let mut command = vec![
        exec_tests::target::helper_path(),
        "client".into(),
        mark.into(),
        holder.into(),
    ];
    command.extend(exec_tests::target::server_command().iter().cloned());
    let server = Server::builder().command(command).ended_by_test().start();
    // The tree (leader and five children) and the flood.
    server.await_marked(mark, 1 + 6 + 1);
    let client = server.pid();
    let daemon = procfs::descendants(client)
        .into_iter()
        .find(|pid| {
            procfs::stat(*pid).is_some_and(|s| s.parent == client)
                && !procfs::arguments(*pid).contains(&"sleep".into())
        })
        .expect("the daemon");
    (server, client, daemon)
}

#[test]
fn the_client_is_killed() {
    ours_only!();
    let mark = marker();
    let (server, client, daemon) = doomed_client(&mark, "");
    server.kill(client, Signal::KILL);
    server.assert_none_marked(&mark, BOUND);
    assert!(
        eventually(BOUND, || (!procfs::alive(daemon)).then_some(())).is_some(),
        "the daemon stayed"
    );
    assert!(eventually(BOUND, || server.processes().is_empty().then_some(())).is_some());
}

#[test]
fn the_client_is_killed_while_another_holds_the_daemons_stdin() {
    ours_only!();
    let (mark, holder) = (marker(), marker());
    let (server, client, daemon) = doomed_client(&mark, &holder);
    // The client has the word in its own command line too.
    server.await_marked(&holder, 2);
    let holding = server.marked(&holder);
    let holding: Vec<u32> = holding.into_iter().filter(|pid| *pid != client).collect();
    server.kill(client, Signal::KILL);
    server.assert_none_marked(&mark, BOUND);
    assert!(
        eventually(BOUND, || (!procfs::alive(daemon)).then_some(())).is_some(),
        "the daemon stayed"
    );
    // It was really held: the holder outlives all of it.
    assert_eq!(server.marked(&holder), holding);
    server.kill(holding[0], Signal::KILL);
}

#[test]
fn an_idle_daemon_whose_client_is_killed_while_another_holds_its_stdin() {
    ours_only!();
    // Nothing is printed: only the hang-up of its stdout, or its parent's end, can tell.
    let (mark, holder) = (marker(), marker());
    let (server, client, daemon) = doomed_client(&mark, &holder);
    for pid in server.marked(&mark) {
        if procfs::arguments(pid).iter().any(|a| a == "flood") {
            server.kill(pid, Signal::KILL);
        }
    }
    server.kill(client, Signal::KILL);
    assert!(
        eventually(BOUND, || (!procfs::alive(daemon)).then_some(())).is_some(),
        "the daemon stayed"
    );
    server.assert_none_marked(&mark, BOUND);
    server.kill(server.await_marked(&holder, 1)[0], Signal::KILL);
}
