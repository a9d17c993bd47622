//! One `exec-server run`, with the stdio of the test's choice.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;

use crate::server::{Ending, PATIENCE, lock};
use crate::{procfs, supervise, target};

/// How long after the end of a run something may still be there.
const LEFTOVERS_GONE: Duration = Duration::from_secs(2);

/// What came from a descriptor so far.
#[derive(Debug, Default)]
pub struct Heard {
    /// The bytes, and whether it is at its end.
    state: Mutex<(Vec<u8>, bool)>,
    changed: Condvar,
}

impl Heard {
    /// Reads a descriptor to its end.
    pub fn listen(source: Arc<OwnedFd>) -> Arc<Self> {
        Self::listen_unless(source, None)
    }

    /// Reads a descriptor to its end, or until the other one is at its end; then lets go of both.
    pub(crate) fn listen_unless(source: Arc<OwnedFd>, stop: Option<OwnedFd>) -> Arc<Self> {
        let heard = Arc::new(Self::default());
        let to = Arc::clone(&heard);
        thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            while !stop.as_ref().is_some_and(|stop| is_told_to_stop(&source, stop)) {
                // A terminal without users answers EIO.
                let Ok(length @ 1..) = rustix::io::read(&source, &mut buffer) else {
                    break;
                };
                lock(&to.state).0.extend_from_slice(&buffer[..length]);
                to.changed.notify_all();
            }
            drop((source, stop));
            lock(&to.state).1 = true;
            to.changed.notify_all();
        });
        heard
    }

    fn until<T>(&self, limit: Duration, mut look: impl FnMut(&[u8], bool) -> Option<T>) -> Option<T> {
        let end = Instant::now() + limit;
        let mut state = lock(&self.state);
        loop {
            if let Some(found) = look(&state.0, state.1) {
                return Some(found);
            }
            let left = end.checked_duration_since(Instant::now())?;
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    /// Waits until this has come.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn await_bytes(&self, bytes: &[u8]) {
        let found = self.until(PATIENCE, |heard, at_end| {
            let found = memchr::memmem::find(heard, bytes).is_some();
            (found || at_end).then_some(found)
        });
        assert!(
            found == Some(true),
            "{:?} expected, {:?} came",
            String::from_utf8_lossy(bytes),
            self.text()
        );
    }

    /// Everything, up to the end.
    ///
    /// # Panics
    /// When the end does not come.
    #[track_caller]
    pub fn all(&self) -> Vec<u8> {
        let all = self.until(PATIENCE, |heard, at_end| at_end.then(|| heard.to_vec()));
        all.unwrap_or_else(|| panic!("no end; so far {:?}", self.text()))
    }

    /// What came so far.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.state).0).into_owned()
    }
}

/// Waits for bytes; true when `stop` ended first.
fn is_told_to_stop(source: &OwnedFd, stop: &OwnedFd) -> bool {
    let mut polled = [
        PollFd::new(stop, PollFlags::IN),
        PollFd::new(source, PollFlags::IN),
    ];
    let waited = poll(&mut polled, None);
    waited.is_ok() && !polled[0].revents().is_empty()
}

/// What is fixed before a run starts.
#[derive(Debug)]
pub struct RunBuilder {
    program: Vec<String>,
    options: Vec<String>,
    env: Vec<(String, String)>,
    directory: Option<PathBuf>,
    stdio: [Option<OwnedFd>; 3],
}

impl RunBuilder {
    /// A variable of the caller's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The caller's working directory.
    #[must_use]
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        self
    }

    /// Its stdin, instead of a pipe that the test writes to.
    #[must_use]
    pub fn stdin(mut self, descriptor: impl Into<OwnedFd>) -> Self {
        self.stdio[0] = Some(descriptor.into());
        self
    }

    /// Its stdout, instead of a pipe that the test reads.
    #[must_use]
    pub fn stdout(mut self, descriptor: impl Into<OwnedFd>) -> Self {
        self.stdio[1] = Some(descriptor.into());
        self
    }

    /// In a session of its own on this terminal.
    #[must_use]
    pub fn at(mut self, terminal: &crate::Terminal) -> Self {
        self.options.push("session".into());
        self.stdio = [0; 3].map(|_| Some(terminal.device()));
        self
    }

    /// Starts it.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    #[track_caller]
    pub fn start(self) -> Run {
        Run::launch(self)
    }

    /// Starts it and waits for its end, without input.
    ///
    /// # Panics
    /// When it does not end.
    #[must_use]
    #[track_caller]
    pub fn output(self) -> RunOutput {
        let run = self.start();
        run.close_stdin();
        let ending = run.ended();
        RunOutput {
            ending,
            stdout: run.stdout.all(),
            stderr: run.stderr.all(),
        }
    }
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutput {
    /// How it ended.
    pub ending: Ending,
    /// All of its stdout.
    pub stdout: Vec<u8>,
    /// All of its stderr.
    pub stderr: Vec<u8>,
}

