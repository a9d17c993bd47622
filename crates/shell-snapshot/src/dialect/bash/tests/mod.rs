//! bash itself: its startup files on a terminal, and commands with what came of them.

use super::Bash;
use crate::dialect::on_terminal::{self, Installed};

mod cases;
mod recorded;
mod restored;
mod strange;

impl Installed for Bash {
    const DIALECT: Self = Self;
    const SHELL: &'static str = SHELL;
}

pub(super) const SHELL: &str = "/bin/bash";

pub(super) type Home = on_terminal::Home<Bash>;
