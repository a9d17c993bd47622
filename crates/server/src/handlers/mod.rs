//! What each method does: params in, result out.

mod environment;
mod failure;
mod initialize;
mod process;
mod read_line;
mod serve;
mod snapshot;
mod start;

pub(crate) use serve::{Handlers, register_all};
