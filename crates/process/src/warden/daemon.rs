//! The daemon's task that speaks with the warden, and replaces it when it dies.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use exec_protocol::environment::TreeTracking;
use exec_protocol::exit::Usage;
use exec_protocol::limits::{WARDEN_DEATH_MS, WARDEN_HELLO_MS, WARDEN_KILL_MS};
use exec_protocol::process::{Enforcement, Enforces};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use super::clock::instant;
use super::error::WardenError;
use super::launch::LaunchId;
use super::message::{ExitReport, Report, launch_id};
use super::report::{Exit, FailedStep, LaunchFailure, WardenEvents};
use super::settings::Settings;
use super::takeover;
use super::wire::{FrameReader, Outbox};
use crate::sys::{self, Children, Reaped};

/// Between two looks whether a warden whose socket ended has died, and between attempts to start another.
const RETRY: Duration = Duration::from_millis(2);

/// What the handles and the task share.
pub(super) struct Link {
    settings: Settings,
    events: Arc<dyn WardenEvents>,
    state: Mutex<State>,
    /// Something for the task to look at.
    wake: Notify,
    /// The warden has ended as asked.
    ended: Notify,
}

impl fmt::Debug for Link {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Link")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct State {
    /// `None`: between two wardens.
    socket: Option<Arc<OwnedFd>>,
    /// The warden, until it is reaped: so long the number is its own.
    pid: Option<i32>,
    outbox: Outbox,
    /// Launches that could not even be sent.
    refused: Vec<(LaunchId, LaunchFailure)>,
    tracking: TreeTracking,
    enforces: Enforces,
    shutting_down: bool,
    ended: bool,
}

impl Link {
    pub(super) fn attach(
        settings: Settings,
        socket: OwnedFd,
        pid: i32,
        events: Arc<dyn WardenEvents>,
    ) -> io::Result<Arc<Self>> {
        let socket = Arc::new(socket);
        let link = Arc::new(Self {
            settings,
            events,
            state: Mutex::new(State {
                socket: Some(Arc::clone(&socket)),
                pid: Some(pid),
                outbox: Outbox::default(),
                refused: Vec::new(),
                tracking: TreeTracking::Subreaper,
                enforces: Enforces {
                    open_files: Some(Enforcement::Rlimit),
                    ..Enforces::default()
                },
                shutting_down: false,
                ended: false,
            }),
            wake: Notify::new(),
            ended: Notify::new(),
        });
        let mut reader = FrameReader::default();
        link.await_hello(&socket, &mut reader)?;
        let registered = sys::register(socket)?;
        tokio::spawn(drive(Arc::clone(&link), registered, reader));
        Ok(link)
    }

