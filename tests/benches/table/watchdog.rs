//! Kills a server that hangs, so that the bench goes on without it.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Watches one process until dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    process: Option<mpsc::Sender<u32>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Gets ready, so that nothing of it falls into what is measured.
    pub(crate) fn start(limit: Duration) -> Self {
        let (process, watched) = mpsc::channel();
        let thread = thread::spawn(move || {
            let Ok(pid) = watched.recv() else { return };
            if watched.recv_timeout(limit) == Err(RecvTimeoutError::Timeout)
                && let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
            {
                // It may have gone by itself just now.
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self {
            process: Some(process),
            thread: Some(thread),
        }
    }

    /// Watches the child `pid`, which must not be reaped before this is dropped.
    pub(crate) fn watch(&self, pid: u32) {
        if let Some(process) = &self.process {
            // Its thread waits for this and cannot be gone.
            let _ = process.send(pid);
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.process = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
