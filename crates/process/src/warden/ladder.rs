//! The warden ends a tree: signal, grace, SIGKILL until nothing is left.

use std::time::{Duration, Instant};

use exec_protocol::limits::{CPU_GRACE_MS, CPU_POLL_MS, HELD_SIGNALS, KILL_ROUND_MAX_MS, KILL_ROUND_MS};

use super::job::{Ladder, Stage, Track};
use super::main_loop::{Main, Timer};

impl Main {
    pub(super) fn signal(&mut self, id: u64, signal: i32) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match job.stage {
            // It would hit the child before it has become the command.
            Stage::Starting if job.held_signals.len() < HELD_SIGNALS => job.held_signals.push(signal),
            Stage::Running | Stage::Exited => job.signal(signal),
            Stage::Starting | Stage::Done => {}
        }
    }

    pub(super) fn end(&mut self, id: u64, signal: i32, grace: Duration) {
        let now = Instant::now();
        // It may have executed without anybody having looked.
        self.child_left(id);
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let kill_at = now.checked_add(grace).unwrap_or(now);
        match (job.stage, job.ladder) {
            (Stage::Done, _) | (_, Ladder::Killing { .. }) => {}
            (Stage::Starting, _) if grace.is_zero() || job.shut_gate() => job.cancel(),
            (Stage::Starting, Ladder::Held { kill_at: earlier, .. }) if earlier <= kill_at => {}
            (Stage::Starting, ladder) => {
                let signal = match ladder {
                    Ladder::Held { signal, .. } => signal,
                    _ => signal,
                };
                job.ladder = Ladder::Held { signal, kill_at };
                self.timers.insert((kill_at, id, Timer::Ladder));
            }
            (_, ladder) if grace.is_zero() => {
                // A caller's own signal is still seen by who is fast enough.
                if ladder == Ladder::Idle && signal != libc::SIGTERM {
                    job.kill_escaped();
                    job.signal(signal);
                }
                self.begin_killing(id);
            }
            (_, ladder) => {
                if let Ladder::Term { kill_at: earlier } = ladder
                    && earlier <= kill_at
                {
                    return;
                }
                if ladder == Ladder::Idle {
                    job.kill_escaped();
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

    /// It executes: what it was told to end by meanwhile reaches it now.
    pub(super) fn begin_held_ending(&mut self, id: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.cancelled {
            return self.begin_killing(id);
        }
        if let Ladder::Held { signal, kill_at } = job.ladder {
            job.kill_escaped();
            job.signal(signal);
            job.signal(libc::SIGCONT);
            // Its timer is set.
            job.ladder = Ladder::Term { kill_at };
        }
    }

    /// The ladder's next rung is due.
    pub(super) fn climb(&mut self, id: u64, now: Instant) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if let (Stage::Starting, Ladder::Held { kill_at, .. }) = (job.stage, job.ladder)
            && kill_at <= now
        {
            // It hangs in execve(2): a file system that does not answer.
            job.cancel();
        }
        if !matches!(job.stage, Stage::Running | Stage::Exited) {
            return;
        }
        match job.ladder {
            Ladder::Idle | Ladder::Held { .. } => {}
            Ladder::Term { kill_at } if kill_at > now => {}
            Ladder::Term { .. } => self.begin_killing(id),
            Ladder::Killing { rounds } => {
                job.kill(rounds);
                job.ladder = Ladder::Killing {
                    rounds: rounds.saturating_add(1),
                };
                let wait = Duration::from_millis((KILL_ROUND_MS << rounds.min(8)).min(KILL_ROUND_MAX_MS));
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
        let grace = Duration::from_millis(CPU_GRACE_MS);
        let kill = match cpu.warned {
            None if used >= cpu.limit => {
                cpu.warned = Some(now);
                cgroup.signal(libc::SIGXCPU);
                false
            }
            None => false,
            Some(warned) => used >= cpu.limit + grace || now >= warned + grace,
        };
        if kill && matches!(job.stage, Stage::Running | Stage::Exited) {
            self.begin_killing(id);
        } else if job.stage != Stage::Done {
            self.timers
                .insert((now + Duration::from_millis(CPU_POLL_MS), id, Timer::Cpu));
        }
    }
}
