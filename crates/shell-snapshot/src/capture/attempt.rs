//! One attempt at a capture: an interactive try, and one more that is not, where that can help.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use exec_process::ProcessTable;
use exec_protocol::limits::SnapshotLimits;
use tokio::time::{Instant, timeout_at};

use super::helpers::Alive;
use super::run::{Ending, Run, run};
use crate::dialect::{Try, dialect_of};
use crate::snapshot::Snapshot;
use crate::{Failed, Failure, Request};

/// An attempt under way.
pub(crate) type Attempt = Pin<Box<dyn Future<Output = Result<Snapshot, Failed>> + Send>>;

/// Makes attempts at captures.
pub(crate) trait Attempts: Debug + Send + Sync + 'static {
    /// Makes one.
    fn attempt(&self, request: Arc<Request>) -> Attempt;
}

/// Attempts with real shells.
#[derive(Debug)]
pub(crate) struct ShellAttempts {
    table: Arc<ProcessTable>,
    limits: SnapshotLimits,
    alive: Arc<Alive>,
}

impl ShellAttempts {
    /// As hidden processes of that table.
    pub(crate) fn new(table: Arc<ProcessTable>, limits: SnapshotLimits) -> Self {
        Self {
            table,
            limits,
            alive: Arc::default(),
        }
    }
}

impl Attempts for ShellAttempts {
    fn attempt(&self, request: Arc<Request>) -> Attempt {
        let (table, limits) = (Arc::clone(&self.table), self.limits.clone());
        let alive = Arc::clone(&self.alive);
        Box::pin(async move {
            let began = Instant::now();
            let end = began + limits.attempt;
            let dialect = dialect_of(request.shell);
            let tried = try_twice(&limits, |try_, until| {
                run(&table, &alive, dialect, &request, (try_, until), &limits)
            });
            let capture = tried.await?;
            let past_login = true;
            let read = move || Snapshot::read(dialect, &capture, &limits, began.elapsed());
            // A large one takes milliseconds, which nobody else shall wait for.
            let read = tokio::task::spawn_blocking(read);
            let result = match timeout_at(end, read).await {
                Ok(read) => read.unwrap_or(Err(Failure::ReadFailed)),
                Err(_) => Err(Failure::ReadFailed),
            };
            result.map_err(|failure| Failed { failure, past_login })
        })
    }
}

/// Makes the tries of an attempt, each until the moment that it is given.
async fn try_twice<C, F>(limits: &SnapshotLimits, mut run: impl FnMut(Try, Instant) -> F) -> Result<C, Failed>
where
    F: Future<Output = Run<C>>,
{
    let began = Instant::now();
    let first = run(Try::Interactive, began + limits.interactive).await;
    let failed = |failure, past_login| Failed { failure, past_login };
    let failure = match first.ending {
        Ending::Complete(capture) => return Ok(capture),
        Ending::Failed(failure) => return Err(failed(failure, first.past_login)),
        // It left, was replaced, was killed, or hangs: a startup that is not interactive may not.
        Ending::Left => Failure::MissingOutput,
        Ending::TimedOut => Failure::Timeout,
    };
    let second = run(Try::NonInteractive, began + limits.attempt).await;
    match second.ending {
        Ending::Complete(capture) => {
            tracing::warn!(
                reason = failure.name(),
                "a shell's interactive startup left no state: the snapshot is of one that is not interactive"
            );
            Ok(capture)
        }
        _ => Err(failed(failure, first.past_login || second.past_login)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ended(ending: Ending<u32>, past_login: bool) -> Run<u32> {
        Run { ending, past_login }
    }

    /// What comes of the endings of a first and a second try, and how often was tried.
    async fn outcome(first: Run<u32>, second: Run<u32>) -> (Result<u32, Failed>, Vec<(Try, Duration)>) {
        let began = Instant::now();
        let mut runs = vec![second, first];
        let mut tries = Vec::new();
        let result = try_twice(&SnapshotLimits::default(), |try_, until| {
            tries.push((try_, until - began));
            let run = runs.pop().unwrap();
            async move {
                if matches!(run.ending, Ending::TimedOut) {
                    tokio::time::sleep_until(until).await;
                }
                run
            }
        })
        .await;
        (result, tries)
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_shell_that_left_or_hangs_is_tried_again() {
        let interactive = (Try::Interactive, Duration::from_secs(8));
        let both = [interactive, (Try::NonInteractive, Duration::from_secs(10))];
        let failed = |failure, past_login| Err(Failed { failure, past_login });
        let unused = || ended(Ending::Complete(2), false);
        for (first, second, want, tries) in [
            (ended(Ending::Complete(1), true), unused(), Ok(1), &both[..1]),
            (
                ended(Ending::Failed(Failure::NonzeroExit), false),
                unused(),
                failed(Failure::NonzeroExit, false),
                &both[..1],
            ),
            (ended(Ending::Left, false), unused(), Ok(2), &both[..]),
            (ended(Ending::TimedOut, false), unused(), Ok(2), &both[..]),
            (
                ended(Ending::TimedOut, false),
                ended(Ending::Failed(Failure::NonzeroExit), true),
                failed(Failure::Timeout, true),
                &both[..],
            ),
            (
                ended(Ending::Left, true),
                ended(Ending::TimedOut, false),
                failed(Failure::MissingOutput, true),
                &both[..],
            ),
        ] {
            let name = format!("{first:?} {second:?}");
            let (result, made) = outcome(first, second).await;
            assert_eq!((result, made.as_slice()), (want, tries), "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_hangs_takes_ten_seconds() {
        let began = Instant::now();
        let (result, _) = outcome(ended(Ending::TimedOut, false), ended(Ending::TimedOut, false)).await;
        assert_eq!(result.unwrap_err().failure, Failure::Timeout);
        assert_eq!(began.elapsed(), Duration::from_secs(10));
    }
}
