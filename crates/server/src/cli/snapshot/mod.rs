//! `exec-server snapshot`: shows a person what a capture of their shell finds, and where it fails.
//!
//! What is found comes from a daemon of its own, asked as any client asks ([`ask`]). Where the time goes, and the line
//! at which startup fails, no daemon knows: that is a second, traced run of the startup files ([`trace`]).

mod arguments;
mod ask;
mod entry;
mod failure;
mod page;
mod reason;
mod report;
mod trace;

pub(crate) use arguments::{Args, EXIT_STATUS};
pub(crate) use entry::main;
pub(crate) use reason::reason;
