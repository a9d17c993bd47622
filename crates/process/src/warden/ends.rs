//! The warden learns how leaders and trees end.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use exec_protocol::limits::STRAY_ROUND_MS;
use rustix::fs::inotify;

use super::clock::monotonic;
use super::job::{Job, Stage, Track};
use super::main_loop::{Main, Timer};
use super::message::{ExitReport, Report};
use super::report::{FailedStep, LaunchFailure};
use super::tracker::Tracker;
use super::tree;
use crate::sys::{self, COMM_BYTES, Children, Reaped};
use crate::sys_keeper::{RECORD_BYTES, Record, kind};

impl Main {
    /// Reaps what is dead: leaders, keepers, orphans. Everything about a process is settled before it is
    /// reaped, because afterwards its number may be another's.
    pub(super) fn reap_all(&mut self) {
        // One read empties it: SIGCHLD is a single pending signal.
        let mut info = [0u8; 128];
        let _ = rustix::io::read(self.signals(), &mut info);
        self.wake_keepers();
        while let Some((pid, with_error)) = sys::dead_child() {
            let id = self.by_pid.get(&pid).copied();
            if let Some(id) = id {
                // Its start, if that is still open.
                self.child_left(id);
            }
            let job = id.and_then(|id| self.jobs.get(&id));
            let comm = match job.map(|job| &job.track) {
                Some(Track::Cgroup { .. }) if with_error => sys::comm(pid),
                _ => Default::default(),
            };
            let Some(reaped) = sys::reap(pid) else { return };
            self.by_pid.remove(&pid);
            match id.and_then(|id| Some((id, &self.jobs.get(&id)?.track))) {
                Some((id, Track::Cgroup { .. })) => self.leader_reaped(id, &reaped, comm),
                Some((id, Track::Keeper { .. })) => self.keeper_reaped(id, &reaped),
                // An orphan of some tree; its cgroup knows the rest.
                None => {}
            }
        }
        self.end_strays();
    }

    /// A command may signal its keeper. A stopped one would report nothing and reap nothing, so it goes on at
    /// once. Leaders may be stopped: they are not the warden's children where there are keepers.
    fn wake_keepers(&self) {
        if !matches!(self.tracker, Tracker::Keepers { .. }) {
            return;
        }
        while let Some(pid) = sys::stopped_child(Children::All) {
            if self.by_pid.contains_key(&pid) {
                let _ = sys::kill(pid, libc::SIGCONT);
            }
        }
    }

    fn leader_reaped(&mut self, id: u64, reaped: &Reaped, comm: [u8; COMM_BYTES]) {
        let at = monotonic();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Track::Cgroup { cgroup, failure, .. } = &mut job.track else {
            return;
        };
        if let Some(failure) = failure.take() {
            self.report(Report::Failed {
                id,
                failure: failure.into(),
            });
            self.finish(id);
            return;
        }
        job.stage = Stage::Exited;
        let tree_ended = cgroup.is_empty();
        let report = ExitReport {
            id,
            status: reaped.status,
            at,
            cpu: Some((micros(reaped.user), micros(reaped.system))),
            max_rss_kib: reaped.max_rss_kib,
            out_of_memory: cgroup.out_of_memory(),
            tree_ended,
            comm,
        };
        self.report(Report::Exited(report));
        if tree_ended {
            self.finish(id);
        } else {
            self.watch_tree(id);
        }
    }

    /// Watches a tree that outlives its leader.
    fn watch_tree(&mut self, id: u64) {
        let Some(Job {
            track: Track::Cgroup { cgroup, watch, .. },
            ..
        }) = self.jobs.get_mut(&id)
        else {
            return;
        };
        if let Tracker::Cgroup { inotify, watches, .. } = &mut self.tracker
            && let Ok(descriptor) =
                inotify::add_watch(&*inotify, cgroup.events_path(), inotify::WatchFlags::MODIFY)
        {
            *watch = Some(descriptor);
            watches.insert(descriptor, id);
        }
        // It may have ended before the watch was there.
        self.check_tree(id);
    }

    fn check_tree(&mut self, id: u64) {
        if let Some(Job {
            stage: Stage::Exited,
            track: Track::Cgroup { cgroup, .. },
            ..
        }) = self.jobs.get(&id)
            && cgroup.is_empty()
        {
            self.report(Report::TreeEnded { id });
            self.finish(id);
        }
    }

    /// Forgets a command whose cgroup is empty.
    fn finish(&mut self, id: u64) {
        let Some(Job {
            track: Track::Cgroup { cgroup, watch, .. },
            ..
        }) = self.jobs.remove(&id)
        else {
            return;
        };
        if let Tracker::Cgroup {
            root,
            inotify,
            watches,
        } = &mut self.tracker
        {
            if let Some(watch) = watch {
                watches.remove(&watch);
                let _ = inotify::remove_watch(&*inotify, watch);
            }
            root.give_back(cgroup);
        }
    }

    /// inotify or the record pipe is readable.
    pub(super) fn tracker_spoke(&mut self) {
        match &self.tracker {
            Tracker::Cgroup { .. } => self.read_watches(),
            Tracker::Keepers { .. } => self.read_records(),
        }
    }

