//! A real session with exec-server, every message of it shown: what `make run` runs.
//!
//! `session [PATH]`: PATH is the server; without it, the one that was built beside this example. Exits with 1
//! when anything is not as it should be.

mod chapters;
mod json;
mod show;
mod tap;

use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use exec_client::Client;
use tokio::process::Command;

use crate::chapters::Session;
use crate::show::Screen;
use crate::tap::Tap;

/// Something hangs: a whole session takes a second or two.
const PATIENCE: Duration = Duration::from_secs(60);

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let screen = Screen::new();
    let failure = match tokio::time::timeout(PATIENCE, run(&screen)).await {
        Ok(Ok(())) => {
            screen.say("\nEverything was as it should be.");
            return ExitCode::SUCCESS;
        }
        Ok(Err(failure)) => failure.to_string(),
        Err(_) => format!("the session did not end within {PATIENCE:?}"),
    };
    screen.say(&format!("\nNOT as it should be: {failure}"));
    ExitCode::FAILURE
}

async fn run(screen: &Screen) -> Result<(), Failure> {
    let path = server_path()?;
    screen.title(&format!("A session with {}", path.display()));
    screen.say("→ to the server, ← from it, with the time since it was spawned. Members that are");
    screen.say("null are left out; under a chunk of base64 stand the bytes it holds.");
    let mut server = Command::new(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("failed to start {}: {error}", path.display()))?;
    screen.start_clock();
    let stdin = server.stdin.take().ok_or("no stdin")?;
    let stdout = server.stdout.take().ok_or("no stdout")?;
    let (client, connection) = Client::connect(Tap::new(stdout, screen), Tap::new(stdin, screen));
    tokio::spawn(connection.run());
    let session = Session { client, screen };
    session.handshake().await?;
    session.pipes().await?;
    session.stdin().await?;
    session.terminal().await?;
    session.waiting().await?;
    session.tree().await?;
    session.shutdown(server).await
}

/// The argument, or `exec-server` in the directory above this example's.
fn server_path() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::args_os().nth(1) {
        return Ok(path.into());
    }
    let here = std::env::current_exe()?;
    let path = here
        .ancestors()
        .nth(2)
        .map(|target| target.join("exec-server"))
        .filter(|path| path.exists());
    path.ok_or_else(|| "no exec-server beside this example: build it, or name it as the argument".into())
}
