//! How trees are tracked here: chosen once, at the warden's start.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use exec_protocol::process::ResourceLimits;
use rustix::fs::inotify;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions};

use super::cgroup::{self, CgroupRoot};
use super::settings::Settings;
use crate::sys_spawn::{Child, Setup, Strings};
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
    /// The cgroup one if it works here and is wanted, else keepers.
    ///
    /// # Errors
    /// inotify or the pipe cannot be made.
    pub(super) fn choose(settings: &Settings, stacks: &mut StackPool) -> io::Result<Self> {
        if settings.use_cgroup
            && let Some(own) = own_cgroup()
            && let Ok(mut root) = CgroupRoot::create(&own, settings.daemon)
        {
            if probe(&mut root, settings, stacks).is_ok() {
                let inotify = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
                return Ok(Self::Cgroup {
                    root,
                    inotify,
                    watches: HashMap::new(),
                });
            }
            root.remove();
        }
        let (records, report) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&records, true)?;
        Ok(Self::Keepers {
            records,
            report,
            partial: Vec::new(),
            orphaned: Vec::new(),
        })
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
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let cgroup = fs::read_to_string("/proc/self/cgroup").ok()?;
    cgroup::own_directory(&mounts, &cgroup)
}

/// Whether a child can really be started in a cgroup: permissions and kernels differ in more ways than can
/// be asked for.
fn probe(root: &mut CgroupRoot, settings: &Settings, stacks: &mut StackPool) -> io::Result<()> {
    let cgroup = root.take(&ResourceLimits::default())?;
    let null = rustix::stdio::stdin();
    // Executing a directory fails, and that is all this child does.
    let strings = Strings::parse(b"/\0probe\0/\0".to_vec(), 0, 1, 1, 0).ok_or(io::ErrorKind::InvalidData)?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&null);
    let setup = Setup {
        id: 0,
        stdio: [fd; 3],
        terminal: false,
        open_files: settings.open_files,
        inherited: Vec::new(),
    };
    let started = Child::start(strings, &setup, stacks.take()?, Some(cgroup.directory()));
    match started {
        Ok((mut child, pid)) => {
            // It waits for nothing but the root directory; so may the start of the warden. In one sleep: on a
            // busy machine each turn given away costs milliseconds.
            let _ = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::empty());
            if let (_, Some(free)) = child.outcome() {
                stacks.give_back(free);
            }
            root.give_back(cgroup);
            Ok(())
        }
        Err((error, free)) => {
            stacks.give_back(free);
            root.give_back(cgroup);
            Err(error)
        }
    }
}
