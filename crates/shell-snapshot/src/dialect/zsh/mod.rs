//! zsh: started as the user's interactive login shell, it prints its state with its own listings and compiles it; a
//! shell that runs a script finds it as the `.zshenv` of a [`place`] of ours.
//!
//! What zsh does not tell, and so a command does not have:
//! - the emulation that a function defined by `emulate sh -c '…'` runs under: it runs under the shell's options;
//! - the file a function comes from: `whence -v` and `$functions_source` name the place;
//! - where an element of an exported tied array holds the separator: it comes back as two.

mod capture;
mod inventory;
mod place;
mod quoting;
mod read;
mod replay;
mod shell;
mod startup;
#[cfg(test)]
mod tests;

pub use place::remove_place;
pub(crate) use shell::Zsh;
