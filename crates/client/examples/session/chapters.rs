//! What is tried, and what must come of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use exec_client::{Client, Collected, ProcessEvent, ProcessEvents};
use exec_protocol::exit::{ExitCause, Tree};
use exec_protocol::initialize::InitializeParams;
use exec_protocol::process::{TerminalSize, WaitReason, WaitUntil, WriteStatus};
use exec_protocol::{ExecParams, PathUri, ProcessId};
use tokio::process::Child;

use crate::Failure;
use crate::show::Screen;

/// More than any command here prints.
const OUTPUT_BYTES: usize = 64 * 1024;
/// ^C as a terminal sends it.
const INTERRUPT: u8 = 3;

/// The session, chapter by chapter.
pub(crate) struct Session<'a> {
    pub(crate) client: Client,
    pub(crate) screen: &'a Screen,
}

/// Fails with what was expected and what was found.
fn check<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:?}, found {found:?}").into())
}

/// A shell script with an environment of its own.
fn script(id: &str, script: &str) -> Result<ExecParams, Failure> {
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let cwd = PathUri::from_path(Path::new("/tmp")).ok_or("not absolute")?;
    let mut params = ExecParams::new(id, argv, cwd);
    params.env = BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]);
    Ok(params)
}

/// A pattern in a terminal's or a pipe's output.
fn output(literal: Option<&str>, regex: Option<&str>) -> WaitUntil {
    WaitUntil::Output {
        literal: literal.map(str::to_owned),
        regex: regex.map(str::to_owned),
        stream: None,
        from_offset: None,
    }
}

