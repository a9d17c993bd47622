//! Processes that no client sees, on terminals of their own.

use std::collections::HashMap;
use std::sync::Arc;

use exec_process::{Command, Ended, Hidden, Inherited, Signal, StartError};
use rustix::io::{Errno, read};
use rustix::process::{Pid, kill_process};

use super::{Lines, Stage, in_time, is_alive, pipe, shell, terminal};

/// All of them. One leaves a helper, whose process id it is.
pub(super) async fn all(stage: &Stage) -> i32 {
    a_lost_warden_fails_it_and_another_starts_what_waited(stage).await;
    it_controls_its_terminal_and_its_end_is_seen(stage).await;
    its_state_comes_through_a_descriptor(stage).await;
    a_missing_shell_is_told(stage).await;
    killed_nothing_of_it_is_left(stage).await;
    dropped_nothing_of_it_is_left(stage).await;
    no_descriptor_of_it_is_left(stage).await;
    its_helpers_live_on(stage).await
}

/// The warden, of which the test binary has one at a time.
fn warden() -> Pid {
    let own = std::process::id();
    let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).expect("proc");
    let pid = children
        .split_whitespace()
        .find(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "exec-warden\n")
        })
        .expect("a warden");
    Pid::from_raw(pid.parse().expect("a number")).expect("not 0")
}

async fn a_lost_warden_fails_it_and_another_starts_what_waited(stage: &Stage) {
    let (hidden, _state, pids) = family(stage).await;
    let reserved = stage.table.reserve("waited".into(), None, shell("echo hi"));
    let reserved = reserved.expect("not refused");
    let process = Arc::clone(reserved.process());
    process.open_notifications();
    kill_process(warden(), rustix::process::Signal::KILL).expect("ours");
    assert_eq!(in_time(hidden.exited()).await, Ended::WardenLost);
    in_time(hidden.tree_ended()).await;
    gone(&pids, &["shell", "plain", "deaf", "apart"]).await;
    reserved.launch(None);
    assert_eq!(stage.told(&process).await.output, b"hi\n");
}

fn hide(stage: &Stage, script: &str) -> (Hidden, Lines) {
    let (state, write) = pipe();
    let command = Command {
        inherited: vec![Inherited {
            number: 9,
            descriptor: write,
        }],
        ..terminal(script)
    };
    (stage.table.start_hidden(command).expect("not refused"), state)
}

/// What it prints until nobody has its terminal open any more.
async fn printed(hidden: &Hidden) -> String {
    let mut all = Vec::new();
    loop {
        let mut ready = hidden.terminal().readable().await.expect("registered");
        let mut buffer = [0u8; 4096];
        match read(hidden.terminal().get_ref(), &mut buffer) {
            Ok(count) => all.extend_from_slice(&buffer[..count]),
            Err(Errno::AGAIN) => ready.clear_ready(),
            Err(Errno::IO) => return String::from_utf8(all).expect("UTF-8"),
            Err(error) => panic!("{error}"),
        }
    }
}

async fn it_controls_its_terminal_and_its_end_is_seen(stage: &Stage) {
    let script = "test -t 0 && test -t 1 && test -t 2 && echo tty >/dev/tty; exit 3";
    let (hidden, _state) = hide(stage, script);
    let pid = in_time(hidden.started()).await.expect("started");
    assert!(pid > 1);
    assert_eq!(in_time(printed(&hidden)).await, "tty\r\n");
    assert_eq!(in_time(hidden.exited()).await, Ended::Exited(3));
    in_time(hidden.tree_ended()).await;
    assert!(!is_alive(&pid.cast_signed()));
}

async fn its_state_comes_through_a_descriptor(stage: &Stage) {
    let (hidden, mut state) = hide(stage, "echo state >&9; exec 9>&-; exec sleep 1000");
    assert_eq!(state.next().await.as_deref(), Some("state"));
    assert_eq!(state.next().await, None, "the shell alone had it");
    // Others start meanwhile, and it is none of them.
    let told = stage.told(&stage.start("beside", shell("echo hi"))).await;
    assert_eq!(told.output, b"hi\n");
    let rows = stage.table.list();
    let pid = in_time(hidden.started()).await.expect("started");
    assert!(rows.iter().all(|row| row.pid != Some(pid)));
}

