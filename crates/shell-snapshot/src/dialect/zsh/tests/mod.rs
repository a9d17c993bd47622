//! zsh itself: its startup files on a terminal, and commands with what came of them.

use super::Zsh;
use crate::dialect::on_terminal::{self, Installed};

mod cases;
mod restored;
mod strange;

impl Installed for Zsh {
    const DIALECT: Self = Self;
    const SHELL: &'static str = SHELL;
    const KEPT_BACK: &'static [&'static str] = &["PWD", "OLDPWD", "SHLVL", "_", "EXEC_SERVER_SNAPSHOT"];
}

const SHELL: &str = "/usr/bin/zsh";

type Home = on_terminal::Home<Zsh>;
