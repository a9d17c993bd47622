//! Loading on demand: of a state's functions only those that a script can reach.
//!
//! Reading functions is what a large state costs. Most scripts need none of them, and a function that a script cannot
//! reach, list or test makes no difference to it. That is proven by whitelist: [`scan`] reads a script with the shell's
//! own rules and refuses what it does not know; [`builtins`] knows the forms of builtins that neither evaluate text
//! nor tell of functions. Whatever is refused gets the whole state.
//!
//! What is collected errs to the safe side: every literal word counts as the name of a command, wherever it stands.

mod aliases;
mod builtins;
mod commands;
mod conditions;
mod context;
mod expansions;
mod grammar;
mod heredocs;
mod index;
mod redirections;
mod scan;
mod words;

pub(crate) use index::Demand;
pub(super) use index::Source;

#[cfg(test)]
mod tests;
