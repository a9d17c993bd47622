//! The warden starts a command.

use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use exec_protocol::limits::CPU_POLL_MS;

use super::cgroup::died_before_exec;
use super::clock::monotonic;
use super::job::{CpuLimit, Job, Ladder, Stage, Track};
use super::main_loop::{CHILDREN, Main, Timer};
use super::message::{Order, Report};
use super::report::{FailedStep, LaunchFailure};
use super::tracker::Tracker;
use crate::sys_child::step;
use crate::sys_spawn::{Child, Failure, Keeper, Outcome, Setup};

fn failure(step: FailedStep, error: &io::Error) -> LaunchFailure {
    LaunchFailure {
        step,
        errno: error.raw_os_error().unwrap_or(libc::EIO),
    }
}

impl From<Failure> for LaunchFailure {
    fn from(failure: Failure) -> Self {
        let step = match failure.step {
            step::FORK => FailedStep::Fork,
            step::CWD => FailedStep::Cwd,
            step::EXEC => FailedStep::Exec {
                program: failure.program,
                exists: failure.exists,
            },
            step::ENDED => FailedStep::Ended,
            _ => FailedStep::Setup,
        };
        Self {
            step,
            errno: failure.errno,
        }
    }
}

impl Main {
    pub(super) fn launch(&mut self, order: Order) {
        let id = order.id;
        let cpu = order.limits.cpu_seconds;
        match self.start(order) {
            Ok(track) => {
                let pid = match &track {
                    Track::Cgroup { leader, .. } => *leader,
                    Track::Keeper { keeper, .. } => keeper.pid(),
                };
                self.by_pid.insert(pid, id);
                let cpu = cpu.map(|s| CpuLimit {
                    limit: Duration::from_secs(s),
                    warned: None,
                });
                let job = Job {
                    stage: Stage::Starting,
                    track,
                    ladder: Ladder::Idle,
                    cancelled: false,
                    held_signals: Vec::new(),
                    held_leave: false,
                    cpu,
                };
                self.jobs.insert(id, job);
                if cpu.is_some() {
                    self.timers.insert((
                        Instant::now() + Duration::from_millis(CPU_POLL_MS),
                        id,
                        Timer::Cpu,
                    ));
                }
            }
            Err(failure) => self.report(Report::Failed { id, failure }),
        }
    }

    pub(super) fn refuse_stripped(&mut self, id: u64) {
        let failure = LaunchFailure {
            step: FailedStep::PassDescriptors,
            errno: libc::EMFILE,
        };
        self.report(Report::Failed { id, failure });
    }

    fn start(&mut self, order: Order) -> Result<Track, LaunchFailure> {
        let null = self.null.as_raw_fd();
        let stdin = order.stdin.as_ref().map_or(null, AsRawFd::as_raw_fd);
        let (stdout, stderr) = match &order.output {
            Some((stdout, stderr)) => (stdout.as_raw_fd(), stderr.as_raw_fd()),
            None if order.terminal => (stdin, stdin),
            None => (null, null),
        };
        let [soft, hard] = self.settings.open_files;
        let open_files = order
            .limits
            .open_files
            .map_or([soft, hard], |asked| [asked.min(hard); 2]);
        let setup = Setup {
            id: order.id,
            stdio: [stdin, stdout, stderr],
            terminal: order.terminal,
            open_files,
            inherited: order
                .inherited
                .iter()
                .map(|(number, fd)| (*number, fd.as_raw_fd()))
                .collect(),
        };
        let stacks = self
            .stacks
            .take()
            .map_err(|error| failure(FailedStep::Fork, &error))?;
        match &mut self.tracker {
            Tracker::Cgroup { root, .. } => {
                let cgroup = match root.take(&order.limits) {
                    Ok(cgroup) => cgroup,
                    Err(error) => {
                        self.stacks.give_back(stacks);
                        return Err(failure(FailedStep::Cgroup, &error));
                    }
                };
                match Child::start(order.strings, &setup, stacks, Some(cgroup.directory())) {
                    Ok((child, leader)) => {
                        // Without the watch its start is noticed at its end only, which is late but true.
                        let _ = self.watch(child.status(), CHILDREN + order.id);
                        Ok(Track::Cgroup {
                            cgroup,
                            leader,
                            child: Some(child),
                            failure: None,
                            watch: None,
                        })
                    }
                    Err((error, stacks)) => {
                        self.stacks.give_back(stacks);
                        if let Tracker::Cgroup { root, .. } = &mut self.tracker {
                            root.give_back(cgroup);
                        }
                        Err(failure(FailedStep::Fork, &error))
                    }
                }
            }
            Tracker::Keepers { report, .. } => {
                let limits = &order.limits;
                if limits
                    .memory_bytes
                    .or(limits.processes)
                    .or(limits.cpu_seconds)
                    .is_some()
                {
                    self.stacks.give_back(stacks);
                    return Err(LaunchFailure {
                        step: FailedStep::Cgroup,
                        errno: libc::EOPNOTSUPP,
                    });
                }
                match Keeper::start(order.strings, &setup, stacks, std::os::fd::AsFd::as_fd(report)) {
                    Ok(keeper) => Ok(Track::Keeper { keeper, leader: 0 }),
                    Err((error, stacks)) => {
                        self.stacks.give_back(stacks);
                        Err(failure(FailedStep::Fork, &error))
                    }
                }
            }
        }
    }

    /// A child's status pipe ended: it executed, failed or was killed.
    pub(super) fn child_left(&mut self, id: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Track::Cgroup {
            child: place,
            failure,
            leader,
            ..
        } = &mut job.track
        else {
            return;
        };
        let Some(child) = place else { return };
        let (outcome, stacks) = child.outcome();
        if outcome == Outcome::Pending {
            return;
        }
        // Dropping the pipe takes it out of the epoll set: no copy of this end is left anywhere.
        *place = None;
        let leader = *leader;
        if let Outcome::Failed(found) = outcome {
            // Reported when it is reaped, so that nothing of it is left then.
            *failure = Some(found);
        } else if job.cancelled && died_before_exec(leader) {
            *failure = Some(Failure {
                step: step::ENDED,
                errno: libc::ECANCELED,
                program: 0,
                exists: false,
            });
        } else {
            self.executes(id, leader, monotonic());
        }
        if let Some(stacks) = stacks {
            self.stacks.give_back(stacks);
        }
    }

    /// The leader executes.
    pub(super) fn executes(&mut self, id: u64, pid: i32, at: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.stage = Stage::Running;
        let held = std::mem::take(&mut job.held_signals);
        if let Track::Keeper { keeper, leader } = &mut job.track {
            *leader = pid;
            keeper.free_strings();
        }
        for signal in held {
            job.signal(signal);
        }
        self.report(Report::Started { id, pid, at });
        self.begin_held_ending(id);
        self.begin_held_leave(id);
    }
}
