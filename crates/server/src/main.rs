//! exec-server.
#![forbid(unsafe_code)]
mod dispatch;
mod handlers;
mod launch;
mod outbox;
mod transport;
fn main() {}
