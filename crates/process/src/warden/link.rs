//! The daemon's task that speaks with the warden, and replaces it when it dies.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use exec_protocol::environment::TreeTracking;
use exec_protocol::exit::Usage;
use exec_protocol::limits::{
    WARDEN_DEATH_MS, WARDEN_HELLO_MS, WARDEN_KILL_MS, WARDEN_RETRY_MAX_MS, WARDEN_RETRY_MS,
};
use exec_protocol::process::{Enforcement, Enforces};
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

/// What the handles and the task share.
pub(super) struct Link {
    settings: Settings,
    events: Arc<dyn WardenEvents>,
    state: Mutex<State>,
    /// Something for the task to look at.
    wake: Notify,
    /// The first warden has said hello, or the last one has ended.
    changed: Notify,
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
    /// What the latest warden began with. `None`: the first has not begun yet.
    hello: Option<(TreeTracking, Enforces)>,
    /// What the last warden failed with.
    failure: Option<io::Error>,
    shutting_down: bool,
    /// No warden is left, and none will come.
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
                hello: None,
                failure: None,
                shutting_down: false,
                ended: false,
            }),
            wake: Notify::new(),
            changed: Notify::new(),
        });
        let registered = sys::register(socket)?;
        tokio::spawn(drive(Arc::clone(&link), registered));
        Ok(link)
    }

    /// Waits until the first warden has said hello, or cannot any more.
    pub(super) async fn ready(&self) -> io::Result<()> {
        let begun = self.until(|state| {
            if state.hello.is_some() {
                Some(Ok(()))
            } else if state.ended {
                let gone = || io::ErrorKind::UnexpectedEof.into();
                Some(Err(state.failure.take().unwrap_or_else(gone)))
            } else {
                None
            }
        });
        let bound = Duration::from_millis(WARDEN_HELLO_MS);
        match tokio::time::timeout(bound, begun).await {
            Ok(begun) => begun,
            Err(_elapsed) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hello(&self) -> (TreeTracking, Enforces) {
        let least = Enforces {
            open_files: Some(Enforcement::Rlimit),
            ..Enforces::default()
        };
        self.state().hello.unwrap_or((TreeTracking::Subreaper, least))
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
        self.until(|state| state.ended.then_some(())).await;
    }

    /// Waits for a change after which `look` finds something.
    async fn until<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let found = look(&mut self.state());
            if let Some(found) = found {
                return found;
            }
            changed.await;
        }
    }

    /// No other warden is wanted after this one.
    fn is_last(&self) -> bool {
        let state = self.state();
        state.shutting_down || state.hello.is_none()
    }

    /// No warden is left, and none will come.
    fn end(&self, failure: Option<io::Error>) {
        {
            let mut state = self.state();
            state.failure = failure;
            state.ended = true;
        }
        self.changed.notify_waiters();
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
            tokio::time::sleep(Duration::from_millis(WARDEN_RETRY_MS)).await;
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

    /// Hands on what has come.
    fn deliver(&self, reader: &mut FrameReader) -> io::Result<()> {
        let malformed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        while let Some(frame) = reader.next().map_err(malformed)? {
            match Report::decode(&frame).map_err(malformed)? {
                Report::Hello { tracking, enforces } => {
                    self.state().hello = Some((tracking, enforces));
                    self.changed.notify_waiters();
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
        Ok(())
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
        comm: report.comm,
    }
}

/// Serves one warden after the other, until the daemon lets the last one go. A first one that does not begin is
/// not replaced: neither would the next.
async fn drive(link: Arc<Link>, mut socket: AsyncFd<Arc<OwnedFd>>) {
    // Without it a warden that was stopped is only woken at the end of the session.
    let mut stops = signal(SignalKind::child()).ok();
    link.wake_stopped_warden();
    loop {
        let end = serve(&link, &socket, stops.as_mut()).await;
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
        if link.is_last() {
            return link.end(end.err());
        }
        if let Err(error) = end {
            tracing::error!(%error, "the warden is given up");
        }
        socket = replace(&link).await;
    }
}

/// Starts another warden, however often that takes; launches that wait for it fail meanwhile.
async fn replace(link: &Link) -> AsyncFd<Arc<OwnedFd>> {
    let mut wait = Duration::from_millis(WARDEN_RETRY_MS);
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
                wait = (wait * 2).min(Duration::from_millis(WARDEN_RETRY_MAX_MS));
            }
        }
    }
}

/// Reads and writes until the warden's end is closed.
///
/// # Errors
/// What it says cannot be read or understood, or is that it cannot begin.
async fn serve(
    link: &Link,
    socket: &AsyncFd<Arc<OwnedFd>>,
    mut stops: Option<&mut Signal>,
) -> io::Result<()> {
    let mut reader = FrameReader::default();
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
                let mut ready = ready?;
                match ready.try_io(|fd| reader.receive(fd.get_ref().as_fd())) {
                    Ok(Ok(0)) => return Ok(()),
                    Ok(Ok(_)) => link.deliver(&mut reader)?,
                    Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(Err(error)) => return Err(error),
                    Err(_would_block) => {}
                }
            }
            ready = socket.writable(), if blocked => {
                let mut ready = ready?;
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
