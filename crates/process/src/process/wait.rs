//! Waits for a condition of a process.

use std::pin::pin;
use std::time::Duration;

use exec_protocol::Stream;
use exec_protocol::exit::Tree;
use exec_protocol::process::{OutputMatch, WaitReason, WaitResponse, WaitUntil};
use tokio::time::Instant;

use super::matcher::{Matcher, Pattern};
use super::process::Inner;
use super::regexes::Place;
use super::state::State;
use super::timers::at;
use super::{Process, WaitError};

/// A wait whose condition is checked and watched. Cancel-safe.
#[derive(Debug)]
pub struct Wait<'a> {
    process: &'a Process,
    condition: Condition<'a>,
    deadline: Option<Instant>,
}

/// A condition, checked and ready.
#[derive(Debug)]
enum Condition<'a> {
    Exit,
    TreeEnded,
    Output(Registration<'a>),
    /// Output whose regex was not compiled when the session began to end: that is its answer.
    NotCompiled,
    Quiet {
        limit: Duration,
        stream: Option<Stream>,
    },
    Bytes {
        count: u64,
        stream: Option<Stream>,
    },
}

/// What a look at a condition found.
enum Look {
    /// It holds, or never will.
    Over(WaitReason, Option<OutputMatch>),
    /// Not yet; look again at this moment, or when something changes.
    Again(Option<Instant>),
}

/// A pattern that the process feeds with its output, until this is dropped: no byte is evicted unseen.
#[derive(Debug)]
struct Registration<'a> {
    process: &'a Process,
    id: u64,
    stream: Option<Stream>,
    /// Of a regex.
    _place: Option<Place>,
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.process.lock().matchers.retain(|(id, _)| *id != self.id);
    }
}

impl Process {
    /// Checks a condition and watches it from now on. Ready at once, but for a regex, which a thread compiles:
    /// who keeps the turn meanwhile keeps the order of requests. The timeout counts from now. Cancel-safe.
    ///
    /// # Errors
    /// The condition is not one, or too many wait for a regex.
    pub async fn begin_wait(
        &self,
        until: &WaitUntil,
        timeout: Option<Duration>,
    ) -> Result<Wait<'_>, WaitError> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Ok(Wait {
            process: self,
            condition: self.condition(until).await?,
            deadline,
        })
    }

    async fn condition(&self, until: &WaitUntil) -> Result<Condition<'_>, WaitError> {
        Ok(match until {
            WaitUntil::Exit => Condition::Exit,
            WaitUntil::TreeEnded => Condition::TreeEnded,
            WaitUntil::Output {
                literal,
                regex,
                stream,
                from_offset,
            } => {
                self.check_stream(*stream)?;
                let max = self.session.limits.max_match_bytes;
                let (pattern, place) = match (literal.as_deref(), regex.as_deref()) {
                    (None, Some(regex)) => {
                        let compiled = tokio::select! {
                            biased;
                            compiled = self.session.regexes.compile(regex) => compiled,
                            () = self.session_ending() => return Ok(Condition::NotCompiled),
                        };
                        compiled.map(|(pattern, place)| (pattern, Some(place)))?
                    }
                    (literal, regex) => (Pattern::new(literal, regex, max)?, None),
                };
                let matcher = Matcher::new(pattern, *stream, from_offset.unwrap_or(0), max);
                Condition::Output(self.register(matcher, *stream, place))
            }
            WaitUntil::Quiet { ms, stream } => {
                self.check_stream(*stream)?;
                Condition::Quiet {
                    limit: Duration::from_millis(*ms),
                    stream: *stream,
                }
            }
            WaitUntil::Bytes { count, stream } => {
                self.check_stream(*stream)?;
                Condition::Bytes {
                    count: *count,
                    stream: *stream,
                }
            }
        })
    }

    async fn session_ending(&self) {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.session.is_ending() {
                return;
            }
            changed.await;
        }
    }

    /// A stream the process does not have is a slip worth telling.
    fn check_stream(&self, stream: Option<Stream>) -> Result<(), WaitError> {
        let reason = match (stream, self.is_terminal()) {
            (Some(Stream::Pty), false) => "the process has pipes: `stdout` or `stderr`",
            (Some(Stream::Stdout | Stream::Stderr), true) => "the process has a terminal: `pty`",
            (None | Some(_), _) => return Ok(()),
        };
        Err(WaitError::Invalid {
            member: "until.stream",
            reason: reason.to_owned(),
        })
    }

    /// Shows a matcher what is retained, and from now on what comes.
    fn register(
        &self,
        mut matcher: Matcher,
        stream: Option<Stream>,
        place: Option<Place>,
    ) -> Registration<'_> {
        let mut inner = self.lock();
        for (stream, offset, bytes) in inner.log.chunks() {
            if matcher.feed(stream, offset, bytes) {
                break;
            }
        }
        let id = inner.next_matcher;
        inner.next_matcher += 1;
        inner.matchers.push((id, matcher));
        Registration {
            process: self,
            id,
            stream,
            _place: place,
        }
    }
}

