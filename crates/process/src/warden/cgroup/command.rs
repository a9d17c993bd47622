//! The cgroup of one command.

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use exec_protocol::process::ResourceLimits;
use rustix::fs::{Mode, OFlags};

use crate::sys;

/// The cgroup of one command.
#[derive(Debug)]
pub(in crate::warden) struct Cgroup {
    path: PathBuf,
    directory: OwnedFd,
    /// Kept open: how a tree stands must be knowable at the descriptor limit too.
    events: OwnedFd,
    /// Without limits.
    reusable: bool,
    /// Was killed as a whole.
    killed: Cell<bool>,
}

impl Cgroup {
    pub(super) fn create(path: PathBuf, reusable: bool) -> io::Result<Self> {
        fs::create_dir(&path)?;
        let open = || -> io::Result<_> {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let directory = rustix::fs::open(&path, flags | OFlags::DIRECTORY, Mode::empty())?;
            let events = rustix::fs::openat(&directory, "cgroup.events", flags, Mode::empty())?;
            Ok((directory, events))
        };
        match open() {
            Ok((directory, events)) => Ok(Self {
                path,
                directory,
                events,
                reusable,
                killed: Cell::new(false),
            }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error)
            }
        }
    }

    pub(super) fn limit(&self, limits: &ResourceLimits) -> io::Result<()> {
        if let Some(bytes) = limits.memory_bytes {
            fs::write(self.path.join("memory.max"), bytes.to_string())?;
            // Without swap accounting the file is not there, and memory alone is limited.
            let _ = fs::write(self.path.join("memory.swap.max"), "0");
        }
        if let Some(count) = limits.processes {
            fs::write(self.path.join("pids.max"), count.to_string())?;
        }
        Ok(())
    }

    pub(super) fn remove(self) {
        let _ = remove_tree(&self.path);
    }

    /// For clone3(2).
    pub(in crate::warden) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// For inotify.
    pub(in crate::warden) fn events_path(&self) -> PathBuf {
        self.path.join("cgroup.events")
    }

    /// No living process is in it.
    pub(in crate::warden) fn is_empty(&self) -> bool {
        let mut buffer = [0u8; 256];
        let length = match rustix::io::pread(&self.events, &mut buffer, 0) {
            Ok(length) => length,
            // It was removed, which only an empty one can be: by a daemon that started after ours had died, and
            // swept up what it took for left behind.
            Err(rustix::io::Errno::NODEV) => return true,
            Err(_) => 0,
        };
        let text = buffer.get(..length).unwrap_or_default();
        // Newer kernels count a process until it has left the processor for good, some microseconds after
        // it could be reaped; the list of members does not, but leaves out those of cgroups below.
        text.starts_with(b"populated 0")
            || (length > 0 && !self.has_children() && self.listed().is_some_and(|list| list.is_empty()))
    }

    /// The process is in it or in one below. What cannot be read counts as in it.
    pub(in crate::warden) fn holds(&self, pid: i32) -> bool {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let (Some(base), Some(own)) = (self.path.parent().and_then(name), name(&self.path)) else {
            return true;
        };
        fs::read_to_string(format!("/proc/{pid}/cgroup"))
            .map_or(true, |text| is_inside(&text, &format!("/{base}/{own}")))
    }

    /// Another command may have it, now that it is empty.
    pub(super) fn is_reusable(&self) -> bool {
        self.reusable && !self.killed.get() && !self.has_children()
    }

    /// The command has made cgroups below it.
    fn has_children(&self) -> bool {
        // As of every directory: two, and one for each in it; one where they are not counted.
        rustix::fs::fstat(&self.directory).is_ok_and(|stat| stat.st_nlink > 2)
    }

    /// Its living processes.
    pub(in crate::warden) fn members(&self) -> Vec<i32> {
        self.listed().unwrap_or_default()
    }

    fn listed(&self) -> Option<Vec<i32>> {
        let list = fs::read_to_string(self.path.join("cgroup.procs")).ok()?;
        Some(
            list.lines()
                .filter_map(|line| line.parse().ok())
                .filter(|pid| *pid > 0)
                .collect(),
        )
    }

    /// Kills every process in it.
    pub(in crate::warden) fn kill(&self) {
        // Linux 6.x compares its count of kills with that of the cgroup the warden is in: whatever is cloned
        // into this one later would be killed at birth.
        self.killed.set(true);
        if fs::OpenOptions::new()
            .write(true)
            .open(self.path.join("cgroup.kill"))
            .and_then(|mut file| io::Write::write_all(&mut file, b"1"))
            .is_err()
        {
            // Before Linux 5.14.
            self.signal(libc::SIGKILL);
        }
    }

    /// Signals every process in it.
    pub(in crate::warden) fn signal(&self, signal: i32) {
        self.for_each(|_, pidfd| {
            let _ = sys::pidfd_kill(pidfd, signal);
        });
    }

    /// Looks at every process in it, each with a pidfd that is known to be a member.
    pub(in crate::warden) fn for_each(&self, mut look: impl FnMut(i32, BorrowedFd<'_>)) {
        let held: Vec<(i32, OwnedFd)> = self
            .members()
            .into_iter()
            .filter_map(|pid| Some((pid, sys::pidfd(pid).ok()?)))
            .collect();
        // A member's number could have been reused before its pidfd was opened; not after.
        let still = self.members();
        for (pid, pidfd) in held.iter().filter(|(pid, _)| still.contains(pid)) {
            look(*pid, pidfd.as_fd());
        }
    }

    /// CPU time its processes have used.
    pub(in crate::warden) fn cpu_time(&self) -> Option<Duration> {
        self.number("cpu.stat", "usage_usec").map(Duration::from_micros)
    }

    /// The kernel killed one of its processes because memory ran out.
    pub(in crate::warden) fn out_of_memory(&self) -> bool {
        !self.reusable
            && self
                .number("memory.events", "oom_kill")
                .is_some_and(|count| count > 0)
    }

    fn number(&self, file: &str, key: &str) -> Option<u64> {
        let text = fs::read_to_string(self.path.join(file)).ok()?;
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
    }
}

