//! fish.

mod capture;
mod read;
mod replay;
mod shell;
mod values;

#[cfg(test)]
mod tests;

pub(crate) use shell::Fish;
