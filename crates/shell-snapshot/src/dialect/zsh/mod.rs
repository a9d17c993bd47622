//! zsh: started as the user's interactive login shell, it prints its state with its own listings and compiles it; a
//! shell that runs a script finds it as the `.zshenv` of a [`place`] of ours.

mod inventory;
mod place;
mod quoting;
mod reading;
mod replay;
mod script;
mod shell;
mod startup;
#[cfg(test)]
mod tests;

pub use place::remove_place;
pub(crate) use shell::Zsh;
