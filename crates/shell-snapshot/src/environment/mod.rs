//! The environment that startup files leave, as a difference to the one they were given.

mod difference;
pub(crate) mod execve;
mod proxy;

pub(crate) use difference::{Difference, Overrides};
