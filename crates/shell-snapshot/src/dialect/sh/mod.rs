//! POSIX shells: dash, busybox ash, mksh, or bash under that name, whichever is behind the path. The capture asks the
//! shell itself.

mod ash;
mod capture;
mod definitions;
mod expansions;
mod listing;
mod mksh;
mod replay;
mod shell;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use shell::Sh;