    fn read_watches(&mut self) {
        let Tracker::Cgroup { inotify, watches, .. } = &self.tracker else {
            return;
        };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(inotify.as_fd(), &mut buffer);
        let mut changed = Vec::new();
        while let Ok(event) = reader.next() {
            if event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW) {
                changed.extend(watches.values().copied());
            }
            changed.extend(watches.get(&event.wd()).copied());
        }
        for id in changed {
            self.check_tree(id);
        }
    }

    fn read_records(&mut self) {
        loop {
            let mut buffer = [0u8; 64 * RECORD_BYTES];
            let Tracker::Keepers { records, partial, .. } = &mut self.tracker else {
                return;
            };
            let Ok(length) = rustix::io::read(&*records, &mut buffer) else {
                return;
            };
            if length == 0 {
                return;
            }
            partial.extend_from_slice(buffer.get(..length).unwrap_or_default());
            let bytes = std::mem::take(partial);
            let mut chunks = bytes.chunks_exact(RECORD_BYTES);
            let records: Vec<Record> = chunks
                .by_ref()
                .filter_map(|chunk| Some(Record::from_bytes(chunk.try_into().ok()?)))
                .collect();
            *partial = chunks.remainder().to_vec();
            for record in records {
                self.record(&record);
            }
        }
    }

    fn record(&mut self, record: &Record) {
        let id = record.id;
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Track::Keeper { keeper, .. } = &job.track else {
            return;
        };
        match record.kind {
            kind::STARTED => self.executes(id, record.pid, record.at),
            kind::FAILED => {
                let failure = keeper.failure().map_or(
                    LaunchFailure {
                        step: FailedStep::Setup,
                        errno: libc::EIO,
                    },
                    LaunchFailure::from,
                );
                job.stage = Stage::Done;
                self.report(Report::Failed { id, failure });
            }
            kind::EXITED => {
                let tree_ended = record.tree_ended != 0;
                job.stage = if tree_ended { Stage::Done } else { Stage::Exited };
                self.report(Report::Exited(ExitReport {
                    id,
                    status: record.status,
                    at: record.at,
                    cpu: Some((record.user_us, record.system_us)),
                    max_rss_kib: record.max_rss_kib,
                    out_of_memory: false,
                    tree_ended,
                    comm: record.comm,
                }));
            }
            kind::TREE_ENDED => {
                job.stage = Stage::Done;
                self.report(Report::TreeEnded { id });
            }
            _ => {}
        }
    }

    fn keeper_reaped(&mut self, id: u64, reaped: &Reaped) {
        // Its last words may still be in the pipe.
        self.read_records();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Track::Keeper { keeper, .. } = &mut job.track else {
            return;
        };
        if let Some(stacks) = keeper.dead(reaped) {
            self.stacks.give_back(stacks);
        }
        let stage = job.stage;
        // Nothing may be looked for below its number from now on.
        job.stage = Stage::Done;
        match stage {
            Stage::Done => {
                self.jobs.remove(&id);
                return;
            }
            // Somebody killed the keeper; its leader dies with it, the others come to the warden.
            Stage::Starting => {
                let failure = LaunchFailure {
                    step: FailedStep::Setup,
                    errno: libc::ECHILD,
                };
                self.report(Report::Failed { id, failure });
            }
            Stage::Running => self.report(Report::Exited(ExitReport {
                id,
                status: libc::SIGKILL,
                at: monotonic(),
                cpu: None,
                max_rss_kib: 0,
                out_of_memory: false,
                tree_ended: false,
                comm: Default::default(),
            })),
            Stage::Exited => {}
        }
        if let Tracker::Keepers { orphaned, .. } = &mut self.tracker
            && stage != Stage::Starting
        {
            orphaned.push(id);
        } else {
            self.jobs.remove(&id);
        }
        self.end_strays();
    }

    /// Ends what belongs to no command any more: where there are keepers, every child of the warden that is none
    /// has lost its own, and when none is left, so are the trees of those keepers. When the daemon is gone and
    /// every command has ended, whatever is left: a process may have moved out of its cgroup.
    pub(super) fn end_strays(&mut self) {
        let last = self.is_last();
        let orphaned = matches!(&self.tracker, Tracker::Keepers { orphaned, .. } if !orphaned.is_empty());
        if !last && !orphaned {
            return;
        }
        self.strays = false;
        for pid in tree::children(std::process::id() as i32) {
            if !self.by_pid.contains_key(&pid) {
                self.strays = true;
                if last {
                    tree::signal_descendants(pid, libc::SIGKILL, |_, _| true);
                }
                // A child that has not been reaped: the number is its own.
                let _ = sys::kill(pid, libc::SIGKILL);
            }
        }
        if self.strays {
            if !self.timers.iter().any(|(.., timer)| *timer == Timer::Strays) {
                self.timers.insert((
                    Instant::now() + Duration::from_millis(STRAY_ROUND_MS),
                    0,
                    Timer::Strays,
                ));
            }
            return;
        }
        if let Tracker::Keepers { orphaned, .. } = &mut self.tracker {
            for id in std::mem::take(orphaned) {
                self.jobs.remove(&id);
                self.report(Report::TreeEnded { id });
            }
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
