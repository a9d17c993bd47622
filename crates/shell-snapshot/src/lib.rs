//! Gives a command the state of the user's own shell: what their startup files make of it, captured once and put
//! back in front of each command, without running a startup file again.
//!
//! A dialect knows one shell: how it is made to write its state down, and how a fresh shell is given that state.
//! Everything else (running the capture, its limits, the cache) is the same for all shells.

#![forbid(unsafe_code)]

mod cache;
mod capture;
mod dialect;
mod environment;
mod failure;
mod freshness;
mod inventory;
mod observer;
mod replay;
mod request;
mod sealed;
mod sections;
mod snapshot;
mod snapshots;
mod state;

pub use dialect::{ShellKind, remove_place};
pub use failure::{Failed, Failure};
pub use inventory::{Inventory, LeftOut, Name};
pub use observer::{
    Availability, CaptureFinished, CaptureFollower, CommandPrepared, Follower, Observer, Outcome, Purpose,
    Unobserved,
};
pub use request::Request;
pub use snapshot::ReplayKind;
pub use snapshots::{Description, FAILED_CAPTURES, Held, Prepared, Snapshots, Summary};
