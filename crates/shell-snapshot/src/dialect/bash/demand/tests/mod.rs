//! What is proven, what is not, and that bash sees no difference.

mod agents;
mod differential;
mod generated;
mod proofs;
mod states;
