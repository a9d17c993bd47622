//! The warden: a single-threaded helper process that starts every command and ends whole trees.
//!
//! In the daemon: `link`, its API; `daemon`, the task behind it; `takeover`, what happens when the warden
//! dies. Between the two: `message` and `wire`. In the warden: `main_loop`; `start`, `ends` and `ladder` act
//! on a `job`, whose tree a `cgroup` or a keeper (`sys_keeper`) tracks, as `tracker` chose.

mod cgroup;
mod clock;
mod daemon;
mod ends;
mod error;
mod job;
mod ladder;
mod link;
mod main_loop;
mod message;
mod start;
mod takeover;
mod tracker;
mod tree;
mod wire;

pub use error::{WardenError, WardenStep};
pub use link::{
    Exit, FailedStep, FirstWarden, Launch, LaunchFailure, LaunchId, Warden, WardenConfig, WardenEvents,
    run_replacement,
};

pub(crate) use takeover::SETTINGS;
