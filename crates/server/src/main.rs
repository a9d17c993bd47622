//! exec-server.
fn main() {}
