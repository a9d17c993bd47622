//! Runs a shell with its trace.

use std::time::Duration;

use exec_client::{Client, ProcessEvent};
use exec_protocol::limits::{SNAPSHOT_ATTEMPT_MS, SNAPSHOT_END_OF_INPUT_MS};
use exec_protocol::process::TerminalSize;
use exec_protocol::{ExecParams, PathUri, ProcessId};

use super::Startup;
use super::reader::Reader;
use crate::cli::own_daemon;
use crate::cli::snapshot::failure::Failure;
use crate::cli::snapshot::report::{Ending, Traced};

const PROCESS_ID: &str = "trace";
/// What a terminal sends for an end of input.
const END_OF_INPUT: u8 = 4;
/// The terminal of a capture.
const SIZE: TerminalSize = TerminalSize { rows: 24, cols: 80 };

/// Runs it as captures run, on a terminal that nobody types at, until its startup files are done or it ends.
pub(in crate::cli::snapshot) async fn run(
    client: &Client,
    startup: Startup,
    cwd: PathUri,
) -> Result<Traced, Failure> {
    let mut params = ExecParams::new(PROCESS_ID, startup.argv, cwd);
    let (env, policy) = own_daemon::environment(&[("EXEC_SERVER_SNAPSHOT".to_owned(), "1".to_owned())]);
    params.env = env;
    params.env.extend(startup.env);
    params.env_policy = Some(policy);
    params.tty = true;
    params.size = Some(SIZE);
    params.timeout_ms = Some(SNAPSHOT_ATTEMPT_MS);
    let (_, mut events) = client.start(&params).await.map_err(Failure::Ask)?;
    let feeder = tokio::spawn(end_input(client.clone(), params.process_id.clone()));
    let mut reader = Reader::new(&startup.nonce);
    let mut ending = Ending::TimedOut;
    while let Some(event) = events.next().await? {
        match event {
            ProcessEvent::Output(output) => {
                reader.take(&output.chunk.0);
                if reader.is_complete() {
                    break;
                }
            }
            ProcessEvent::Exited(exited) => {
                if !exited.timed_out {
                    ending = Ending::Exited {
                        exit_code: exited.exit_code,
                    };
                }
            }
            ProcessEvent::Closed(_) | ProcessEvent::TreeEnded => break,
        }
    }
    feeder.abort();
    if reader.is_complete() {
        ending = Ending::Complete;
    }
    // The daemon ends what it left, when it is closed.
    Ok(reader.finish(ending))
}

/// Says again and again that the input has ended, to whatever reads it.
async fn end_input(client: Client, process_id: ProcessId) {
    let mut ticks = tokio::time::interval(Duration::from_millis(SNAPSHOT_END_OF_INPUT_MS));
    loop {
        ticks.tick().await;
        // Refused when nobody has read for long, or when it is over.
        let _ = client.write(&process_id, vec![END_OF_INPUT]).await;
    }
}
