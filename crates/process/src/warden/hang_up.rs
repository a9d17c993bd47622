//! The warden leaves a tree as a terminal does that is closed: the session ends, its helpers live on.

use std::collections::HashSet;

use exec_protocol::limits::HANG_UP_LOOKS;

use super::job::{Job, Stage};
use super::main_loop::Main;
use crate::sys;

impl Main {
    /// Kills the leader, and hangs up on what is left of its session.
    pub(super) fn leave(&mut self, id: u64) {
        // It may have executed without anybody having looked.
        self.child_left(id);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match job.stage {
            Stage::Starting => job.held_leave = true,
            Stage::Running | Stage::Exited => job.hang_up(),
            Stage::Done => {}
        }
    }

    /// It executes: if it was to be left, it is now.
    pub(super) fn begin_held_leave(&mut self, id: u64) {
        if let Some(job) = self.jobs.get_mut(&id)
            && std::mem::take(&mut job.held_leave)
        {
            job.hang_up();
        }
    }
}

impl Job {
    fn hang_up(&self) {
        let Some(leader) = self.leader() else { return };
        // First, so that it runs no trap, writes no history and starts nothing more.
        self.kill_leader();
        let mut told = HashSet::from([leader]);
        for _ in 0..HANG_UP_LOOKS {
            let before = told.len();
            // The session keeps the leader's number from everybody else for as long as somebody is in it.
            self.for_each(|pid, stat, pidfd| {
                if stat.session == leader && told.insert(pid) {
                    let _ = sys::pidfd_kill(pidfd, libc::SIGHUP);
                    // A stopped process gets the first signal only once it goes on.
                    let _ = sys::pidfd_kill(pidfd, libc::SIGCONT);
                }
            });
            if told.len() == before {
                break;
            }
        }
    }
}
