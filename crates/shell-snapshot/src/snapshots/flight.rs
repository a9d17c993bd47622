//! A capture under way: a task of its own, so that nobody who waits for it can stop it.

use std::sync::Arc;

use tokio::time::Instant;

use super::engine::Shared;
use crate::cache::{FlightId, Key};
use crate::dialect::dialect_of;
use crate::freshness::Watched;
use crate::observer::{CaptureFinished, CaptureFollower, Unobserved};
use crate::snapshot::Snapshot;
use crate::{Failed, Purpose, Request};

/// What is to be captured, and for whom.
pub(super) struct Task {
    /// Which of a key's attempts.
    pub(super) attempt: u32,
    /// What for.
    pub(super) purpose: Purpose,
    /// Whose shell, and where.
    pub(super) request: Arc<Request>,
    /// Who follows it.
    pub(super) follower: Box<dyn CaptureFollower>,
}

/// The target of the log lines that tell of a capture which failed, for a filter of logs.
pub const FAILED_CAPTURES: &str = "exec_shell_snapshot::failed_captures";

/// Makes a capture, tells the observer, and puts its outcome where those who wait look.
pub(super) fn launch(shared: &Arc<Shared>, id: FlightId, task: Task) {
    let landing = Landing {
        shared: Arc::clone(shared),
        id,
    };
    tokio::spawn(async move {
        let shared = &landing.shared;
        // It is never closed: the semaphore lives as long as this.
        let _room = shared.room.acquire().await;
        let watched = Arc::new(look(shared, &task.request).await);
        // Once, however often it is tried; a client that prewarms gets the reason as its answer.
        let is_logged = (task.purpose, task.attempt) == (Purpose::Execution, 1);
        let shell = task.request.shell.name();
        let result = capture(shared, task).await;
        if let Err(failed) = &result
            && is_logged
        {
            let reason = failed.failure.name();
            tracing::warn!(
                target: FAILED_CAPTURES,
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
    let task = Task {
        attempt: 1,
        purpose: Purpose::Prewarm,
        request,
        follower: Box::new(Unobserved),
    };
    tokio::spawn(async move {
        let _room = shared.room.acquire().await;
        if let Ok(snapshot) = capture(&shared, task).await {
            shared.cache().rechecked(&key, &snapshot);
        }
    });
}

async fn capture(shared: &Shared, task: Task) -> Result<Arc<Snapshot>, Failed> {
    let began = Instant::now();
    let shell = task.request.shell;
    let result = shared.attempts.attempt(task.request).await.map(Arc::new);
    task.follower
        .capture_ended(result.as_ref().err().map(|failed| failed.failure));
    shared.observer.capture_finished(&CaptureFinished {
        purpose: task.purpose,
        attempt: task.attempt,
        shell,
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
        let startup = dialect_of(request.shell).startup_files(environment);
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
