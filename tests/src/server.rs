//! One daemon: how it is started, what it inherits, how it ends, and what must be true then.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};

use crate::transcript::Transcript;
use crate::{procfs, supervise, target};

/// How long a test waits for what must come soon, where the promise itself names no bound: long enough for a debug build on a
/// busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// What is fixed before a daemon starts.
#[derive(Debug, Clone)]
pub struct ServerBuilder {
    options: Vec<String>,
    env: Vec<(String, String)>,
    handshake: bool,
    keep_output: bool,
    read_stderr: bool,
    initialize: serde_json::Value,
    command: Vec<String>,
    must_end: bool,
}

impl ServerBuilder {
    /// An option of `helper supervise`: `nofile=96:96`, `umask=027`, `nice=3`, `ignore=2`, `block=15`, `stray`.
    #[must_use]
    pub fn option(mut self, option: &str) -> Self {
        self.options.push(option.into());
        self
    }

    /// A variable of the daemon's own environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Leaves the handshake to the test.
    #[must_use]
    pub fn without_handshake(mut self) -> Self {
        self.handshake = false;
        self
    }

    /// Counts output and drops it.
    #[must_use]
    pub fn count_only(mut self) -> Self {
        self.keep_output = false;
        self
    }

    /// Nobody reads the daemon's stderr.
    #[must_use]
    pub fn stderr_unread(mut self) -> Self {
        self.read_stderr = false;
        self
    }

    /// A member of the `initialize` params.
    #[must_use]
    pub fn initialize_with(mut self, member: &str, value: impl Into<serde_json::Value>) -> Self {
        self.initialize[member] = value.into();
        self
    }

    /// Another program in the daemon's place (one that starts the daemon itself). There is no handshake then.
    #[must_use]
    pub fn command(mut self, command: Vec<String>) -> Self {
        self.command = command;
        self.handshake = false;
        self
    }

    /// The test ends it in a way of its own: drop does not ask for exit status 0.
    #[must_use]
    pub fn ended_by_test(mut self) -> Self {
        self.must_end = false;
        self
    }

    /// Starts it.
    #[must_use]
    pub fn start(self) -> Server {
        Server::launch(self)
    }
}

/// How the daemon ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Exit status.
    Exit(i32),
    /// Killed by this signal.
    Signal(i32),
}

/// What the threads that listen share with the test.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) transcript: Mutex<Transcript>,
    pub(crate) changed: Condvar,
    /// False: nobody reads the daemon's stdout.
    reading: Mutex<bool>,
    reading_changed: Condvar,
    pid: Mutex<Option<u32>>,
    ending: Mutex<Option<Ending>>,
    stderr: Mutex<Vec<u8>>,
}

/// One daemon, with everything it started below a supervisor of its own. Dropping it ends the session and checks that it
/// ended well: exit status 0, no process left, no rule of the wire broken.
#[derive(Debug)]
pub struct Server {
    supervisor: Child,
    control: Option<std::process::ChildStdin>,
    pub(crate) stdin: Mutex<Option<File>>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) next_id: Mutex<u64>,
    unread_stderr: Option<OwnedFd>,
    must_end: bool,
}

