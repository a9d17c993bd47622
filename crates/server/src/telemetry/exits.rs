//! The spans of processes that run: each ends when its process does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use exec_process::Process;
use exec_telemetry::{RequestSpan, Step, StepSpan};

/// One span for each traced process that runs.
#[derive(Debug, Default)]
pub(crate) struct ExitSpans(Mutex<HashMap<usize, StepSpan>>);

impl ExitSpans {
    fn open(&self) -> MutexGuard<'_, HashMap<usize, StepSpan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process was started for a request. It may have ended already.
    pub(crate) fn begin(&self, request: &RequestSpan, process: &Arc<Process>) {
        let span = request.step(Step::Exit);
        if !span.is_on() {
            return;
        }
        let span = span.of_process(process.id());
        let mut open = self.open();
        match process.info().exit_code {
            Some(exit_code) => span.exited(exit_code),
            None => drop(open.insert(key(process), span)),
        }
    }

    /// A process ended.
    pub(crate) fn end(&self, process: &Arc<Process>, exit_code: i32) {
        if let Some(span) = self.open().remove(&key(process)) {
            span.exited(exit_code);
        }
    }
}

/// Names a process for as long as it runs: where it is in memory. Its id may be anything's, once it has closed.
fn key(process: &Arc<Process>) -> usize {
    Arc::as_ptr(process).addr()
}
