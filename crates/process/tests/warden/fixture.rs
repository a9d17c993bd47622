//! A daemon of one test: its warden, what the warden reported, and what of it is alive.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exec_process::warden::{
    Exit, FirstWarden, Launch, LaunchFailure, LaunchId, Warden, WardenConfig, WardenEvents,
};
use exec_protocol::process::ResourceLimits;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Longest any single report may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the warden reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Event {
    Started(LaunchId, u32),
    Failed(LaunchId, LaunchFailure),
    Exited(LaunchId, Exit),
    TreeEnded(LaunchId),
    Lost,
}

struct Recorder(UnboundedSender<Event>);

impl WardenEvents for Recorder {
    fn started(&self, id: LaunchId, pid: u32, at: Instant) {
        assert!(at <= Instant::now());
        let _ = self.0.send(Event::Started(id, pid));
    }
    fn failed(&self, id: LaunchId, failure: LaunchFailure) {
        let _ = self.0.send(Event::Failed(id, failure));
    }
    fn exited(&self, id: LaunchId, exit: Exit) {
        let _ = self.0.send(Event::Exited(id, exit));
    }
    fn tree_ended(&self, id: LaunchId) {
        let _ = self.0.send(Event::TreeEnded(id));
    }
    fn lost(&self) {
        let _ = self.0.send(Event::Lost);
    }
}

pub(crate) struct Fixture {
    pub(crate) cgroup: bool,
    /// In the environment of everything that is started here.
    pub(crate) mark: String,
    runtime: Runtime,
    warden: Warden,
    events: UnboundedReceiver<Event>,
    /// Came while another launch's were waited for.
    early: HashMap<LaunchId, Vec<Event>>,
    next: u64,
}

/// A running command.
pub(crate) struct Running {
    pub(crate) id: LaunchId,
    pub(crate) pid: u32,
    pub(crate) stdout: BufReader<fs::File>,
}

pub(crate) fn c(text: impl AsRef<OsStr>) -> CString {
    CString::new(text.as_ref().as_bytes()).expect("no NUL")
}

