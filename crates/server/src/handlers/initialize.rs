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
        session_id: session_id(),
        environment_info: describe(&handlers),
    })
}

/// A random UUID. Of the kernel's own call: in a statically linked daemon, `Uuid::new_v4` does not find it, and opens
/// two devices instead.
fn session_id() -> String {
    let mut bytes = [0u8; 16];
    match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) {
        // Never shorter for so few (getrandom(2)).
        Ok(16) => uuid::Builder::from_random_bytes(bytes).into_uuid(),
        _ => uuid::Uuid::new_v4(),
    }
    .to_string()
}
