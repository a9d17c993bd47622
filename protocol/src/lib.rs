//! The wire types of exec-server, and nothing else.
//!
//! One JSON-RPC 2.0 message a line on stdin and stdout. [`method`] is the catalogue: every method and
//! notification with its params and result type. Decoding is additive: unknown members are ignored and an
//! absent optional member means the same as `null`.
//!
//! ```
//! use exec_protocol::envelope::{Envelope, decode_params, write};
//! use exec_protocol::method::{Method, Terminate};
//! use exec_protocol::process::TerminateResponse;
//!
//! let line = br#"{"id":7,"method":"process/terminate","params":{"processId":"build"}}"#;
//! let Envelope::Request(request) = Envelope::parse(line) else { panic!() };
//! assert_eq!(request.method, Terminate::NAME);
//! let params: <Terminate as Method>::Params = decode_params(request.params)?;
//! assert_eq!(params.process_id.as_str(), "build");
//!
//! let mut answer = Vec::new();
//! write::response(&mut answer, request.id, &TerminateResponse { running: false }).unwrap();
//! assert_eq!(answer, br#"{"jsonrpc":"2.0","id":7,"result":{"running":false}}"#);
//! # Ok::<(), exec_protocol::RpcError>(())
//! ```
//!
//! The feature `schema` lets every type describe itself in JSON Schema and TypeScript; `protocol/schema/` is
//! generated from that, and a test keeps it current.

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
pub mod milliseconds;
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
