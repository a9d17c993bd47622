//! `process/*` but for the start: read, feed, signal, end, list, wait.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use exec_process::CloseStdinError;
use exec_protocol::limits::DEFAULT_READ_BYTES;
use exec_protocol::method::Empty;
use exec_protocol::process::{
    CloseStdinParams, ListResponse, ReadParams, ResizeParams, SignalParams, TerminalSize, TerminateParams,
    TerminateResponse, WaitParams, WaitResponse, WriteParams, WriteResponse, WriteStatus,
};
use exec_protocol::{ErrorKind, RpcError};

use super::Handlers;
use super::failure::rpc_error;
use super::read_line::write_read_line;
use crate::dispatch::{Answer, Call, Refusal};

const UNKNOWN: WriteResponse = WriteResponse {
    status: WriteStatus::UnknownProcess,
};

/// The whole line of the reply.
pub(super) async fn read(
    handlers: Arc<Handlers>,
    call: Call,
    params: ReadParams,
) -> Result<Vec<u8>, Refusal> {
    let max_bytes = params.max_bytes.unwrap_or(DEFAULT_READ_BYTES as u64);
    if max_bytes == 0 {
        return Err(RpcError::invalid_param("maxBytes", "at least 1 expected").into());
    }
    let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let after_seq = params.after_seq.unwrap_or(0);
    // A batch waits for all its answers: it must not wait for this one.
    let wait = if call.in_batch {
        0
    } else {
        params.wait_ms.unwrap_or(0)
    };
    let wait = Duration::from_millis(wait).min(handlers.limits.max_wait);

    let unknown = || RpcError::unknown_process(&params.process_id);
    let process = handlers.table.get(&params.process_id).ok_or_else(unknown)?;
    // The turn is not kept: who waits for output holds nobody up.
    process.turn().await.map_err(|_| unknown())?;
    if !wait.is_zero() {
        // Either way it answers what there is.
        let _ = tokio::time::timeout(wait, process.event_after(after_seq)).await;
    }
    // The page is not made before there is room for it, and is queued before anyone else runs.
    if !call.in_batch {
        handlers.outbox.room().await;
    }
    Ok(write_read_line(&call.id, &process.read(after_seq, max_bytes)))
}

pub(super) async fn write(
    handlers: Arc<Handlers>,
    _call: Call,
    params: WriteParams,
) -> Result<Answer<WriteResponse>, Refusal> {
    let Some(process) = handlers.table.get(&params.process_id) else {
        return Ok(UNKNOWN.into());
    };
    let Ok(_turn) = process.turn().await else {
        return Ok(UNKNOWN.into());
    };
    let bytes = Bytes::from(params.chunk.0);
    let close = params.close_stdin.unwrap_or(false);
    if close && process.is_terminal() {
        return Err(rpc_error(CloseStdinError::Terminal).into());
    }
    match process.write(bytes, params.write_id.as_deref(), close) {
        Ok(status) => Ok(WriteResponse { status }.into()),
        Err(refused) => {
            // Writes that were sent before this answer are refused too, or they would overtake this one.
            let process = Arc::clone(&process);
            Err(Refusal {
                error: rpc_error(refused),
                after: Some(Arc::new(move || process.refusal_answered())),
            })
        }
    }
}

pub(super) async fn close_stdin(
    handlers: Arc<Handlers>,
    _call: Call,
    params: CloseStdinParams,
) -> Result<WriteResponse, Refusal> {
    let Some(process) = handlers.table.get(&params.process_id) else {
        return Ok(UNKNOWN);
    };
    let Ok(_turn) = process.turn().await else {
        return Ok(UNKNOWN);
    };
    let status = process.close_stdin().map_err(rpc_error)?;
    Ok(WriteResponse { status })
}

pub(super) async fn resize(
    handlers: Arc<Handlers>,
    _call: Call,
    params: ResizeParams,
) -> Result<Empty, Refusal> {
    let size = TerminalSize {
        rows: params.rows,
        cols: params.cols,
    };
    if let Some(member) = size.member_out_of_range() {
        return Err(RpcError::invalid_param(member, TerminalSize::RANGE).into());
    }
    let unknown = || RpcError::unknown_process(&params.process_id);
    let process = handlers.table.get(&params.process_id).ok_or_else(unknown)?;
    let _turn = process.turn().await.map_err(|_| unknown())?;
    process.resize(size).map_err(rpc_error)?;
    Ok(Empty {})
}

pub(super) async fn signal(
    handlers: Arc<Handlers>,
    _call: Call,
    params: SignalParams,
) -> Result<Empty, Refusal> {
    let signal = exec_process::Signal::parse(&params.signal).map_err(rpc_error)?;
    if let Some(process) = handlers.table.get(&params.process_id)
        && let Ok(_turn) = process.turn().await
    {
        process.signal(signal);
    }
    Ok(Empty {})
}

pub(super) async fn terminate(
    handlers: Arc<Handlers>,
    _call: Call,
    params: TerminateParams,
) -> Result<TerminateResponse, Refusal> {
    let grace = params.grace_ms.map(Duration::from_millis);
    // Not in turn: it ends a start that is under way, and whoever waits for that.
    let running = handlers
        .table
        .get(&params.process_id)
        .is_some_and(|process| process.terminate(grace));
    Ok(TerminateResponse { running })
}

pub(super) async fn list(
    handlers: Arc<Handlers>,
    _call: Call,
    _params: Empty,
) -> Result<ListResponse, Refusal> {
    Ok(ListResponse {
        processes: handlers.table.list(),
    })
}

pub(super) async fn wait(
    handlers: Arc<Handlers>,
    call: Call,
    params: WaitParams,
) -> Result<WaitResponse, Refusal> {
    if call.in_batch {
        let message = "process/wait in a batch would hold up all its answers: send it as a line of its own";
        return Err(ErrorKind::NotInBatch.into_error(message).into());
    }
    let unknown = || RpcError::unknown_process(&params.process_id);
    let process = handlers.table.get(&params.process_id).ok_or_else(unknown)?;
    let turn = process.turn().await.map_err(|_| unknown())?;
    let timeout = params.timeout_ms.map(Duration::from_millis);
    let wait = process.begin_wait(&params.until, timeout).await;
    // It is watched: who waits holds nobody up.
    drop(turn);
    Ok(wait.map_err(rpc_error)?.over().await)
}
