//! Runs a command through exec-server: `command [SERVER [COMMAND...]]`

use std::io::Write;

use exec_client::{Daemon, ProcessEvent};
use exec_protocol::initialize::InitializeParams;
use exec_protocol::{EnvPolicy, ExecParams, PathUri, Stream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let daemon = Daemon::spawn(words.next().as_deref().unwrap_or("exec-server"))?;
    let mut command: Vec<String> = words.collect();
    if command.is_empty() {
        command = ["sh", "-c", "echo hello; exit 3"].map(String::from).to_vec();
    }
    let client = daemon.client.clone();
    client.initialize(&InitializeParams::new("command")).await?;

    let cwd = PathUri::from_path(&std::env::current_dir()?).ok_or("no absolute path")?;
    let mut params = ExecParams::new("p1", command, cwd);
    params.env_policy = Some(EnvPolicy::default());
    let (_, mut events) = client.start(&params).await?;
    let mut exit_code = None;
    while let Some(event) = events.next().await? {
        match event {
            ProcessEvent::Output(output) if output.stream == Stream::Stderr => {
                std::io::stderr().write_all(&output.chunk.0)?;
            }
            ProcessEvent::Output(output) => std::io::stdout().write_all(&output.chunk.0)?,
            // Output may still follow.
            ProcessEvent::Exited(exited) => exit_code = Some(exited.exit_code),
            ProcessEvent::Closed(_) | ProcessEvent::TreeEnded => {}
        }
    }
    daemon.close().await?;
    writeln!(
        std::io::stdout(),
        "exit code {}",
        exit_code.ok_or("it never exited")?
    )?;
    Ok(())
}
