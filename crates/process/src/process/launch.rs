//! What the warden is asked to start, of a command.

use super::plumbing::ChildEnds;
use crate::command::Prepared;
use crate::warden::{Launch, LaunchId};
use crate::{Command, Stdio};

impl Launch {
    /// Of `command`, as it was prepared.
    pub(crate) fn of(id: LaunchId, command: &Command, prepared: Prepared, ends: ChildEnds) -> Self {
        let Prepared {
            programs,
            argv,
            environment,
            cwd,
        } = prepared;
        Self {
            id,
            programs,
            argv,
            environment,
            cwd,
            stdin: ends.stdin,
            output: ends.output,
            terminal: matches!(command.stdio, Stdio::Terminal { .. }),
            limits: command.limits,
            inherited: command.inherited.clone(),
        }
    }
}