/// Whether the cgroup2 line of a /proc/…/cgroup names the cgroup whose path ends in `end`, or one below it.
fn is_inside(text: &str, end: &str) -> bool {
    let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::")) else {
        return true;
    };
    path.match_indices(end)
        .any(|(at, _)| matches!(path.as_bytes().get(at + end.len()), None | Some(b'/' | b' ')))
}

/// Removes a cgroup in which nothing runs, with those that its command made in it.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir(path) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::ENOTEMPTY)) => {
            for entry in fs::read_dir(path)?.flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    remove_tree(&entry.path())?;
                }
            }
            fs::remove_dir(path)
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cgroup in a plain directory, with the files the kernel would make.
    fn fake(path: PathBuf) -> Cgroup {
        fs::create_dir(&path).expect("directory");
        fs::write(path.join("cgroup.events"), "populated 0\nfrozen 0\n").expect("events");
        let open = |name: &str| {
            let flags = rustix::fs::OFlags::RDONLY;
            rustix::fs::open(path.join(name), flags, rustix::fs::Mode::empty()).expect("open")
        };
        let (directory, events) = (open("."), open("cgroup.events"));
        Cgroup {
            path,
            directory,
            events,
            killed: std::cell::Cell::new(false),
            reusable: false,
        }
    }

    #[test]
    fn files_of_a_cgroup_are_read() {
        let tree = tempfile::tempdir().expect("tempdir");
        let cgroup = fake(tree.path().join("c"));
        let write = |name: &str, text: &str| fs::write(cgroup.path.join(name), text).expect("write");
        assert!(cgroup.is_empty());
        write("cgroup.events", "populated 1\nfrozen 0\n");
        write("cgroup.procs", "12\n0\n13\n");
        assert!(!cgroup.is_empty());
        assert_eq!(cgroup.members(), [12, 13]);
        write("cgroup.procs", "");
        assert!(cgroup.is_empty());
        write("cpu.stat", "usage_usec 1500000\nuser_usec 1\n");
        assert_eq!(cgroup.cpu_time(), Some(std::time::Duration::from_millis(1500)));
        write("memory.events", "oom 1\noom_kill 0\n");
        assert!(!cgroup.out_of_memory());
        write("memory.events", "oom 1\noom_kill 2\n");
        assert!(cgroup.out_of_memory());
        let limits = ResourceLimits {
            memory_bytes: Some(4096),
            processes: Some(7),
            ..ResourceLimits::default()
        };
        cgroup.limit(&limits).expect("limit");
        assert_eq!(
            fs::read_to_string(cgroup.path.join("memory.max")).expect("written"),
            "4096"
        );
        assert_eq!(
            fs::read_to_string(cgroup.path.join("pids.max")).expect("written"),
            "7"
        );
    }
}
