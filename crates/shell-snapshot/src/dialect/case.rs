//! The shape of the cases that the shells' own tests hold: what startup files do, and what a command must make of it.

/// A home and the commands run in it.
#[derive(Debug)]
pub(in crate::dialect) struct Case {
    pub(in crate::dialect) what: &'static str,
    /// In the home; `@HOME@` and `@WORK@` stand for it and for the working directory. Where no login file is among
    /// them, the shell has none.
    pub(in crate::dialect) files: &'static [(&'static str, &'static str)],
    pub(in crate::dialect) environment: &'static [(&'static str, &'static str)],
    pub(in crate::dialect) runs: &'static [Run],
}

/// A command and what it writes to stdout. On stderr nothing may come from restoring.
#[derive(Debug)]
pub(in crate::dialect) struct Run {
    pub(in crate::dialect) script: &'static str,
    pub(in crate::dialect) stdout: &'static str,
    pub(in crate::dialect) status: i32,
}