impl RunOutput {
    /// Stdout as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Stderr as text.
    #[must_use]
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// A started program of the command line, below a supervisor that catches all it may leave. Dropped, it must be at its end within a
/// moment, and nothing of it may be left: no process, no cgroup.
#[derive(Debug)]
pub struct Run {
    supervisor: Child,
    control: Option<ChildStdin>,
    reports: Mutex<Receiver<String>>,
    pid: u32,
    ending: Mutex<Option<Ending>>,
    stdin: Mutex<Option<fs::File>>,
    /// What came on its stdout, unless that is the test's own.
    pub stdout: Arc<Heard>,
    /// What came on its stderr.
    pub stderr: Arc<Heard>,
    cgroups_before: BTreeSet<PathBuf>,
}

impl Run {
    /// `exec-server run ARGUMENTS…`.
    #[must_use]
    pub fn of(arguments: &[&str]) -> RunBuilder {
        Self::program(&[&["run"], arguments].concat())
    }

    /// `exec-server run OPTIONS… -- helper ARGUMENTS…`.
    #[must_use]
    pub fn helper(options: &[&str], arguments: &[&str]) -> RunBuilder {
        Self::of(&[options, &["--", &target::helper_path()], arguments].concat())
    }

    /// `exec-server ARGUMENTS…`.
    #[must_use]
    pub fn program(arguments: &[&str]) -> RunBuilder {
        let server = target::server_command()[0].as_str();
        let words = [&[server], arguments].concat();
        RunBuilder {
            program: words.into_iter().map(str::to_owned).collect(),
            options: Vec::new(),
            env: Vec::new(),
            directory: None,
            stdio: [None, None, None],
        }
    }

    #[track_caller]
    fn launch(builder: RunBuilder) -> Self {
        let cgroups_before = cgroups();
        let pipe = || pipe_with(PipeFlags::CLOEXEC).expect("pipe");
        let [stdin, stdout, stderr] = builder.stdio;
        let (stdin, feed) = match stdin {
            Some(given) => (given, None),
            None => {
                let (read, write) = pipe();
                (read, Some(fs::File::from(write)))
            }
        };
        let heard = |given: Option<OwnedFd>| match given {
            Some(given) => (given, Arc::new(Heard::default())),
            None => {
                let (read, write) = pipe();
                (write, Heard::listen(Arc::new(read)))
            }
        };
        let ((stdout, heard_out), (stderr, heard_err)) = (heard(stdout), heard(stderr));
        let mut supervisor = supervise::spawn(
            &builder.options,
            &builder.program,
            &builder.env,
            builder.directory.as_deref(),
            [stdin, stdout, stderr],
        );
        let report = supervisor.stdout.take().expect("piped");
        let control = supervisor.stdin.take();
        let (to, reports) = channel();
        thread::spawn(move || {
            for line in BufReader::new(report).lines().map_while(Result::ok) {
                drop(to.send(line));
            }
        });
        let first = reports.recv_timeout(PATIENCE).unwrap_or_default();
        let pid = first.strip_prefix("pid ").and_then(|pid| pid.parse().ok());
        Self {
            supervisor,
            control,
            reports: Mutex::new(reports),
            pid: pid.unwrap_or_else(|| panic!("it did not start: {first}")),
            ending: Mutex::new(None),
            stdin: Mutex::new(feed),
            stdout: heard_out,
            stderr: heard_err,
            cgroups_before,
        }
    }

    /// The process id of the program itself.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Everything of this run, orphans included.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        procfs::descendants(self.supervisor.id())
    }

    /// The live processes with this word in their command line that are not part of the program.
    #[must_use]
    pub fn marked(&self, marker: &str) -> Vec<u32> {
        let own = fs::read_link(format!("/proc/{}/exe", self.pid)).ok();
        let is_own = |pid: u32| own.is_some() && fs::read_link(format!("/proc/{pid}/exe")).ok() == own;
        self.processes()
            .into_iter()
            .filter(|pid| procfs::alive(*pid) && procfs::arguments(*pid).iter().any(|a| a == marker))
            .filter(|pid| !is_own(*pid))
            .collect()
    }

    /// Waits until so many of these live.
    ///
    /// # Panics
    /// When they do not come.
    #[track_caller]
    pub fn await_marked(&self, marker: &str, count: usize) -> Vec<u32> {
        let found = procfs::eventually(PATIENCE, || {
            Some(self.marked(marker)).filter(|found| found.len() >= count)
        });
        found.unwrap_or_else(|| panic!("{count} expected, found {:?}", self.marked(marker)))
    }

