//! The state that handlers share, and the list of methods that are served.

use std::sync::{Arc, OnceLock};

use exec_process::ProcessTable;
use exec_protocol::limits::Limits;
use exec_protocol::method;
use exec_shell_snapshot::Snapshots;

use super::{environment, initialize, process, snapshot, start};
use crate::dispatch::{Handshake, Pending, Router};
use crate::facts::Facts;
use crate::launch::Launcher;
use crate::outbox::Outbox;
use crate::telemetry::ExitSpans;

/// What handlers work with.
pub(crate) struct Handlers {
    /// The session's processes.
    pub(crate) table: Arc<ProcessTable>,
    /// Where replies go.
    pub(crate) outbox: Arc<Outbox>,
    /// The state of the connection.
    pub(crate) handshake: Arc<Handshake>,
    /// Requests in work.
    pub(crate) pending: Arc<Pending>,
    /// The limits the daemon runs with.
    pub(crate) limits: Limits,
    /// Prepares commands.
    pub(crate) launcher: Launcher,
    /// Shell state for commands.
    pub(crate) snapshots: Snapshots,
    /// What is known of where commands run.
    pub(crate) facts: Facts,
    /// The spans of processes that run.
    pub(crate) exits: Arc<ExitSpans>,
    /// The names of the methods that are served, once they are registered.
    pub(crate) methods: OnceLock<Vec<&'static str>>,
}

/// Registers every method that is served.
pub(crate) fn register_all(handlers: &Arc<Handlers>) -> Router {
    let mut router = Router::default();
    router.register::<method::Initialize, _, _, _, _>(handlers, initialize::initialize);
    router.register::<method::GetEnvironmentInfo, _, _, _, _>(handlers, environment::info);
    router.register::<method::GetEnvironmentStatus, _, _, _, _>(handlers, environment::status);
    router.register::<method::Start, _, _, _, _>(handlers, start::start);
    router.register_written::<method::Read, _, _, _>(handlers, process::read);
    router.register::<method::Write, _, _, _, _>(handlers, process::write);
    router.register::<method::CloseStdin, _, _, _, _>(handlers, process::close_stdin);
    router.register::<method::Resize, _, _, _, _>(handlers, process::resize);
    router.register::<method::Signal, _, _, _, _>(handlers, process::signal);
    router.register::<method::Terminate, _, _, _, _>(handlers, process::terminate);
    router.register::<method::List, _, _, _, _>(handlers, process::list);
    router.register::<method::Wait, _, _, _, _>(handlers, process::wait);
    router.register::<method::PrewarmSnapshot, _, _, _, _>(handlers, snapshot::prewarm);
    router.register::<method::DescribeSnapshot, _, _, _, _>(handlers, snapshot::describe);
    router.register::<method::InvalidateSnapshot, _, _, _, _>(handlers, snapshot::invalidate);
    // Set once, here.
    let _ = handlers.methods.set(router.names());
    router
}
