//! The process table with a real warden and real commands. Without the test harness: the first warden is forked
//! from a process without threads; once with each tracker.

mod hidden;
mod reserving;

use std::future::Future;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use exec_process::warden::{FirstWarden, WardenConfig, run_replacement};
use exec_process::{
    Command, Notification, Process, ProcessTable, Signal, StartError, Stdio, Subscriber, Timeouts,
    Unobserved, watch_fd,
};
use exec_protocol::environment::TreeTracking;
use exec_protocol::exit::{ExitCause, Tree};
use exec_protocol::limits::Limits;
use exec_protocol::process::{ResourceLimits, TerminalSize, WaitReason, WaitUntil};
use rustix::pipe::PipeFlags;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Longer than anything here takes, on a machine that is busy.
const LONG: Duration = Duration::from_secs(15);

#[derive(Default)]
struct Listener(Notify);

impl Subscriber for Listener {
    fn ready(&self, _process: &Arc<Process>) {
        self.0.notify_one();
    }
}

struct Stage {
    table: Arc<ProcessTable>,
    listener: Arc<Listener>,
}

/// What a process told, all of it.
#[derive(Debug)]
struct Told {
    output: Vec<u8>,
    exit_code: i32,
    cause: ExitCause,
    tree: Tree,
}

fn shell(script: &str) -> Command {
    Command {
        argv: vec!["sh".into(), "-c".into(), script.into()],
        arg0: None,
        cwd: "/".into(),
        environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
        stdio: Stdio::Pipes { keep_stdin: false },
        input: Default::default(),
        timeouts: Timeouts::default(),
        limits: ResourceLimits::default(),
        inherited: Vec::new(),
    }
}

fn terminal(script: &str) -> Command {
    Command {
        stdio: Stdio::Terminal {
            size: TerminalSize { rows: 24, cols: 80 },
        },
        ..shell(script)
    }
}

fn printed(text: &str) -> WaitUntil {
    WaitUntil::Output {
        literal: Some(text.into()),
        regex: None,
        stream: None,
        from_offset: None,
    }
}

impl Stage {
    fn start(&self, id: &str, command: Command) -> Arc<Process> {
        let process = self.table.start(id.into(), None, command).expect("not refused");
        process.open_notifications();
        process
    }

    async fn wait(&self, process: &Process, until: WaitUntil) -> WaitReason {
        let wait = process.begin_wait(&until, Some(LONG)).await;
        wait.expect("a condition").over().await.reason
    }

    async fn told(&self, process: &Process) -> Told {
        let told = timeout(LONG, self.all(process)).await;
        told.unwrap_or_else(|_| panic!("not in time: {:?}", process.info()))
    }

    async fn all(&self, process: &Process) -> Told {
        let mut output = Vec::new();
        let mut exit = None;
        loop {
            match process.next_notification() {
                Some(Notification::Output { bytes, .. }) => output.extend_from_slice(&bytes),
                Some(Notification::Exited { exit_code, cause, .. }) => exit = Some((exit_code, cause)),
                Some(Notification::Closed { tree, .. }) => {
                    let (exit_code, cause) = exit.expect("exited comes before closed");
                    return Told {
                        output,
                        exit_code,
                        cause,
                        tree,
                    };
                }
                Some(Notification::TreeEnded) => panic!("before closed"),
                None => self.listener.0.notified().await,
            }
        }
    }
}

async fn input_is_read_and_ends(stage: &Stage) {
    let data: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
    let command = Command {
        input: data.clone().into(),
        ..shell("cat; exit 3")
    };
    let told = stage.told(&stage.start("cat", command)).await;
    assert!(told.output == data, "{} bytes", told.output.len());
    assert_eq!(
        (told.exit_code, told.cause, told.tree),
        (3, ExitCause::Exited, Tree::Ended)
    );
}

async fn an_interrupt_reaches_the_foreground_of_a_terminal(stage: &Stage) {
    // A job of an interactive shell: a group of its own.
    let script = "set -m; trap 'echo shell' INT; sh -c 'trap \"echo job; exit 5\" INT; echo up; while :; do sleep 0.1; done'; exit $?";
    let process = stage.start("pty", terminal(script));
    assert_eq!(stage.wait(&process, printed("up")).await, WaitReason::Output);
    process.started().await.expect("started");
    process.signal(Signal::INT);
    let told = stage.told(&process).await;
    let output = String::from_utf8_lossy(&told.output).into_owned();
    assert!(output.contains("job") && told.exit_code == 5, "{told:?} {output}");
}

async fn a_control_character_interrupts_too(stage: &Stage) {
    let process = stage.start(
        "^C",
        terminal("trap 'exit 6' INT; echo up; while :; do sleep 0.1; done"),
    );
    assert_eq!(stage.wait(&process, printed("up")).await, WaitReason::Output);
    process.write("\x03".into(), None, false).expect("taken");
    assert_eq!(stage.told(&process).await.exit_code, 6);
}

async fn terminate_ends_the_whole_tree(stage: &Stage) {
    let process = stage.start("tree", shell("setsid sleep 1000 & echo up; exec sleep 1000"));
    assert_eq!(stage.wait(&process, printed("up")).await, WaitReason::Output);
    assert!(process.terminate(None));
    assert_eq!(
        stage.wait(&process, WaitUntil::TreeEnded).await,
        WaitReason::TreeEnded
    );
    let told = stage.told(&process).await;
    assert_eq!(
        (told.exit_code, told.cause, told.tree),
        (143, ExitCause::Terminated, Tree::Ended)
    );
}

