//! What the process table needs of the warden.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use exec_protocol::environment::TreeTracking;
use exec_protocol::process::Enforces;

use crate::Signal;
use crate::warden::{Launch, LaunchId, Warden};

/// Starts, signals and ends commands; see [`Warden`], of which each method says the same.
pub(crate) trait Launcher: fmt::Debug + Send + Sync + 'static {
    /// Starts a command.
    fn launch(&self, launch: Launch);
    /// Signals the leader's group.
    fn signal(&self, id: LaunchId, signal: Signal);
    /// Ends the whole tree.
    fn end(&self, id: LaunchId, signal: Signal, grace: Duration);
    /// Kills the leader, and hangs up on its session.
    fn leave_helpers(&self, id: LaunchId);
    /// What can enforce which limit.
    fn enforces(&self) -> Enforces;
    /// How trees are tracked.
    fn tree_tracking(&self) -> TreeTracking;
    /// Lets the warden go.
    fn shutdown(&self, bound: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

impl Launcher for Warden {
    fn launch(&self, launch: Launch) {
        Self::launch(self, launch);
    }

    fn signal(&self, id: LaunchId, signal: Signal) {
        Self::signal(self, id, signal);
    }

    fn end(&self, id: LaunchId, signal: Signal, grace: Duration) {
        Self::end(self, id, signal, grace);
    }

    fn leave_helpers(&self, id: LaunchId) {
        Self::leave_helpers(self, id);
    }

    fn enforces(&self) -> Enforces {
        Self::enforces(self)
    }

    fn tree_tracking(&self) -> TreeTracking {
        Self::tree_tracking(self)
    }

    fn shutdown(&self, bound: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(Self::shutdown(self, bound))
    }
}
