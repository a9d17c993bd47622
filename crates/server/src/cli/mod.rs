//! The command line: its options, and the two commands that are clients of a daemon of their own.

mod command_line;
#[cfg(test)]
mod manual;
mod own_daemon;
mod run;
mod snapshot;
mod speaker;
mod user_shell;

pub(crate) use command_line::{Cgroup, Cli, Otlp, Serve};
