//! One command, as the warden keeps it.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use exec_protocol::limits::{KEEPER_ROUNDS, KILL_WALKS};

use super::cgroup::Cgroup;
use super::tree::{self, Stat};
use crate::sys;
use crate::sys_spawn::{Child, Failure, Keeper};

/// A command from its launch until nothing of it is left.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) stage: Stage,
    pub(super) track: Track,
    pub(super) ladder: Ladder,
    /// Killed before it was known to execute.
    pub(super) cancelled: bool,
    /// Signals that came before it executed.
    pub(super) held_signals: Vec<i32>,
    /// To be left as soon as it executes.
    pub(super) held_leave: bool,
    pub(super) cpu: Option<CpuLimit>,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Between clone and exec.
    Starting,
    /// The leader runs.
    Running,
    /// The leader was reaped; something of the tree is left.
    Exited,
    /// Reported to its end. Kept until its keeper is reaped.
    Done,
}

/// How its descendants are known.
#[derive(Debug)]
pub(super) enum Track {
    /// By a cgroup; the warden is the leader's parent.
    Cgroup {
        cgroup: Cgroup,
        leader: i32,
        child: Option<Child>,
        /// It failed before exec, and is to be reaped.
        failure: Option<Failure>,
        /// inotify watch of cgroup.events.
        watch: Option<i32>,
    },
    /// By a subreaper of its own.
    Keeper { keeper: Keeper, leader: i32 },
}

/// How far its ending has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ladder {
    /// Not begun.
    Idle,
    /// To be signalled as soon as it is known to execute, which it is about to; SIGKILL comes then.
    Held { signal: i32, kill_at: Instant },
    /// Signalled; SIGKILL comes then.
    Term { kill_at: Instant },
    /// SIGKILL, again and again until nothing is left.
    Killing { rounds: u32 },
}

/// A limit on CPU time.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuLimit {
    pub(super) limit: Duration,
    /// SIGXCPU was sent.
    pub(super) warned: Option<Instant>,
}

impl Job {
    /// Signals the leader's group; once the leader is reaped, every process of the tree.
    pub(super) fn signal(&self, signal: i32) {
        match &self.track {
            Track::Cgroup { cgroup, leader, .. } => {
                if self.stage == Stage::Running {
                    // Not reaped, so the number is still its own.
                    let _ = sys::kill_group(*leader, signal);
                } else {
                    cgroup.signal(signal);
                }
            }
            Track::Keeper { keeper, leader } => {
                if !signal_kept_group(keeper, *leader, signal) {
                    tree::signal_descendants(keeper.pid(), signal, |_, _| true);
                }
            }
        }
    }

    /// Kills what is there now. Processes that are forked meanwhile need another round (without cgroup.kill).
    pub(super) fn kill(&self, rounds: u32) {
        self.kill_escaped();
        if self.stage == Stage::Running {
            self.signal(libc::SIGKILL);
        }
        match &self.track {
            Track::Cgroup { cgroup, .. } => cgroup.kill(),
            Track::Keeper { keeper, .. } => {
                // A walk that is outrun is made good by the next.
                let mut left = 0;
                for _ in 0..KILL_WALKS {
                    left = tree::signal_descendants(keeper.pid(), libc::SIGKILL, |_, _| true);
                    if left == 0 {
                        break;
                    }
                }
                // The command may have stopped it, again and again for as long as it lived.
                let _ = sys::kill(keeper.pid(), libc::SIGCONT);
                if left == 0 && rounds >= KEEPER_ROUNDS {
                    // It has nobody left and does not say so: its end does.
                    let _ = sys::kill(keeper.pid(), libc::SIGKILL);
                }
            }
        }
    }

    /// Kills what has moved out of its cgroup (root can), as long as it is known whose it is: by its ancestors.
    /// It forfeits the grace, because it is lost sight of as soon as one of those dies.
    pub(super) fn kill_escaped(&self) {
        if self.stage == Stage::Running
            && let Track::Cgroup { cgroup, leader, .. } = &self.track
        {
            tree::signal_descendants(*leader, libc::SIGKILL, |pid, _| !cgroup.holds(pid));
        }
    }

    /// The leader's process id, which is its session's too; `None`: it is not known to execute.
    pub(super) fn leader(&self) -> Option<i32> {
        let (Track::Cgroup { leader, .. } | Track::Keeper { leader, .. }) = &self.track;
        (self.stage != Stage::Starting).then_some(*leader)
    }

    /// Kills the leader alone, if it was not reaped.
    pub(super) fn kill_leader(&self) {
        match &self.track {
            Track::Cgroup { leader, .. } if self.stage == Stage::Running => {
                // Not reaped, so the number is still its own.
                let _ = sys::kill(*leader, libc::SIGKILL);
            }
            Track::Cgroup { .. } => {}
            Track::Keeper { keeper, leader } => {
                if let Ok(pidfd) = sys::pidfd(*leader)
                    && !keeper.leader_reaped()
                {
                    let _ = sys::pidfd_kill(pidfd.as_fd(), libc::SIGKILL);
                }
            }
        }
    }

    /// Looks at each process of the tree: its number, what it is, and a pidfd that is known to be it.
    pub(super) fn for_each(&self, mut look: impl FnMut(i32, &Stat, BorrowedFd<'_>)) {
        match &self.track {
            Track::Cgroup { cgroup, .. } => cgroup.for_each(|pid, pidfd| {
                if let Some(stat) = Stat::read(pid) {
                    look(pid, &stat, pidfd);
                }
            }),
            Track::Keeper { keeper, .. } => tree::for_each_descendant(keeper.pid(), look),
        }
    }

    /// Keeps a child from executing. False: it is in execve(2), or has been.
    pub(super) fn shut_gate(&self) -> bool {
        match &self.track {
            Track::Cgroup { child, .. } => child.as_ref().is_some_and(Child::shut_gate),
            Track::Keeper { keeper, .. } => keeper.shut_gate(),
        }
    }

    /// Kills a child that is not known to execute.
    pub(super) fn cancel(&mut self) {
        self.cancelled = true;
        match &self.track {
            // Its own child, not reaped.
            Track::Cgroup { leader, .. } => {
                let _ = sys::kill(*leader, libc::SIGKILL);
            }
            Track::Keeper { keeper, .. } => {
                keeper.note_kill();
                // Without a number it has not come to the gate, which is shut.
                if let Some(leader) = keeper.leader()
                    && let Ok(pidfd) = sys::pidfd(leader)
                    && !keeper.leader_reaped()
                {
                    let _ = sys::pidfd_kill(pidfd.as_fd(), libc::SIGKILL);
                }
            }
        }
    }
}

/// Signals the group of a leader that its keeper has not reaped. False: it has.
fn signal_kept_group(keeper: &Keeper, leader: i32, signal: i32) -> bool {
    let pidfd = sys::pidfd(leader);
    // Not reaped after the pidfd was opened: so it is the leader's.
    if keeper.leader_reaped() {
        return false;
    }
    let pidfd = match pidfd {
        Ok(pidfd) => pidfd,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return false,
        // No descriptor is free. The rest of the tree is not meant, so by number, which was the group's a moment
        // ago.
        Err(_) => return sys::kill_group(leader, signal).is_ok(),
    };
    match sys::pidfd_kill_group(pidfd.as_fd(), signal) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            // Before Linux 6.9: one by one.
            tree::signal_descendants(keeper.pid(), signal, |_, stat| stat.group == leader);
        }
        _ => {}
    }
    true
}
