//! The daemon, from its options to its exit code.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::time::Duration;

use exec_process::warden::{FirstWarden, WardenConfig, WardenError};
use exec_protocol::PathUri;
use exec_protocol::limits::{
    EVENT_LOOP_DESCRIPTORS, LOG_FLUSH_MS, LOG_QUEUE_LINES, Limits, TASKS_BETWEEN_POLLS, TELEMETRY_FLUSH_MS,
};
use exec_telemetry::{BindError, Telemetry, logs};

use crate::cli::{Cgroup, Serve};
use crate::facts::Facts;
use crate::session::Session;
use crate::telemetry::{self, Probes, SettingsError};
use crate::transport::stdin::Input;
use crate::transport::stdout::Output;

/// Why the daemon could not serve.
#[derive(Debug, thiserror::Error)]
enum DaemonError {
    #[error(transparent)]
    Logs(#[from] logs::SetUpError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("metrics cannot be served: {0}")]
    Scrape(#[from] BindError),
    #[error("failed to start the helper process: {0}")]
    Warden(#[source] WardenError),
    #[error("failed to reach the helper process: {0}")]
    Attach(#[source] std::io::Error),
    #[error("failed to set up the event loop: {0}")]
    Runtime(#[source] std::io::Error),
    #[error("failed to use stdin: {0}")]
    Stdin(#[source] std::io::Error),
    #[error("failed to use stdout: {0}")]
    Stdout(#[source] std::io::Error),
}

/// Serves one session on stdin and stdout.
pub(crate) fn run(options: &Serve) -> ExitCode {
    match serve(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            // Stderr may be closed; there is nowhere else to say it.
            let _ = writeln!(std::io::stderr(), "exec-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: &Serve) -> Result<(), DaemonError> {
    let limits = Limits::default();
    let settings = telemetry::settings(options, |name| std::env::var(name).ok())?;
    // First of all: a fork wants a process of one thread.
    let warden = FirstWarden::fork(WardenConfig {
        use_cgroup: options.cgroup == Cgroup::Auto,
        daemon_gone_grace: limits.session_end_grace,
    })
    .map_err(DaemonError::Warden)?;
    let filter = options.log.clone().or_else(|| std::env::var("RUST_LOG").ok());
    let logs = logs::set_up(options.log_format.into(), filter.as_deref(), LOG_QUEUE_LINES)?;
    let environment: BTreeMap<_, _> = std::env::vars_os().collect();
    let cwd = std::env::current_dir()
        .ok()
        .and_then(|cwd| PathUri::from_path(&cwd));
    let facts = Facts::gather(&environment, cwd.unwrap_or_else(PathUri::root));

    room_for_event_loop().map_err(DaemonError::Runtime)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .event_interval(TASKS_BETWEEN_POLLS)
        .enable_all()
        .build()
        .map_err(DaemonError::Runtime)?;
    // A port that cannot be bound is told now, before anything is served.
    let version = env!("CARGO_PKG_VERSION");
    let telemetry = Telemetry::set_up(&settings, telemetry::limits(), version, runtime.handle().clone())?;
    let probes = Probes {
        metrics: telemetry.metrics(),
        spans: telemetry.spans(),
    };
    let served = runtime.block_on(async {
        let input = Input::new(std::io::stdin().as_fd()).map_err(DaemonError::Stdin)?;
        let output = Output::new(std::io::stdout().as_fd()).map_err(DaemonError::Stdout)?;
        let watch_parent = !options.no_watch_parent;
        let session = Session::start(warden, &limits, facts, environment, output, probes);
        let session = session.map_err(DaemonError::Attach)?;
        telemetry.set_ready(true);
        let served = session.run(input, watch_parent).await;
        telemetry.set_ready(false);
        served.map_err(DaemonError::Attach)
    });
    exec_shell_snapshot::remove_place();
    telemetry.flush(Duration::from_millis(TELEMETRY_FLUSH_MS));
    served?;
    logs.flush(Duration::from_millis(LOG_FLUSH_MS));
    // Not dropped: that would wait for nothing, and takes its time with many tasks.
    std::mem::forget(runtime);
    Ok(())
}

/// Tokio panics where it cannot open the descriptors of its signal driver: finds out before.
fn room_for_event_loop() -> io::Result<()> {
    let stdin = io::stdin();
    let held: io::Result<Vec<OwnedFd>> = (0..EVENT_LOOP_DESCRIPTORS)
        .map(|_| stdin.as_fd().try_clone_to_owned())
        .collect();
    held.map(drop)
}
