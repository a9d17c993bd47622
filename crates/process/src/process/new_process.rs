//! How a process comes to be: reserved, with its streams open and nothing launched.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use exec_protocol::ProcessId;
use exec_protocol::exit::Tree;
use exec_protocol::process::Enforces;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Process;
use super::clock::SilenceClock;
use super::feed::Stdin;
use super::launch_paths::LaunchPaths;
use super::output_log::OutputLog;
use super::plumbing::Plumbing;
use super::process::Inner;
use super::pump::pump;
use super::session::Session;
use super::state::State;
use super::turn::TurnQueue;
use crate::warden::{Launch, LaunchId};
use crate::{Command, InvalidCommand, Stdio};

/// A process to be made.
#[derive(Debug)]
pub(crate) struct NewProcess {
    /// Its name.
    pub(crate) id: ProcessId,
    /// Names the launch.
    pub(crate) launch: LaunchId,
    /// The name of its start.
    pub(crate) start_id: Option<String>,
    /// What to run.
    pub(crate) command: Command,
    /// What holds each limit that was asked for.
    pub(crate) limits: Option<Enforces>,
}

impl NewProcess {
    /// Makes the process, reserved; or failed, when its start has failed already.
    pub(crate) fn make(self, session: Arc<Session>) -> Result<Arc<Process>, InvalidCommand> {
        let command = self.command;
        let prepared = command.prepare()?;
        let plumbing = Plumbing::new(command.stdio, !command.input.is_empty());
        let (state, plumbing) = match plumbing {
            Ok(plumbing) => (State::new(), Some(plumbing)),
            Err(error) => (State::Failed(error), None),
        };
        let terminal = matches!(command.stdio, Stdio::Terminal { .. });
        let failed = plumbing.is_none();
        let Plumbing {
            outputs,
            stdin,
            child_stdin,
            child_output,
            slave,
        } = plumbing.unwrap_or_default();
        let paths = LaunchPaths {
            programs: prepared.programs.clone(),
            cwd: command.cwd,
        };
        let reserved = Launch {
            id: self.launch,
            programs: prepared.programs,
            argv: prepared.argv,
            environment: prepared.environment,
            cwd: prepared.cwd,
            stdin: child_stdin,
            output: child_output,
            terminal,
            limits: command.limits,
            inherited: command.inherited,
        };
        let limits = &session.limits;
        let process = Arc::new(Process {
            id: self.id,
            launch: self.launch,
            start_id: self.start_id,
            stdio: command.stdio,
            timeouts: command.timeouts,
            limits: self.limits,
            started_at: SystemTime::now(),
            turns: if failed {
                TurnQueue::default()
            } else {
                TurnQueue::taken()
            },
            changed: Notify::new(),
            room: Notify::new(),
            clock_moved: Notify::new(),
            stdin_stop: Notify::new(),
            inner: Mutex::new(Inner {
                state,
                tree: if failed { Tree::Ended } else { Tree::Running },
                log: OutputLog::new(limits.retained_bytes, limits.retained_chunks),
                clock: SilenceClock::new(Instant::now()),
                stdin: Stdin::new(stdin, command.stdio, limits),
                failure: None,
                matchers: Vec::new(),
                next_matcher: 0,
                opened: false,
                announced: false,
                closed_said: None,
                owes_tree_ended: false,
                open_streams: outputs.clone(),
                terminal: terminal
                    .then(|| outputs.first().map(|(_, master)| Arc::clone(master)))
                    .flatten(),
                slave,
                paths: Some(paths),
                reserved: (!failed).then(|| Box::new(reserved)),
            }),
            session,
        });
        if failed {
            return Ok(process);
        }
        if !command.input.is_empty() {
            process.feed_first(command.input);
        }
        for (stream, fd) in outputs {
            tokio::spawn(pump(Arc::clone(&process), stream, fd));
        }
        Ok(process)
    }
}