impl Fixture {
    pub(crate) fn new(cgroup: bool, nobody: bool) -> Self {
        if nobody {
            // SAFETY: plain system calls, in a process of one thread.
            unsafe {
                assert_eq!(libc::setgroups(0, std::ptr::null()), 0);
                assert_eq!(libc::setresgid(65534, 65534, 65534), 0);
                assert_eq!(libc::setresuid(65534, 65534, 65534), 0);
                // Giving up root made this process's /proc files root's; a daemon that began as nobody
                // would not have that.
                assert_eq!(libc::prctl(libc::PR_SET_DUMPABLE, 1), 0);
            }
        }
        block_sigchld();
        let config = WardenConfig {
            use_cgroup: cgroup,
            daemon_gone_grace: Duration::from_millis(300),
        };
        let first = FirstWarden::fork(config).expect("fork the warden");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("runtime");
        let (sender, events) = unbounded_channel();
        let warden = {
            let _inside = runtime.enter();
            Warden::attach(first, Arc::new(Recorder(sender))).expect("attach")
        };
        let tracking = warden.tree_tracking();
        let want = if cgroup {
            exec_protocol::environment::TreeTracking::Cgroup
        } else {
            exec_protocol::environment::TreeTracking::Subreaper
        };
        // Without a writable cgroup2 both runs test the subreaper, and say so.
        if tracking != want {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "note: no cgroup v2 to write here");
        }
        let mark = format!("WARDEN_TEST_MARK={}", std::process::id());
        Self {
            cgroup: tracking == exec_protocol::environment::TreeTracking::Cgroup,
            mark,
            runtime,
            warden,
            events,
            early: HashMap::new(),
            next: 1,
        }
    }

    pub(crate) fn warden(&self) -> &Warden {
        &self.warden
    }

    pub(crate) fn warden_pid(&self) -> i32 {
        let warden = |pid: &i32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "exec-warden\n")
                && state(*pid) != Some('Z')
        };
        children(std::process::id() as i32)
            .into_iter()
            .find(warden)
            .expect("a warden")
    }

    /// A launch of `argv`, found on the usual PATH, output to nowhere.
    pub(crate) fn command(&mut self, argv: &[&str]) -> Launch {
        let id = LaunchId(self.next);
        self.next += 1;
        let name = argv[0];
        let programs = if name.contains('/') {
            vec![c(name)]
        } else {
            ["/usr/bin", "/bin"]
                .iter()
                .map(|dir| c(format!("{dir}/{name}")))
                .collect()
        };
        Launch {
            id,
            programs,
            argv: argv.iter().map(c).collect(),
            environment: vec![c(&self.mark), c("PATH=/usr/bin:/bin")],
            cwd: c("/"),
            stdin: None,
            output: Some((null(), null())),
            terminal: false,
            limits: ResourceLimits::default(),
            inherited: Vec::new(),
        }
    }

    /// A launch of one of this binary's own programs.
    pub(crate) fn program(&mut self, arguments: &[&str]) -> Launch {
        let exe = std::env::current_exe().expect("exe");
        let exe = exe.to_str().expect("UTF-8");
        self.command(&[&[exe, "program"], arguments].concat())
    }

    /// Launches with stdout on a pipe, and waits until it runs.
    pub(crate) fn start(&mut self, mut launch: Launch) -> Running {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("pipe");
        launch.output = Some((write, null()));
        let id = launch.id;
        self.warden.launch(launch);
        match self.next_of(id) {
            Event::Started(_, pid) => Running {
                id,
                pid,
                stdout: BufReader::new(read.into()),
            },
            other => panic!("expected a start, got {other:?}"),
        }
    }

    /// Launches and waits for the exit of the leader.
    pub(crate) fn run(&mut self, launch: Launch) -> Exit {
        let id = launch.id;
        self.warden.launch(launch);
        assert!(matches!(self.next_of(id), Event::Started(..)));
        self.exit_of(id)
    }

    /// Launches, waits for the end, and gives what it printed.
    pub(crate) fn output(&mut self, launch: Launch) -> String {
        let mut running = self.start(launch);
        let mut text = String::new();
        running.stdout.read_to_string(&mut text).expect("read");
        let exit = self.exit_of(running.id);
        assert_eq!(exit.code, Some(0), "{text}");
        text
    }

    pub(crate) fn failure_of(&mut self, launch: Launch) -> LaunchFailure {
        let id = launch.id;
        self.warden.launch(launch);
        match self.next_of(id) {
            Event::Failed(_, failure) => failure,
            other => panic!("expected a failure, got {other:?}"),
        }
    }

    pub(crate) fn exit_of(&mut self, id: LaunchId) -> Exit {
        match self.next_of(id) {
            Event::Exited(_, exit) => exit,
            other => panic!("expected an exit, got {other:?}"),
        }
    }

    /// Waits until the tree has ended; the leader's exit.
    pub(crate) fn end_of(&mut self, id: LaunchId) -> Exit {
        let exit = self.exit_of(id);
        if !exit.tree_ended {
            assert_eq!(self.next_of(id), Event::TreeEnded(id));
        }
        exit
    }

    /// The next report on a launch.
    pub(crate) fn next_of(&mut self, id: LaunchId) -> Event {
        if let Some(events) = self.early.get_mut(&id)
            && !events.is_empty()
        {
            return events.remove(0);
        }
        loop {
            let event = self.next_event();
            match event {
                Event::Started(of, _)
                | Event::Failed(of, _)
                | Event::Exited(of, _)
                | Event::TreeEnded(of)
                    if of != id =>
                {
                    self.early.entry(of).or_default().push(event);
                }
                _ => return event,
            }
        }
    }

    pub(crate) fn next_event(&mut self) -> Event {
        let next = async { tokio::time::timeout(PATIENCE, self.events.recv()).await };
        self.runtime
            .block_on(next)
            .expect("a report in time")
            .expect("a report")
    }

    pub(crate) fn shut_down(&mut self) {
        self.shut_down_within(PATIENCE);
    }

    pub(crate) fn shut_down_within(&mut self, bound: Duration) {
        self.runtime.block_on(self.warden.shutdown(bound));
    }

    /// Living processes that this test started.
    pub(crate) fn survivors(&self) -> Vec<i32> {
        survivors(&self.mark)
    }
}

/// As a careless parent may leave it to the daemon.
fn block_sigchld() {
    // SAFETY: the set is initialised by sigemptyset before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
    }
}

pub(crate) fn null() -> OwnedFd {
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty()).expect("/dev/null")
}

/// One line of what a program prints.
pub(crate) fn line(stdout: &mut BufReader<fs::File>) -> String {
    let mut line = String::new();
    stdout.read_line(&mut line).expect("read");
    line.trim_end().to_owned()
}

/// Living processes with that variable in their environment; the warden inherits nothing of it.
pub(crate) fn survivors(mark: &str) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| {
                text.split(|byte| *byte == 0)
                    .any(|entry| entry == mark.as_bytes())
            }) && state(*pid).is_some_and(|state| state != 'Z')
        })
        .collect()
}

/// Waits until a condition holds that only the kernel can tell of.
pub(crate) fn eventually(what: &str, bound: Duration, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < bound, "not in {bound:?}: {what}");
        std::thread::yield_now();
    }
}

pub(crate) fn state(pid: i32) -> Option<char> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    line.rsplit_once(") ")?.1.chars().next()
}

pub(crate) fn children(pid: i32) -> Vec<i32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}
