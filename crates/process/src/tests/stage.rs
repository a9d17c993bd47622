//! The stage the tests play on.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fs::File;
use std::future::Future;
use std::io::Write;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use exec_protocol::ProcessId;
use exec_protocol::environment::TreeTracking;
use exec_protocol::exit::Usage;
use exec_protocol::limits::Limits;
use exec_protocol::process::{Enforcement, Enforces, ResourceLimits, TerminalSize, WaitResponse, WaitUntil};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::launcher::Launcher;
use crate::warden::{Exit, FailedStep, Launch, LaunchFailure, LaunchId, WardenEvents};
use crate::{Command, Notification, Process, ProcessTable, Signal, Stdio, Subscriber, Timeouts, Unobserved};

pub(super) const MS: Duration = Duration::from_millis(1);

/// A warden that only remembers what it was asked for.
#[derive(Debug, Default)]
pub(super) struct Warden {
    launches: Mutex<HashMap<LaunchId, Launch>>,
    pub(super) ends: Mutex<Vec<(LaunchId, Signal, Duration)>>,
    pub(super) signals: Mutex<Vec<(LaunchId, Signal)>>,
    pub(super) left: Mutex<Vec<LaunchId>>,
}

impl Launcher for Warden {
    fn ready(&self) -> Pin<Box<dyn Future<Output = std::io::Result<()>> + Send + '_>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn launch(&self, launch: Launch) {
        self.launches
            .lock()
            .expect("unpoisoned")
            .insert(launch.id, launch);
    }

    fn signal(&self, id: LaunchId, signal: Signal) {
        self.signals.lock().expect("unpoisoned").push((id, signal));
    }

    fn end(&self, id: LaunchId, signal: Signal, grace: Duration) {
        self.ends.lock().expect("unpoisoned").push((id, signal, grace));
    }

    fn leave_helpers(&self, id: LaunchId) {
        self.left.lock().expect("unpoisoned").push(id);
    }

    fn enforces(&self) -> Enforces {
        Enforces {
            open_files: Some(Enforcement::Rlimit),
            ..Enforces::default()
        }
    }

    fn tree_tracking(&self) -> TreeTracking {
        TreeTracking::Subreaper
    }

    fn shutdown(&self, _bound: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }
}

/// Counts how often it was told.
#[derive(Debug, Default)]
pub(super) struct Listener {
    pub(super) calls: Mutex<Vec<ProcessId>>,
    called: Notify,
}

impl Subscriber for Listener {
    fn ready(&self, process: &Arc<Process>) {
        self.calls.lock().expect("unpoisoned").push(process.id().clone());
        self.called.notify_one();
    }
}

/// A table, its warden and its subscriber.
pub(super) struct Stage {
    pub(super) table: Arc<ProcessTable>,
    pub(super) warden: Arc<Warden>,
    pub(super) events: Arc<dyn WardenEvents>,
    pub(super) listener: Arc<Listener>,
}

/// What a child would hold.
pub(super) struct Child {
    pub(super) id: LaunchId,
    pub(super) stdin: Option<File>,
    pub(super) stdout: Option<File>,
    pub(super) stderr: Option<File>,
}

impl Child {
    /// Writes to stdout.
    pub(super) fn print(&mut self, text: impl AsRef<[u8]>) {
        write(&mut self.stdout, text);
    }

    /// Writes to stderr.
    pub(super) fn complain(&mut self, text: impl AsRef<[u8]>) {
        write(&mut self.stderr, text);
    }

    /// Writes to its terminal.
    pub(super) fn show(&mut self, text: impl AsRef<[u8]>) {
        write(&mut self.stdin, text);
    }
}

fn write(stream: &mut Option<File>, text: impl AsRef<[u8]>) {
    let stream = stream.as_mut().expect("open");
    stream.write_all(text.as_ref()).expect("room");
}

pub(super) fn command() -> Command {
    Command {
        argv: vec!["/bin/x".into()],
        arg0: None,
        cwd: "/".into(),
        environment: BTreeMap::new(),
        stdio: Stdio::Pipes { keep_stdin: true },
        input: Bytes::new(),
        timeouts: Timeouts::default(),
        limits: ResourceLimits::default(),
        inherited: Vec::new(),
    }
}

pub(super) fn terminal() -> Command {
    Command {
        stdio: Stdio::Terminal {
            size: TerminalSize { rows: 24, cols: 80 },
        },
        ..command()
    }
}

pub(super) fn exit(code: i32) -> Exit {
    Exit {
        code: Some(code),
        signal: None,
        usage: Usage::default(),
        out_of_memory: false,
        at: Instant::now().into_std(),
        tree_ended: true,
        comm: [0; 16],
    }
}

