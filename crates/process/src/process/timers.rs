//! Ends a process whose time is up.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;

use exec_protocol::exit::ExitCause;
use tokio::time::{Instant, sleep_until};

use super::Process;
use super::state::State;

/// Ends a process and its tree when its time is up, or when it was silent for too long. Counts until it has
/// closed: what it left in the background with its pipes open is still this command.
pub(super) async fn watch_timeouts(process: Arc<Process>, since: Instant) {
    let timeouts = process.timeouts;
    let deadline = timeouts.total.and_then(|total| since.checked_add(total));
    let cause = loop {
        let mut moved = pin!(process.clock_moved.notified());
        moved.as_mut().enable();
        let idle_at = {
            let inner = process.lock();
            if matches!(inner.state, State::Closed { .. } | State::Failed(_)) {
                return;
            }
            timeouts.idle.and_then(|limit| inner.clock.idle_at(limit))
        };
        let now = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= now) {
            break ExitCause::Deadline;
        }
        if idle_at.is_some_and(|idle_at| idle_at <= now) {
            break ExitCause::Idle;
        }
        // Activity moves the idle clock without waking this task: it looks again when it would have been due.
        let next = [deadline, idle_at].into_iter().flatten().min();
        tokio::select! {
            () = moved => {}
            () = at(next) => {}
        }
    };
    process.end(
        cause,
        timeouts.grace.unwrap_or(process.session.limits.default_grace),
    );
}

/// Waits until a moment, or for ever without one.
pub(super) async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => pending().await,
    }
}
