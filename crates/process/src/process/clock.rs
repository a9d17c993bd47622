//! How long a process has been silent, as its client could see it.

use std::time::Duration;

use exec_protocol::Stream;
use tokio::time::Instant;

/// Clocks of silence. They stand still while output is held back: a process whose pipes are not read is not
/// silent, it is not heard.
#[derive(Debug, Clone)]
pub(crate) struct SilenceClock {
    /// Last byte in or out.
    activity: Instant,
    stdout: Instant,
    stderr: Instant,
    pty: Instant,
    /// Streams that are held back, and since when.
    held: Option<(Instant, u8)>,
}

impl SilenceClock {
    /// Clocks that begin now.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            activity: now,
            stdout: now,
            stderr: now,
            pty: now,
            held: None,
        }
    }

    /// A byte came out of a stream.
    pub(crate) fn output(&mut self, stream: Stream, now: Instant) {
        self.activity = now;
        match stream {
            Stream::Stdout => self.stdout = now,
            Stream::Stderr => self.stderr = now,
            Stream::Pty => self.pty = now,
        }
    }

    /// A byte went in, or the process has just been executed.
    pub(crate) fn input(&mut self, now: Instant) {
        self.activity = now;
    }

    /// One stream is held back from now.
    pub(crate) fn hold(&mut self, now: Instant) {
        let (since, streams) = self.held.unwrap_or((now, 0));
        self.held = Some((since, streams + 1));
    }

    /// One stream is no longer held back.
    pub(crate) fn release(&mut self, now: Instant) {
        match self.held {
            Some((since, 1)) => {
                self.held = None;
                for clock in [
                    &mut self.activity,
                    &mut self.stdout,
                    &mut self.stderr,
                    &mut self.pty,
                ] {
                    // What happened while it was held has moved its own clock already.
                    *clock += now - since.max(*clock);
                }
            }
            Some((since, streams)) => self.held = Some((since, streams - 1)),
            None => {}
        }
    }

    /// When no byte in or out will have passed for `limit`, if none does until then; `None`: it stands still.
    pub(crate) fn idle_at(&self, limit: Duration) -> Option<Instant> {
        self.due(self.activity, limit)
    }

    /// When a stream (or all) will have been silent for `limit`; `None`: it stands still.
    pub(crate) fn quiet_at(&self, stream: Option<Stream>, limit: Duration) -> Option<Instant> {
        let last = match stream {
            Some(Stream::Stdout) => self.stdout,
            Some(Stream::Stderr) => self.stderr,
            Some(Stream::Pty) => self.pty,
            None => self.stdout.max(self.stderr).max(self.pty),
        };
        self.due(last, limit)
    }

    fn due(&self, last: Instant, limit: Duration) -> Option<Instant> {
        let due = last.checked_add(limit)?;
        match self.held {
            // It was silent for so long before it was held back.
            Some((since, _)) if due <= since => Some(due),
            Some(_) => None,
            None => Some(due),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn output_and_input_reset_idle_and_only_output_resets_quiet() {
        let start = Instant::now();
        let mut clock = SilenceClock::new(start);
        clock.output(Stream::Stderr, start + 5 * MS);
        clock.input(start + 7 * MS);
        assert_eq!(clock.idle_at(10 * MS), Some(start + 17 * MS));
        assert_eq!(clock.quiet_at(None, 10 * MS), Some(start + 15 * MS));
        assert_eq!(
            clock.quiet_at(Some(Stream::Stderr), 10 * MS),
            Some(start + 15 * MS)
        );
        assert_eq!(
            clock.quiet_at(Some(Stream::Stdout), 10 * MS),
            Some(start + 10 * MS)
        );
    }

    #[test]
    fn held_back_time_does_not_count() {
        let start = Instant::now();
        let mut clock = SilenceClock::new(start);
        clock.hold(start + 4 * MS);
        clock.hold(start + 5 * MS);
        assert_eq!(clock.idle_at(10 * MS), None);
        assert_eq!(
            clock.idle_at(3 * MS),
            Some(start + 3 * MS),
            "over before it was held"
        );
        clock.release(start + 20 * MS);
        assert_eq!(clock.idle_at(10 * MS), None, "the other stream still is");
        clock.release(start + 24 * MS);
        assert_eq!(clock.idle_at(10 * MS), Some(start + 30 * MS));
        assert_eq!(clock.quiet_at(None, 10 * MS), Some(start + 30 * MS));
    }

    #[test]
    fn what_comes_while_held_counts_from_the_release() {
        let start = Instant::now();
        let mut clock = SilenceClock::new(start);
        clock.hold(start + 2 * MS);
        clock.output(Stream::Stdout, start + 6 * MS);
        clock.release(start + 8 * MS);
        assert_eq!(
            clock.quiet_at(Some(Stream::Stdout), 10 * MS),
            Some(start + 18 * MS)
        );
        assert_eq!(
            clock.quiet_at(Some(Stream::Stderr), 10 * MS),
            Some(start + 16 * MS)
        );
    }

    #[test]
    fn a_limit_beyond_time_is_never_due() {
        let clock = SilenceClock::new(Instant::now());
        assert_eq!(clock.idle_at(Duration::MAX), None);
    }
}
