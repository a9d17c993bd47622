//! A process that is known and not yet launched.

use std::sync::Arc;

use super::handle::Process;
use super::{StartError, failure::LaunchPaths};
use crate::command::{Execution, check_inherited};
use crate::warden::Launch;
use crate::{InvalidCommand, Rewrite};

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
