//! The directory of a daemon's cgroups, one for each live command: an emptied one serves the next command.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use exec_protocol::limits::POOLED_CGROUPS;
use exec_protocol::process::{Enforcement, Enforces, ResourceLimits};
use rustix::fs::{Access, AtFlags, CWD, FlockOperation, Mode, OFlags, accessat, flock};

use super::command::{Cgroup, remove_tree};

/// What the directory of a daemon's cgroups is called, before its pid.
const PREFIX: &str = "exec-server-";

/// How many may be kept: each holds two descriptors, and starts need some too.
fn pooled() -> usize {
    let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let share = descriptors.and_then(|count| usize::try_from(count / 8).ok());
    share.map_or(POOLED_CGROUPS, |share| share.min(POOLED_CGROUPS))
}

/// The directory `exec-server-<daemon pid>` and the cgroups in it.
#[derive(Debug)]
pub(in crate::warden) struct CgroupRoot {
    base: PathBuf,
    /// Locked while this warden lives: it outlives its daemon by the time that the end of everything takes, and a
    /// daemon that starts meanwhile must not take its cgroups for left behind.
    _lock: OwnedFd,
    free: Vec<Cgroup>,
    made: u64,
    memory: bool,
    pids: bool,
}

impl CgroupRoot {
    /// Makes the directory below `own`.
    ///
    /// # Errors
    /// The directory cannot be made: no cgroup v2, or not ours to write.
    pub(in crate::warden) fn create(own: &Path, daemon: u32) -> io::Result<Self> {
        let base = own.join(format!("{PREFIX}{daemon}"));
        match fs::create_dir(&base) {
            // An earlier warden of this daemon left something that could not be ended yet.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => done?,
        }
        let lock = open_directory(&base)?;
        // Where it cannot be locked, it is safe for as long as the daemon lives.
        let _ = flock(&lock, FlockOperation::NonBlockingLockExclusive);
        let available = fs::read_to_string(base.join("cgroup.controllers")).unwrap_or_default();
        let enable = |name: &str| {
            available.split_ascii_whitespace().any(|found| found == name)
                && fs::write(base.join("cgroup.subtree_control"), format!("+{name}")).is_ok()
        };
        let (memory, pids) = (enable("memory"), enable("pids"));
        Ok(Self {
            base,
            _lock: lock,
            free: Vec::new(),
            made: 0,
            memory,
            pids,
        })
    }

    /// Whether what can be read speaks against processes in cgroups below it: a threaded one takes none of its own,
    /// and to move there this process must be allowed to leave its own (cgroup-v2, "Delegation Containment").
    pub(in crate::warden) fn takes_processes(&self) -> bool {
        let own = self.base.join("../cgroup.procs");
        fs::read_to_string(self.base.join("cgroup.type")).is_ok_and(|kind| kind.trim_end() == "domain")
            && accessat(CWD, own, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    /// Removes what dead daemons left beside this one's directory.
    pub(in crate::warden) fn sweep(&self) {
        if let Some(own) = self.base.parent() {
            sweep(own, |pid| fs::exists(format!("/proc/{pid}")).unwrap_or(true));
        }
    }

    /// Which limits can be held here.
    pub(in crate::warden) fn enforces(&self) -> Enforces {
        let cgroup = |can: bool| can.then_some(Enforcement::Cgroup);
        Enforces {
            memory_bytes: cgroup(self.memory),
            cpu_seconds: cgroup(true),
            processes: cgroup(self.pids),
            open_files: Some(Enforcement::Rlimit),
        }
    }

    /// An empty cgroup with these limits: a fresh one if there are any.
    ///
    /// # Errors
    /// It cannot be made or limited.
    pub(in crate::warden) fn take(&mut self, limits: &ResourceLimits) -> io::Result<Cgroup> {
        let unlimited =
            limits.memory_bytes.is_none() && limits.processes.is_none() && limits.cpu_seconds.is_none();
        if unlimited && let Some(cgroup) = self.free.pop() {
            return Ok(cgroup);
        }
        let cgroup = loop {
            let path = self.base.join(format!("c{}", self.made));
            self.made += 1;
            match Cgroup::create(path, unlimited) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break made?,
            }
        };
        match cgroup.limit(limits) {
            Ok(()) => Ok(cgroup),
            Err(error) => {
                cgroup.remove();
                Err(error)
            }
        }
    }

    /// Takes back one that is empty.
    pub(in crate::warden) fn give_back(&mut self, cgroup: Cgroup) {
        if cgroup.is_reusable() && self.free.len() < pooled() {
            self.free.push(cgroup);
        } else {
            cgroup.remove();
        }
    }

    /// Removes what is empty; all of it, once everything has ended.
    pub(in crate::warden) fn remove(&mut self) {
        self.free.clear();
        remove_base(&self.base, false);
    }
}

/// Ends and removes everything below the directory of a daemon whose warden is gone.
pub(in crate::warden) fn remove_after_loss(own: &Path, daemon: u32) {
    remove_base(&own.join(format!("{PREFIX}{daemon}")), true);
}

/// Removes what dead daemons left. What their commands left running belongs to nobody, and is ended.
fn sweep(own: &Path, alive: impl Fn(u32) -> bool) {
    let Ok(entries) = fs::read_dir(own) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !alive(pid)) && !has_warden(&entry.path()) {
            remove_base(&entry.path(), true);
        }
    }
}

