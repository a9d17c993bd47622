//! What each method does: params in, result out.

mod catalogue;
mod environment;
mod failure;
mod initialize;
mod process;
mod read_line;
mod snapshot;
mod start;

pub(crate) use catalogue::{Handlers, register_all};
