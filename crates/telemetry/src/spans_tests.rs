use opentelemetry::trace::{SpanId, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};

use proptest::prelude::*;

use super::*;

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";

fn traced() -> (Spans, InMemorySpanExporter, SdkTracerProvider) {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    (Spans::new(provider.tracer("test")), exporter, provider)
}

fn context(traceparent: &str) -> Option<TraceContext> {
    Some(TraceContext {
        traceparent: Some(traceparent.into()),
        tracestate: Some("vendor=1".into()),
    })
}

fn finished(exporter: &InMemorySpanExporter) -> Vec<SpanData> {
    exporter.get_finished_spans().unwrap()
}

fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let found = span
        .attributes
        .iter()
        .find(|attribute| attribute.key.as_str() == key);
    found.map(|attribute| attribute.value.to_string())
}

#[test]
fn a_request_continues_its_trace_and_hands_it_down() {
    let (spans, exporter, _provider) = traced();
    let parent = format!("00-{TRACE_ID}-b7ad6b7169203331-01");
    let span = spans.request(Method::ProcessStart, || context(&parent));
    let handed_down = span.context().unwrap();
    span.finish(RequestResult::Success);
    let [span] = finished(&exporter).try_into().unwrap();
    assert_eq!(span.name, "process/start");
    assert_eq!(span.span_context.trace_id().to_string(), TRACE_ID);
    assert_eq!(span.parent_span_id.to_string(), "b7ad6b7169203331");
    assert_eq!(attribute(&span, "rpc.method").as_deref(), Some("process/start"));
    assert_eq!(attribute(&span, "result").as_deref(), Some("success"));
    let own = span.span_context.span_id();
    let expected = TraceContext {
        traceparent: Some(format!("00-{TRACE_ID}-{own}-01")),
        tracestate: Some("vendor=1".into()),
    };
    assert_eq!(handed_down, expected);
}

#[test]
fn without_a_readable_parent_a_trace_begins() {
    let (spans, exporter, _provider) = traced();
    for parent in [None, context("00-nonsense"), context("")] {
        spans
            .request(Method::Other, || parent)
            .finish(RequestResult::Error);
    }
    for span in finished(&exporter) {
        assert_eq!(span.parent_span_id, SpanId::INVALID);
        assert!(span.span_context.is_valid());
        assert_eq!(span.status, Status::error(""));
    }
}

proptest! {
    /// Whatever a client calls its trace: a span of a valid trace, and what is handed down can be read.
    #[test]
    fn any_trace_is_continued_or_begun(
        traceparent in prop_oneof![
            "[ -~]{0,60}",
            "[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}",
            any::<String>(),
        ],
        tracestate in any::<Option<String>>(),
    ) {
        let (spans, _, _provider) = traced();
        let given = TraceContext { traceparent: Some(traceparent), tracestate };
        let down = spans.request(Method::Other, || Some(given)).context().unwrap();
        let down = down.traceparent.unwrap();
        prop_assert!(down.is_ascii() && down.len() == 55 && down.starts_with("00-"), "{down}");
    }
}

#[test]
fn a_trace_that_is_not_sampled_is_handed_down_and_not_exported() {
    let (spans, exporter, _provider) = traced();
    let parent = format!("00-{TRACE_ID}-b7ad6b7169203331-00");
    let span = spans.request(Method::ProcessStart, || context(&parent));
    let handed_down = span.context().unwrap().traceparent.unwrap();
    assert!(handed_down.starts_with(&format!("00-{TRACE_ID}-")) && handed_down.ends_with("-00"));
    span.step(Step::Start).finish(true);
    span.finish(RequestResult::Success);
    assert!(finished(&exporter).is_empty());
}

#[test]
fn steps_are_children_named_as_agreed_and_know_processes_by_hash() {
    let (spans, exporter, _provider) = traced();
    let request = spans.request(Method::ProcessStart, || None);
    let steps = [
        (
            Step::PrepareShellSnapshot,
            "codex.exec_server.process_prepare_shell_snapshot",
        ),
        (
            Step::CaptureShellSnapshot,
            "codex.exec_server.process_capture_shell_snapshot",
        ),
        (Step::PrepareSandbox, "codex.exec_server.process_prepare_sandbox"),
        (Step::Start, "codex.exec_server.process_start"),
        (Step::Exit, "codex.exec_server.process_exit"),
    ];
    for (step, _) in steps {
        let span = request.step(step).of_process("secret-id");
        match step {
            Step::CaptureShellSnapshot => span.capture_finished(Some(FailureReason::Timeout)),
            Step::Exit => span.exited(7),
            _ => span.finish(true),
        }
    }
    request.finish(RequestResult::Success);
    let all = finished(&exporter);
    let parent = all.last().unwrap().span_context.span_id();
    for (span, (_, name)) in all.iter().zip(steps) {
        assert_eq!((span.name.as_ref(), span.parent_span_id), (name, parent));
        let id = attribute(span, PROCESS_ID).unwrap();
        assert!(id.starts_with("hash:"), "{id}");
    }
    assert_eq!(attribute(&all[1], "failure_reason").as_deref(), Some("timeout"));
    assert_eq!(attribute(&all[4], "process.exit.code").as_deref(), Some("7"));
    assert_eq!(all[4].status, Status::error(""));
    assert!(!format!("{all:?}").contains("secret"));
}

#[test]
fn a_step_that_is_dropped_has_ended() {
    let (spans, exporter, _provider) = traced();
    let request = spans.request(Method::ProcessStart, || None);
    drop(request.step(Step::Start));
    assert_eq!(finished(&exporter).len(), 1);
    drop(request);
    assert_eq!(finished(&exporter).len(), 2);
}

#[test]
fn spans_that_are_off_are_nothing() {
    let request = Spans::off().request(Method::ProcessStart, || panic!("nobody asks"));
    assert_eq!(request.context(), None);
    assert!(!request.step(Step::Exit).is_on());
}
