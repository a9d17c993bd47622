//! One cgroup v2 per live command: an emptied one serves the next command.

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use exec_protocol::limits::POOLED_CGROUPS;
use exec_protocol::process::{Enforcement, Enforces, ResourceLimits};
use rustix::fs::{Access, AtFlags, CWD, FlockOperation, Mode, OFlags, accessat, flock};

use super::tree;

/// What the directory of a daemon's cgroups is called, before its pid.
const PREFIX: &str = "exec-server-";

/// How many may be kept: each holds two descriptors, and starts need some too.
fn pooled() -> usize {
    let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let share = descriptors.and_then(|count| usize::try_from(count / 8).ok());
    share.map_or(POOLED_CGROUPS, |share| share.min(POOLED_CGROUPS))
}

/// The cgroup v2 directory this process is in, by `/proc/self/mountinfo` and `/proc/self/cgroup`.
pub(super) fn own_directory(mountinfo: &str, cgroup: &str) -> Option<PathBuf> {
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    mountinfo.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        if kind.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
        // A mount may show a part of the hierarchy; a path outside of it ("/..") cannot be reached.
        let below = Path::new(path).strip_prefix(&root).ok()?;
        let reachable = below
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        reachable.then(|| Path::new(&point).join(below))
    })
}

/// mountinfo writes space, tab, newline and backslash as `\040`.
fn unescape(field: &str) -> String {
    let mut out = String::new();
    let mut rest = field;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        match after
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok())
        {
            Some(byte) => {
                out.push(char::from(byte));
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The directory `exec-server-<daemon pid>` and the cgroups in it.
#[derive(Debug)]
pub(super) struct CgroupRoot {
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
    pub(super) fn create(own: &Path, daemon: u32) -> io::Result<Self> {
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
    pub(super) fn takes_processes(&self) -> bool {
        let own = self.base.join("../cgroup.procs");
        fs::read_to_string(self.base.join("cgroup.type")).is_ok_and(|kind| kind.trim_end() == "domain")
            && accessat(CWD, own, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }

    /// Removes what dead daemons left beside this one's directory.
    pub(super) fn sweep(&self) {
        if let Some(own) = self.base.parent() {
            sweep(own, |pid| fs::exists(format!("/proc/{pid}")).unwrap_or(true));
        }
    }

    /// Which limits can be held here.
    pub(super) fn enforces(&self) -> Enforces {
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
    pub(super) fn take(&mut self, limits: &ResourceLimits) -> io::Result<Cgroup> {
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
    pub(super) fn give_back(&mut self, cgroup: Cgroup) {
        if cgroup.reusable && !cgroup.killed.get() && !cgroup.has_children() && self.free.len() < pooled() {
            self.free.push(cgroup);
        } else {
            cgroup.remove();
        }
    }

    /// Removes what is empty; all of it, once everything has ended.
    pub(super) fn remove(&mut self) {
        self.free.clear();
        remove_base(&self.base, false);
    }
}

/// Ends and removes everything below the directory of a daemon whose warden is gone.
pub(super) fn remove_after_loss(own: &Path, daemon: u32) {
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

/// Removes a cgroup in which nothing runs, with those that its command made in it.
fn remove_tree(path: &Path) -> io::Result<()> {
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

/// Whether the cgroup2 line of a /proc/…/cgroup names the cgroup whose path ends in `end`, or one below it.
fn is_inside(text: &str, end: &str) -> bool {
    let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::")) else {
        return true;
    };
    path.match_indices(end)
        .any(|(at, _)| matches!(path.as_bytes().get(at + end.len()), None | Some(b'/' | b' ')))
}

/// The cgroup of one command.
#[derive(Debug)]
pub(super) struct Cgroup {
    path: PathBuf,
    directory: OwnedFd,
    /// Kept open: how a tree stands must be knowable at the descriptor limit too.
    events: OwnedFd,
    reusable: bool,
    /// Was killed as a whole.
    killed: Cell<bool>,
}

impl Cgroup {
    fn create(path: PathBuf, reusable: bool) -> io::Result<Self> {
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

    fn limit(&self, limits: &ResourceLimits) -> io::Result<()> {
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

    fn remove(self) {
        let _ = remove_tree(&self.path);
    }

    /// For clone3(2).
    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// For inotify.
    pub(super) fn events_path(&self) -> PathBuf {
        self.path.join("cgroup.events")
    }

    /// No living process is in it.
    pub(super) fn is_empty(&self) -> bool {
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
    pub(super) fn holds(&self, pid: i32) -> bool {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let (Some(base), Some(own)) = (self.path.parent().and_then(name), name(&self.path)) else {
            return true;
        };
        fs::read_to_string(format!("/proc/{pid}/cgroup"))
            .map_or(true, |text| is_inside(&text, &format!("/{base}/{own}")))
    }

    /// The command has made cgroups below it.
    fn has_children(&self) -> bool {
        // As of every directory: two, and one for each in it; one where they are not counted.
        rustix::fs::fstat(&self.directory).is_ok_and(|stat| stat.st_nlink > 2)
    }

    /// Its living processes.
    pub(super) fn members(&self) -> Vec<i32> {
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
    pub(super) fn kill(&self) {
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
    pub(super) fn signal(&self, signal: i32) {
        self.for_each(|_, pidfd| {
            let _ = crate::sys::pidfd_kill(pidfd, signal);
        });
    }

    /// Looks at every process in it, each with a pidfd that is known to be a member.
    pub(super) fn for_each(&self, mut look: impl FnMut(i32, BorrowedFd<'_>)) {
        let held: Vec<(i32, OwnedFd)> = self
            .members()
            .into_iter()
            .filter_map(|pid| Some((pid, crate::sys::pidfd(pid).ok()?)))
            .collect();
        // A member's number could have been reused before its pidfd was opened; not after.
        let still = self.members();
        for (pid, pidfd) in held.iter().filter(|(pid, _)| still.contains(pid)) {
            look(*pid, pidfd.as_fd());
        }
    }

    /// CPU time its processes have used.
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        self.number("cpu.stat", "usage_usec").map(Duration::from_micros)
    }

    /// The kernel killed one of its processes because memory ran out.
    pub(super) fn out_of_memory(&self) -> bool {
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

/// True if the child is dead and never executed a program.
pub(super) fn died_before_exec(pid: i32) -> bool {
    tree::Stat::read(pid).is_some_and(|stat| stat.never_executed)
}

#[cfg(test)]
mod tests {
    use super::{Cgroup, CgroupRoot, own_directory, sweep};
    use exec_protocol::process::ResourceLimits;
    use std::fs;
    use std::path::PathBuf;

    const MOUNTS: &str = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_own_directory_is_found() {
        let cases: &[(&str, &str, Option<&str>)] = &[
            (MOUNTS, "1:cpu:/x\n0::/\n", Some("/sys/fs/cgroup/unified")),
            (MOUNTS, "0::/a/b\n", Some("/sys/fs/cgroup/unified/a/b")),
            (MOUNTS, "0::/../a\n", None),
            (MOUNTS, "1:cpu:/x\n", None),
            (
                "41 31 0:38 /a /my\\040cg rw - cgroup2 cgroup2 rw",
                "0::/a/b\n",
                Some("/my cg/b"),
            ),
            ("41 31 0:38 /a /cg rw - cgroup2 cgroup2 rw", "0::/c\n", None),
            ("", "0::/\n", None),
        ];
        for (mounts, cgroup, want) in cases {
            assert_eq!(
                own_directory(mounts, cgroup),
                want.map(PathBuf::from),
                "{mounts} {cgroup}"
            );
        }
    }

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
