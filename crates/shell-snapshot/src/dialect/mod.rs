//! The shells, one folder each: a script that writes the state down, and the Rust that reads it and makes replays.

mod bash;
#[cfg(test)]
mod case;
mod contract;
mod fish;
mod kind;
#[cfg(test)]
mod on_terminal;
#[cfg(test)]
mod real;
mod sh;
mod zsh;

pub(crate) use bash::Demand;
pub(crate) use contract::{CaptureCommand, Dialect, PhaseFiles, Try};
pub use kind::ShellKind;
pub(crate) use kind::dialect_of;
pub use zsh::remove_place;
