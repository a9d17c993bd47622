//! exec-server.
#![forbid(unsafe_code)]
mod transport;
fn main() {}
