//! Has a daemon capture the shell, and say what it found.

use std::path::Path;

use exec_client::{CallError, Client};
use exec_protocol::initialize::InitializeParams;
use exec_protocol::{ErrorKind, PathUri};

use super::arguments::Args;
use super::failure::Failure;
use super::reason::{has_a_place, reason};
use super::report::{Failed, File, Report};
use super::trace;
use crate::cli::own_daemon::{self, Says};
use crate::cli::speaker::Speaker;
use crate::cli::user_shell::UserShell;

/// Asks, from the start of a daemon to its end.
pub(super) async fn ask(arguments: &Args) -> Result<Report, Failure> {
    let cwd = arguments.working_directory()?;
    let daemon = own_daemon::spawn(Says::NothingOfCaptures).map_err(Failure::Spawn)?;
    let report = report(&daemon.client, arguments, cwd).await;
    // The daemon ends what is left, and says itself if it cannot.
    let _ = daemon.close().await;
    report
}

async fn report(client: &Client, arguments: &Args, cwd: PathUri) -> Result<Report, Failure> {
    let server = client
        .initialize(&InitializeParams::new("exec-server snapshot"))
        .await
        .map_err(Failure::Ask)?;
    let own = &server.environment_info.shell.path;
    let search = std::env::var_os("PATH");
    let shell = UserShell::choose(arguments.shell.as_deref(), own, search.as_deref())?;
    if !Path::new(&shell.path).exists() {
        return Err(Failure::NoProgram(shell.path));
    }
    let (env, policy) = own_daemon::environment(&[]);
    let params = shell.snapshot_params(cwd.clone(), env, Some(policy));
    let mut report = Report {
        shell: shell.shell(),
        kind: shell.kind,
        cwd: cwd.as_path().to_owned(),
        snapshot: None,
        failure: None,
        watched_files: Vec::new(),
        trace: None,
        is_profile: arguments.profile,
    };
    match client.prewarm_snapshot(&params).await {
        Ok(_) => {
            let described = client.describe_snapshot(&params).await;
            let described = described.map_err(Failure::Ask)?;
            report.snapshot = described.snapshot;
            let files = described.watched_files.into_iter();
            report.watched_files = files
                .map(|file| File {
                    path: file.path.as_path().to_owned(),
                    present: file.present,
                })
                .collect();
        }
        Err(error) => report.failure = Some(failed(error)?),
    }
    let stopped = match (&report.failure, &report.snapshot) {
        (Some(failed), _) => has_a_place(failed.reason),
        (None, snapshot) => snapshot.as_ref().is_some_and(|contents| !contents.interactive),
    };
    match trace::startup(&shell) {
        Some(startup) if arguments.profile || stopped => {
            if stopped {
                Speaker::Snapshot
                    .says("startup did not come to its end: it is run once more, traced, to find the line");
            }
            report.trace = Some(trace::run(client, startup, cwd).await?);
        }
        None if arguments.profile => {
            Speaker::Snapshot.says("only bash and zsh can tell which file takes how long")
        }
        _ => {}
    }
    Ok(report)
}

/// A capture that failed; other errors are none of the shell's.
fn failed(error: CallError) -> Result<Failed, Failure> {
    match error.kind() {
        Some(ErrorKind::SnapshotFailed { reason: failure }) => Ok(Failed {
            reason: failure,
            message: reason(failure),
        }),
        _ => Err(Failure::Ask(error)),
    }
}