    /// The daemon that this run started.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    #[track_caller]
    pub fn daemon(&self) -> u32 {
        self.child_of(self.pid)
    }

    /// The daemon's warden.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    #[track_caller]
    pub fn warden(&self) -> u32 {
        self.child_of(self.daemon())
    }

    #[track_caller]
    fn child_of(&self, parent: u32) -> u32 {
        let found = procfs::eventually(PATIENCE, || {
            self.processes()
                .into_iter()
                .find(|pid| procfs::stat(*pid).is_some_and(|s| s.parent == parent && s.state != 'Z'))
        });
        found.unwrap_or_else(|| panic!("{parent} has no child"))
    }

    /// Writes to its stdin.
    ///
    /// # Panics
    /// When that is the test's own, or closed.
    pub fn write(&self, bytes: &[u8]) {
        let mut stdin = lock(&self.stdin);
        let stdin = stdin.as_mut().expect("open");
        stdin.write_all(bytes).expect("write");
    }

    /// End of its stdin.
    pub fn close_stdin(&self) {
        drop(lock(&self.stdin).take());
    }

    /// Sends the program a signal.
    ///
    /// # Panics
    /// When it is gone.
    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        self.kill(self.pid, signal);
    }

    /// Sends a signal to a process of this run.
    ///
    /// # Panics
    /// When it is not one (any more).
    #[track_caller]
    pub fn kill(&self, pid: u32, signal: Signal) {
        assert!(self.processes().contains(&pid), "{pid} is no process of this run");
        let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process id");
        rustix::process::kill_process(pid, signal).expect("kill");
    }

    /// How it ended, once it did.
    #[must_use]
    pub fn await_end(&self, limit: Duration) -> Option<Ending> {
        let mut ending = lock(&self.ending);
        if ending.is_none()
            && let Ok(report) = lock(&self.reports).recv_timeout(limit)
        {
            let (kind, number) = report.split_once(' ').unwrap_or_default();
            let number = number.trim().parse().unwrap_or(-1);
            *ending = match kind {
                "exit" => Some(Ending::Exit(number)),
                _ => Some(Ending::Signal(number)),
            };
        }
        *ending
    }

    /// How it ended, which it must do soon.
    ///
    /// # Panics
    /// When it does not.
    #[must_use]
    #[track_caller]
    pub fn ended(&self) -> Ending {
        self.await_end(PATIENCE)
            .unwrap_or_else(|| panic!("it does not end; stderr: {}", self.stderr.text()))
    }

    /// What is left of a run that ended.
    fn leftovers(&self) -> Option<String> {
        let processes: Vec<_> = self.processes().into_iter().map(procfs::arguments).collect();
        if !processes.is_empty() {
            return Some(format!("{processes:?}"));
        }
        let cgroups: Vec<_> = cgroups()
            .difference(&self.cgroups_before)
            .filter(|path| !has_owner(path))
            .cloned()
            .collect();
        (!cgroups.is_empty()).then(|| format!("{cgroups:?}"))
    }

    /// Checks that nothing is left within two seconds.
    ///
    /// # Panics
    /// When something is.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let gone = procfs::eventually(LEFTOVERS_GONE, || self.leftovers().is_none().then_some(()));
        assert!(gone.is_some(), "left: {}", self.leftovers().unwrap_or_default());
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.close_stdin();
        if thread::panicking() {
            let said = self.stderr.text();
            drop(writeln!(std::io::stderr(), "--- its stderr:\n{said}\n---"));
        } else {
            assert!(self.await_end(PATIENCE).is_some(), "it does not end");
            self.assert_nothing_left();
        }
        drop(self.control.take());
        drop(self.supervisor.wait());
    }
}

/// The cgroups that daemons made beside the test's own.
fn cgroups() -> BTreeSet<PathBuf> {
    let found = own_cgroup().and_then(|own| fs::read_dir(own).ok());
    found
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("exec-server-"))
        .map(|entry| entry.path())
        .collect()
}

/// The directory of the test's own cgroup v2.
fn own_cgroup() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    let mount = mount.split(' ').nth(4)?;
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(PathBuf::from(mount).join(own))
}

/// Whether the daemon that a cgroup is named after lives.
fn has_owner(cgroup: &std::path::Path) -> bool {
    let name = cgroup.file_name().unwrap_or_default().to_string_lossy();
    let pid = name.rsplit('-').next().and_then(|pid| pid.parse().ok());
    pid.is_some_and(procfs::alive)
}

/// So many bytes of noise, none like the others.
///
/// # Panics
/// When the system has none.
#[must_use]
pub fn noise(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let mut source = fs::File::open("/dev/urandom").expect("/dev/urandom");
    source.read_exact(&mut bytes).expect("noise");
    bytes
}
