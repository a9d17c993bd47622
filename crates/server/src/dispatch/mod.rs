//! From a line to its handler, and from the handler's answer to a reply.

mod batch;
mod dispatcher;
mod handshake;
mod outgoing;
mod pending;
mod router;

pub(crate) use dispatcher::{Dispatcher, limit_reached};
pub(crate) use handshake::Handshake;
pub(crate) use outgoing::OutgoingRequests;
pub(crate) use pending::Pending;
pub(crate) use router::{Answer, Call, Refusal, Router};
