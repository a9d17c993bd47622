//! exec-server.
#![forbid(unsafe_code)]
mod dispatch;
mod outbox;
mod transport;
fn main() {}