impl Session<'_> {
    async fn start(&self, params: &ExecParams) -> Result<(ProcessId, u32, ProcessEvents), Failure> {
        let (started, events) = self.client.start(params).await?;
        Ok((started.process_id, started.pid.ok_or("no pid")?, events))
    }

    /// Everything to `closed`, which must say that nothing was lost.
    async fn finish(&self, events: ProcessEvents) -> Result<Collected, Failure> {
        let all = events.collect(OUTPUT_BYTES).await?;
        let closed = all.closed.as_ref().ok_or("never closed")?;
        check("dropped bytes", &closed.dropped_bytes, &Some(0))?;
        Ok(all)
    }

    /// The answer must come because of what was waited for.
    async fn wait(&self, id: &ProcessId, until: WaitUntil, reason: WaitReason) -> Result<(), Failure> {
        let answer = self.client.wait(id, until, Some(Duration::from_secs(20))).await?;
        check("reason of the wait", &answer.reason, &reason)
    }

    pub(crate) async fn handshake(&self) -> Result<(), Failure> {
        self.screen.chapter(
            "1. Handshake",
            "Who is there, and what can it do? `initialize`, once, then `initialized`.",
        );
        let mut params = InitializeParams::new("session example");
        params.notify_tree_ended = Some(true);
        let response = self.client.initialize(&params).await?;
        let protocol = response.environment_info.protocol.ok_or("no protocol member")?;
        check("protocol version", &protocol.version, &1)?;
        let status = self.client.environment_status().await?.status;
        check("status", &&*status, &"ready")
    }

    pub(crate) async fn pipes(&self) -> Result<(), Failure> {
        self.screen.chapter(
            "2. A process on pipes",
            "Its streams stay apart, its messages are numbered, its exit code is its own.",
        );
        let params = script("pipes", "echo out; echo err >&2; exit 3")?;
        let (_, _, events) = self.start(&params).await?;
        let all = self.finish(events).await?;
        check("stdout", &&*all.stdout, &&b"out\n"[..])?;
        check("stderr", &&*all.stderr, &&b"err\n"[..])?;
        let exited = all.exited.ok_or("never exited")?;
        check(
            "exit",
            &(exited.exit_code, exited.cause),
            &(3, Some(ExitCause::Exited)),
        )?;
        check(
            "tree",
            &all.closed.and_then(|closed| closed.tree),
            &Some(Tree::Ended),
        )
    }

    pub(crate) async fn stdin(&self) -> Result<(), Failure> {
        self.screen.chapter(
            "3. Standard input, and its end",
            "`sort` prints nothing before its input ends: `process/closeStdin` ends it.",
        );
        let mut params = script("sort", "exec sort")?;
        params.pipe_stdin = true;
        let (id, _, events) = self.start(&params).await?;
        let status = self.client.write(&id, b"pear\napple\n".to_vec()).await?;
        check("write", &status, &WriteStatus::Accepted)?;
        let status = self.client.close_stdin(&id).await?;
        check("closing stdin", &status, &WriteStatus::Accepted)?;
        let all = self.finish(events).await?;
        check("stdout", &&*all.stdout, &&b"apple\npear\n"[..])
    }

    pub(crate) async fn terminal(&self) -> Result<(), Failure> {
        self.screen.chapter(
            "4. A terminal",
            "A PTY with a size, then with another; then ^C, a byte like any other.",
        );
        let mut params = script("tty", "stty size; read go; stty size; exec cat")?;
        params.tty = true;
        params.size = Some(TerminalSize { rows: 24, cols: 80 });
        let (id, _, events) = self.start(&params).await?;
        self.wait(&id, output(Some("24 80"), None), WaitReason::Output)
            .await?;
        let size = TerminalSize { rows: 40, cols: 120 };
        self.client.resize(&id, size).await?;
        self.client.write(&id, b"go\r".to_vec()).await?;
        self.wait(&id, output(Some("40 120"), None), WaitReason::Output)
            .await?;
        self.client.write(&id, vec![INTERRUPT]).await?;
        let all = self.finish(events).await?;
        let exited = all.exited.ok_or("never exited")?;
        check("exit code", &exited.exit_code, &130)?;
        check("signal", &exited.signal.as_deref(), &Some("SIGINT"))
    }

    pub(crate) async fn waiting(&self) -> Result<(), Failure> {
        self.screen.chapter(
            "5. Waiting for output",
            "A server is up when it says so: `process/wait` tells when, and where it said it.",
        );
        let params = script(
            "server",
            "echo starting; sleep 0.3; echo listening on port 8080; exec sleep 600",
        )?;
        let (id, _, events) = self.start(&params).await?;
        self.wait(&id, output(None, Some("port [0-9]+")), WaitReason::Output)
            .await?;
        check("running", &self.client.terminate(&id, None).await?, &true)?;
        let all = self.finish(events).await?;
        let cause = all.exited.and_then(|exited| exited.cause);
        check("cause", &cause, &Some(ExitCause::Terminated))
    }

    pub(crate) async fn tree(&self) -> Result<(), Failure> {
        self.screen.chapter(
            "6. A tree, ended",
            "The child leaves for a session of its own, and ends with its process anyhow.",
        );
        let params = script("tree", "setsid sleep 600 & echo $!; exec sleep 600")?;
        let (id, parent, mut events) = self.start(&params).await?;
        let child = match events.next().await? {
            Some(ProcessEvent::Output(output)) => {
                String::from_utf8_lossy(&output.chunk.0).trim().parse::<u32>()?
            }
            other => return Err(format!("expected a pid, found {other:?}").into()),
        };
        self.alive(&[parent, child], true)?;
        check("running", &self.client.terminate(&id, None).await?, &true)?;
        let mut tree = None;
        while let Some(event) = events.next().await? {
            match event {
                ProcessEvent::Closed(closed) => tree = closed.tree,
                ProcessEvent::TreeEnded => tree = Some(Tree::Ended),
                ProcessEvent::Output(_) | ProcessEvent::Exited(_) => {}
            }
        }
        check("tree", &tree, &Some(Tree::Ended))?;
        self.alive(&[parent, child], false)
    }

    pub(crate) async fn shutdown(self, mut server: Child) -> Result<(), Failure> {
        self.screen.chapter(
            "7. The end of the session",
            "Standard input closes: what still runs is ended, and the server exits with 0.",
        );
        let (_, pid, mut events) = self.start(&script("left", "exec sleep 600")?).await?;
        self.alive(&[pid], true)?;
        self.client.close();
        self.screen.note("(standard input closed)");
        // What it still says is shown as it comes.
        while let Ok(Some(_)) = events.next().await {}
        let status = server.wait().await?;
        self.screen.note(&format!("the server: {status}"));
        check("the server's exit", &status.code(), &Some(0))?;
        self.alive(&[pid], false)
    }

    /// Looks, says and checks whether processes are there.
    fn alive(&self, pids: &[u32], expected: bool) -> Result<(), Failure> {
        for pid in pids {
            let is_alive = Path::new(&format!("/proc/{pid}")).exists();
            let state = if is_alive { "alive" } else { "gone" };
            self.screen.note(&format!("pid {pid}: {state}"));
            check(&format!("pid {pid} alive"), &is_alive, &expected)?;
        }
        Ok(())
    }
}