impl Wait<'_> {
    /// Waits until the condition holds, or never will, or the time or the session is over.
    pub async fn over(self) -> WaitResponse {
        let process = self.process;
        loop {
            let mut changed = pin!(process.changed.notified());
            changed.as_mut().enable();
            let again = {
                let inner = process.lock();
                let now = Instant::now();
                let over = match self.condition.look(&inner, now) {
                    Look::Over(reason, found) => Ok((reason, found)),
                    Look::Again(_) if process.session.is_ending() => Ok((WaitReason::SessionEnding, None)),
                    Look::Again(_) if self.deadline.is_some_and(|deadline| deadline <= now) => {
                        Ok((WaitReason::Timeout, None))
                    }
                    Look::Again(again) => Err(again),
                };
                match over {
                    Ok((reason, found)) => return inner.wait_response(reason, found),
                    Err(again) => again,
                }
            };
            let next = [again, self.deadline].into_iter().flatten().min();
            tokio::select! {
                () = changed => {}
                () = at(next) => {}
            }
        }
    }
}

impl Condition<'_> {
    fn look(&self, inner: &Inner, now: Instant) -> Look {
        let closed = matches!(inner.state, State::Closed { .. } | State::Failed(_));
        let (holds, never) = match self {
            Self::Exit => (
                inner.state.outcome().map(|_| WaitReason::Exit),
                matches!(inner.state, State::Failed(_)),
            ),
            Self::TreeEnded => (
                (inner.tree == Tree::Ended).then_some(WaitReason::TreeEnded),
                inner.tree == Tree::Unknown,
            ),
            Self::Output(registration) => {
                let mut matchers = inner.matchers.iter();
                let matcher = matchers.find(|(id, _)| *id == registration.id);
                if let Some(found) = matcher.and_then(|(_, matcher)| matcher.found()) {
                    return Look::Over(WaitReason::Output, Some(found));
                }
                (None, !inner.is_open(registration.stream))
            }
            Self::NotCompiled => (None, false),
            Self::Quiet { limit, stream } => {
                let due = inner.clock.quiet_at(*stream, *limit);
                match due {
                    Some(due) if due <= now => (Some(WaitReason::Quiet), false),
                    // Silence after the end is no silence of the process.
                    _ if closed => (None, true),
                    due => return Look::Again(due),
                }
            }
            Self::Bytes { count, stream } => (
                (inner.log.logged_bytes(*stream) >= *count).then_some(WaitReason::Bytes),
                !inner.is_open(*stream),
            ),
        };
        match holds {
            Some(reason) => Look::Over(reason, None),
            None if never => Look::Over(WaitReason::Closed, None),
            None => Look::Again(None),
        }
    }
}

impl Inner {
    fn wait_response(&self, reason: WaitReason, found: Option<OutputMatch>) -> WaitResponse {
        let outcome = self.state.outcome();
        WaitResponse {
            reason,
            next_seq: self.log.next_seq(),
            exit_code: outcome.map(|outcome| outcome.exit_code),
            signal: outcome
                .and_then(|outcome| outcome.signal)
                .map(crate::Signal::name),
            cause: outcome.map(|outcome| outcome.cause),
            found,
        }
    }
}
