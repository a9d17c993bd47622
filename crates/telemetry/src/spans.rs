//! Spans: one for each request, and the steps of a start as its children.
//!
//! Made with the OpenTelemetry API itself, not out of the spans of `tracing`: what leaves the machine is what is
//! written here, whatever a library traces and whatever the log filter says.

use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracer;

use crate::process_ref::ProcessRef;
use crate::tags::*;

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

/// The attribute of a process's id.
const PROCESS_ID: &str = "exec_server.process_id";

/// W3C trace context, as it rides on a message and in an environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// `traceparent`.
    pub traceparent: Option<String>,
    /// `tracestate`.
    pub tracestate: Option<String>,
}

impl Extractor for TraceContext {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            TRACEPARENT => self.traceparent.as_deref(),
            TRACESTATE => self.tracestate.as_deref(),
            _ => None,
        }
    }
    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT, TRACESTATE]
    }
}

impl Injector for TraceContext {
    fn set(&mut self, key: &str, value: String) {
        match key {
            TRACEPARENT => self.traceparent = Some(value),
            TRACESTATE if !value.is_empty() => self.tracestate = Some(value),
            _ => {}
        }
    }
}

/// A part of a request's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A command's shell snapshot is looked up, waited for and made into a command.
    PrepareShellSnapshot,
    /// A shell's state is captured.
    CaptureShellSnapshot,
    /// A command's sandbox is prepared.
    PrepareSandbox,
    /// A process is started.
    Start,
    /// A process runs, until it ends.
    Exit,
}

impl Step {
    /// The span's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PrepareShellSnapshot => "codex.exec_server.process_prepare_shell_snapshot",
            Self::CaptureShellSnapshot => "codex.exec_server.process_capture_shell_snapshot",
            Self::PrepareSandbox => "codex.exec_server.process_prepare_sandbox",
            Self::Start => "codex.exec_server.process_start",
            Self::Exit => "codex.exec_server.process_exit",
        }
    }
}

/// Makes spans; where nobody asks for traces, none.
#[derive(Debug, Clone, Default)]
pub struct Spans(Option<SdkTracer>);

impl Spans {
    /// Spans that nobody asks for.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    pub(crate) fn new(tracer: SdkTracer) -> Self {
        Self(Some(tracer))
    }

    /// Whether anybody asks for them.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The span of a request, which is a child of the trace that came with it, if one did. A trace that cannot be
    /// read is none.
    #[must_use]
    pub fn request(&self, method: Method, parent: impl FnOnce() -> Option<TraceContext>) -> RequestSpan {
        let Some(tracer) = &self.0 else {
            return RequestSpan::none();
        };
        let parent = match parent() {
            Some(context) => TraceContextPropagator::new().extract_with_context(&Context::new(), &context),
            None => Context::new(),
        };
        let span = tracer
            .span_builder(method.value())
            .with_kind(SpanKind::Server)
            .with_attributes([
                KeyValue::new("rpc.system", "jsonrpc"),
                KeyValue::new("rpc.method", method.value()),
            ]);
        let span = tracer.build_with_context(span, &parent);
        RequestSpan(Some(Open {
            tracer: tracer.clone(),
            context: Context::new().with_span(span),
        }))
    }
}

#[derive(Debug, Clone)]
struct Open {
    tracer: SdkTracer,
    context: Context,
}

/// The span of a request; it ends when it is finished, or when the last copy is dropped.
#[derive(Debug, Clone, Default)]
pub struct RequestSpan(Option<Open>);

impl RequestSpan {
    /// None, for work that no traced request asked for.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// A step of it, which begins now.
    #[must_use = "a step ends when it is dropped"]
    pub fn step(&self, step: Step) -> StepSpan {
        StepSpan(self.0.as_ref().map(|open| {
            let span = open.tracer.span_builder(step.name());
            let span = open.tracer.build_with_context(span, &open.context);
            open.context.with_span(span)
        }))
    }

    /// What a child process is to take for its parent; `None` while nobody traces.
    #[must_use]
    pub fn context(&self) -> Option<TraceContext> {
        let open = self.0.as_ref()?;
        let mut context = TraceContext::default();
        TraceContextPropagator::new().inject_context(&open.context, &mut context);
        context.traceparent.is_some().then_some(context)
    }

    /// It was answered.
    pub fn finish(&self, result: RequestResult) {
        if let Some(open) = &self.0 {
            finish(&open.context, result == RequestResult::Error, [result.pair()]);
        }
    }
}

/// The span of a step; it ends when it is finished or dropped.
#[derive(Debug, Default)]
pub struct StepSpan(Option<Context>);

impl StepSpan {
    /// Names the process it is about.
    #[must_use]
    pub fn of_process(self, id: &str) -> Self {
        if let Some(context) = &self.0 {
            let id = ProcessRef::of(id).to_string();
            context.span().set_attribute(KeyValue::new(PROCESS_ID, id));
        }
        self
    }

    /// Whether it is recorded at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// It came to its end: well, or not.
    pub fn finish(self, success: bool) {
        if let Some(context) = &self.0 {
            finish(context, !success, [RequestResult::of(success).pair()]);
        }
    }

    /// A capture came to its end.
    pub fn capture_finished(self, failure: Option<FailureReason>) {
        if let Some(context) = &self.0 {
            let reason = failure.map(FailureReason::pair);
            let success = Success::from(failure.is_none()).pair();
            finish(context, failure.is_some(), [success].into_iter().chain(reason));
        }
    }

    /// A process ended.
    pub fn exited(self, exit_code: i32) {
        if let Some(context) = &self.0 {
            let result = ProcessResult::of(exit_code);
            let exit_code = KeyValue::new("process.exit.code", i64::from(exit_code));
            finish(
                context,
                result == ProcessResult::Error,
                [result.pair(), exit_code],
            );
        }
    }
}

fn finish(context: &Context, is_error: bool, attributes: impl IntoIterator<Item = KeyValue>) {
    let span = context.span();
    span.set_attributes(attributes);
    if is_error {
        // Without words: those of an error may name a command or a path.
        span.set_status(Status::error(""));
    }
    span.end();
}

#[cfg(test)]
#[path = "spans_tests.rs"]
mod tests;
