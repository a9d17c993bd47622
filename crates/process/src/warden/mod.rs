//! The warden: a single-threaded helper process that starts every command and ends whole trees.

mod link;

pub use link::{
    Exit, FailedStep, FirstWarden, Launch, LaunchFailure, LaunchId, Warden, WardenConfig, WardenEvents,
    run_replacement,
};
