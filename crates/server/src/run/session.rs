//! One command, from its start to the end of the daemon that ran it.

use exec_client::{Client, ClientLimits, Daemon};
use exec_protocol::initialize::InitializeParams;
use tokio::process::Command;
use tokio::time::Instant;

use super::arguments::Args;
use super::exit::SIGNAL_EXIT;
use super::failure::Failure;
use super::leader::Leader;
use super::relay::{Relay, Started};
use super::signals::{Caught, Meaning, Signals};
use super::terminal;

/// The only process of its session.
const PROCESS_ID: &str = "run";

/// Runs the command; the exit code to pass on.
pub(super) async fn run(arguments: &Args) -> Result<u8, Failure> {
    // First, so that no signal finds this process half-way.
    let mut signals = Signals::catch().map_err(Failure::Signals)?;
    let daemon = spawn_daemon()?;
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

fn spawn_daemon() -> Result<Daemon, Failure> {
    // Not by its name, which may have been replaced or removed since.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("exec-server");
    // Variables that are meant for a daemon that stays: one command is not worth a port, nor the wait for a collector
    // at its end. The command finds them in its environment all the same.
    command.args(["--metrics-listen", "off", "--otlp=off"]);
    // ^C at the terminal is passed on once, by this process.
    command.process_group(0);
    Daemon::spawn_command(command, None, ClientLimits::default()).map_err(Failure::Spawn)
}

async fn start(client: &Client, arguments: &Args) -> Result<Started, Failure> {
    let params = arguments.start_request(PROCESS_ID, terminal::size())?;
    client
        .initialize(&InitializeParams::new("exec-server run"))
        .await
        .map_err(Failure::Handshake)?;
    // Before the daemon's own clock begins: a command that it ends for its time limit ends after this.
    let deadline = arguments
        .timeout()
        .and_then(|timeout| Instant::now().checked_add(timeout));
    match client.start(&params).await {
        Ok((response, events)) => Ok(Started {
            leader: Leader::watch(response.pid),
            deadline,
            events,
        }),
        Err(error) => Err(Failure::Start {
            program: arguments.program(),
            error,
        }),
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