/// A warden still works in it, though its daemon is gone.
fn has_warden(base: &Path) -> bool {
    open_directory(base).is_ok_and(|directory| {
        flock(&directory, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK)
    })
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn remove_base(base: &Path, kill: bool) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        if remove_tree(&path).is_err() && kill {
            // A member shown as 0 lives in another pid namespace: then so may the daemon, alive.
            let members = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
            if members.lines().all(|pid| pid != "0") {
                let _ = fs::write(path.join("cgroup.kill"), "1");
                let _ = remove_tree(&path);
            }
        }
    }
    let _ = fs::remove_dir(base);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_domain_below_our_own_cgroup_takes_processes() {
        let tree = tempfile::tempdir().expect("tempdir");
        let root = CgroupRoot::create(tree.path(), 7).expect("create");
        let kind = tree.path().join("exec-server-7/cgroup.type");
        fs::write(&kind, "domain\n").expect("write");
        assert!(!root.takes_processes(), "there is no cgroup.procs to leave");
        fs::write(tree.path().join("cgroup.procs"), "").expect("write");
        assert!(root.takes_processes());
        for other in ["threaded\n", "domain invalid\n", "domain threaded\n"] {
            fs::write(&kind, other).expect("write");
            assert!(!root.takes_processes(), "{other}");
        }
    }

    #[test]
    fn controllers_that_are_there_are_enabled() {
        let tree = tempfile::tempdir().expect("tempdir");
        let base = tree.path().join("exec-server-7");
        fs::create_dir(&base).expect("directory");
        fs::write(base.join("cgroup.controllers"), "cpu pids\n").expect("write");
        let root = CgroupRoot::create(tree.path(), 7).expect("create");
        assert!(root.pids && !root.memory);
        let enabled = fs::read_to_string(base.join("cgroup.subtree_control")).expect("written");
        assert_eq!(enabled, "+pids");
    }

    #[test]
    fn only_directories_of_dead_daemons_are_swept() {
        let tree = tempfile::tempdir().expect("tempdir");
        let warden = CgroupRoot::create(tree.path(), 4).expect("create");
        for name in ["exec-server-5/c0", "exec-server-6/c0", "exec-server-x", "other"] {
            fs::create_dir_all(tree.path().join(name)).expect("directory");
        }
        sweep(tree.path(), |pid| pid == 6);
        assert!(tree.path().join("exec-server-4").exists(), "its warden lives");
        drop(warden);
        sweep(tree.path(), |pid| pid == 6);
        assert!(!tree.path().join("exec-server-4").exists());
        let left = |name: &str| tree.path().join(name).exists();
        assert!(!left("exec-server-5"));
        assert!(left("exec-server-6/c0") && left("exec-server-x") && left("other"));
    }
}
