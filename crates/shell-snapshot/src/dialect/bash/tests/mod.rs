//! bash itself: its startup files on a terminal, and commands with what came of them.

mod cases;
pub(super) mod on_terminal;
mod recorded;
mod restored;
mod strange;
