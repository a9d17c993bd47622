//! One command, from its start to the end of the daemon that ran it.

use exec_client::Client;
use exec_protocol::ExecParams;
use exec_protocol::initialize::InitializeParams;
use tokio::time::Instant;

use super::arguments::Args;
use super::exit::SIGNAL_EXIT;
use super::failure::Failure;
use super::leader::Leader;
use super::relay::{Relay, Started};
use super::signals::{Caught, Meaning, Signals};
use super::terminal;
use crate::cli::own_daemon::{self, Says};
use crate::cli::snapshot::reason;
use crate::cli::speaker::Speaker;
use crate::cli::user_shell::UserShell;

/// The only process of its session.
const PROCESS_ID: &str = "run";

/// Runs the command; the exit code to pass on.
pub(super) async fn run(arguments: &Args) -> Result<u8, Failure> {
    // First, so that no signal finds this process half-way.
    let mut signals = Signals::catch().map_err(Failure::Signals)?;
    let says = if arguments.snapshot().is_some() {
        Says::NothingOfCaptures
    } else {
        Says::AllItDoes
    };
    let daemon = own_daemon::spawn(says).map_err(Failure::Spawn)?;
    let client = daemon.client.clone();
    let result = tokio::select! {
        started = start(&client, arguments) => match started {
            Ok(command) => Relay::run(arguments, client.clone(), command, signals).await,
            Err(failure) => Err(failure),
        },
        signal = first_end(&mut signals) => Ok(SIGNAL_EXIT + signal.number),
    };
    // The daemon ends what is left. It says itself if it cannot; the command's exit code stands.
    let _ = daemon.close().await;
    result
}

async fn start(client: &Client, arguments: &Args) -> Result<Started, Failure> {
    arguments.check()?;
    let server = client
        .initialize(&InitializeParams::new("exec-server run"))
        .await
        .map_err(Failure::Handshake)?;
    let shell = arguments.snapshot().map(|asked| {
        let own = &server.environment_info.shell.path;
        UserShell::choose(asked, own, std::env::var_os("PATH").as_deref())
    });
    let shell = shell.transpose()?;
    let params = arguments.start_request(PROCESS_ID, terminal::size(), shell.as_ref())?;
    // Before the daemon's own clock begins: a command that it ends for its time limit ends after this.
    let deadline = arguments
        .timeout()
        .and_then(|timeout| Instant::now().checked_add(timeout));
    match client.start(&params).await {
        Ok((response, events)) => {
            let leader = Leader::watch(response.pid);
            if let Some(shell) = &shell {
                tell_of_failure(client, &params, shell).await;
            }
            Ok(Started {
                leader,
                deadline,
                events,
            })
        }
        Err(error) => Err(Failure::Start {
            program: shell.map_or_else(|| arguments.program(), |shell| shell.path),
            error,
        }),
    }
}

/// A snapshot that failed fails no command, but whoever asked for it should know.
async fn tell_of_failure(client: &Client, params: &ExecParams, shell: &UserShell) {
    let params = shell.snapshot_params(params.cwd.clone(), params.env.clone(), params.env_policy.clone());
    // The command runs: what cannot be told harms nobody.
    let Ok(described) = client.describe_snapshot(&params).await else {
        return;
    };
    let name = shell.kind.name();
    if let Some(failure) = described.failure {
        Speaker::Run.says(&format!(
            "the command does not have your {name}'s state: {}; `exec-server snapshot` shows where",
            reason(failure)
        ));
    } else if described.snapshot.is_some_and(|contents| !contents.interactive) {
        Speaker::Run.says(&format!(
            "the command has your {name}'s state without that of a terminal, whose startup does not come to its end; \
             `exec-server snapshot` shows where"
        ));
    }
}

/// The first signal that would have ended this process.
async fn first_end(signals: &mut Signals) -> Caught {
    loop {
        let signal = signals.next().await;
        if signal.meaning == Meaning::End {
            return signal;
        }
    }
}
