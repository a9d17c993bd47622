//! How the daemon tells what it does: logs on stderr that never block it.
//!
//! Takes words from closed sets and numbers, never a command, path, environment value, id or output of a child.

#![forbid(unsafe_code)]

mod line_queue;
pub mod logs;
