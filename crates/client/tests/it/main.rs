//! The client against a scripted server in memory.

mod back_pressure;
mod calls;
mod connection_end;
mod events;
mod ignored_messages;
mod interleaving;
mod scripted;
mod server_requests;
mod starts;
mod verbs;
