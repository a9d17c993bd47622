//! A start whose id is taken, and whose launch is still to come.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use bytes::Bytes;

use crate::{Inherited, Process};

/// What is launched in place of what was reserved; the working directory, the streams and the limits stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// As in [`Command`](crate::Command).
    pub argv: Vec<OsString>,
    /// As in [`Command`](crate::Command).
    pub arg0: Option<OsString>,
    /// As in [`Command`](crate::Command): the whole of it.
    pub environment: BTreeMap<OsString, OsString>,
    /// As in [`Command`](crate::Command).
    pub inherited: Vec<Inherited>,
    /// Written to its stderr, or to its terminal, before it runs: a line or two, which no pipe is too small for.
    pub notice: Bytes,
}

/// A process that is known under its id and waits to be launched. Whoever waits for its start or its turn waits
/// until then. Dropped without [`Reserved::launch`], the start fails as terminated.
#[derive(Debug)]
#[must_use = "dropped, the start fails"]
pub struct Reserved {
    process: Arc<Process>,
    /// Another has reserved it, and launches it.
    repeated: bool,
}

impl Reserved {
    pub(crate) fn new(process: Arc<Process>) -> Self {
        Self {
            process,
            repeated: false,
        }
    }

    pub(crate) fn repeated(process: Arc<Process>) -> Self {
        Self {
            process,
            repeated: true,
        }
    }

    /// The process.
    pub fn process(&self) -> &Arc<Process> {
        &self.process
    }

    /// It is the process of an earlier start of that `startId`: whoever made that launches it, and here neither
    /// [`Reserved::launch`] nor dropping this does anything.
    pub fn is_repeated(&self) -> bool {
        self.repeated
    }

    /// Hands the command to the warden, rewritten if so wanted: a rewrite that cannot be started fails the start with
    /// what is wrong with it. Does nothing if the start has failed meanwhile: by [`Process::terminate`], or because
    /// the session ends.
    pub fn launch(self, rewritten: Option<Rewrite>) {
        if !self.repeated {
            self.process.launch_reserved(rewritten);
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.repeated {
            self.process.cancel_reserved();
        }
    }
}
