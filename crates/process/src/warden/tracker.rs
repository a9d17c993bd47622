//! How trees are tracked here: chosen once, at the warden's start.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use exec_protocol::process::ResourceLimits;
use rustix::fs::inotify;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions};

use super::cgroup::{CgroupRoot, own_cgroup};
use super::settings::Settings;
use crate::sys_spawn::{self, Child, Setup, StatusPipe, Strings};
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
    /// The cgroup one if it is wanted and nothing speaks against it here, else keepers. To be
    /// [proven](Self::is_proven) before the first command.
    ///
    /// # Errors
    /// inotify or the pipe cannot be made.
    pub(super) fn choose(settings: &Settings) -> io::Result<Self> {
        if settings.use_cgroup
            && sys_spawn::can_start_in_cgroups()
            && let Some(own) = own_cgroup()
            && let Ok(mut root) = CgroupRoot::create(&own, settings.daemon)
        {
            if root.takes_processes() {
                let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
                return Ok(Self::Cgroup {
                    root,
                    inotify: inotify::init(flags)?,
                    watches: HashMap::new(),
                });
            }
            root.remove();
        }
        Self::keepers()
    }

    /// Tracks by keepers.
    ///
    /// # Errors
    /// The pipe cannot be made.
    pub(super) fn keepers() -> io::Result<Self> {
        let (records, report) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&records, true)?;
        Ok(Self::Keepers {
            records,
            report,
            partial: Vec::new(),
            orphaned: Vec::new(),
        })
    }

    /// Whether it really works: permissions and kernels differ in more ways than can be asked for. A child is
    /// started in a cgroup, and reaped.
    pub(super) fn is_proven(&mut self, settings: &Settings, stacks: &mut StackPool) -> bool {
        match self {
            Self::Cgroup { root, .. } => try_start(root, settings, stacks).is_ok(),
            Self::Keepers { .. } => true,
        }
    }

    /// Removes its directory, once nothing is in it.
    pub(super) fn remove(&mut self) {
        if let Self::Cgroup { root, .. } = self {
            root.remove();
        }
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

/// Starts a child in a cgroup and waits for its end.
fn try_start(root: &mut CgroupRoot, settings: &Settings, stacks: &mut StackPool) -> io::Result<()> {
    let pipe = StatusPipe::new()?;
    let cgroup = root.take(&ResourceLimits::default())?;
    let null = std::os::fd::AsRawFd::as_raw_fd(&rustix::stdio::stdin());
    // Executing a directory fails, and that is all this child does.
    let strings = Strings::parse(b"/\0probe\0/\0".to_vec(), 0, 1, 1, 0).ok_or(io::ErrorKind::InvalidData)?;
    let setup = Setup {
        id: 0,
        stdio: [null; 3],
        terminal: false,
        open_files: settings.open_files,
        inherited: Vec::new(),
    };
    let started = match Child::start(strings, &setup, pipe, stacks.take()?, Some(cgroup.directory())) {
        Ok((mut child, pid)) => {
            // It waits for nothing but the root directory; so may the start of the warden. In one sleep: on a
            // busy machine each turn given away costs milliseconds.
            let _ = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::empty());
            if let (_, Some(free)) = child.outcome() {
                stacks.give_back(free);
            }
            Ok(())
        }
        Err((error, free)) => {
            stacks.give_back(free);
            Err(error)
        }
    };
    root.give_back(cgroup);
    started
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_like_a_cgroup_is_not_proven() {
        let tree = tempfile::tempdir().expect("tempdir");
        let mut looks_like = Tracker::Cgroup {
            root: CgroupRoot::create(tree.path(), 7).expect("create"),
            inotify: inotify::init(inotify::CreateFlags::CLOEXEC).expect("inotify"),
            watches: HashMap::new(),
        };
        let settings = Settings {
            use_cgroup: true,
            daemon_gone_grace: std::time::Duration::ZERO,
            daemon: 7,
            open_files: [64, 64],
        };
        let mut stacks = StackPool::default();
        assert!(!looks_like.is_proven(&settings, &mut stacks));
        looks_like.remove();
        assert!(
            !tree.path().join("exec-server-7").exists(),
            "nothing is left of the try"
        );
        assert!(
            Tracker::keepers()
                .expect("pipe")
                .is_proven(&settings, &mut stacks)
        );
    }
}
