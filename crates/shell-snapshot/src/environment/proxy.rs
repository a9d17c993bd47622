//! The managed network proxy: what a client sets so that commands go through it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use exec_process::environment::Environment;

/// Set while a managed proxy is there.
const ACTIVE: &str = "CODEX_NETWORK_PROXY_ACTIVE";
/// The client's own names about it.
const PREFIX: &[u8] = b"CODEX_NETWORK_";
/// What tools read, in either case: `HTTP_PROXY`, `all_proxy`, `npm_config_https_proxy` …
const SUFFIX: &[u8] = b"_PROXY";
/// The two that are spelled otherwise, in upper case.
const OTHERS: &[&[u8]] = &[b"NPM_CONFIG_NOPROXY", b"NODE_USE_ENV_PROXY"];

/// Whether commands of that environment go through a managed proxy.
pub(super) fn is_managed(environment: &Environment) -> bool {
    environment
        .get(OsStr::new(ACTIVE))
        .is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether a managed proxy may have set it.
pub(super) fn is_variable(name: &OsStr) -> bool {
    let upper = name.as_bytes().to_ascii_uppercase();
    upper.starts_with(PREFIX) || upper.ends_with(SUFFIX) || OTHERS.contains(&upper.as_slice())
}
