//! From a request to what is started.

mod snapshot;
mod start;

pub(crate) use start::{Launch, LaunchError, Launcher};
