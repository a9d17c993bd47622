//! Where in its life a process is: starting → running → exited → closed, or starting → failed.

use std::time::{Duration, Instant};

use exec_protocol::exit::{ExitCause, Usage};
use exec_protocol::process::ProcessState;

use super::{StartError, Started};
use crate::Signal;
use crate::warden::Exit;

/// The state of one process. It says what was reported, not what is: the leader may have exited while this
/// still says running.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// The warden was asked to start it.
    Starting {
        /// Why it is to end, if something has begun to end it.
        ending: Option<ExitCause>,
    },
    /// It did not start; nothing of it is left.
    Failed(StartError),
    /// It executes.
    Running {
        /// What its start answers.
        started: Started,
        /// When it executed.
        since: Instant,
        /// Why it is to end, if something has begun to end it.
        ending: Option<ExitCause>,
    },
    /// The leader ended; a stream is open.
    Exited {
        /// What its start answers.
        started: Started,
        /// How it ended.
        outcome: Outcome,
    },
    /// The leader ended, all streams are at end.
    Closed {
        /// What its start answers.
        started: Started,
        /// How it ended.
        outcome: Outcome,
    },
}

/// How a leader ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    /// Exit code, or 128 + signal.
    pub(crate) exit_code: i32,
    /// The signal that killed it.
    pub(crate) signal: Option<Signal>,
    /// Why.
    pub(crate) cause: ExitCause,
    /// From exec to exit.
    pub(crate) duration: Duration,
    /// Resource use, where known.
    pub(crate) usage: Option<Usage>,
}

/// A transition that this state does not have: a report of the warden out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot go from {from:?} to {to}")]
pub(crate) struct IllegalTransition {
    /// The state it is in; `None`: failed.
    pub(crate) from: Option<ProcessState>,
    /// Where it was to go.
    pub(crate) to: &'static str,
}

impl State {
    /// A process the warden was asked to start.
    pub(crate) fn new() -> Self {
        Self::Starting { ending: None }
    }

    /// Its name on the wire; `None`: failed.
    pub(crate) fn name(&self) -> Option<ProcessState> {
        match self {
            Self::Starting { .. } => Some(ProcessState::Starting),
            Self::Failed(_) => None,
            Self::Running { .. } => Some(ProcessState::Running),
            Self::Exited { .. } => Some(ProcessState::Exited),
            Self::Closed { .. } => Some(ProcessState::Closed),
        }
    }

    /// How its start went; `None`: undecided.
    pub(crate) fn start_result(&self) -> Option<Result<Started, StartError>> {
        match self {
            Self::Starting { .. } => None,
            Self::Failed(error) => Some(Err(error.clone())),
            Self::Running { started, .. } | Self::Exited { started, .. } | Self::Closed { started, .. } => {
                Some(Ok(*started))
            }
        }
    }

