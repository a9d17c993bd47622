//! A typed async client of exec-server, over any reader and writer.
//!
//! ```no_run
//! use exec_client::{Daemon, ProcessEvent};
//! use exec_protocol::initialize::InitializeParams;
//! use exec_protocol::{ExecParams, PathUri};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let daemon = Daemon::spawn("exec-server")?;
//! daemon.client.initialize(&InitializeParams::new("example")).await?;
//!
//! let cwd = PathUri::from_path("/".as_ref()).ok_or("not absolute")?;
//! let argv = ["/bin/echo", "hello"].map(String::from).to_vec();
//! let (_, mut events) = daemon.client.start(&ExecParams::new("p1", argv, cwd)).await?;
//! while let Some(event) = events.next().await? {
//!     match event {
//!         ProcessEvent::Output(output) => assert_eq!(output.chunk.0, b"hello\n"),
//!         ProcessEvent::Exited(exited) => assert_eq!(exited.exit_code, 0),
//!         ProcessEvent::Closed(_) | ProcessEvent::TreeEnded => {}
//!     }
//! }
//! drop(events);
//! daemon.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Client`] is the handle, [`Connection`] the task behind it, [`ProcessEvents`] what one process says.
//! Nothing is lost and nothing grows without bound: see [`ProcessEvents`] for what that asks of a caller.
//! What the server says and this client does not know is ignored, and counted in [`Stats`].

#![forbid(unsafe_code)]

mod budget;
mod client;
mod connection;
mod daemon;
mod error;
mod event;
pub mod limits;
mod line_reader;
mod outgoing;
mod pending;
mod process_events;
mod router;
mod server_request;
mod shared;
mod stats;
mod subscriptions;
mod verbs;

pub use client::Client;
pub use connection::Connection;
pub use daemon::{CloseError, Daemon, SpawnError};
pub use error::{CallError, Closed, NotifyError};
pub use event::ProcessEvent;
pub use limits::ClientLimits;
pub use process_events::{Collected, ProcessEvents};
pub use server_request::{ServerRequest, ServerRequestHandler};
pub use stats::Stats;
