//! `process/start`.

use std::sync::Arc;

use exec_process::Process;
use exec_protocol::limits::MAX_PROCESS_ID_BYTES;
use exec_protocol::process::SandboxType;
use exec_protocol::{ExecParams, ExecResponse, RpcError};

use super::Handlers;
use super::failure::rpc_error;
use crate::dispatch::{Answer, Call, Refusal, limit_reached};
use crate::outbox::AfterReply;

pub(super) async fn start(
    handlers: Arc<Handlers>,
    call: Call,
    params: ExecParams,
) -> Result<Answer<ExecResponse>, Refusal> {
    let id = params.process_id.clone();
    if id.is_empty() || id.len() > MAX_PROCESS_ID_BYTES {
        let reason = format!("1 to {MAX_PROCESS_ID_BYTES} bytes expected, {} given", id.len());
        return Err(RpcError::invalid_param("processId", reason).into());
    }
    // Before anything is started: the dispatcher drops what it has no place for.
    if handlers.pending.is_full() {
        let max = handlers.pending.max();
        return Err(limit_reached("maxPendingRequests", max, "too many requests in work").into());
    }
    let start_id = params.start_id.clone();
    let command = handlers
        .launcher
        .prepare(params, call.trace.as_ref())
        .map_err(rpc_error)?;
    let known = handlers.table.get(&id);
    let process = handlers
        .table
        .start(id.clone(), start_id, command)
        .map_err(rpc_error)?;
    // The same startId again: another request's process, which that request opens and gives up.
    let is_ours = !known.is_some_and(|known| Arc::ptr_eq(&known, &process));
    let given_up = GivenUp(is_ours.then(|| Arc::clone(&process)));
    let started = process.started().await;
    given_up.forget();
    let started = started.map_err(rpc_error)?;
    let result = ExecResponse {
        process_id: id,
        sandbox_type: SandboxType::None,
        pid: Some(started.pid),
        limits: started.limits,
    };
    let open: AfterReply = Arc::new(move || process.open_notifications());
    Ok(Answer {
        result,
        after: is_ours.then_some(open),
    })
}

/// Ends the process of a start that is cancelled before its answer. Its last notifications are sent: it may
/// have run.
struct GivenUp(Option<Arc<Process>>);

impl GivenUp {
    fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        if let Some(process) = &self.0 {
            process.terminate(None);
            process.open_notifications();
        }
    }
}
