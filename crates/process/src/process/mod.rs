//! One process, from its start request until it is forgotten.

mod budget;
mod clock;
mod error;
mod feed;
mod launch;
mod launch_paths;
mod life;
mod matcher;
mod new_process;
mod notification;
mod output_log;
mod plumbing;
#[expect(
    clippy::module_inception,
    reason = "the folder is all that a process does, the file the type"
)]
mod process;
mod pump;
mod regexes;
mod reservation;
mod send;
mod session;
mod state;
mod stdin_queue;
mod timers;
mod turn;
mod wait;

pub use error::{CloseStdinError, ResizeError, StartError, StartStep, Started, WaitError, WriteError};
pub(crate) use launch_paths::LaunchPaths;
pub(crate) use new_process::NewProcess;
pub use notification::{Notification, Observer, ReadPage, Subscriber, Unobserved};
pub(crate) use plumbing::{Plumbing, Polled, StdinEnd};
pub use process::Process;
pub use reservation::{Reserved, Rewrite};
pub(crate) use session::{Lifecycle, Session};
pub use turn::Turn;
pub use wait::Wait;
