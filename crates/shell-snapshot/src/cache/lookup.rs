//! What a lookup finds, and a capture under way.

use tokio::sync::watch;

use crate::{Failed, Purpose};

/// How a capture went; `None` while it runs.
pub(crate) type Outcome<S> = Option<Result<S, Failed>>;

/// Names a capture under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlightId(pub(super) u64);

/// A capture to be made: whoever found nothing has it to do.
#[derive(Debug)]
pub(crate) struct Flight<S> {
    /// Its name.
    pub(crate) id: FlightId,
    /// Which attempt it is, from 1.
    pub(crate) attempt: u32,
    /// Its outcome, once there is one.
    pub(crate) outcome: watch::Receiver<Outcome<S>>,
}

/// What a lookup finds.
#[derive(Debug)]
pub(crate) enum Found<S> {
    /// A snapshot, and what it was made for.
    Ready(S, Purpose),
    /// A capture under way, and what for.
    Pending(watch::Receiver<Outcome<S>>, Purpose),
    /// A failure that is not to be tried again now.
    Failed(Failed),
    /// Nothing: this capture is to be made.
    Missing(Flight<S>),
}

/// What there is under a key.
#[derive(Debug)]
pub(crate) enum Peeked<S> {
    /// A snapshot, and what it was made for.
    Ready(S, Purpose),
    /// A capture under way, and what for.
    Pending(watch::Receiver<Outcome<S>>, Purpose),
    /// A failure that is not to be tried again now.
    Failed(Failed),
    /// Nothing but so many failures.
    Missing {
        /// Attempts that failed and are remembered.
        failures: u32,
    },
}
