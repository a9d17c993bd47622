//! A harness that drives a daemon from outside: it looks at what arrives on stdout, at files and at /proc.
//!
//! `EXEC_SERVER="CMD ARGS"` drives another server that speaks the same protocol; then only what the base protocol
//! promises is checked, and what is an addition of ours is skipped ([`ours_only!`]).

pub mod client;
pub mod home;
pub mod http;
pub mod launch;
pub mod otlp;
pub mod procfs;
pub mod prometheus;
pub mod run;
pub mod scrape;
pub mod server;
mod supervise;
pub mod target;
pub mod terminal;
pub mod transcript;

pub use client::Running;
pub use home::{BASH, FISH, Home, SH, ZSH};
pub use launch::{Launch, helper, program, sh};
pub use procfs::{eventually, marker};
pub use run::Run;
pub use server::{Server, ServerBuilder};
pub use target::ours;
pub use terminal::Terminal;
