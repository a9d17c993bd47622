//! Which startup files a capture read, and whether they are still as they were.

mod identity;
mod mentioned;
mod sourced;
mod watched;

pub(crate) use watched::Watched;
