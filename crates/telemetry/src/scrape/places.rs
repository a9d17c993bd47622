//! The places of those who are served. One who asks for nothing keeps a place only while nobody else wants it.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{Instant, timeout_at};

/// So many connections at once, and what they do.
#[derive(Debug)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    grace: Duration,
    open: Mutex<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    last: u64,
    by_number: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    end: AbortHandle,
    /// Since when it asks for nothing; none while its request is answered.
    idle_since: Option<Instant>,
}

impl Connections {
    /// The one that has asked for nothing the longest, and since when.
    fn oldest_idle(&self) -> Option<(Instant, &Connection)> {
        let idle = self.by_number.values();
        idle.filter_map(|connection| Some((connection.idle_since?, connection)))
            .min_by_key(|(since, _)| *since)
    }
}

impl Places {
    /// `count` places. Once they are all taken, one who has asked for nothing for `grace` loses it to the next.
    pub(crate) fn new(count: usize, grace: Duration) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(count)),
            grace,
            open: Mutex::default(),
        })
    }

    /// Serves a connection that has come, once there is room for it. It is idle until it says otherwise.
    pub(crate) async fn admit<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(Standing) -> F,
    ) {
        let place = self.room().await;
        // Held until the task is known: it may begin on another thread.
        let mut open = self.open();
        open.last += 1;
        let number = open.last;
        let work = work(Standing {
            places: Arc::clone(self),
            number,
            _place: place,
        });
        let connection = Connection {
            end: tokio::spawn(work).abort_handle(),
            idle_since: Some(Instant::now()),
        };
        open.by_number.insert(number, connection);
    }

    async fn room(&self) -> OwnedSemaphorePermit {
        loop {
            let oldest = self.open().oldest_idle().map(|(since, _)| since);
            let due = oldest.unwrap_or_else(Instant::now) + self.grace;
            if let Ok(place) = timeout_at(due, self.place()).await {
                return place;
            }
            // What has just come from the peers is read before anything is held against them.
            yield_now().await;
            let ended = match self.open().oldest_idle() {
                Some((since, connection)) if since.elapsed() >= self.grace => {
                    connection.end.abort();
                    true
                }
                _ => false,
            };
            if ended {
                return self.place().await;
            }
        }
    }

    async fn place(&self) -> OwnedSemaphorePermit {
        let place = Arc::clone(&self.free).acquire_owned().await;
        place.expect("it is never closed")
    }

    fn open(&self) -> MutexGuard<'_, Connections> {
        self.open.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A connection's place; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Standing {
    places: Arc<Places>,
    number: u64,
    _place: OwnedSemaphorePermit,
}

impl Standing {
    /// It has asked for something: nobody takes its place while that is answered.
    pub(crate) fn busy(&self) {
        self.set(None);
    }

    /// It was answered.
    pub(crate) fn idle(&self) {
        self.set(Some(Instant::now()));
    }

    fn set(&self, idle_since: Option<Instant>) {
        if let Some(connection) = self.places.open().by_number.get_mut(&self.number) {
            connection.idle_since = idle_since;
        }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.places.open().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::sync::mpsc::{UnboundedReceiver, error::TryRecvError, unbounded_channel};
    use tokio::time::{sleep, timeout};

    const GRACE: Duration = Duration::from_millis(100);
    const LONG: Duration = Duration::from_secs(3600);

    /// A connection whose request is answered for so long, and that stays for ever. What it returns ends with it.
    async fn admit(places: &Arc<Places>, answered_for: Option<Duration>) -> UnboundedReceiver<()> {
        let (held, over) = unbounded_channel();
        let work = move |standing: Standing| async move {
            let _held = held;
            if let Some(time) = answered_for {
                standing.busy();
                sleep(time).await;
                standing.idle();
            }
            pending::<()>().await;
        };
        places.admit(work).await;
        // Its turn.
        yield_now().await;
        over
    }

    fn is_over(connection: &mut UnboundedReceiver<()>) -> bool {
        connection.try_recv() == Err(TryRecvError::Disconnected)
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_that_asks_for_nothing_makes_room() {
        let places = Places::new(2, GRACE);
        let mut first = admit(&places, None).await;
        sleep(GRACE / 2).await;
        let mut second = admit(&places, None).await;
        let begun = Instant::now();
        let mut third = admit(&places, None).await;
        assert_eq!(begun.elapsed(), GRACE / 2, "it has had its time");
        assert!(is_over(&mut first) && !is_over(&mut second) && !is_over(&mut third));
        sleep(LONG).await;
        assert!(!is_over(&mut second), "nobody wants its place");
        let begun = Instant::now();
        let _fourth = admit(&places, None).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        assert!(is_over(&mut second) && !is_over(&mut third), "one for one");
    }

    #[tokio::test(start_paused = true)]
    async fn one_whose_request_is_answered_keeps_its_place() {
        let places = Places::new(1, GRACE);
        let mut slow = admit(&places, Some(LONG)).await;
        assert!(timeout(LONG / 2, admit(&places, None)).await.is_err());
        assert!(!is_over(&mut slow));
        let begun = Instant::now();
        let _next = admit(&places, None).await;
        assert!(is_over(&mut slow));
        assert!(begun.elapsed() >= LONG / 2, "{:?}", begun.elapsed());
        assert!(begun.elapsed() <= LONG / 2 + GRACE * 2, "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_goes_leaves_its_place() {
        let places = Places::new(1, GRACE);
        for _ in 0..10 {
            places.admit(async |_standing: Standing| {}).await;
            yield_now().await;
        }
        let mut stays = admit(&places, None).await;
        assert_eq!(places.open().by_number.len(), 1);
        assert!(!is_over(&mut stays));
    }
}
