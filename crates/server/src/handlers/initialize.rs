//! `initialize`.

use std::sync::Arc;

use exec_protocol::ErrorKind;
use exec_protocol::initialize::{InitializeParams, InitializeResponse};

use super::Handlers;
use super::environment::describe;
use crate::dispatch::{Call, Refusal};

pub(super) async fn initialize(
    handlers: Arc<Handlers>,
    _call: Call,
    params: InitializeParams,
) -> Result<InitializeResponse, Refusal> {
    if params.resume_session_id.is_some() {
        let message = "unknown session: on stdio there is none to resume, a session ends with its connection";
        return Err(ErrorKind::UnknownSession.into_error(message).into());
    }
    handlers.handshake.begin()?;
    if params.notify_tree_ended == Some(true) {
        handlers.outbox.notify_tree_ended();
    }
    Ok(InitializeResponse {
        session_id: uuid::Uuid::new_v4().to_string(),
        environment_info: describe(&handlers),
    })
}
