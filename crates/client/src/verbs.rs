//! One method of [`Client`] for each request but the handshake and the start of a process.
//!
//! Each is a [`Client::call`]: it fails as that does, and is cancelled when its future is dropped.

use std::time::Duration;

use exec_protocol::environment::{EnvironmentInfo, EnvironmentStatus};
use exec_protocol::method::{self, Empty};
use exec_protocol::process::{
    CloseStdinParams, ListResponse, ReadParams, ReadResponse, ResizeParams, SignalParams, TerminalSize,
    TerminateParams, WaitParams, WaitResponse, WaitUntil, WriteParams, WriteStatus,
};
use exec_protocol::snapshot::{
    DescribeSnapshotResponse, InvalidateSnapshotParams, PrewarmResponse, SnapshotParams,
};
use exec_protocol::{ProcessId, milliseconds};

use crate::{CallError, Client};

impl Client {
    /// `environment/info`: where commands run, and what the server can do.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn environment_info(&self) -> Result<EnvironmentInfo, CallError> {
        self.call::<method::GetEnvironmentInfo>(&Empty {}).await
    }

    /// `environment/status`: whether commands can run.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn environment_status(&self) -> Result<EnvironmentStatus, CallError> {
        self.call::<method::GetEnvironmentStatus>(&Empty {}).await
    }

    /// `process/read`: retained output, or the next that comes.
    ///
    /// # Errors
    /// As [`Client::call`]; `unknownProcess`.
    pub async fn read(&self, params: &ReadParams) -> Result<ReadResponse, CallError> {
        self.call::<method::Read>(params).await
    }

    /// `process/write`: queues bytes for stdin. For `writeId` and `closeStdin`, `call::<Write>`.
    ///
    /// # Errors
    /// As [`Client::call`]; `stdinBacklogFull`: nothing was written, try again when the process has read.
    pub async fn write(&self, process_id: &ProcessId, bytes: Vec<u8>) -> Result<WriteStatus, CallError> {
        let params = WriteParams {
            process_id: process_id.clone(),
            chunk: bytes.into(),
            write_id: None,
            close_stdin: None,
        };
        Ok(self.call::<method::Write>(&params).await?.status)
    }

    /// `process/closeStdin`: end of file, after what is queued.
    ///
    /// # Errors
    /// As [`Client::call`]; `stdinIsTerminal`, `stdinNotPiped`.
    pub async fn close_stdin(&self, process_id: &ProcessId) -> Result<WriteStatus, CallError> {
        let params = CloseStdinParams {
            process_id: process_id.clone(),
        };
        Ok(self.call::<method::CloseStdin>(&params).await?.status)
    }

    /// `process/resize`: changes a terminal's window.
    ///
    /// # Errors
    /// As [`Client::call`]; `unknownProcess`, `notTerminal`.
    pub async fn resize(&self, process_id: &ProcessId, size: TerminalSize) -> Result<(), CallError> {
        let params = ResizeParams {
            process_id: process_id.clone(),
            rows: size.rows,
            cols: size.cols,
        };
        self.call::<method::Resize>(&params).await.map(|Empty {}| ())
    }

    /// `process/signal`: `SIGTERM` and so on, to the foreground group of a terminal or the leader's group.
    /// A process that is over, or never was, takes any signal.
    ///
    /// # Errors
    /// As [`Client::call`]; `invalidParam` for a name that is no signal's.
    pub async fn signal(&self, process_id: &ProcessId, signal: &str) -> Result<(), CallError> {
        let params = SignalParams {
            process_id: process_id.clone(),
            signal: signal.to_owned(),
        };
        self.call::<method::Signal>(&params).await.map(|Empty {}| ())
    }

    /// `process/terminate`: begins to end a process with everything it started, and says whether its leader
    /// had not yet exited. `None` for the server's own grace, zero for SIGKILL at once.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn terminate(
        &self,
        process_id: &ProcessId,
        grace: Option<Duration>,
    ) -> Result<bool, CallError> {
        let params = TerminateParams {
            process_id: process_id.clone(),
            grace_ms: grace.map(milliseconds::ceil),
        };
        Ok(self.call::<method::Terminate>(&params).await?.running)
    }

    /// `process/list`: every known process, by start.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn list(&self) -> Result<ListResponse, CallError> {
        self.call::<method::List>(&Empty {}).await
    }

    /// `process/wait`: until a condition holds, can no longer hold, or the time is over; all three are
    /// results.
    ///
    /// # Errors
    /// As [`Client::call`]; `unknownProcess`, `invalidParam`.
    pub async fn wait(
        &self,
        process_id: &ProcessId,
        until: WaitUntil,
        timeout: Option<Duration>,
    ) -> Result<WaitResponse, CallError> {
        let params = WaitParams {
            process_id: process_id.clone(),
            until,
            timeout_ms: timeout.map(milliseconds::ceil),
        };
        self.call::<method::Wait>(&params).await
    }

    /// `shellSnapshot/prewarm`: captures a shell's state ahead of the commands that start from it, and says what it
    /// is.
    ///
    /// # Errors
    /// As [`Client::call`]; `unsupported`, `snapshotFailed`.
    pub async fn prewarm_snapshot(&self, params: &SnapshotParams) -> Result<PrewarmResponse, CallError> {
        self.call::<method::PrewarmSnapshot>(params).await
    }

    /// `shellSnapshot/describe`: what is cached for such commands: names and sizes, never a value.
    ///
    /// # Errors
    /// As [`Client::call`]; `unsupported`.
    pub async fn describe_snapshot(
        &self,
        params: &SnapshotParams,
    ) -> Result<DescribeSnapshotResponse, CallError> {
        self.call::<method::DescribeSnapshot>(params).await
    }

    /// `shellSnapshot/invalidate`: drops the snapshots and remembered failures of a scope, or of all, and says how
    /// many they were.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn invalidate_snapshots(&self, scope_id: Option<&str>) -> Result<u64, CallError> {
        let params = InvalidateSnapshotParams {
            scope_id: scope_id.map(str::to_owned),
        };
        Ok(self.call::<method::InvalidateSnapshot>(&params).await?.dropped)
    }
}
