//! What telemetry is told: closed sets and numbers, never a name or a value.

use std::fmt::Debug;
use std::time::Duration;

use crate::{Failure, ShellKind};

/// Is told of captures and of the commands that asked for one. Must not block.
pub trait Observer: Debug + Send + Sync + 'static {
    /// An attempt at a capture is over.
    fn capture_finished(&self, capture: &CaptureFinished);
    /// A command that asked for a snapshot goes on its way.
    fn command_prepared(&self, command: &CommandPrepared);
}

/// What a capture is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A command waits for it.
    Execution,
    /// A client asked for it ahead of commands.
    Prewarm,
}

/// An attempt at a capture: its interactive try, and the other if there was one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureFinished {
    /// What for.
    pub purpose: Purpose,
    /// Which of a key's attempts, from 1; of a prewarm always the first.
    pub attempt: u32,
    /// Which shell.
    pub shell: ShellKind,
    /// Bytes of state, or why there is none.
    pub result: Result<u64, Failure>,
    /// How long it took.
    pub duration: Duration,
}

/// How a command found its snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Availability {
    /// There, made by a prewarm.
    PrewarmReady,
    /// Being made by a prewarm.
    PrewarmPending,
    /// There, made for another command.
    CacheHit,
    /// Being made for another command.
    CapturePending,
    /// Not there: made for this command.
    OnDemand,
    /// Not there, and not to be had: a failure is remembered, or the command is none that a snapshot applies to.
    Unavailable,
}

/// What became of a command that asked for a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It has the snapshot.
    Used,
    /// It runs without.
    Fallback,
}

/// A command that asked for a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandPrepared {
    /// What it found.
    pub availability: Availability,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it waited: for the lookup, and for a capture if there was one.
    pub wait: Duration,
}

macro_rules! names {
    ($type:ident: $($variant:ident = $name:literal),+) => {
        impl $type {
            /// Its name on the wire and in metrics.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }
    };
}

names!(Purpose: Execution = "execution", Prewarm = "prewarm");
names!(Availability: PrewarmReady = "prewarm_ready", PrewarmPending = "prewarm_pending", CacheHit = "cache_hit",
    CapturePending = "capture_pending", OnDemand = "on_demand", Unavailable = "unavailable");
names!(Outcome: Used = "used", Fallback = "fallback");

/// Follows one request, for which a capture may be made: a trace does.
pub trait Follower: Send + Sync {
    /// A capture begins for it; whoever follows that is given back.
    fn capture_began(&self) -> Box<dyn CaptureFollower>;
}

/// Follows one capture. Dropped where nobody makes it any more.
pub trait CaptureFollower: Send {
    /// It is over.
    fn capture_ended(self: Box<Self>, failure: Option<Failure>);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn capture_finished(&self, _capture: &CaptureFinished) {}
    fn command_prepared(&self, _command: &CommandPrepared) {}
}

impl Follower for Unobserved {
    fn capture_began(&self) -> Box<dyn CaptureFollower> {
        Box::new(Self)
    }
}

impl CaptureFollower for Unobserved {
    fn capture_ended(self: Box<Self>, _failure: Option<Failure>) {}
}
