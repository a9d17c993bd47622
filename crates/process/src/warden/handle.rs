//! The daemon's end of the warden.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use exec_protocol::environment::TreeTracking;
use exec_protocol::process::Enforces;
use rustix::process::{Resource, Rlimit, getpid, getrlimit, set_child_subreaper, setrlimit};

use super::error::{WardenError, WardenStep};
use super::launch::{Launch, LaunchId};
use super::link::Link;
use super::report::{FailedStep, LaunchFailure, WardenEvents};
use super::settings::Settings;
use super::{main_loop, message, takeover};
use crate::{Signal, sys};

/// The soft RLIMIT_NOFILE this process was given, before it raised its own.
static OPEN_FILES: OnceLock<Option<u64>> = OnceLock::new();

/// How the warden works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WardenConfig {
    /// False: never use a cgroup, track by subreaper.
    pub use_cgroup: bool,
    /// SIGTERM to SIGKILL for everything when the daemon dies.
    pub daemon_gone_grace: Duration,
}

/// The first warden, forked from the daemon before it had threads, not yet attached to a runtime.
#[derive(Debug)]
pub struct FirstWarden {
    settings: Settings,
    socket: OwnedFd,
    pid: i32,
}

impl FirstWarden {
    /// Forks it. Must be called while the process is single-threaded. Also makes the daemon a subreaper and
    /// raises its own soft RLIMIT_NOFILE to the hard one (children get the limit the daemon was given).
    ///
    /// # Errors
    /// The step that failed.
    pub fn fork(config: WardenConfig) -> Result<Self, WardenError> {
        let given = getrlimit(Resource::Nofile);
        // Once a process.
        let _ = OPEN_FILES.set(given.current);
        let settings = Settings {
            use_cgroup: config.use_cgroup,
            daemon_gone_grace: config.daemon_gone_grace,
            daemon: std::process::id(),
            open_files: [
                given.current.unwrap_or(u64::MAX),
                given.maximum.unwrap_or(u64::MAX),
            ],
        };
        let (socket, other) = takeover::socket_pair().map_err(WardenStep::Link.failed())?;
        let one_thread = sys::OneThread::check().map_err(WardenStep::CountThreads.failed())?;
        let forked = sys::fork_single_threaded(&one_thread).map_err(WardenStep::Fork.failed())?;
        let Some(pid) = forked else {
            // The warden: nothing of the daemon's program runs on in it.
            let run = std::panic::AssertUnwindSafe(|| {
                rustix::stdio::dup2_stdin(&other)
                    .map_err(|error| WardenStep::KeepLink.failed()(error.into()))?;
                main_loop::run(settings)
            });
            let ended = std::panic::catch_unwind(run);
            sys::exit_now(i32::from(!matches!(ended, Ok(Ok(())))));
        };
        // Tells of a warden that was stopped.
        sys::unblock_sigchld();
        set_child_subreaper(Some(getpid())).map_err(|error| WardenStep::Adopt.failed()(error.into()))?;
        let raised = Rlimit {
            current: given.maximum,
            maximum: given.maximum,
        };
        setrlimit(Resource::Nofile, raised)
            .map_err(|error| WardenStep::RaiseOpenFiles.failed()(error.into()))?;
        Ok(Self {
            settings,
            socket,
            pid,
        })
    }
}

/// The soft RLIMIT_NOFILE that commands begin with: the one this process was given. `None`: no limit.
#[must_use]
pub fn open_files_of_commands() -> Option<u64> {
    *OPEN_FILES.get_or_init(|| getrlimit(Resource::Nofile).current)
}

/// What the process of a replacement warden runs: `exec-server warden`, its socket as stdin. Never returns.
pub fn run_replacement() -> ! {
    let ended = Settings::of_replacement().map(main_loop::run);
    sys::exit_now(i32::from(!matches!(ended, Some(Ok(())))))
}

/// The daemon's handle of its warden. No call blocks.
#[derive(Debug, Clone)]
pub struct Warden(Arc<Link>);

impl Warden {
    /// Attaches to the runtime; `events` are called from a task of it. The warden still prepares itself: see
    /// [`ready`](Self::ready).
    ///
    /// # Errors
    /// The socket cannot be registered.
    pub fn attach(first: FirstWarden, events: Arc<dyn WardenEvents>) -> io::Result<Self> {
        let link = Link::attach(first.settings, first.socket, first.pid, events)?;
        Ok(Self(link))
    }

    /// Waits until the first warden is ready, which takes it a millisecond. Only then it is known what it
    /// enforces and how it tracks.
    ///
    /// # Errors
    /// It did not begin, and nothing of it is left (a [`WardenError`], if it could say why); or has not within
    /// [`WARDEN_HELLO_MS`](exec_protocol::limits::WARDEN_HELLO_MS).
    pub async fn ready(&self) -> io::Result<()> {
        self.0.ready().await
    }

    /// Starts a command.
    pub fn launch(&self, launch: Launch) {
        let id = launch.id;
        match message::launch(launch) {
            Some((frame, descriptors)) => self.0.send(frame, descriptors),
            None => self.0.refuse(
                id,
                LaunchFailure {
                    step: FailedStep::Setup,
                    errno: libc::E2BIG,
                },
            ),
        }
    }

    /// Signals the leader's process group (before the leader was reaped) or every process of the tree.
    pub fn signal(&self, id: LaunchId, signal: Signal) {
        if let Some(frame) = message::signal(id.0, signal.number()) {
            self.0.send(frame, Vec::new());
        }
    }

    /// Runs the ladder: `signal` and SIGCONT to the tree, `grace`, SIGKILL until nothing is left. Again with
    /// less grace: shortens. Works from launch until the tree has ended.
    pub fn end(&self, id: LaunchId, signal: Signal, grace: Duration) {
        if let Some(frame) = message::end(id.0, signal.number(), grace) {
            self.0.send(frame, Vec::new());
        }
    }

    /// Leaves a command as a terminal does that is closed, but for the leader, which may do nothing more: it gets
    /// SIGKILL, and what is left of its session SIGHUP and SIGCONT. What has a session of its own, or ignores SIGHUP,
    /// lives on; its tree is known still. Before it executes: as soon as it does.
    pub fn leave_helpers(&self, id: LaunchId) {
        if let Some(frame) = message::leave(id.0) {
            self.0.send(frame, Vec::new());
        }
    }

    /// What can enforce which limit; before the warden is ready, the least.
    pub fn enforces(&self) -> Enforces {
        self.0.hello().1
    }

    /// How trees are tracked; before the warden is ready, the least.
    pub fn tree_tracking(&self) -> TreeTracking {
        self.0.hello().0
    }

    /// Lets the warden go (it ends what is left) and waits for its end, at most `bound`. Reports still come;
    /// what is launched from now on is forgotten.
    pub async fn shutdown(&self, bound: Duration) {
        self.0.shut_down(bound).await;
    }
}