impl Server {
    /// A fresh daemon after its handshake.
    #[must_use]
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A daemon to be prepared.
    #[must_use]
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            options: Vec::new(),
            env: Vec::new(),
            handshake: true,
            keep_output: true,
            read_stderr: true,
            initialize: serde_json::json!({"clientName": "exec-tests"}),
            command: target::server_command().to_vec(),
            must_end: true,
        }
    }

    fn launch(builder: ServerBuilder) -> Self {
        let pipe = || pipe_with(PipeFlags::CLOEXEC).expect("pipe");
        let ((child_in, stdin), (stdout, child_out), (stderr, child_err)) = (pipe(), pipe(), pipe());
        let mut supervisor = supervise::spawn(
            &builder.options,
            &builder.command,
            &builder.env,
            None,
            [child_in, child_out, child_err],
        );
        let shared = Arc::new(Shared::default());
        *lock(&shared.reading) = true;
        {
            let mut transcript = lock(&shared.transcript);
            transcript.keep_output = builder.keep_output;
            transcript.strict = target::ours();
        }
        let report = supervisor.stdout.take().expect("piped");
        let control = supervisor.stdin.take();
        let to = Arc::clone(&shared);
        thread::spawn(move || listen_to_supervisor(report, &to));
        let to = Arc::clone(&shared);
        thread::spawn(move || listen_to_daemon(File::from(stdout), &to));
        let unread_stderr = if builder.read_stderr {
            let to = Arc::clone(&shared);
            thread::spawn(move || listen_to_stderr(File::from(stderr), &to));
            None
        } else {
            Some(stderr)
        };
        let server = Self {
            supervisor,
            control,
            stdin: Mutex::new(Some(File::from(stdin))),
            shared,
            next_id: Mutex::new(0),
            unread_stderr,
            must_end: builder.must_end,
        };
        let started = server.until(PATIENCE, |_| lock(&server.shared.pid).map(|_| ()));
        assert!(
            started.is_some(),
            "the server did not start: {:?}",
            target::server_command()
        );
        if builder.handshake {
            server.ok("initialize", builder.initialize);
            server.notify("initialized", serde_json::json!({}));
        }
        server
    }

    /// The daemon's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        lock(&self.shared.pid).expect("started")
    }

    /// The daemon's warden: its only child that runs the same program, if it has one.
    #[must_use]
    pub fn warden(&self) -> Option<u32> {
        let own = std::fs::read_link(format!("/proc/{}/exe", self.pid())).ok()?;
        procfs::descendants(self.pid())
            .into_iter()
            .filter(|pid| procfs::stat(*pid).is_some_and(|s| s.parent == self.pid() && s.state != 'Z'))
            .find(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == own))
    }

    /// All processes of this session: the daemon and everything below it, orphans included.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        procfs::descendants(self.supervisor.id())
    }

    /// Live processes of this session with this word in their command line.
    #[must_use]
    pub fn marked(&self, marker: &str) -> Vec<u32> {
        self.processes()
            .into_iter()
            .filter(|pid| procfs::alive(*pid) && procfs::arguments(*pid).iter().any(|a| a == marker))
            .collect()
    }

    /// Waits until at least `count` such processes live.
    ///
    /// # Panics
    /// When they do not come.
    pub fn await_marked(&self, marker: &str, count: usize) -> Vec<u32> {
        let found = procfs::eventually(PATIENCE, || {
            Some(self.marked(marker)).filter(|found| found.len() >= count)
        });
        found.unwrap_or_else(|| {
            panic!(
                "{count} processes with {marker} expected, found {:?}",
                self.marked(marker)
            )
        })
    }

    /// Checks that within `limit` no such process lives.
    ///
    /// # Panics
    /// When one survives.
    pub fn assert_none_marked(&self, marker: &str, limit: Duration) {
        let gone = procfs::eventually(limit, || self.marked(marker).is_empty().then_some(()));
        let left: Vec<_> = self
            .marked(marker)
            .into_iter()
            .map(|pid| (pid, procfs::arguments(pid)))
            .collect();
        assert!(gone.is_some(), "still alive after {limit:?}: {left:?}");
    }

    /// CPU time of the daemon and its warden.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        let pids = [Some(self.pid()), self.warden()];
        pids.into_iter()
            .flatten()
            .filter_map(procfs::stat)
            .map(|s| s.cpu)
            .sum()
    }

    /// Memory of the daemon and its warden, in bytes: `VmRSS` or `VmHWM`.
    #[must_use]
    pub fn memory(&self, member: &str) -> u64 {
        let pids = [Some(self.pid()), self.warden()];
        pids.into_iter()
            .flatten()
            .map(|pid| procfs::memory(pid, member))
            .sum()
    }

    /// Descriptors of the daemon.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        procfs::descriptors(self.pid())
    }

    /// Nobody reads the daemon's stdout any more (but for one buffer the reader may be waiting for).
    pub fn stop_reading(&self) {
        *lock(&self.shared.reading) = false;
    }

    /// Reads again.
    pub fn read_again(&self) {
        *lock(&self.shared.reading) = true;
        self.shared.reading_changed.notify_all();
    }

    /// End of the daemon's stdin.
    pub fn close_stdin(&self) {
        drop(lock(&self.stdin).take());
    }

    /// How the daemon ended, once it did.
    #[must_use]
    pub fn await_end(&self, limit: Duration) -> Option<Ending> {
        self.until(limit, |_| *lock(&self.shared.ending))
    }

    /// What it wrote to stderr so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&lock(&self.shared.stderr)).into_owned()
    }

    /// Sends a signal to a process of this session.
    ///
    /// # Panics
    /// When it is not one of its processes (any more).
    pub fn kill(&self, pid: u32, signal: rustix::process::Signal) {
        assert!(
            self.processes().contains(&pid),
            "{pid} is no process of this session"
        );
        let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process id");
        rustix::process::kill_process(pid, signal).expect("kill");
    }

    /// Looks at the transcript at every arrival until `look` finds something or time is up.
    pub fn until<T>(&self, limit: Duration, mut look: impl FnMut(&Transcript) -> Option<T>) -> Option<T> {
        let end = Instant::now() + limit;
        let mut transcript = lock(&self.shared.transcript);
        loop {
            if let Some(found) = look(&transcript) {
                return Some(found);
            }
            let left = end.checked_duration_since(Instant::now())?;
            let waited = self.shared.changed.wait_timeout(transcript, left);
            transcript = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    /// Ends the session the normal way and checks everything; what drop does, at a moment of the test's choice.
    pub fn finish(self) {
        drop(self);
    }

    fn end(&mut self) -> Vec<String> {
        let mut wrong = Vec::new();
        self.read_again();
        drop(self.unread_stderr.take());
        self.close_stdin();
        let ending = self.await_end(Duration::from_secs(10));
        match ending {
            None => wrong.push("the server still runs 10 s after end of input".into()),
            Some(ending) if self.must_end && target::ours() && ending != Ending::Exit(0) => {
                wrong.push(format!("the server ended with {ending:?}"));
            }
            Some(_) => {
                let gone = procfs::eventually(Duration::from_secs(2), || {
                    self.processes().is_empty().then_some(())
                });
                if gone.is_none() && target::ours() {
                    let left: Vec<_> = self.processes().into_iter().map(procfs::arguments).collect();
                    wrong.push(format!("processes left 2 s after the server's end: {left:?}"));
                }
            }
        }
        // All of what it said, up to its end.
        self.until(Duration::from_secs(5), |t| t.ended.then_some(()));
        wrong.extend(lock(&self.shared.transcript).broken.iter().take(5).cloned());
        drop(self.control.take());
        drop(self.supervisor.wait());
        wrong
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let failing = thread::panicking();
        if failing {
            // Drop reports nothing more; the log of the server may explain the failure.
            let log = self.stderr();
            let tail: String = log
                .chars()
                .rev()
                .take(2000)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect();
            drop(writeln!(
                std::io::stderr(),
                "--- the server's log ends with:\n{tail}\n---"
            ));
            drop(self.control.take());
            drop(self.supervisor.wait());
            return;
        }
        let wrong = self.end();
        assert!(
            wrong.is_empty(),
            "at the end of the session: {wrong:#?}\nlog: {}",
            self.stderr()
        );
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

fn listen_to_supervisor(report: impl Read, shared: &Shared) {
    for line in BufReader::new(report).lines().map_while(Result::ok) {
        let number = |text: &str| text.trim().parse::<i32>().unwrap_or(-1);
        if let Some(pid) = line.strip_prefix("pid ") {
            *lock(&shared.pid) = u32::try_from(number(pid)).ok();
        } else if let Some(code) = line.strip_prefix("exit ") {
            *lock(&shared.ending) = Some(Ending::Exit(number(code)));
        } else if let Some(signal) = line.strip_prefix("signal ") {
            *lock(&shared.ending) = Some(Ending::Signal(number(signal)));
        }
        // Under the lock of the transcript, so that no waiter misses it.
        drop(lock(&shared.transcript));
        shared.changed.notify_all();
    }
}

fn listen_to_daemon(mut stdout: File, shared: &Shared) {
    let mut buffer = vec![0; 1 << 18];
    let mut pending: Vec<u8> = Vec::new();
    loop {
        let mut reading = lock(&shared.reading);
        while !*reading {
            reading = shared
                .reading_changed
                .wait(reading)
                .unwrap_or_else(|e| e.into_inner());
        }
        drop(reading);
        let Ok(n @ 1..) = stdout.read(&mut buffer) else {
            break;
        };
        let searched = pending.len();
        pending.extend_from_slice(&buffer[..n]);
        let Some(last) = memchr::memrchr(b'\n', &pending[searched..]) else {
            lock(&shared.transcript).bytes += n as u64;
            continue;
        };
        let rest = pending.split_off(searched + last + 1);
        {
            let mut transcript = lock(&shared.transcript);
            transcript.bytes += n as u64;
            pending.pop();
            for line in pending.split(|b| *b == b'\n') {
                transcript.line(line);
            }
        }
        shared.changed.notify_all();
        pending = rest;
    }
    let mut transcript = lock(&shared.transcript);
    // A daemon that is killed may leave half a line; one that ends by itself may not, but that is seen elsewhere.
    transcript.ended = true;
    drop(transcript);
    shared.changed.notify_all();
}

fn listen_to_stderr(mut stderr: File, shared: &Shared) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut buffer) {
        let mut log = lock(&shared.stderr);
        log.extend_from_slice(&buffer[..n]);
        let excess = log.len().saturating_sub(64 * 1024);
        log.drain(..excess);
    }
}
