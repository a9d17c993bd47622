//! Gives a command the state of the user's own shell: what their startup files make of it, captured once and put
//! back in front of each command, without running a startup file again.
//!
//! A [`dialect`] knows one shell: how it is made to write its state down, and how a fresh shell is given that state.
//! Everything else (running the capture, its limits, the cache) is the same for all shells.

#![forbid(unsafe_code)]

mod dialect;
mod failure;
mod inventory;
mod sections;
mod state;

pub use dialect::{ShellKind, remove_place};
pub use failure::Failure;
pub use inventory::{Inventory, LeftOut};
