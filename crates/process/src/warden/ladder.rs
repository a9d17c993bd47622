//! The warden ends a tree: signal, grace, SIGKILL until nothing is left.

use std::time::{Duration, Instant};

use super::job::{Ladder, Stage, Track};
use super::main_loop::{Main, Timer};
use super::start::CPU_POLL;

/// First and longest time between two rounds of SIGKILL: a killed process needs a moment to die.
const FIRST_ROUND: Duration = Duration::from_millis(2);
const LONGEST_ROUND: Duration = Duration::from_millis(100);
/// From SIGXCPU to SIGKILL, of CPU time or of time, whichever is over first.
const CPU_GRACE: Duration = Duration::from_secs(1);

impl Main {
    pub(super) fn signal(&mut self, id: u64, signal: i32) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match job.stage {
            // It would hit the child before it has become the command.
            Stage::Starting if job.held_signals.len() < 64 => job.held_signals.push(signal),
            Stage::Running | Stage::Exited => job.signal(signal),
            Stage::Starting | Stage::Done => {}
        }
    }

    pub(super) fn end(&mut self, id: u64, signal: i32, grace: Duration) {
        let now = Instant::now();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match (job.stage, job.ladder) {
            (Stage::Done, _) | (_, Ladder::Killing { .. }) => {}
            (Stage::Starting, _) => job.cancel(),
            (_, ladder) if grace.is_zero() => {
                // A caller's own signal is still seen by who is fast enough.
                if ladder == Ladder::Idle && signal != libc::SIGTERM {
                    job.signal(signal);
                }
                self.begin_killing(id);
            }
            (_, ladder) => {
                let kill_at = now.checked_add(grace).unwrap_or(now);
                if let Ladder::Term { kill_at: earlier } = ladder
                    && earlier <= kill_at
                {
                    return;
                }
                if ladder == Ladder::Idle {
                    job.signal(signal);
                    // A stopped process gets the first signal only once it goes on.
                    job.signal(libc::SIGCONT);
                }
                job.ladder = Ladder::Term { kill_at };
                self.timers.insert((kill_at, id, Timer::Ladder));
            }
        }
    }

    pub(super) fn begin_killing(&mut self, id: u64) {
        if let Some(job) = self.jobs.get_mut(&id)
            && !matches!(job.ladder, Ladder::Killing { .. })
        {
            job.ladder = Ladder::Killing { rounds: 0 };
            self.climb(id, Instant::now());
        }
    }

    /// The ladder's next rung is due.
    pub(super) fn climb(&mut self, id: u64, now: Instant) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if !matches!(job.stage, Stage::Running | Stage::Exited) {
            return;
        }
        match job.ladder {
            Ladder::Idle => {}
            Ladder::Term { kill_at } if kill_at > now => {}
            Ladder::Term { .. } => self.begin_killing(id),
            Ladder::Killing { rounds } => {
                job.kill();
                job.ladder = Ladder::Killing {
                    rounds: rounds.saturating_add(1),
                };
                let wait = (FIRST_ROUND * 2u32.pow(rounds.min(8))).min(LONGEST_ROUND);
                self.timers.insert((now + wait, id, Timer::Ladder));
            }
        }
    }

    /// Compares the CPU time a tree has used with its limit.
    pub(super) fn check_cpu(&mut self, id: u64, now: Instant) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let (Some(cpu), Track::Cgroup { cgroup, .. }) = (&mut job.cpu, &job.track) else {
            return;
        };
        let used = cgroup.cpu_time().unwrap_or_default();
        let kill = match cpu.warned {
            None if used >= cpu.limit => {
                cpu.warned = Some(now);
                cgroup.signal(libc::SIGXCPU);
                false
            }
            None => false,
            Some(warned) => used >= cpu.limit + CPU_GRACE || now >= warned + CPU_GRACE,
        };
        if kill && matches!(job.stage, Stage::Running | Stage::Exited) {
            self.begin_killing(id);
        } else if job.stage != Stage::Done {
            self.timers.insert((now + CPU_POLL, id, Timer::Cpu));
        }
    }
}
