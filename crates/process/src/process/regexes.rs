//! Compiles regular expressions, off the runtime's thread and not too many at once.

use std::sync::Arc;
use std::thread;

use exec_protocol::limits::REGEX_TEXT_BYTES;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, oneshot};

use super::WaitError;
use super::matcher::Pattern;

/// What a session's waits for a regex share.
#[derive(Debug)]
pub(crate) struct Regexes {
    limit: usize,
    max_match_bytes: usize,
    places: Arc<Semaphore>,
    /// One is compiled at a time: a hundred hostile ones must not crowd the machine's cores.
    compiling: Arc<Mutex<()>>,
}

/// One of the waits that may be; held as long as its pattern.
pub(crate) type Place = Arc<OwnedSemaphorePermit>;

impl Regexes {
    /// At most `limit` at once, whose matches are `max_match_bytes` long at most.
    pub(crate) fn new(limit: usize, max_match_bytes: usize) -> Self {
        Self {
            limit,
            max_match_bytes,
            places: Arc::new(Semaphore::new(limit)),
            compiling: Arc::default(),
        }
    }

    /// Compiles one. Cancel-safe; a compilation that nobody waits for any more keeps its place until it is over.
    ///
    /// # Errors
    /// It is no regex, or too large, or there are too many.
    pub(crate) async fn compile(&self, regex: &str) -> Result<(Pattern, Place), WaitError> {
        if regex.len() > REGEX_TEXT_BYTES {
            return Err(WaitError::Invalid {
                member: "until.regex",
                reason: format!("must not be longer than {REGEX_TEXT_BYTES} bytes"),
            });
        }
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = Arc::new(place.map_err(|_| WaitError::LimitReached {
            limit: "maxRegexWaits",
            value: self.limit as u64,
        })?);
        let turn = Arc::clone(&self.compiling).lock_owned().await;
        let (tell, told) = oneshot::channel();
        let work = {
            let (regex, place, max) = (regex.to_owned(), Arc::clone(&place), self.max_match_bytes);
            move || {
                let pattern = Pattern::new(None, Some(&regex), max);
                // Before it is told: who is told that there is none may ask for the place at once.
                drop((turn, place));
                let _ = tell.send(pattern);
            }
        };
        // Not tokio's threads: those panic where no thread can be made.
        let thread = thread::Builder::new().name("regex".to_owned()).spawn(work);
        let compiled = match (thread, told.await) {
            (Ok(_), Ok(compiled)) => compiled,
            // Without a thread, late is better than never.
            _ => Pattern::new(None, Some(regex), self.max_match_bytes),
        };
        Ok((compiled?, place))
    }
}
