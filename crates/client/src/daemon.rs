//! A daemon of one's own: a child process that is spoken to on its stdin and stdout.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use tokio::process::{Child, Command};

use crate::server_request::ServerRequestHandler;
use crate::{Client, ClientLimits};

/// A running daemon and the connection to it.
///
/// It lives as long as its stdin is open: [`close`](Self::close) it to see it end. Dropping this only lets go
/// of it; when the last [`Client`] is dropped too, its stdin closes and it ends by itself.
#[derive(Debug)]
pub struct Daemon {
    /// A handle to its connection.
    pub client: Client,
    child: Child,
    limits: ClientLimits,
}

/// Why there is no daemon.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program did not start.
    #[error("failed to start {program}")]
    Spawn {
        /// Which.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// Its stdin or stdout is not a pipe of ours.
    #[error("the child has no pipes")]
    NoPipes,
}

/// How closing a daemon went wrong.
#[derive(Debug, thiserror::Error)]
pub enum CloseError {
    /// waitpid(2) failed.
    #[error("failed to wait for the daemon")]
    Wait(#[source] io::Error),
    /// It did not end in time, and was killed.
    #[error("the daemon did not end within {0:?}, and was killed")]
    Killed(std::time::Duration),
}

impl Daemon {
    /// Starts the program at `path`, with the default limits, for a server that asks nothing.
    ///
    /// Its stderr is this process's. It is put into a process group of its own, so that ^C at a terminal is
    /// this process's affair.
    ///
    /// # Errors
    /// It did not start. Must be called in a tokio runtime with I/O enabled.
    pub fn spawn(path: impl AsRef<Path>) -> Result<Self, SpawnError> {
        let mut command = Command::new(path.as_ref());
        command.process_group(0);
        Self::spawn_command(command, None, ClientLimits::default())
    }

    /// Starts a prepared command: its stdin and stdout are set here, all else is the caller's.
    ///
    /// # Errors
    /// It did not start.
    pub fn spawn_command(
        mut command: Command,
        handler: Option<Box<dyn ServerRequestHandler>>,
        limits: ClientLimits,
    ) -> Result<Self, SpawnError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|source| SpawnError::Spawn {
            program: command.as_std().get_program().to_string_lossy().into_owned(),
            source,
        })?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(SpawnError::NoPipes);
        };
        let (client, connection) = Client::connect_with(stdout, stdin, handler, limits.clone());
        // It ends with the daemon, whose exit closes the other end of its pipe.
        tokio::spawn(connection.run());
        Ok(Self {
            client,
            child,
            limits,
        })
    }

    /// The daemon's process id, until it was waited for.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the daemon to end by itself. Cancel-safe.
    ///
    /// # Errors
    /// waitpid(2) failed.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Closes its stdin, which ends the session and every process in it, and waits for it to exit, at most
    /// [`ClientLimits::daemon_close`]; then it is killed, and what it started ends all the same.
    ///
    /// Calls that are pending get their answers. Events that still come can be taken after this.
    ///
    /// # Errors
    /// It had to be killed, or could not be waited for.
    pub async fn close(mut self) -> Result<ExitStatus, CloseError> {
        self.client.close();
        let limit = self.limits.daemon_close;
        let ended = tokio::time::timeout(limit, self.child.wait()).await;
        match ended {
            Ok(status) => status.map_err(CloseError::Wait),
            Err(_) => match self.child.kill().await {
                Ok(()) => Err(CloseError::Killed(limit)),
                Err(error) => Err(CloseError::Wait(error)),
            },
        }
    }
}
