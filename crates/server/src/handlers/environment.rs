//! `environment/*`: where commands run, and what this server can do.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use exec_process::environment::Environment;
use exec_protocol::PathUri;
use exec_protocol::environment::{EnvironmentInfo, EnvironmentStatus, ProtocolInfo, WireLimits};
use exec_protocol::limits::Limits;
use exec_protocol::method::Empty;
use exec_protocol::snapshot::Shell;

use super::Handlers;
use crate::dispatch::{Call, Refusal};

/// The version of the additions to the base protocol.
const PROTOCOL_VERSION: u32 = 1;
/// Where the users are.
const PASSWD: &str = "/etc/passwd";
/// The shell of a user who has none.
const DEFAULT_SHELL: &str = "/bin/sh";

/// The directory for temporary files where `TMPDIR` names none.
const DEFAULT_TEMP: &str = "/tmp";

/// What clients ask for by name. A client takes an absent one for false; saying so is clearer.
const CAPABILITIES: &[(&str, bool)] = &[
    ("environmentConfigRead", false),
    ("fileWriteStreaming", false),
    ("fsWatchMissing", false),
    ("networkProxyLaunch", false),
    ("sandboxedFileStreaming", false),
    ("shellSnapshotV2", false),
];

/// What is known of where commands run. It does not change while the daemon runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    shell: PathUri,
    cwd: PathUri,
    home: PathUri,
    temp: PathUri,
}

impl Facts {
    /// From the daemon's environment, and the user database where that says nothing.
    pub(crate) fn gather(environment: &Environment, cwd: PathUri) -> Self {
        let uid = rustix::process::getuid().as_raw();
        Self::from_sources(environment, cwd, || {
            let passwd = std::fs::read(PASSWD).ok()?;
            find_user(&passwd, uid)
        })
    }

    fn from_sources(environment: &Environment, cwd: PathUri, user: impl Fn() -> Option<User>) -> Self {
        let uri = |path: &OsStr| PathUri::from_path(Path::new(path));
        let variable = |name: &str| environment.get(OsStr::new(name)).and_then(|path| uri(path));
        let default = |path: &str| uri(OsStr::new(path)).unwrap_or_else(PathUri::root);
        Self {
            shell: variable("SHELL")
                .or_else(|| uri(&user()?.shell))
                .unwrap_or_else(|| default(DEFAULT_SHELL)),
            home: variable("HOME")
                .or_else(|| uri(&user()?.home))
                .unwrap_or_else(PathUri::root),
            temp: variable("TMPDIR").unwrap_or_else(|| default(DEFAULT_TEMP)),
            cwd,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct User {
    home: OsString,
    shell: OsString,
}

/// Finds a user in the text of passwd(5).
fn find_user(passwd: &[u8], uid: u32) -> Option<User> {
    passwd.split(|byte| *byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let &[_, _, id, _, _, home, shell] = fields.as_slice() else {
            return None;
        };
        let path = |bytes: &[u8]| OsStr::from_bytes(bytes).to_os_string();
        (std::str::from_utf8(id).ok()?.parse() == Ok(uid)).then(|| User {
            home: path(home),
            shell: path(shell),
        })
    })
}

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
    let millis = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    WireLimits {
        max_line_bytes: limits.max_line_bytes as u64,
        max_processes: limits.max_processes as u64,
        max_pending_requests: limits.max_pending_requests as u64,
        retained_bytes: limits.retained_bytes as u64,
        retention_ms: millis(limits.retention),
        stdin_backlog_bytes: limits.stdin_backlog_bytes as u64,
        max_wait_ms: millis(limits.max_wait),
        default_grace_ms: millis(limits.default_grace),
        session_end_grace_ms: millis(limits.session_end_grace),
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

    const TEXT: &[u8] = b"root:x:0:0:root:/root:/bin/bash\n# comment\nbroken:x:1\n\
        me:x:1000:1000:,,,:/home/me:/usr/bin/zsh\nodd:x:x:1::/odd:/odd\n";

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn uri(path: &str) -> PathUri {
        PathUri::from_path(Path::new(path)).unwrap()
    }

    #[test]
    fn users_are_found_by_number() {
        let shell_of = |uid| find_user(TEXT, uid).map(|user| user.shell);
        assert_eq!(shell_of(0), Some("/bin/bash".into()));
        assert_eq!(shell_of(1000), Some("/usr/bin/zsh".into()));
        assert_eq!(shell_of(1), None);
    }

    #[test]
    fn the_environment_comes_before_the_user_database() {
        let user = || find_user(TEXT, 1000);
        let all = [("HOME", "/h"), ("SHELL", "/bin/fish"), ("TMPDIR", "/var/tmp")];
        let facts = Facts::from_sources(&environment(&all), uri("/w"), user);
        let expected = |shell: &str, home: &str, temp: &str| Facts {
            shell: uri(shell),
            cwd: uri("/w"),
            home: uri(home),
            temp: uri(temp),
        };
        assert_eq!(facts, expected("/bin/fish", "/h", "/var/tmp"));
        let relative = environment(&[("HOME", "h"), ("SHELL", "bash"), ("TMPDIR", "")]);
        let facts = Facts::from_sources(&relative, uri("/w"), user);
        assert_eq!(facts, expected("/usr/bin/zsh", "/home/me", "/tmp"));
        let facts = Facts::from_sources(&relative, uri("/w"), || None);
        assert_eq!(facts, expected("/bin/sh", "/", "/tmp"));
    }

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
