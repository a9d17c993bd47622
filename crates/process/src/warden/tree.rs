//! Who descends from whom, as /proc tells.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};

use exec_protocol::limits::MAX_ANCESTORS;

use crate::sys;
use crate::sys_keeper::FORK_NO_EXEC;

/// Every living or dead-but-unreaped descendant of `root`, parents before children. A snapshot: processes
/// come and go while it is taken.
pub(super) fn descendants(root: i32) -> Vec<i32> {
    let mut found = children(root);
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        for child in children(pid) {
            if !found.contains(&child) {
                found.push(child);
            }
        }
        next += 1;
    }
    found
}

/// The children of a process, of all its threads.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(
                list.split_ascii_whitespace()
                    .filter_map(|n| n.parse::<i32>().ok()),
            ),
            // A thread that just ended; or a kernel without CONFIG_PROC_CHILDREN.
            Err(_) if fs::exists("/proc/self/task").unwrap_or(false) && !has_children_file() => {
                return children_by_scan(pid);
            }
            Err(_) => {}
        }
    }
    found
}

fn has_children_file() -> bool {
    fs::exists(format!("/proc/self/task/{}/children", std::process::id())).unwrap_or(false)
}

fn children_by_scan(parent: i32) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| Stat::read(*pid).is_some_and(|stat| stat.parent == parent))
        .collect()
}

/// What matters of a stat line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) zombie: bool,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// It never executed a program since it was forked (PF_FORKNOEXEC).
    pub(super) never_executed: bool,
}

impl Stat {
    pub(super) fn read(pid: i32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(line: &[u8]) -> Option<Self> {
        // The name may hold anything, so fields are counted from its last parenthesis.
        let name_end = memchr::memrchr(b')', line)?;
        let text = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let flags: u64 = fields.nth(2)?.parse().ok()?;
        Some(Self {
            zombie: state == "Z" || state == "X",
            parent,
            group,
            session,
            never_executed: flags & FORK_NO_EXEC != 0,
        })
    }
}

/// True if the child is dead and never executed a program.
pub(super) fn died_before_exec(pid: i32) -> bool {
    Stat::read(pid).is_some_and(|stat| stat.never_executed)
}

/// Signals every descendant of `root` that `wanted` picks. Gives how many there were, zombies not counted.
pub(super) fn signal_descendants(root: i32, signal: i32, wanted: impl Fn(i32, &Stat) -> bool) -> usize {
    let mut count = 0;
    for_each_descendant(root, |pid, stat, pidfd| {
        if wanted(pid, stat) {
            count += 1;
            // The pidfd was opened before the look: if the process is another by now, this fails.
            let _ = sys::pidfd_kill(pidfd, signal);
        }
    });
    count
}

/// Looks at every descendant of `root` that is not dead, each with a pidfd that is known to be the process that was
/// looked at.
pub(super) fn for_each_descendant(root: i32, mut look: impl FnMut(i32, &Stat, BorrowedFd<'_>)) {
    for pid in descendants(root) {
        let Ok(pidfd) = sys::pidfd(pid) else { continue };
        // Its ancestors may have died since the walk, but then it moved up the tree, not out of it: what
        // must be excluded is a number that was reused outside.
        let Some(stat) = Stat::read(pid).filter(|stat| !stat.zombie) else {
            continue;
        };
        if !descends(stat.parent, root) {
            continue;
        }
        look(pid, &stat, pidfd.as_fd());
    }
}

fn descends(mut pid: i32, root: i32) -> bool {
    for _ in 0..MAX_ANCESTORS {
        if pid == root {
            return true;
        }
        match Stat::read(pid) {
            Some(stat) if stat.parent > 1 => pid = stat.parent,
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Stat, children, descendants};

    #[test]
    fn a_stat_line_is_read_behind_any_name() {
        let line = b"42 (a) R 1 (b) S 7 40 39 0 -1 4194368 1 2";
        let stat = Stat {
            zombie: false,
            parent: 7,
            group: 40,
            session: 39,
            never_executed: true,
        };
        assert_eq!(Stat::parse(line), Some(stat));
        assert_eq!(Stat::parse(b"42 (a"), None);
        assert_eq!(Stat::parse(b""), None);
    }

    #[test]
    fn a_child_and_its_child_are_found() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & echo; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("sh");
        let pid = child.id() as i32;
        let mut line = [0u8; 1];
        std::io::Read::read_exact(child.stdout.as_mut().expect("piped"), &mut line).expect("sh speaks");
        let found = descendants(std::process::id() as i32);
        assert!(found.contains(&pid));
        let grandchildren = children(pid);
        assert_eq!(grandchildren.len(), 1);
        assert!(found.contains(&grandchildren[0]));
        assert!(super::signal_descendants(pid, libc::SIGKILL, |_, _| true) >= 1);
        child.kill().expect("kill");
        child.wait().expect("wait");
    }
}