async fn a_missing_shell_is_told(stage: &Stage) {
    let command = Command {
        argv: vec!["/no/such/shell".into()],
        ..terminal("")
    };
    let hidden = stage.table.start_hidden(command).expect("not refused");
    let started = in_time(hidden.started()).await;
    assert!(matches!(started, Err(StartError::NotFound { .. })), "{started:?}");
    assert_eq!(in_time(hidden.exited()).await, Ended::NotStarted);
    in_time(hidden.tree_ended()).await;
}

/// A shell that hears nothing but SIGKILL, with children of every kind that say what they are and their process ids.
const FAMILY: &str = "trap 'echo trapped >&9' EXIT HUP TERM; \
    sh -c 'echo plain $$ >&9; exec sleep 1000 9>&-' & \
    (trap '' HUP; exec sh -c 'echo deaf $$ >&9; exec sleep 1000 9>&-') & \
    setsid sh -c 'trap \"\" TERM; echo apart $$ >&9; exec sleep 1000 9>&-' & \
    echo shell $$ >&9; \
    while :; do sleep 1000 9>&-; done";

async fn family(stage: &Stage) -> (Hidden, Lines, HashMap<String, i32>) {
    let (hidden, mut state) = hide(stage, FAMILY);
    let mut pids = HashMap::new();
    while pids.len() < 4 {
        let said = state.next().await.expect("a line");
        let (kind, pid) = said.split_once(' ').expect("two words");
        pids.insert(kind.to_owned(), pid.parse().expect("a number"));
    }
    let pid = in_time(hidden.started()).await.expect("started");
    assert_eq!(pids["shell"], pid.cast_signed());
    assert!(pids.values().all(is_alive));
    (hidden, state, pids)
}

async fn killed_nothing_of_it_is_left(stage: &Stage) {
    let (hidden, mut state, pids) = family(stage).await;
    hidden.kill();
    in_time(hidden.tree_ended()).await;
    assert_eq!(in_time(hidden.exited()).await, Ended::Killed(Signal::KILL));
    assert!(!pids.values().any(is_alive), "{pids:?}");
    assert_eq!(state.next().await, None, "no trap ran");
    assert_eq!(in_time(printed(&hidden)).await, "");
}

async fn dropped_nothing_of_it_is_left(stage: &Stage) {
    let (hidden, mut state, pids) = family(stage).await;
    drop(hidden);
    gone(&pids, &["shell", "plain", "deaf", "apart"]).await;
    assert_eq!(
        state.next().await,
        None,
        "no trap ran: it was not hung up on first"
    );
}

/// Waits until these are gone.
async fn gone(pids: &HashMap<String, i32>, kinds: &[&str]) {
    in_time(async {
        while kinds.iter().any(|kind| is_alive(&pids[*kind])) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

async fn its_helpers_live_on(stage: &Stage) -> i32 {
    let (hidden, mut state, pids) = family(stage).await;
    hidden.leave_helpers();
    assert_eq!(in_time(hidden.exited()).await, Ended::Killed(Signal::KILL));
    gone(&pids, &["shell", "plain"]).await;
    assert_eq!(state.next().await, None, "no trap ran");
    drop(hidden);
    // Its terminal is closed by now, and others have come and gone.
    stage.told(&stage.start("meanwhile", shell("true"))).await;
    assert!(is_alive(&pids["deaf"]) && is_alive(&pids["apart"]));
    pids["apart"]
}

async fn no_descriptor_of_it_is_left(stage: &Stage) {
    let count = || std::fs::read_dir("/proc/self/fd").expect("proc").count();
    let before = count();
    for round in 0..50 {
        let (hidden, _state) = hide(stage, "exit 1");
        if round % 2 == 0 {
            hidden.kill();
        }
        in_time(hidden.tree_ended()).await;
    }
    // What the one before had may have been open still when it was counted.
    assert!(count() <= before, "{} {before}", count());
}
