//! How a process comes to be: reserved, with its streams open and nothing launched.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use exec_protocol::ProcessId;
use exec_protocol::exit::Tree;
use exec_protocol::limits::Limits;
use exec_protocol::process::Enforces;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::clock::SilenceClock;
use super::feed::Stdin;
use super::launch_paths::LaunchPaths;
use super::output_log::OutputLog;
use super::plumbing::{Plumbing, StdinEnd};
use super::process::Inner;
use super::pump::pump;
use super::session::Session;
use super::state::State;
use super::turn::TurnQueue;
use super::{Process, StartError};
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
    pub(crate) fn make(mut self, session: Arc<Session>) -> Result<Arc<Process>, InvalidCommand> {
        let prepared = self.command.prepare()?;
        let input = std::mem::take(&mut self.command.input);
        let plumbing = match Plumbing::new(self.command.stdio, !input.is_empty()) {
            Ok(plumbing) => plumbing,
            Err(error) => return Ok(self.failed(error, session)),
        };
        let launch = Launch::of(self.launch, &self.command, prepared, plumbing.child);
        let paths = LaunchPaths::of(&launch);
        let outputs = plumbing.outputs;
        let terminal = matches!(self.command.stdio, Stdio::Terminal { .. });
        let inner = Inner {
            open_streams: outputs.clone(),
            terminal: terminal
                .then(|| outputs.first().map(|(_, master)| Arc::clone(master)))
                .flatten(),
            slave: plumbing.slave,
            paths: Some(paths),
            reserved: Some(Box::new(launch)),
            ..self.inner(State::new(), plumbing.stdin, &session.limits)
        };
        let process = Arc::new(self.process(inner, TurnQueue::taken(), session));
        if !input.is_empty() {
            process.feed_first(input);
        }
        for (stream, fd) in outputs {
            tokio::spawn(pump(Arc::clone(&process), stream, fd));
        }
        Ok(process)
    }

    /// The process whose streams could not be made.
    fn failed(self, error: StartError, session: Arc<Session>) -> Arc<Process> {
        let inner = Inner {
            tree: Tree::Ended,
            ..self.inner(State::Failed(error), StdinEnd::Closed, &session.limits)
        };
        Arc::new(self.process(inner, TurnQueue::default(), session))
    }

    /// What changes of it, without streams and with nothing to launch.
    fn inner(&self, state: State, stdin: StdinEnd, limits: &Limits) -> Inner {
        Inner {
            state,
            tree: Tree::Running,
            log: OutputLog::new(limits.retained_bytes, limits.retained_chunks),
            clock: SilenceClock::new(Instant::now()),
            stdin: Stdin::new(stdin, self.command.stdio, limits),
            failure: None,
            matchers: Vec::new(),
            next_matcher: 0,
            opened: false,
            announced: false,
            closed_said: None,
            owes_tree_ended: false,
            open_streams: Vec::new(),
            terminal: None,
            slave: None,
            paths: None,
            reserved: None,
        }
    }

    fn process(self, inner: Inner, turns: TurnQueue, session: Arc<Session>) -> Process {
        Process {
            id: self.id,
            launch: self.launch,
            start_id: self.start_id,
            stdio: self.command.stdio,
            timeouts: self.command.timeouts,
            limits: self.limits,
            started_at: SystemTime::now(),
            session,
            turns,
            changed: Notify::new(),
            room: Notify::new(),
            clock_moved: Notify::new(),
            stdin_stop: Notify::new(),
            inner: Mutex::new(inner),
        }
    }
}
