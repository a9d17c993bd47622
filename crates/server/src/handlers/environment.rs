//! `environment/*`: where commands run, and what this server can do.

use std::sync::Arc;

use exec_protocol::environment::{EnvironmentInfo, EnvironmentStatus, ProtocolInfo, WireLimits};
use exec_protocol::limits::Limits;
use exec_protocol::method::Empty;
use exec_protocol::milliseconds;
use exec_protocol::snapshot::Shell;

use super::Handlers;
use crate::dispatch::{Call, Refusal};

/// The version of the additions to the base protocol.
const PROTOCOL_VERSION: u32 = 1;

/// What clients ask for by name. A client takes an absent one for false; saying so is clearer.
const CAPABILITIES: &[(&str, bool)] = &[
    ("environmentConfigRead", false),
    ("fileWriteStreaming", false),
    ("fsWatchMissing", false),
    ("networkProxyLaunch", false),
    ("sandboxedFileStreaming", false),
    ("shellSnapshotV2", true),
];

/// A stable name of this kind of server, in the form clients expect. It is a fingerprint of name and version,
/// four FNV-1a hashes with different beginnings, not a digest of anything secret or executable.
fn provider_id() -> String {
    let identity = concat!("exec-server/", env!("CARGO_PKG_VERSION"));
    let words: String = (0u64..4)
        .map(|word| {
            let hash = identity.bytes().fold(0xcbf2_9ce4_8422_2325 ^ word, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            format!("{hash:016x}")
        })
        .collect();
    format!("sha256:{words}")
}

/// The whole description.
pub(super) fn describe(handlers: &Handlers) -> EnvironmentInfo {
    let facts = &handlers.facts;
    let shell = facts.shell.as_path();
    let name = shell.file_name().unwrap_or_default().to_string_lossy();
    EnvironmentInfo {
        shell: Shell {
            name: name.into_owned(),
            path: shell.to_string_lossy().into_owned(),
        },
        executor_version: env!("CARGO_PKG_VERSION").to_owned(),
        provider_id: provider_id(),
        cwd: facts.cwd.clone(),
        user_home_dir: facts.home.clone(),
        platform_os: "linux".to_owned(),
        prepend_path_dirs: Vec::new(),
        temporary_directories: Vec::new(),
        temp_dir: Some(facts.temp.clone()),
        capabilities: CAPABILITIES
            .iter()
            .map(|(name, works)| ((*name).to_owned(), *works))
            .collect(),
        protocol: Some(ProtocolInfo {
            version: PROTOCOL_VERSION,
            methods: methods(handlers),
            limits: wire_limits(&handlers.limits),
            enforces: handlers.table.enforces(),
            tree_tracking: handlers.table.tree_tracking(),
        }),
    }
}

fn methods(handlers: &Handlers) -> Vec<String> {
    handlers
        .methods
        .get()
        .into_iter()
        .flatten()
        .map(|name| (*name).to_owned())
        .collect()
}

fn wire_limits(limits: &Limits) -> WireLimits {
    WireLimits {
        max_line_bytes: limits.max_line_bytes as u64,
        max_processes: limits.max_processes as u64,
        max_pending_requests: limits.max_pending_requests as u64,
        retained_bytes: limits.retained_bytes as u64,
        retention_ms: milliseconds::floor(limits.retention),
        stdin_backlog_bytes: limits.stdin_backlog_bytes as u64,
        max_wait_ms: milliseconds::floor(limits.max_wait),
        default_grace_ms: milliseconds::floor(limits.default_grace),
        session_end_grace_ms: milliseconds::floor(limits.session_end_grace),
    }
}

pub(super) async fn info(
    handlers: Arc<Handlers>,
    _call: Call,
    _params: Empty,
) -> Result<EnvironmentInfo, Refusal> {
    Ok(describe(&handlers))
}

pub(super) async fn status(
    _handlers: Arc<Handlers>,
    _call: Call,
    _params: Empty,
) -> Result<EnvironmentStatus, Refusal> {
    Ok(EnvironmentStatus {
        status: "ready".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_id_has_the_form_of_a_digest() {
        let id = provider_id();
        let hex = id.strip_prefix("sha256:").unwrap();
        assert!(
            hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()),
            "{id}"
        );
    }
}
