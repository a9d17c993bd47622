//! One request, from the start of its work to its answer.

use std::time::Instant;

use exec_protocol::envelope::Trace;
use exec_telemetry::tags::{Method, RequestResult};
use exec_telemetry::{Metrics, RequestSpan, TraceContext};

use super::Probes;

/// Measures a request. While nobody asks for metrics or traces there is nothing in it, and no clock is read.
/// One that is dropped was not answered, and is not counted.
#[derive(Debug, Default)]
pub(crate) struct Measure(Option<Box<Open>>);

#[derive(Debug)]
struct Open {
    method: Method,
    begun: Instant,
    metrics: Metrics,
    span: RequestSpan,
}

impl Measure {
    /// The work begins. `arrived`: when its line had come.
    pub(crate) fn begin(
        probes: &Probes,
        method: &str,
        trace: Option<&Trace>,
        arrived: Option<Instant>,
    ) -> Self {
        if !probes.metrics.is_on() && !probes.spans.is_on() {
            return Self(None);
        }
        let method = Method::named(method);
        let begun = Instant::now();
        if let Some(arrived) = arrived {
            probes
                .metrics
                .request_begun(method, begun.saturating_duration_since(arrived));
        }
        let context = || {
            trace.map(|trace| TraceContext {
                traceparent: trace.traceparent.clone(),
                tracestate: trace.tracestate.clone(),
            })
        };
        Self(Some(Box::new(Open {
            method,
            begun,
            metrics: probes.metrics.clone(),
            span: probes.spans.request(method, context),
        })))
    }

    /// Its span, for the steps of its work.
    pub(crate) fn span(&self) -> RequestSpan {
        self.0.as_ref().map(|open| open.span.clone()).unwrap_or_default()
    }

    /// It is answered: with a result, or an error.
    pub(crate) fn answered(self, success: bool) {
        if let Some(open) = self.0 {
            let result = RequestResult::of(success);
            open.metrics
                .request_answered(open.method, result, open.begun.elapsed());
            open.span.finish(result);
        }
    }
}

/// The trace context that a command gets: the request's span while it is traced, else what came with the request, as
/// it came.
pub(crate) fn handed_down(span: &RequestSpan, came: Option<&Trace>) -> Option<Trace> {
    match span.context() {
        Some(TraceContext {
            traceparent,
            tracestate,
        }) => Some(Trace {
            traceparent,
            tracestate,
        }),
        None => came.cloned(),
    }
}
