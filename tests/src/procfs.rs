//! What /proc says about processes.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Some members of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// `R`, `S`, `T`, `Z`, …
    pub state: char,
    /// Parent.
    pub parent: u32,
    /// Process group.
    pub group: u32,
    /// Session.
    pub session: u32,
    /// CPU time so far, user and system.
    pub cpu: Duration,
}

/// The state of a process; `None` once it is gone.
#[must_use]
pub fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    // The name in parentheses may hold blanks and parentheses itself.
    let rest = &text[text.rfind(')')? + 1..];
    let mut members = rest.split_whitespace();
    let state = members.next()?.chars().next()?;
    let numbers: Vec<u64> = members.map(|m| m.parse().unwrap_or_default()).collect();
    // USER_HZ is 100 on every Linux that runs this.
    let ticks = numbers.get(10)? + numbers.get(11)?;
    Some(Stat {
        state,
        parent: u32::try_from(*numbers.first()?).ok()?,
        group: u32::try_from(*numbers.get(1)?).ok()?,
        session: u32::try_from(*numbers.get(2)?).ok()?,
        cpu: Duration::from_millis(ticks * 10),
    })
}

/// True while a process runs: not gone, not a zombie.
#[must_use]
pub fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|s| !matches!(s.state, 'Z' | 'X'))
}

/// All processes below one, zombies included.
#[must_use]
pub fn descendants(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some((pid, stat)) = pid.and_then(|pid| Some((pid, stat(pid)?))) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(&below);
        next.extend(below);
    }
    found
}

/// The command line, in words.
#[must_use]
pub fn arguments(pid: u32) -> Vec<String> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    text.split(|b| *b == 0)
        .map(|arg| String::from_utf8_lossy(arg).into_owned())
        .collect()
}

/// Open descriptors.
#[must_use]
pub fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// A memory figure of `/proc/PID/status` (`VmRSS`, `VmHWM`), in bytes.
#[must_use]
pub fn memory(pid: u32, member: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status
        .lines()
        .find_map(|l| l.strip_prefix(member))
        .unwrap_or_default();
    let kilobytes = line.trim_start_matches(':').split_whitespace().next();
    kilobytes.and_then(|n| n.parse::<u64>().ok()).unwrap_or_default() * 1024
}

/// Looks again and again until `look` finds something or time is up; for what sends no event, as /proc.
pub fn eventually<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process is held back: alive, asleep, and no further than at the look before.
///
/// # Panics
/// When nothing holds it back.
pub fn await_blocked(pid: u32) {
    // Long enough for a process that is only slow to use a tick of CPU time.
    const BETWEEN_LOOKS: Duration = Duration::from_millis(300);
    let mut before = None;
    let blocked = eventually(Duration::from_secs(30), || {
        std::thread::sleep(BETWEEN_LOOKS);
        let now = stat(pid).filter(|stat| stat.state == 'S').map(|stat| stat.cpu);
        let is_blocked = now.is_some() && now == before;
        before = now;
        is_blocked.then_some(())
    });
    assert!(blocked.is_some(), "nothing held {pid} back: {:?}", stat(pid));
}

/// A word that no other process on the machine has in its command line.
#[must_use]
pub fn marker() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("marker-{}-{n}", std::process::id())
}
