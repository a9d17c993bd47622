//! A process that is known and not yet launched.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use bytes::Bytes;

use super::launch_paths::LaunchPaths;
use super::{Process, StartError};
use crate::command::{Execution, check_inherited};
use crate::warden::Launch;
use crate::{Inherited, InvalidCommand};

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

impl Process {
    /// It waits to be launched: the warden knows nothing of it.
    pub(crate) fn is_reserved(&self) -> bool {
        self.lock().reserved.is_some()
    }

    /// Hands it to the warden, unless that is done or its start has failed.
    pub(crate) fn launch_reserved(self: &Arc<Self>, rewrite: Option<Rewrite>) {
        let ready = {
            let mut inner = self.lock();
            let Some(mut launch) = inner.reserved.take() else {
                return;
            };
            match (rewrite, &mut inner.paths) {
                (Some(rewrite), Some(paths)) => rewrite.apply(&mut launch, paths).map(|()| launch),
                (Some(_), None) | (None, _) => Ok(launch),
            }
        };
        match ready {
            Ok(launch) => self.session.launcher.launch(*launch),
            Err(error) => self.abandon(StartError::Invalid(error)),
        }
    }

    /// Fails the start as terminated if it waits to be launched; says whether it did.
    pub(crate) fn cancel_reserved(self: &Arc<Self>) -> bool {
        let reserved = self.lock().reserved.take();
        let waited = reserved.is_some();
        // The child's ends of its streams close with it.
        drop(reserved);
        if waited {
            self.abandon(StartError::Terminated);
        }
        waited
    }

    /// It will never be launched.
    fn abandon(self: &Arc<Self>, error: StartError) {
        // Before anybody learns of it: the id is free by then.
        if let Some(lifecycle) = self.session.lifecycle.upgrade() {
            lifecycle.abandoned(self);
        }
        self.fail(|_| error);
    }
}

impl Rewrite {
    fn apply(self, launch: &mut Launch, paths: &mut LaunchPaths) -> Result<(), InvalidCommand> {
        check_inherited(&self.inherited)?;
        let prepared = Execution {
            argv: &self.argv,
            arg0: self.arg0.as_deref(),
            environment: &self.environment,
            cwd: &paths.cwd,
        }
        .prepare()?;
        paths.programs.clone_from(&prepared.programs);
        launch.programs = prepared.programs;
        launch.argv = prepared.argv;
        launch.environment = prepared.environment;
        launch.inherited = self.inherited;
        let stderr = launch.output.as_ref().map(|(_, stderr)| stderr);
        if let Some(stderr) = stderr.or(launch.stdin.as_ref().filter(|_| launch.terminal))
            && !self.notice.is_empty()
        {
            // Nobody has written yet, so there is room; whoever closed our end reads no notice.
            let _ = rustix::io::write(stderr, &self.notice);
        }
        Ok(())
    }
}
