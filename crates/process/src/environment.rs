//! The environment a child gets: envPolicy, then `env`, then metadata and trace context.

use std::collections::BTreeMap;
use std::ffi::OsString;

use exec_protocol::EnvPolicy;
use exec_protocol::envelope::Trace;
use exec_protocol::process::ExecMetadata;

use crate::InvalidCommand;

/// Environment variables, by name.
pub type Environment = BTreeMap<OsString, OsString>;

/// Prepares a child's environment. `own` is the daemon's.
///
/// # Errors
/// A name that is empty or holds `=` or NUL, a value that holds NUL; the member at fault is named.
pub fn prepare(
    _own: &Environment,
    _policy: Option<&EnvPolicy>,
    _env: &BTreeMap<String, String>,
    _metadata: Option<&ExecMetadata>,
    _trace: Option<&Trace>,
) -> Result<Environment, InvalidCommand> {
    unreachable!("skeleton")
}
