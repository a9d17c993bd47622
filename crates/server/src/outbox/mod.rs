//! What leaves on stdout: replies first, then processes in turn, gathered into few writes.

mod notification;
mod queue;
mod writer;

pub(crate) use queue::{AfterReply, Outbox, Reply};
pub(crate) use writer::write_to;
