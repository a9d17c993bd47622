//! The warden starts a command.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use exec_protocol::limits::CPU_POLL_MS;
use exec_protocol::process::ResourceLimits;

use super::cgroup::CgroupRoot;
use super::clock::monotonic;
use super::job::{CpuLimit, Job, Ladder, Stage, Track};
use super::main_loop::{CHILDREN, Main, Timer};
use super::message::{Order, Report};
use super::report::{FailedStep, LaunchFailure};
use super::tracker::Tracker;
use super::tree::died_before_exec;
use crate::sys_child::step;
use crate::sys_spawn::{Child, Failure, Keeper, Outcome, Setup, StatusPipe, Strings};
use crate::sys_stack::Stacks;

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
        let setup = self.setup(&order);
        let stacks = self
            .stacks
            .take()
            .map_err(|error| failure(FailedStep::Stack, &error))?;
        // Its descriptors stay open until the child has its own.
        let started = match &mut self.tracker {
            Tracker::Cgroup { root, .. } => {
                start_in_cgroup(root, &order.limits, order.strings, &setup, stacks)
            }
            Tracker::Keepers { report, .. } => {
                start_under_keeper(report.as_fd(), &order.limits, order.strings, &setup, stacks)
            }
        };
        match started {
            Ok(track) => {
                if let Track::Cgroup {
                    child: Some(child), ..
                } = &track
                {
                    // Without the watch its start is noticed at its end only, which is late but true.
                    let _ = self.watch(child.status(), CHILDREN + order.id);
                }
                Ok(track)
            }
            Err((failure, stacks)) => {
                self.stacks.give_back(stacks);
                Err(failure)
            }
        }
    }

    /// What its child is given.
    fn setup(&self, order: &Order) -> Setup {
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
        Setup {
            id: order.id,
            stdio: [stdin, stdout, stderr],
            terminal: order.terminal,
            open_files,
            inherited: order
                .inherited
                .iter()
                .map(|(number, fd)| (*number, fd.as_raw_fd()))
                .collect(),
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

/// Starts the command in a cgroup of its own; the stacks come back when it fails.
fn start_in_cgroup(
    root: &mut CgroupRoot,
    limits: &ResourceLimits,
    strings: Strings,
    setup: &Setup,
    stacks: Stacks,
) -> Result<Track, (LaunchFailure, Stacks)> {
    let pipe = match StatusPipe::new() {
        Ok(pipe) => pipe,
        Err(error) => return Err((failure(FailedStep::StatusPipe, &error), stacks)),
    };
    let cgroup = match root.take(limits) {
        Ok(cgroup) => cgroup,
        Err(error) => return Err((failure(FailedStep::Cgroup, &error), stacks)),
    };
    match Child::start(strings, setup, pipe, stacks, Some(cgroup.directory())) {
        Ok((child, leader)) => Ok(Track::Cgroup {
            cgroup,
            leader,
            child: Some(child),
            failure: None,
            watch: None,
        }),
        Err((error, stacks)) => {
            root.give_back(cgroup);
            Err((failure(FailedStep::Fork, &error), stacks))
        }
    }
}

/// Starts a keeper that starts the command; the stacks come back when it fails.
fn start_under_keeper(
    report: BorrowedFd<'_>,
    limits: &ResourceLimits,
    strings: Strings,
    setup: &Setup,
    stacks: Stacks,
) -> Result<Track, (LaunchFailure, Stacks)> {
    let enforced = limits.memory_bytes.or(limits.processes).or(limits.cpu_seconds);
    if enforced.is_some() {
        let failure = LaunchFailure {
            step: FailedStep::Cgroup,
            errno: libc::EOPNOTSUPP,
        };
        return Err((failure, stacks));
    }
    match Keeper::start(strings, setup, stacks, report) {
        Ok(keeper) => Ok(Track::Keeper { keeper, leader: 0 }),
        Err((error, stacks)) => Err((failure(FailedStep::Fork, &error), stacks)),
    }
}
