//! The warden's process: one thread, one epoll loop, no call that waits for a command.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use exec_protocol::environment::TreeTracking;
use exec_protocol::limits::WARDEN_SPARE_DESCRIPTORS;
use exec_protocol::process::{Enforcement, Enforces};
use rustix::event::{Timespec, epoll};
use rustix::process::{
    Resource, Rlimit, Signal, getpid, getrlimit, set_child_subreaper, set_parent_process_death_signal,
    setrlimit,
};

use super::error::{WardenError, WardenStep};
use super::job::Job;
use super::message::{Report, Request};
use super::settings::Settings;
use super::tracker::Tracker;
use super::wire::{FrameReader, Outbox};
use crate::sys;
use crate::sys_stack::StackPool;

pub(super) const SOCKET: u64 = 0;
pub(super) const SIGNALS: u64 = 1;
pub(super) const TRACKER: u64 = 2;
/// Status pipes of children: this and the launch's id.
pub(super) const CHILDREN: u64 = 16;

/// What a timer is for; a timer that no longer fits its job's state does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The ladder's next rung.
    Ladder,
    /// Look at the CPU time used.
    Cpu,
    /// Look for what belongs to no command any more.
    Strays,
}

/// The warden's state.
#[derive(Debug)]
pub(super) struct Main {
    pub(super) settings: Settings,
    pub(super) socket: OwnedFd,
    pub(super) epoll: OwnedFd,
    signals: OwnedFd,
    pub(super) null: OwnedFd,
    reader: FrameReader,
    outbox: Outbox,
    /// The daemon's end of the socket is closed.
    pub(super) daemon_gone: bool,
    waits_for_room: bool,
    pub(super) tracker: Tracker,
    pub(super) stacks: StackPool,
    pub(super) jobs: HashMap<u64, Job>,
    /// Leaders (cgroup) or keepers, by process id.
    pub(super) by_pid: HashMap<i32, u64>,
    pub(super) timers: BTreeSet<(Instant, u64, Timer)>,
    /// At the last look there was a child that belongs to no command.
    pub(super) strays: bool,
}

/// Runs the warden on the socket at descriptor 0 to its end.
///
/// # Errors
/// What it needs to begin could not be had; the daemon has been told.
pub(super) fn run(settings: Settings) -> Result<(), WardenError> {
    // Nothing of the daemon's is kept but the socket.
    sys::close_above_stdio();
    let stdin = rustix::stdio::stdin();
    let socket = rustix::io::fcntl_dupfd_cloexec(stdin, 3)
        .map_err(|error| WardenStep::KeepLink.failed()(error.into()))
        .inspect_err(|error| tell(stdin, error))?;
    let equipment = Equipment::take(&settings, &socket).inspect_err(|error| tell(socket.as_fd(), error))?;
    let mut main = Main::begin(settings, socket, equipment);
    main.settle()?;
    main.serve();
    Ok(())
}

/// Tells the daemon why there will be no warden.
fn tell(socket: BorrowedFd<'_>, error: &WardenError) {
    let unfit = Report::Unfit {
        step: error.step,
        errno: error.source.raw_os_error().unwrap_or(libc::EIO),
    };
    let _ = rustix::io::write(socket, &unfit.encode());
}

/// What a warden needs besides its socket.
#[derive(Debug)]
struct Equipment {
    epoll: OwnedFd,
    signals: OwnedFd,
    null: OwnedFd,
    tracker: Tracker,
}

