//! Which processes are the server itself, and what they cost.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The processes at and below a pid that run its executable: a daemon and its helpers, not its commands.
#[derive(Debug)]
pub(crate) struct OwnProcesses(Vec<u32>);

impl OwnProcesses {
    /// Of the daemon `root`.
    pub(crate) fn of(root: u32) -> Self {
        let executable = executable(root);
        let below = Descendants::of(root).0.into_iter().map(|(pid, _)| pid);
        Self(
            std::iter::once(root)
                .chain(below.filter(|&pid| executable.is_some() && self::executable(pid) == executable))
                .collect(),
        )
    }

    /// CPU time they have used, threads that ended included.
    pub(crate) fn cpu_time(&self) -> Duration {
        self.0.iter().filter_map(|&pid| cpu_time(pid)).sum()
    }

    /// Their proportional set size in bytes: shared pages are shared out. An address space that several of
    /// them share counts once.
    pub(crate) fn pss_bytes(&self) -> u64 {
        let mut counted: Vec<u32> = Vec::new();
        let mut bytes = 0;
        for &pid in &self.0 {
            if !counted.iter().any(|&other| share_memory(pid, other)) {
                counted.push(pid);
                bytes += pss_bytes(pid).unwrap_or(0);
            }
        }
        bytes
    }

    /// The size of their executable in bytes.
    pub(crate) fn binary_bytes(&self) -> Option<u64> {
        Some(fs::metadata(format!("/proc/{}/exe", self.0.first()?)).ok()?.len())
    }
}

/// The processes below one, each with its start time, which tells a recycled pid.
#[derive(Debug)]
pub(crate) struct Descendants(Vec<(u32, u64)>);

impl Descendants {
    /// Of `root`, without it.
    pub(crate) fn of(root: u32) -> Self {
        let mut children: HashMap<u32, Vec<(u32, u64)>> = HashMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if let Some((parent, started)) = parent_and_start(pid) {
                children.entry(parent).or_default().push((pid, started));
            }
        }
        let mut found = Vec::new();
        let mut parents = vec![root];
        while let Some(parent) = parents.pop() {
            for child in children.remove(&parent).unwrap_or_default() {
                found.push(child);
                parents.push(child.0);
            }
        }
        Self(found)
    }

    /// Kills those that still live.
    pub(crate) fn kill(&self) {
        for &(pid, started) in &self.0 {
            let same = parent_and_start(pid).is_some_and(|(_, now)| now == started);
            let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
            if let (true, Some(pid)) = (same, pid) {
                // It may have gone just now.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

fn executable(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Fields 4 and 22 of `/proc/PID/stat`; the name in field 2 may hold anything, so count from its last `)`.
fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 2;
    let fields: Vec<&str> = std::str::from_utf8(&stat[after_name..])
        .ok()?
        .split(' ')
        .collect();
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

/// In nanoseconds: `/proc/PID/stat` counts ticks of 10 ms, a tenth of what 200 MB of output take.
fn cpu_time(pid: u32) -> Option<Duration> {
    let pid = libc::pid_t::try_from(pid).ok()?;
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both pointers are to locals that live until the calls return; neither call keeps them.
    let failed = unsafe {
        libc::clock_getcpuclockid(pid, &raw mut clock) != 0 || libc::clock_gettime(clock, &raw mut time) != 0
    };
    if failed {
        return None;
    }
    Some(Duration::new(
        u64::try_from(time.tv_sec).ok()?,
        u32::try_from(time.tv_nsec).ok()?,
    ))
}

fn pss_bytes(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Whether two processes run in one address space, as after clone(2) with CLONE_VM.
fn share_memory(one: u32, other: u32) -> bool {
    const KCMP_VM: libc::c_long = 1;
    let (one, other) = (libc::c_long::from(one), libc::c_long::from(other));
    // SAFETY: kcmp(2) takes five integers and touches no memory of this process.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_VM, 0_i64, 0_i64) == 0 }
}
