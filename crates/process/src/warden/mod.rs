//! The warden: a single-threaded helper process that starts every command and ends whole trees.
//!
//! In the daemon: `handle`, its API; `link`, the task behind it; `takeover`, what happens when the warden
//! dies. Between the two: what is asked is a `launch`, what is told a `report`, and a warden begins with
//! `settings`; `message` and `wire` are the bytes of it. In the warden: `main_loop`; `start`, `ends`, `ladder` and `hang_up`
//! act on a `job`, whose tree a `cgroup` or a keeper (`sys_keeper`) tracks, as `tracker` chose.

mod cgroup;
mod clock;
mod ends;
mod error;
mod handle;
mod hang_up;
mod job;
mod ladder;
mod launch;
mod link;
mod main_loop;
mod message;
mod report;
mod settings;
mod start;
mod takeover;
mod tracker;
mod tree;
mod wire;

pub use error::{WardenError, WardenStep};
pub use handle::{FirstWarden, Warden, WardenConfig, open_files_of_commands, run_replacement};
pub use launch::{Launch, LaunchId};
pub use report::{Exit, FailedStep, LaunchFailure, WardenEvents};

pub(crate) use settings::SETTINGS;
