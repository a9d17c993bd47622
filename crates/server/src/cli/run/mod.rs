//! `exec-server run`: a person's way to run one command through the daemon.
//!
//! Three processes and one direction of control: this one (the terminal's side), the daemon it spawns, and
//! the daemon's warden. When this one ends, however it ends, the daemon's stdin closes, and everything goes.

mod arguments;
mod entry;
mod exit;
mod failure;
mod leader;
mod output;
mod relay;
mod session;
mod signals;
mod stdin;
mod terminal;

pub(crate) use arguments::{Args, EXIT_STATUS};
pub(crate) use entry::main;
