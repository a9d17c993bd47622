//! The JSON-RPC 2.0 envelope: read without copying, written a message at a time.

mod find_id;
mod nesting;
mod params;
mod parse;
mod trace;
pub mod write;

pub use find_id::find_id;
pub use params::{decode_params, decode_params_text};
pub(crate) use params::{null_as_default, object, optional_object};
pub use parse::{Envelope, Invalid, Notification, Outcome, Request, Response};
pub use trace::Trace;
