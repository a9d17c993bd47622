//! One process, from its start request until it is forgotten.

mod budget;
mod clock;
mod error;
mod failure;
mod feed;
mod handle;
mod life;
mod matcher;
mod notification;
mod output_log;
mod plumbing;
mod pump;
mod reservation;
mod send;
mod session;
mod state;
mod stdin_queue;
mod timers;
mod turn;
mod wait;

pub use error::{CloseStdinError, ResizeError, StartError, StartStep, Started, WaitError, WriteError};
pub(crate) use failure::LaunchPaths;
pub(crate) use handle::NewProcess;
pub use handle::Process;
pub use notification::{Notification, ReadPage, Subscriber};
pub(crate) use plumbing::{Plumbing, Polled, StdinEnd};
pub(crate) use session::{Lifecycle, Session};
pub use turn::Turn;