impl Equipment {
    fn take(settings: &Settings, socket: &OwnedFd) -> Result<Self, WardenError> {
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
        let null = rustix::fs::open("/dev/null", flags, rustix::fs::Mode::empty())
            .map_err(|error| WardenStep::OpenNull.failed()(error.into()))?;
        rustix::stdio::dup2_stdin(&null)
            .and_then(|()| rustix::stdio::dup2_stdout(&null))
            .and_then(|()| rustix::stdio::dup2_stderr(&null))
            .map_err(|error| WardenStep::ReplaceStdio.failed()(error.into()))?;
        let signals = sys::take_signals().map_err(WardenStep::TakeSignals.failed())?;
        let _ = rustix::process::setsid();
        // Its name in ps(1) and top(1).
        let _ = rustix::thread::set_name(c"exec-warden");
        set_child_subreaper(Some(getpid()))
            .map_err(|error| WardenStep::BecomeSubreaper.failed()(error.into()))?;
        // So that nobody who stopped it keeps it from noticing.
        let _ = set_parent_process_death_signal(Some(Signal::CONT));
        raise_open_files();
        let tracker = Tracker::choose(settings).map_err(WardenStep::Track.failed())?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|error| WardenStep::Watch.failed()(error.into()))?;
        for (fd, token) in [
            (socket.as_fd(), SOCKET),
            (signals.as_fd(), SIGNALS),
            (tracker.source(), TRACKER),
        ] {
            watch(&epoll, fd, token).map_err(WardenStep::Watch.failed())?;
        }
        Ok(Self {
            epoll,
            signals,
            null,
            tracker,
        })
    }
}

fn watch(epoll: &OwnedFd, fd: impl AsFd, token: u64) -> io::Result<()> {
    let data = epoll::EventData::new_u64(token);
    Ok(epoll::add(epoll, fd, data, epoll::EventFlags::IN)?)
}

impl Main {
    fn begin(settings: Settings, socket: OwnedFd, equipment: Equipment) -> Self {
        let Equipment {
            epoll,
            signals,
            null,
            tracker,
        } = equipment;
        let mut main = Self {
            settings,
            socket,
            epoll,
            signals,
            null,
            reader: FrameReader::default(),
            outbox: Outbox::default(),
            daemon_gone: false,
            waits_for_room: false,
            tracker,
            stacks: StackPool::default(),
            jobs: HashMap::new(),
            by_pid: HashMap::new(),
            timers: BTreeSet::new(),
            strays: false,
        };
        main.report(main.hello());
        main.flush();
        main
    }

    /// What is left to do once the hello is on its way, which the daemon waits for, and before a command is served.
    /// If trees cannot be tracked as it said, it is said again.
    ///
    /// # Errors
    /// They cannot be tracked in any way.
    fn settle(&mut self) -> Result<(), WardenError> {
        if !self.tracker.is_proven(&self.settings, &mut self.stacks) {
            self.tracker.remove();
            self.tracker = Tracker::keepers().map_err(WardenStep::Track.failed())?;
            self.watch(self.tracker.source(), TRACKER)
                .map_err(WardenStep::Watch.failed())?;
            self.report(self.hello());
            self.flush();
        }
        self.tracker.sweep();
        Ok(())
    }

    pub(super) fn signals(&self) -> &OwnedFd {
        &self.signals
    }

    pub(super) fn watch(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        watch(&self.epoll, fd, token)
    }

    fn hello(&self) -> Report {
        match &self.tracker {
            Tracker::Cgroup { root, .. } => Report::Hello {
                tracking: TreeTracking::Cgroup,
                enforces: root.enforces(),
            },
            Tracker::Keepers { .. } => Report::Hello {
                tracking: TreeTracking::Subreaper,
                enforces: Enforces {
                    open_files: Some(Enforcement::Rlimit),
                    ..Enforces::default()
                },
            },
        }
    }

