//! Every cap, timeout and buffer of the daemon and of `exec-server run`, by subject, each with its unit and its reason.
//!
//! What a test has to run into reaches code through [`Limits`], so that the test can make it small; [`Limits::default`]
//! is what the daemon runs with. The others are used where they apply. `docs/limits.md` lists the same names and values
//! and is checked against this folder.

mod adjustable;
mod process;
mod run;
mod snapshot;
mod telemetry;
mod warden;
mod wire;

pub use adjustable::Limits;
pub use process::*;
pub use run::*;
pub use snapshot::*;
pub use telemetry::*;
pub use warden::*;
pub use wire::*;
