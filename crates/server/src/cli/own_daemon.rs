//! A daemon for one command line, spoken to as any client does.

use std::collections::BTreeMap;

use exec_client::{ClientLimits, Daemon, SpawnError};
use exec_protocol::{EnvPolicy, Inherit};
use exec_shell_snapshot::FAILED_CAPTURES;
use exec_telemetry::logs::DEFAULT_FILTER;
use tokio::process::Command;

/// What it says on stderr, which is this process's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// What daemons say.
    AllItDoes,
    /// Nothing of captures that fail, which a person is told in other words; unless RUST_LOG asks for it.
    NothingOfCaptures,
}

/// Starts it.
pub(crate) fn spawn(says: Says) -> Result<Daemon, SpawnError> {
    // Not by its name, which may have been replaced or removed since.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("exec-server");
    // Variables that are meant for a daemon that stays: one command is not worth a port, nor the wait for a collector
    // at its end. The command finds them in its environment all the same.
    command.args(["--metrics-listen", "off", "--otlp=off"]);
    if says == Says::NothingOfCaptures && std::env::var_os("RUST_LOG").is_none() {
        command
            .arg("--log")
            .arg(format!("{DEFAULT_FILTER},{FAILED_CAPTURES}=error"));
    }
    // ^C at the terminal is passed on once, by this process.
    command.process_group(0);
    Daemon::spawn_command(command, None, ClientLimits::default())
}

/// The environment here, and these variables: it is the user's own command, so nothing of it is kept back.
pub(crate) fn environment(variables: &[(String, String)]) -> (BTreeMap<String, String>, EnvPolicy) {
    let policy = EnvPolicy {
        inherit: Inherit::All,
        ignore_default_excludes: true,
        ..EnvPolicy::default()
    };
    (variables.iter().cloned().collect(), policy)
}
