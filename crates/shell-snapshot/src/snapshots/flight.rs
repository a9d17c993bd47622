//! A capture under way: a task of its own, so that nobody who waits for it can stop it.

use std::sync::Arc;

use tokio::time::Instant;

use super::engine::Shared;
use crate::cache::{FlightId, Key};
use crate::dialect::dialect_of;
use crate::freshness::Watched;
use crate::observer::CaptureFinished;
use crate::snapshot::Snapshot;
use crate::{Failed, Purpose, Request};

/// Makes a capture, tells the observer, and puts its outcome where those who wait look.
pub(super) fn launch(
    shared: &Arc<Shared>,
    id: FlightId,
    attempt: u32,
    purpose: Purpose,
    request: Arc<Request>,
) {
    let landing = Landing {
        shared: Arc::clone(shared),
        id,
    };
    tokio::spawn(async move {
        let shared = &landing.shared;
        // Closed never: the semaphore lives as long as this.
        let _room = shared.room.acquire().await;
        let watched = Arc::new(look(shared, &request).await);
        let result = capture(shared, &request, purpose, attempt).await;
        if let Err(failed) = &result
            && attempt == 1
        {
            let (shell, reason) = (request.shell.name(), failed.failure.name());
            tracing::warn!(
                shell,
                reason,
                "a shell's state could not be captured: {}",
                failed.failure
            );
        }
        shared
            .cache()
            .finish(landing.id, result, &watched, Instant::now());
    });
}

/// Makes a capture only to see whether what was learned of a key still holds. Nobody waits for it.
pub(super) fn recheck(shared: &Arc<Shared>, key: Key, request: Arc<Request>) {
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let _room = shared.room.acquire().await;
        let result = capture(&shared, &request, Purpose::Prewarm, 1).await;
        if let Ok(snapshot) = result {
            shared.cache().rechecked(&key, &snapshot);
        }
    });
}

async fn capture(
    shared: &Shared,
    request: &Arc<Request>,
    purpose: Purpose,
    attempt: u32,
) -> Result<Arc<Snapshot>, Failed> {
    let began = Instant::now();
    let result = shared.attempts.attempt(Arc::clone(request)).await.map(Arc::new);
    shared.observer.capture_finished(&CaptureFinished {
        purpose,
        attempt,
        shell: request.shell,
        result: match &result {
            Ok(snapshot) => Ok(snapshot.state_bytes()),
            Err(failed) => Err(failed.failure),
        },
        duration: began.elapsed(),
    });
    result
}

/// The startup files as they are before the capture: what changes from here on is seen.
async fn look(shared: &Shared, request: &Arc<Request>) -> Watched {
    let (request, limits) = (Arc::clone(request), shared.limits.clone());
    let look = move || {
        let environment = &request.environment;
        let startup = dialect_of(request.shell)
            .map(|dialect| dialect.startup_files(environment))
            .unwrap_or_default();
        Watched::look(&request.path, startup, environment, &limits)
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// Whatever becomes of the task, nobody waits for it for ever.
struct Landing {
    shared: Arc<Shared>,
    id: FlightId,
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.shared.cache().abandon(self.id);
    }
}
