//! `process/start`.

use std::sync::Arc;

use exec_process::{Process, Rewrite, StartError};
use exec_protocol::error::SpawnSubject;
use exec_protocol::limits::MAX_PROCESS_ID_BYTES;
use exec_protocol::process::SandboxType;
use exec_protocol::{ExecParams, ExecResponse, RpcError};
use exec_shell_snapshot::{Prepared, Unobserved};

use super::Handlers;
use super::failure::rpc_error;
use crate::dispatch::{Answer, Call, Refusal, limit_reached};
use crate::launch::Launch;
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
    let searched = params.argv.first().filter(|name| !name.contains('/')).cloned();
    let Launch { command, snapshot } = handlers
        .launcher
        .prepare(params, call.trace.as_ref())
        .map_err(rpc_error)?;
    let snapshot = snapshot.map(|request| (request, command.argv.clone(), command.arg0.clone()));
    let reserved = handlers
        .table
        .reserve(id.clone(), start_id, command)
        .map_err(rpc_error)?;
    // The same startId again: another request's process, which that request launches, opens and gives up.
    let is_ours = !reserved.is_repeated();
    let process = Arc::clone(reserved.process());
    let given_up = GivenUp(is_ours.then(|| Arc::clone(&process)));
    let started = match snapshot.filter(|_| is_ours) {
        Some((request, argv, arg0)) => {
            let prepare = handlers
                .snapshots
                .prepare(request, &argv, arg0.as_deref(), &Unobserved);
            tokio::select! {
                biased;
                prepared = prepare => {
                    reserved.launch(rewrite(prepared));
                    process.started().await
                }
                // Terminated meanwhile, or the session ends: nobody waits for a capture.
                started = process.started() => started,
            }
        }
        None => {
            reserved.launch(None);
            process.started().await
        }
    };
    given_up.forget();
    let started = started.map_err(|error| not_started(error, searched.as_deref()))?;
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

fn rewrite(prepared: Prepared) -> Option<Rewrite> {
    match prepared {
        Prepared::Unmodified => None,
        Prepared::Restored(rewrite) | Prepared::Bare(rewrite) => Some(rewrite),
    }
}

/// The error of a failed start. `searched`: the program's name, if it was looked for on PATH: then the path that
/// was tried is one that nobody typed.
fn not_started(error: StartError, searched: Option<&str>) -> RpcError {
    let missing = matches!(
        error,
        StartError::NotFound {
            subject: SpawnSubject::Program,
            ..
        }
    );
    let mut error = rpc_error(error);
    if let (true, Some(name)) = (missing, searched) {
        error.message = format!("program not found: no {name:?} in any directory of the PATH it is given");
    }
    error
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

#[cfg(test)]
mod tests {
    use super::*;
    use exec_protocol::PathUri;
    use std::path::Path;

    #[test]
    fn a_name_looked_for_on_path_is_told_as_it_was_typed() {
        let missing = |subject| StartError::NotFound {
            subject,
            path: PathUri::from_path(Path::new("/usr/bin/nosuch")).unwrap(),
        };
        let message = |subject, searched| not_started(missing(subject), searched).message;
        let program = SpawnSubject::Program;
        assert_eq!(
            message(program, Some("nosuch")),
            "program not found: no \"nosuch\" in any directory of the PATH it is given"
        );
        assert_eq!(message(program, None), "program not found: /usr/bin/nosuch");
        assert!(message(SpawnSubject::Interpreter, Some("nosuch")).contains("/usr/bin/nosuch"));
    }
}
