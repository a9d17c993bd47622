//! How trees are tracked here: chosen once, at the warden's start.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use exec_protocol::limits::PROC_READ_BYTES;
use exec_protocol::process::ResourceLimits;
use rustix::fs::inotify;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions};

use super::cgroup::{self, Cgroup, CgroupRoot};
use super::settings::Settings;
use crate::sys_spawn::{Child, Setup, StatusPipe, Strings};
use crate::sys_stack::StackPool;

/// The tracker and what it listens to.
#[derive(Debug)]
pub(super) enum Tracker {
    /// A cgroup for each command.
    Cgroup {
        root: CgroupRoot,
        /// Watches cgroup.events of trees that outlive their leader.
        inotify: OwnedFd,
        /// Launches by watch.
        watches: HashMap<i32, u64>,
    },
    /// A keeper for each command.
    Keepers {
        /// Where their records come from (non-blocking).
        records: OwnedFd,
        /// Their end of it (blocking).
        report: OwnedFd,
        /// Bytes of a record that came in part.
        partial: Vec<u8>,
        /// Launches whose keeper was killed from outside; their trees have ended when no stray is left.
        orphaned: Vec<u64>,
    },
}

impl Tracker {
    /// The cgroup one if it works here and is wanted, else keepers. The probe, if there was one, is to be ended
    /// before the first command.
    ///
    /// # Errors
    /// inotify or the pipe cannot be made.
    pub(super) fn choose(settings: &Settings, stacks: &mut StackPool) -> io::Result<(Self, Option<Probe>)> {
        if settings.use_cgroup
            && let Some(own) = own_cgroup()
            && let Ok(mut root) = CgroupRoot::create(&own, settings.daemon)
        {
            let inotify = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
            if let Ok(probe) = Probe::start(&mut root, settings, stacks) {
                let tracker = Self::Cgroup {
                    root,
                    inotify,
                    watches: HashMap::new(),
                };
                return Ok((tracker, Some(probe)));
            }
            root.remove();
        }
        let (records, report) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&records, true)?;
        let tracker = Self::Keepers {
            records,
            report,
            partial: Vec::new(),
            orphaned: Vec::new(),
        };
        Ok((tracker, None))
    }

    /// Removes what dead daemons left.
    pub(super) fn sweep(&self) {
        if let Self::Cgroup { root, .. } = self {
            root.sweep();
        }
    }

    /// What to watch.
    pub(super) fn source(&self) -> BorrowedFd<'_> {
        match self {
            Self::Cgroup { inotify, .. } => inotify.as_fd(),
            Self::Keepers { records, .. } => records.as_fd(),
        }
    }
}

/// Where this process's cgroups can be made.
pub(super) fn own_cgroup() -> Option<PathBuf> {
    let mounts = read_proc("/proc/self/mountinfo").ok()?;
    let cgroup = read_proc("/proc/self/cgroup").ok()?;
    cgroup::own_directory(&mounts, &cgroup)
}

/// Reads a file of proc(5), which has no size. Each read costs the kernel the writing of what it returns and of
/// what did not fit: with room for most machines' mounts there are few, where a growing buffer has eight.
fn read_proc(path: &str) -> io::Result<String> {
    let mut text = String::with_capacity(PROC_READ_BYTES);
    fs::File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Shows whether a child can really be started in a cgroup: permissions and kernels differ in more ways than can
/// be asked for. That it was started is the answer; what becomes of it is not.
#[derive(Debug)]
pub(super) struct Probe {
    child: Child,
    pid: i32,
    cgroup: Cgroup,
}

impl Probe {
    fn start(root: &mut CgroupRoot, settings: &Settings, stacks: &mut StackPool) -> io::Result<Self> {
        let pipe = StatusPipe::new()?;
        let cgroup = root.take(&ResourceLimits::default())?;
        let null = rustix::stdio::stdin();
        // Executing a directory fails, and that is all this child does.
        let strings =
            Strings::parse(b"/\0probe\0/\0".to_vec(), 0, 1, 1, 0).ok_or(io::ErrorKind::InvalidData)?;
        let fd = std::os::fd::AsRawFd::as_raw_fd(&null);
        let setup = Setup {
            id: 0,
            stdio: [fd; 3],
            terminal: false,
            open_files: settings.open_files,
            inherited: Vec::new(),
        };
        match Child::start(strings, &setup, pipe, stacks.take()?, Some(cgroup.directory())) {
            Ok((child, pid)) => Ok(Self { child, pid, cgroup }),
            Err((error, free)) => {
                stacks.give_back(free);
                root.give_back(cgroup);
                Err(error)
            }
        }
    }

    /// Waits until nothing of it is left, and gives back what it had.
    pub(super) fn end(mut self, tracker: &mut Tracker, stacks: &mut StackPool) {
        // It waits for nothing but the root directory; so may the start of the warden. In one sleep: on a
        // busy machine each turn given away costs milliseconds.
        let _ = rustix::process::waitpid(Pid::from_raw(self.pid), WaitOptions::empty());
        if let (_, Some(free)) = self.child.outcome() {
            stacks.give_back(free);
        }
        if let Tracker::Cgroup { root, .. } = tracker {
            root.give_back(self.cgroup);
        }
    }
}
