//! Turns: requests that name one process act in the order they came.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Hands out turns, first come, first served.
///
/// A place in the line is taken by the first poll, always: tokio's own locks do not promise that, because a
/// task that has used up its cooperative budget is sent away before it stands in line.
#[derive(Debug, Default)]
pub(crate) struct TurnQueue {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    /// Somebody has the turn, or it was passed to `granted`.
    taken: bool,
    /// Passed on, not yet picked up.
    granted: Option<u64>,
    next_ticket: u64,
    waiting: VecDeque<(u64, Waker)>,
}

/// The right to act on a process, in the order the requests came. Dropped when the request has acted.
pub struct Turn<'a> {
    queue: &'a TurnQueue,
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turn")
    }
}

impl TurnQueue {
    /// A queue whose first turn is taken, until [`TurnQueue::release`].
    pub(crate) fn taken() -> Self {
        let line = Line {
            taken: true,
            ..Line::default()
        };
        Self {
            line: Mutex::new(line),
        }
    }

    /// Waits for the turn. Ready on the first poll if nobody has it and nobody waits.
    pub(crate) fn turn(&self) -> WaitForTurn<'_> {
        WaitForTurn {
            queue: self,
            place: Place::New,
        }
    }

    /// Passes the turn on.
    pub(crate) fn release(&self) {
        let waker = {
            let mut line = self.lock();
            match line.waiting.pop_front() {
                Some((ticket, waker)) => {
                    line.granted = Some(ticket);
                    Some(waker)
                }
                None => {
                    line.taken = false;
                    None
                }
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.queue.release();
    }
}

enum Place {
    New,
    InLine(u64),
    Done,
}

/// Waits for a [`Turn`].
pub(crate) struct WaitForTurn<'a> {
    queue: &'a TurnQueue,
    place: Place,
}

impl<'a> Future for WaitForTurn<'a> {
    type Output = Turn<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn<'a>> {
        let queue = self.queue;
        let mut line = queue.lock();
        match self.place {
            Place::New if !line.taken => line.taken = true,
            Place::New => {
                let ticket = line.next_ticket;
                line.next_ticket += 1;
                line.waiting.push_back((ticket, context.waker().clone()));
                self.place = Place::InLine(ticket);
                return Poll::Pending;
            }
            Place::InLine(ticket) if line.granted == Some(ticket) => line.granted = None,
            Place::InLine(ticket) => {
                if let Some((_, waker)) = line.waiting.iter_mut().find(|(other, _)| *other == ticket) {
                    waker.clone_from(context.waker());
                }
                return Poll::Pending;
            }
            Place::Done => unreachable!("polled after it was ready"),
        }
        self.place = Place::Done;
        Poll::Ready(Turn { queue })
    }
}

impl Drop for WaitForTurn<'_> {
    fn drop(&mut self) {
        let Place::InLine(ticket) = self.place else {
            return;
        };
        let mut line = self.queue.lock();
        if line.granted == Some(ticket) {
            line.granted = None;
            drop(line);
            self.queue.release();
        } else {
            line.waiting.retain(|(other, _)| *other != ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<'a>(future: Pin<&mut WaitForTurn<'a>>) -> Poll<Turn<'a>> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_free_turn_is_ready_on_the_first_poll() {
        let queue = TurnQueue::default();
        for _ in 0..1000 {
            assert!(poll(pin!(queue.turn())).is_ready());
        }
    }

    #[test]
    fn turns_go_round_in_the_order_of_the_first_polls() {
        let queue = TurnQueue::taken();
        let mut second = pin!(queue.turn());
        let mut first = pin!(queue.turn());
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        queue.release();
        assert!(poll(second.as_mut()).is_pending(), "not its turn");
        assert!(poll(pin!(queue.turn())).is_pending(), "nobody jumps the line");
        let Poll::Ready(turn) = poll(first.as_mut()) else {
            panic!("its turn");
        };
        assert!(poll(second.as_mut()).is_pending(), "the first has not acted");
        drop(turn);
        assert!(poll(second.as_mut()).is_ready());
    }

    #[test]
    fn who_goes_away_passes_the_turn_on() {
        let queue = TurnQueue::taken();
        let mut last = pin!(queue.turn());
        {
            let mut waiting = pin!(queue.turn());
            let mut granted = pin!(queue.turn());
            assert!(poll(granted.as_mut()).is_pending());
            assert!(poll(waiting.as_mut()).is_pending());
            assert!(poll(last.as_mut()).is_pending());
            queue.release();
        }
        assert!(poll(last.as_mut()).is_ready());
        assert!(poll(pin!(queue.turn())).is_ready());
    }
}