/// One that leaves something behind.
pub(super) fn exit_leaving(code: i32) -> Exit {
    Exit {
        tree_ended: false,
        ..exit(code)
    }
}

impl Stage {
    pub(super) fn new(limits: Limits) -> Self {
        let warden = Arc::new(Warden::default());
        let listener = Arc::new(Listener::default());
        let mut events = None;
        let table = ProcessTable::with_launcher::<Infallible>(
            limits,
            listener.clone(),
            Arc::new(Unobserved),
            |given| {
                events = Some(given);
                Ok(warden.clone())
            },
        );
        let Ok(table) = table;
        Self {
            table,
            warden,
            events: events.expect("given"),
            listener,
        }
    }

    /// Starts a process that nobody has executed yet.
    pub(super) fn ask(&self, id: &str, command: Command) -> Arc<Process> {
        self.table.start(id.into(), None, command).expect("not refused")
    }

    /// What the warden was given for it.
    pub(super) fn child(&self, process: &Process) -> Child {
        let mut launches = self.warden.launches.lock().expect("unpoisoned");
        let launch = launches.remove(&process.launch_id()).expect("launched");
        let (stdout, stderr) = launch.output.unzip();
        Child {
            id: launch.id,
            stdin: launch.stdin.map(File::from),
            stdout: stdout.map(File::from),
            stderr: stderr.map(File::from),
        }
    }

    /// Starts a process that nobody has executed yet; gives what the warden was given for it.
    pub(super) fn start(&self, id: &str, command: Command) -> (Arc<Process>, Child) {
        let process = self.ask(id, command);
        let child = self.child(&process);
        (process, child)
    }

    /// Starts a process that executes, its notifications open.
    pub(super) fn run(&self, id: &str, command: Command) -> (Arc<Process>, Child) {
        let (process, child) = self.start(id, command);
        self.events.started(child.id, 7, Instant::now().into_std());
        process.open_notifications();
        (process, child)
    }

    /// The launches that the warden was asked for, and nobody has taken yet.
    pub(super) fn launches(&self) -> Vec<Launch> {
        let mut launches = self.warden.launches.lock().expect("unpoisoned");
        launches.drain().map(|(_, launch)| launch).collect()
    }

    /// The only one of them.
    pub(super) fn launch(&self) -> Launch {
        let mut launches = self.launches();
        assert_eq!(launches.len(), 1);
        launches.remove(0)
    }

    pub(super) fn fail(&self, child: Child, step: FailedStep, errno: i32) {
        self.events.failed(child.id, LaunchFailure { step, errno });
    }

    /// The child ends, its streams with it.
    pub(super) fn exit(&self, child: Child, exit: Exit) {
        let id = child.id;
        drop(child);
        self.events.exited(id, exit);
    }

    /// The next notification, as soon as there is one.
    pub(super) async fn next(&self, process: &Process) -> Notification {
        loop {
            if let Some(notification) = process.next_notification() {
                return notification;
            }
            self.listener.called.notified().await;
        }
    }

    /// Everything until closed.
    pub(super) async fn rest(&self, process: &Process) -> Vec<Notification> {
        let mut all = Vec::new();
        loop {
            let notification = self.next(process).await;
            let last = matches!(notification, Notification::Closed { .. });
            all.push(notification);
            if last {
                return all;
            }
        }
    }

    /// Runs and closes a process; everything of it is told.
    pub(super) async fn run_to_end(&self, id: &str, exit: Exit) -> Arc<Process> {
        let (process, child) = self.run(id, command());
        self.exit(child, exit);
        self.rest(&process).await;
        process
    }

    pub(super) fn ends(&self) -> Vec<(LaunchId, Signal, Duration)> {
        self.warden.ends.lock().expect("unpoisoned").clone()
    }
}

/// Lets every task that can go on do so: a yield polls the reactor too.
pub(super) async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// Takes every notification there is.
pub(super) fn take_all(process: &Process) {
    while process.next_notification().is_some() {}
}

/// It has not come to its end, and does not of itself.
pub(super) async fn assert_pending<F: Future + Unpin>(future: &mut F) {
    assert!(timeout(Duration::ZERO, future).await.is_err(), "it is over");
}

/// Waits for a condition that is one.
pub(super) async fn wait(process: &Process, until: &WaitUntil, timeout: Option<Duration>) -> WaitResponse {
    let wait = process.begin_wait(until, timeout).await;
    wait.expect("valid").over().await
}

/// The bytes of all output notifications.
pub(super) fn output(notifications: &[Notification]) -> Vec<u8> {
    let mut all = Vec::new();
    for notification in notifications {
        if let Notification::Output { bytes, .. } = notification {
            all.extend_from_slice(bytes);
        }
    }
    all
}