    fn await_hello(&self, socket: &OwnedFd, reader: &mut FrameReader) -> io::Result<()> {
        let bound = Timespec::try_from(Duration::from_millis(WARDEN_HELLO_MS))
            .map_err(|_| io::ErrorKind::InvalidInput)?;
        loop {
            let mut readable = PollFd::new(socket, PollFlags::IN);
            match poll(std::slice::from_mut(&mut readable), Some(&bound)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Err(rustix::io::Errno::INTR) => continue,
                polled => polled?,
            };
            match reader.receive(socket.as_fd()) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                received => received?,
            };
            // The warden speaks of nothing else before it was asked for something.
            if self.deliver(reader)? {
                return Ok(());
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hello(&self) -> (TreeTracking, Enforces) {
        let state = self.state();
        (state.tracking, state.enforces)
    }

    /// Sends a frame now if the socket takes it, else as soon as it does.
    pub(super) fn send(&self, frame: Vec<u8>, descriptors: Vec<Arc<OwnedFd>>) {
        let mut state = self.state();
        if state.shutting_down {
            return;
        }
        let alone = state.outbox.is_empty();
        state.outbox.push(frame, descriptors);
        let State {
            socket: Some(socket),
            outbox,
            ..
        } = &mut *state
        else {
            return;
        };
        if !alone || !matches!(outbox.flush(socket.as_fd()), Ok(true)) {
            self.wake.notify_one();
        }
    }

    /// Fails a launch from the task: a caller is never called back from its own call.
    pub(super) fn refuse(&self, id: LaunchId, failure: LaunchFailure) {
        self.state().refused.push((id, failure));
        self.wake.notify_one();
    }

    /// Lets the warden go, within the bound; if it does not, ends it and everything it had.
    pub(super) async fn shut_down(&self, bound: Duration) {
        self.state().shutting_down = true;
        self.wake.notify_one();
        self.signal_warden(libc::SIGCONT);
        if tokio::time::timeout(bound, self.has_ended()).await.is_err() {
            tracing::warn!("the warden did not go when asked: it is killed with everything it had");
            self.signal_warden(libc::SIGKILL);
            // The sweep is bounded itself; a warden that hangs in the kernel cannot be waited for.
            let bound = Duration::from_millis(WARDEN_KILL_MS);
            let _ = tokio::time::timeout(bound, self.has_ended()).await;
        }
    }

    async fn has_ended(&self) {
        loop {
            let mut ended = pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.state().ended {
                return;
            }
            ended.await;
        }
    }

    fn signal_warden(&self, signal: i32) {
        // Reaped only under the same lock.
        let state = self.state();
        if let Some(pid) = state.pid {
            let _ = sys::kill(pid, signal);
        }
    }

    /// Reaps the warden if it is dead. `None`: not yet.
    fn reap_warden(&self) -> Option<Reaped> {
        let mut state = self.state();
        let reaped = sys::reap(state.pid?)?;
        state.pid = None;
        Some(reaped)
    }

    /// Waits for the warden's death, but no longer than a process that dies would take. `None`: it hangs in the
    /// kernel. It is no longer the warden then; the sweep reaps it if it can, or whichever sweep comes next.
    async fn await_death(&self) -> Option<Reaped> {
        let bound = Instant::now() + Duration::from_millis(WARDEN_DEATH_MS);
        loop {
            if let Some(reaped) = self.reap_warden() {
                return Some(reaped);
            }
            if Instant::now() >= bound {
                break;
            }
            tokio::time::sleep(RETRY).await;
        }
        tracing::error!("the warden does not die: it is left behind");
        let mut state = self.state();
        if let Some(pid) = state.pid.take() {
            // One that was let go was not killed before.
            let _ = sys::kill(pid, libc::SIGKILL);
        }
        None
    }

    /// A command may signal its parent, which is the warden where cgroups track. If it stopped it, the warden
    /// goes on at once.
    fn wake_stopped_warden(&self) {
        let state = self.state();
        if let Some(pid) = state.pid
            && sys::stopped_child(Children::One(pid)).is_some()
        {
            let _ = sys::kill(pid, libc::SIGCONT);
        }
    }

    /// Hands on what has come. True: something has.
    fn deliver(&self, reader: &mut FrameReader) -> io::Result<bool> {
        let malformed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let mut any = false;
        while let Some(frame) = reader.next().map_err(malformed)? {
            any = true;
            match Report::decode(&frame).map_err(malformed)? {
                Report::Hello { tracking, enforces } => {
                    let mut state = self.state();
                    state.tracking = tracking;
                    state.enforces = enforces;
                }
                Report::Started { id, pid, at } => {
                    self.events
                        .started(LaunchId(id), pid.cast_unsigned(), instant(at));
                }
                Report::Failed { id, failure } => self.events.failed(LaunchId(id), failure),
                Report::Exited(report) => self.events.exited(LaunchId(report.id), exit(&report)),
                Report::TreeEnded { id } => self.events.tree_ended(LaunchId(id)),
                Report::Unfit { step, errno } => {
                    let source = io::Error::from_raw_os_error(errno);
                    return Err(WardenError { step, source }.into());
                }
            }
        }
        Ok(any)
    }

    /// Sends what waits. `WouldBlock`: something is left.
    fn flush(&self) -> io::Result<()> {
        let mut state = self.state();
        let State {
            socket: Some(socket),
            outbox,
            refused,
            ..
        } = &mut *state
        else {
            return Ok(());
        };
        loop {
            match outbox.flush(socket.as_fd()) {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(io::ErrorKind::WouldBlock.into()),
                // Too many descriptors in flight: this launch fails, the next may pass.
                Err(error) if error.raw_os_error() == Some(libc::ETOOMANYREFS) => {
                    if let Some(id) = outbox.pop().and_then(|frame| launch_id(&frame)) {
                        let step = FailedStep::PassDescriptors;
                        refused.push((
                            LaunchId(id),
                            LaunchFailure {
                                step,
                                errno: libc::ETOOMANYREFS,
                            },
                        ));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn tell_refused(&self) {
        let refused = std::mem::take(&mut self.state().refused);
        for (id, failure) in refused {
            self.events.failed(id, failure);
        }
    }
}

fn exit(report: &ExitReport) -> Exit {
    let status = report.status;
    let millis = |micros: u64| micros / 1000;
    Exit {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        usage: Usage {
            user_ms: report.cpu.map(|(user, _)| millis(user)),
            system_ms: report.cpu.map(|(_, system)| millis(system)),
            max_rss_bytes: report.cpu.map(|_| report.max_rss_kib * 1024),
        },
        out_of_memory: report.out_of_memory,
        at: instant(report.at),
        tree_ended: report.tree_ended,
    }
}

/// Serves one warden after the other, until the daemon lets the last one go.
async fn drive(link: Arc<Link>, mut socket: AsyncFd<Arc<OwnedFd>>, mut reader: FrameReader) {
    // Without it a warden that was stopped is only woken at the end of the session.
    let mut stops = signal(SignalKind::child()).ok();
    link.wake_stopped_warden();
    loop {
        serve(&link, &socket, &mut reader, stops.as_mut()).await;
        link.state().socket = None;
        drop(socket);
        // Whatever it was doing, it is no longer the warden. Not reaped yet: the number is its own.
        if !link.state().shutting_down {
            link.signal_warden(libc::SIGKILL);
        }
        let reaped = link.await_death().await;
        let in_order = link.state().shutting_down && reaped.is_some_and(|reaped| reaped.status == 0);
        // After one that went in order too: it may have been unable to look (no descriptor) at what it had left.
        takeover::sweep(&link.settings).await;
        if !in_order {
            {
                let mut state = link.state();
                state.outbox = Outbox::default();
                state.refused.clear();
            }
            link.events.lost();
        }
        if link.state().shutting_down {
            link.state().ended = true;
            link.ended.notify_waiters();
            return;
        }
        socket = replace(&link).await;
        reader = FrameReader::default();
    }
}

/// Starts another warden, however often that takes; launches that wait for it fail meanwhile.
async fn replace(link: &Link) -> AsyncFd<Arc<OwnedFd>> {
    let mut wait = RETRY;
    loop {
        let started = takeover::start_replacement(&link.settings).and_then(|(socket, pid)| {
            let socket = Arc::new(socket);
            Ok((Arc::clone(&socket), sys::register(socket)?, pid))
        });
        match started {
            Ok((socket, registered, pid)) => {
                {
                    let mut state = link.state();
                    state.socket = Some(socket);
                    state.pid = Some(pid);
                }
                link.wake.notify_one();
                return registered;
            }
            Err(error) => {
                tracing::error!(%error, "the warden cannot be replaced");
                let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
                {
                    let mut state = link.state();
                    let mut outbox = std::mem::take(&mut state.outbox);
                    while let Some(frame) = outbox.pop() {
                        if let Some(id) = launch_id(&frame) {
                            let failure = LaunchFailure {
                                step: FailedStep::Fork,
                                errno,
                            };
                            state.refused.push((LaunchId(id), failure));
                        }
                    }
                }
                link.tell_refused();
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(1));
            }
        }
    }
}

/// Reads and writes until the warden's end is closed.
async fn serve(
    link: &Link,
    socket: &AsyncFd<Arc<OwnedFd>>,
    reader: &mut FrameReader,
    mut stops: Option<&mut Signal>,
) {
    let mut blocked = false;
    let mut half_closed = false;
    loop {
        link.tell_refused();
        if !blocked && !half_closed && link.state().shutting_down {
            half_closed = true;
            let _ = rustix::net::shutdown(socket.get_ref(), rustix::net::Shutdown::Write);
        }
        tokio::select! {
            ready = socket.readable() => {
                let Ok(mut ready) = ready else { return };
                match ready.try_io(|fd| reader.receive(fd.get_ref().as_fd())) {
                    Ok(Ok(0)) => return,
                    Ok(Ok(_)) => {
                        if let Err(error) = link.deliver(reader) {
                            tracing::error!(%error, "the warden is given up");
                            return;
                        }
                    }
                    Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(Err(_)) => return,
                    Err(_would_block) => {}
                }
            }
            ready = socket.writable(), if blocked => {
                let Ok(mut ready) = ready else { return };
                blocked = match ready.try_io(|_| link.flush()) {
                    // An error other than a full socket shows as its end, on the reading side.
                    Ok(_) => false,
                    Err(_would_block) => true,
                };
            }
            Some(()) = next_of(stops.as_deref_mut()) => link.wake_stopped_warden(),
            () = link.wake.notified() => {
                // Also notices what could not be sent for another reason than a full socket.
                blocked = link.flush().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
            }
        }
    }
}

async fn next_of(signals: Option<&mut Signal>) -> Option<()> {
    match signals {
        Some(signals) => signals.recv().await,
        None => None,
    }
}