async fn what_runs_before_its_start_is_told_gets_its_grace(stage: &Stage) {
    for round in 0..20 {
        let script = "trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.01; done";
        let process = stage.start(&format!("grace{round}"), shell(script));
        // Its output may be here before the warden has told of its start.
        assert_eq!(stage.wait(&process, printed("up")).await, WaitReason::Output);
        process.terminate(Some(LONG));
        let told = stage.told(&process).await;
        // The shell may tell of its sleep, too, which the signal has ended: on stderr, so before it or after it.
        let said_bye = told.output.windows(4).any(|part| part == b"bye\n");
        assert!(said_bye && told.exit_code == 4, "{told:?}");
    }
}

async fn a_deadline_kills_what_ignores_it(stage: &Stage) {
    let command = Command {
        timeouts: Timeouts {
            total: Some(Duration::from_millis(200)),
            grace: Some(Duration::from_millis(50)),
            idle: None,
        },
        ..shell("trap '' TERM; while :; do sleep 0.1; done")
    };
    let told = stage.told(&stage.start("deadline", command)).await;
    assert_eq!((told.exit_code, told.cause), (137, ExitCause::Deadline));
}

async fn a_missing_program_is_told(stage: &Stage) {
    let command = Command {
        argv: vec!["no-such-program".into()],
        ..shell("")
    };
    let process = stage.start("missing", command);
    let started = process.started().await;
    assert!(matches!(started, Err(StartError::NotFound { .. })), "{started:?}");
    assert!(stage.table.get("missing").is_none());
}

async fn a_flood_arrives_whole(stage: &Stage) {
    let told = stage
        .told(&stage.start("flood", shell("head -c 20000000 /dev/zero")))
        .await;
    assert_eq!(told.output.len(), 20_000_000);
}

async fn no_descriptor_is_left(stage: &Stage) {
    let count = || std::fs::read_dir("/proc/self/fd").expect("proc").count();
    stage.told(&stage.start("first", shell("true"))).await;
    let before = count();
    for round in 0..50 {
        let command = if round % 2 == 0 {
            terminal("echo x")
        } else {
            shell("echo x")
        };
        stage.told(&stage.start(&format!("fd{round}"), command)).await;
    }
    assert_eq!(count(), before);
}

/// Our end of a pipe that a command writes lines to.
struct Lines {
    end: AsyncFd<OwnedFd>,
    came: Vec<u8>,
}

/// Our end of a pipe, and the end a command inherits.
fn pipe() -> (Lines, Arc<OwnedFd>) {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).expect("pipe");
    rustix::io::ioctl_fionbio(&read, true).expect("a pipe");
    let end = watch_fd(read, Interest::READABLE).expect("registered");
    let came = Vec::new();
    (Lines { end, came }, Arc::new(write))
}

impl Lines {
    /// The next line, without its end; `None`: nobody has the other end any more.
    async fn next(&mut self) -> Option<String> {
        in_time(self.read()).await
    }

    async fn read(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.came.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.came.drain(..=end).collect();
                return Some(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            let mut ready = self.end.readable().await.expect("registered");
            let mut buffer = [0u8; 256];
            match rustix::io::read(self.end.get_ref(), &mut buffer) {
                Ok(0) => return None,
                Ok(count) => self.came.extend_from_slice(&buffer[..count]),
                Err(rustix::io::Errno::AGAIN) => ready.clear_ready(),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

async fn in_time<F: Future>(what: F) -> F::Output {
    timeout(LONG, what).await.expect("in time")
}

fn is_alive(pid: &i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("warden") => run_replacement(),
        Some("with") => run(arguments.get(1).is_some_and(|tracker| tracker == "cgroup")),
        _ => run_both(),
    }
}

fn run_both() -> ExitCode {
    let mut all = true;
    for tracker in ["cgroup", "subreaper"] {
        let status = std::process::Command::new("/proc/self/exe")
            .args(["with", tracker])
            .status();
        let ok = status.is_ok_and(|status| status.success());
        all &= ok;
        let word = if ok { "ok" } else { "FAILED" };
        let _ = writeln!(std::io::stdout(), "test {tracker} ... {word}");
    }
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(use_cgroup: bool) -> ExitCode {
    let config = WardenConfig {
        use_cgroup,
        daemon_gone_grace: Duration::from_millis(500),
    };
    let warden = FirstWarden::fork(config).expect("forked");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let listener = Arc::new(Listener::default());
        let table = ProcessTable::attach(warden, Limits::default(), listener.clone(), Arc::new(Unobserved))
            .expect("a socket");
        table.ready().await.expect("a warden");
        // Without a cgroup v2 to write both runs are with the other.
        assert!(use_cgroup || table.tree_tracking() == TreeTracking::Subreaper);
        let stage = Stage { table, listener };
        input_is_read_and_ends(&stage).await;
        an_interrupt_reaches_the_foreground_of_a_terminal(&stage).await;
        a_control_character_interrupts_too(&stage).await;
        terminate_ends_the_whole_tree(&stage).await;
        what_runs_before_its_start_is_told_gets_its_grace(&stage).await;
        a_deadline_kills_what_ignores_it(&stage).await;
        a_missing_program_is_told(&stage).await;
        a_flood_arrives_whole(&stage).await;
        no_descriptor_is_left(&stage).await;
        reserving::all(&stage).await;
        let helper = hidden::all(&stage).await;
        let left = stage.start(
            "left",
            shell("trap '' TERM; setsid sleep 1000 & while :; do sleep 0.1; done"),
        );
        left.started().await.expect("started");
        timeout(LONG, stage.table.end()).await.expect("bounded");
        assert_eq!(stage.told(&left).await.cause, ExitCause::ClientGone);
        assert!(!is_alive(&helper), "it lived as long as the session");
    });
    ExitCode::SUCCESS
}