    /// How its leader ended, once it has.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Exited { outcome, .. } | Self::Closed { outcome, .. } => Some(outcome),
            Self::Starting { .. } | Self::Failed(_) | Self::Running { .. } => None,
        }
    }

    /// starting → running.
    pub(crate) fn start(&mut self, started: Started, since: Instant) -> Result<(), IllegalTransition> {
        let Self::Starting { ending } = *self else {
            return Err(self.illegal("running"));
        };
        *self = Self::Running {
            started,
            since,
            ending,
        };
        Ok(())
    }

    /// starting → failed.
    pub(crate) fn fail(&mut self, error: StartError) -> Result<(), IllegalTransition> {
        let Self::Starting { .. } = self else {
            return Err(self.illegal("failed"));
        };
        *self = Self::Failed(error);
        Ok(())
    }

    /// Notes why it is to end, unless something else was first; true while its leader has not exited.
    pub(crate) fn begin_ending(&mut self, cause: ExitCause) -> bool {
        match self {
            Self::Starting { ending } | Self::Running { ending, .. } => {
                ending.get_or_insert(cause);
                true
            }
            Self::Failed(_) | Self::Exited { .. } | Self::Closed { .. } => false,
        }
    }

    /// running → exited; gives the outcome to tell.
    pub(crate) fn exit(&mut self, exit: &Exit) -> Result<Outcome, IllegalTransition> {
        let Self::Running {
            started,
            since,
            ending,
        } = *self
        else {
            return Err(self.illegal("exited"));
        };
        let exit_code = exit.code.unwrap_or_else(|| 128 + exit.signal.unwrap_or(0));
        let by_itself = match exit.signal {
            // A leader that did well is no victim, whatever the kernel killed below it.
            _ if exit.out_of_memory && exit_code != 0 => ExitCause::OutOfMemory,
            Some(_) => ExitCause::Signaled,
            None => ExitCause::Exited,
        };
        let outcome = Outcome {
            exit_code,
            signal: exit.signal.map(Signal::from_number),
            cause: ending.unwrap_or(by_itself),
            duration: exit.at.saturating_duration_since(since),
            usage: Some(exit.usage),
        };
        *self = Self::Exited { started, outcome };
        Ok(outcome)
    }

    /// running → exited, because the warden that knew it is gone; gives the outcome to tell.
    pub(crate) fn lose(&mut self, at: Instant) -> Result<Outcome, IllegalTransition> {
        let Self::Running {
            started,
            since,
            ending,
        } = *self
        else {
            return Err(self.illegal("exited"));
        };
        let outcome = Outcome {
            exit_code: 128 + Signal::KILL.number(),
            signal: Some(Signal::KILL),
            cause: ending.unwrap_or(ExitCause::WardenLost),
            duration: at.saturating_duration_since(since),
            usage: None,
        };
        *self = Self::Exited { started, outcome };
        Ok(outcome)
    }

    /// exited → closed.
    pub(crate) fn close(&mut self) -> Result<(), IllegalTransition> {
        let Self::Exited { started, outcome } = *self else {
            return Err(self.illegal("closed"));
        };
        *self = Self::Closed { started, outcome };
        Ok(())
    }

    fn illegal(&self, to: &'static str) -> IllegalTransition {
        IllegalTransition {
            from: self.name(),
            to,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started() -> Started {
        Started { pid: 7, limits: None }
    }

    fn exit(code: Option<i32>, signal: Option<i32>, out_of_memory: bool) -> Exit {
        Exit {
            code,
            signal,
            usage: Usage::default(),
            out_of_memory,
            at: Instant::now(),
            tree_ended: true,
            comm: [0; 16],
        }
    }

    fn state(name: &str) -> State {
        let mut state = State::new();
        let path: &[&str] = match name {
            "starting" => &[],
            "failed" => &["failed"],
            "running" => &["running"],
            "exited" => &["running", "exited"],
            "closed" => &["running", "exited", "closed"],
            other => panic!("{other}"),
        };
        for step in path {
            go(&mut state, step).expect("a legal path");
        }
        state
    }

    fn go(state: &mut State, to: &str) -> Result<(), IllegalTransition> {
        match to {
            "failed" => state.fail(StartError::Terminated),
            "running" => state.start(started(), Instant::now()),
            "exited" => state.exit(&exit(Some(0), None, false)).map(drop),
            "lost" => state.lose(Instant::now()).map(drop),
            "closed" => state.close(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn only_the_drawn_transitions_are_legal() {
        let legal = [
            ("starting", "failed"),
            ("starting", "running"),
            ("running", "exited"),
            ("running", "lost"),
            ("exited", "closed"),
        ];
        for from in ["starting", "failed", "running", "exited", "closed"] {
            for to in ["failed", "running", "exited", "lost", "closed"] {
                let mut machine = state(from);
                let before = machine.clone();
                let went = go(&mut machine, to);
                assert_eq!(went.is_ok(), legal.contains(&(from, to)), "{from} → {to}");
                if let Err(error) = went {
                    assert_eq!(error.from, before.name());
                    assert_eq!(machine, before, "an illegal transition changes nothing");
                }
            }
        }
    }

    #[test]
    fn the_cause_is_the_first_that_acted() {
        use ExitCause::*;
        let none: &[ExitCause] = &[];
        for (causes, exit, code, cause) in [
            (none, exit(Some(3), None, false), 3, Exited),
            (none, exit(None, Some(15), false), 143, Signaled),
            (none, exit(None, Some(9), true), 137, OutOfMemory),
            (none, exit(Some(1), None, true), 1, OutOfMemory),
            (none, exit(Some(0), None, true), 0, Exited),
            (&[Deadline, Terminated], exit(None, Some(9), false), 137, Deadline),
            (&[Terminated], exit(None, Some(9), true), 137, Terminated),
            (&[ClientGone], exit(Some(0), None, false), 0, ClientGone),
        ] {
            let mut machine = State::new();
            for cause in causes {
                assert!(machine.begin_ending(*cause));
            }
            machine.start(started(), Instant::now()).expect("legal");
            let outcome = machine.exit(&exit).expect("legal");
            assert_eq!(
                (outcome.exit_code, outcome.cause),
                (code, cause),
                "{causes:?} {exit:?}"
            );
            assert!(!machine.begin_ending(Terminated), "it has exited");
            assert_eq!(machine.outcome(), Some(&outcome));
        }
    }

    #[test]
    fn a_lost_warden_reads_as_killed() {
        let mut machine = state("running");
        let outcome = machine.lose(Instant::now()).expect("legal");
        assert_eq!(
            (outcome.exit_code, outcome.cause, outcome.usage),
            (137, ExitCause::WardenLost, None)
        );
    }
}
