//! exec-server.
#![forbid(unsafe_code)]
mod outbox;
mod transport;
fn main() {}