    fn serve(&mut self) {
        let mut events = Vec::with_capacity(64);
        while !self.has_finished() {
            events.clear();
            let timeout = self.next_timeout();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                // Only a broken descriptor is left as a reason: the daemon sees the end and takes over.
                Err(_) => return,
            }
            // A start is reported before the end that may have come in the same turn; and what the daemon
            // asks is done before anything is reaped, while every number is still its owner's.
            let tokens: Vec<u64> = events.iter().map(|event| event.data.u64()).collect();
            if tokens.contains(&SOCKET) {
                self.read_socket();
            }
            for token in tokens.iter().copied().filter(|token| *token >= CHILDREN) {
                self.child_left(token - CHILDREN);
            }
            if tokens.contains(&TRACKER) {
                self.tracker_spoke();
            }
            if tokens.contains(&SIGNALS) {
                self.reap_all();
            }
            self.fire_timers();
            self.flush();
        }
        self.tracker.remove();
    }

    /// The daemon is gone and every command has ended.
    pub(super) fn is_last(&self) -> bool {
        self.daemon_gone && self.jobs.is_empty()
    }

    fn has_finished(&mut self) -> bool {
        if self.is_last() {
            let _spare = SpareDescriptors::open();
            self.end_strays();
        }
        self.is_last() && !self.strays
    }

    fn next_timeout(&self) -> Option<Timespec> {
        let (at, ..) = self.timers.first()?;
        // Rounded up: waking early would spin.
        let wait = at.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
        Timespec::try_from(wait).ok()
    }

    fn fire_timers(&mut self) {
        let now = Instant::now();
        while let Some(timer) = self.timers.first().copied().filter(|(at, ..)| *at <= now) {
            self.timers.remove(&timer);
            let _spare = SpareDescriptors::open();
            match timer {
                (_, id, Timer::Ladder) => self.climb(id, now),
                (_, id, Timer::Cpu) => self.check_cpu(id, now),
                (_, _, Timer::Strays) => self.end_strays(),
            }
        }
    }

    fn read_socket(&mut self) {
        loop {
            match self.reader.receive(self.socket.as_fd()) {
                Ok(0) => return self.daemon_left(),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return self.daemon_left(),
            }
            loop {
                match self
                    .reader
                    .next()
                    .and_then(|frame| frame.map(Request::decode).transpose())
                {
                    Ok(Some(request)) => self.handle(request),
                    Ok(None) => break,
                    Err(_) => return self.daemon_left(),
                }
            }
        }
    }

    fn handle(&mut self, request: Request) {
        match request {
            Request::Launch(order) => self.launch(*order),
            Request::Stripped(id) => self.refuse_stripped(id),
            Request::Signal { id, signal } => {
                let _spare = SpareDescriptors::open();
                self.signal(id, signal);
            }
            Request::End { id, signal, grace } => {
                let _spare = SpareDescriptors::open();
                self.end(id, signal, grace);
            }
            Request::Leave { id } => {
                let _spare = SpareDescriptors::open();
                self.leave(id);
            }
        }
    }

    /// Ends everything. What is reported meanwhile still goes to a daemon that has only shut its side down.
    fn daemon_left(&mut self) {
        if self.daemon_gone {
            return;
        }
        self.daemon_gone = true;
        // A closed socket would wake the loop for ever.
        let _ = epoll::delete(&self.epoll, &self.socket);
        let ids: Vec<u64> = self.jobs.keys().copied().collect();
        for id in ids {
            self.end(id, libc::SIGTERM, self.settings.daemon_gone_grace);
        }
    }

    pub(super) fn report(&mut self, report: Report) {
        self.outbox.push(report.encode(), Vec::new());
    }

    fn flush(&mut self) {
        let room = self.outbox.flush(self.socket.as_fd());
        let waits = match room {
            Ok(drained) => !drained,
            // The daemon is gone; the read side finds out.
            Err(_) => {
                self.outbox = Outbox::default();
                false
            }
        };
        if waits != self.waits_for_room && !self.daemon_gone {
            let mut flags = epoll::EventFlags::IN;
            flags.set(epoll::EventFlags::OUT, waits);
            let data = epoll::EventData::new_u64(SOCKET);
            if epoll::modify(&self.epoll, &self.socket, data, flags).is_ok() {
                self.waits_for_room = waits;
            }
        }
    }
}

/// Raises the soft limit to the hard one, but for what is spared where that is little.
fn raise_open_files() {
    let given = getrlimit(Resource::Nofile);
    let current = given.maximum.map(|hard| {
        if hard >= 8 * WARDEN_SPARE_DESCRIPTORS {
            hard - WARDEN_SPARE_DESCRIPTORS
        } else {
            hard
        }
    });
    let _ = setrlimit(Resource::Nofile, Rlimit { current, ..given });
}

/// As long as it lives, the spared descriptors may be used: a warden at its limit must still be able to look at
/// trees and to kill them.
struct SpareDescriptors(Rlimit);

impl SpareDescriptors {
    fn open() -> Self {
        let before = getrlimit(Resource::Nofile);
        let current = before.maximum;
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..before });
        Self(before)
    }
}

impl Drop for SpareDescriptors {
    fn drop(&mut self) {
        let _ = setrlimit(Resource::Nofile, self.0);
    }
}
