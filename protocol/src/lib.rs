//! The wire types of exec-server, and nothing else.
//!
//! One JSON-RPC 2.0 message a line on stdin and stdout. [`method`] is the catalogue: every method and
//! notification with its params and result type. Decoding is additive: unknown members are ignored and an
//! absent optional member means the same as `null`.

#![forbid(unsafe_code)]

mod base64;
pub mod env_policy;
pub mod envelope;
pub mod environment;
pub mod error;
pub mod exit;
pub mod filesystem;
pub mod initialize;
pub mod limits;
pub mod method;
mod path_uri;
pub mod process;
pub mod sandbox;
pub mod snapshot;

pub use crate::base64::Base64;
pub use crate::env_policy::{EnvPolicy, Inherit};
pub use crate::error::{ErrorKind, RpcError};
pub use crate::path_uri::{InvalidUri, PathUri};
pub use crate::process::{ExecParams, ExecResponse, ProcessId, Stream};
pub use crate::snapshot::ShellSnapshotRequest;
