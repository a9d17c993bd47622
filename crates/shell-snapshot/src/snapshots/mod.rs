//! What the server asks of this crate: a command's snapshot, a prewarm, a description, an end.

mod description;
mod engine;
mod flight;

pub use description::{Description, Held, Summary};
pub use engine::{Prepared, Snapshots};
pub use flight::FAILED_CAPTURES;
