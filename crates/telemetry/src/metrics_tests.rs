use std::collections::{BTreeMap, BTreeSet};

use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics};
use opentelemetry_sdk::metrics::reader::MetricReader;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};

use super::*;
use crate::catalogue::{INSTRUMENTS, Kind};
use crate::reader::SharedReader;

/// Each event at least once.
pub(crate) fn everything_happens(metrics: &Metrics) {
    let capture = Capture {
        purpose: Purpose::Execution,
        attempt: Attempt::First,
        shell: ShellKind::Bash,
        sandbox: SandboxKind::None,
        duration: Duration::from_micros(12_500),
        outcome: Ok(5000),
    };
    metrics.capture_finished(capture);
    metrics.capture_finished(Capture {
        purpose: Purpose::Prewarm,
        attempt: Attempt::Second,
        outcome: Err(FailureReason::NonzeroExit),
        ..capture
    });
    metrics.snapshot_command(SnapshotCommand {
        availability: Availability::CacheHit,
        outcome: Outcome::Used,
        wait: Duration::from_micros(70),
    });
    metrics.request_begun(Method::ProcessStart, Duration::from_micros(3));
    metrics.request_answered(
        Method::ProcessStart,
        RequestResult::Success,
        Duration::from_millis(2),
    );
    std::mem::forget(metrics.connection_accepted(Transport::Stdio));
    metrics.process_started();
    metrics.process_started();
    metrics.process_finished(ProcessResult::Error, Duration::from_secs(3));
    metrics.output(Stream::Stderr, 77);
    metrics.sandbox_prepared(
        SandboxBackend::Namespaces,
        SandboxOutcome::Prepared,
        Duration::from_millis(1),
    );
    metrics.session_opened();
    metrics.session_opened();
    metrics.session_closed();
    metrics.approval(ApprovalReason::Initial, ApprovalDecision::Denied);
}

/// Metrics, and what reads them.
pub(crate) fn read_metrics() -> (Metrics, SharedReader, SdkMeterProvider) {
    let reader = SharedReader::default();
    let provider = SdkMeterProvider::builder().with_reader(reader.clone()).build();
    (Metrics::new(&provider), reader, provider)
}

fn tag_sets(data: &AggregatedMetrics) -> Vec<BTreeMap<String, String>> {
    fn each<'a, P: 'a>(
        points: impl Iterator<Item = &'a P>,
        tags: impl Fn(&'a P) -> Vec<&'a KeyValue>,
    ) -> Vec<BTreeMap<String, String>> {
        let text = |tag: &KeyValue| (tag.key.to_string(), tag.value.to_string());
        points
            .map(|point| tags(point).into_iter().map(text).collect())
            .collect()
    }
    fn of<T>(data: &MetricData<T>) -> Vec<BTreeMap<String, String>> {
        match data {
            MetricData::Gauge(gauge) => each(gauge.data_points(), |point| point.attributes().collect()),
            MetricData::Sum(sum) => each(sum.data_points(), |point| point.attributes().collect()),
            MetricData::Histogram(histogram) => {
                each(histogram.data_points(), |point| point.attributes().collect())
            }
            MetricData::ExponentialHistogram(_) => panic!("there is none"),
        }
    }
    match data {
        AggregatedMetrics::F64(data) => of(data),
        AggregatedMetrics::U64(data) => of(data),
        AggregatedMetrics::I64(data) => of(data),
    }
}

fn kind_of(data: &AggregatedMetrics) -> Kind {
    match data {
        AggregatedMetrics::U64(MetricData::Sum(sum)) if sum.is_monotonic() => Kind::Counter,
        AggregatedMetrics::I64(MetricData::Gauge(_)) => Kind::Gauge,
        AggregatedMetrics::F64(MetricData::Histogram(_))
        | AggregatedMetrics::U64(MetricData::Histogram(_)) => Kind::Histogram,
        data => panic!("{data:?}"),
    }
}

/// Holds what was recorded to the catalogue: every instrument, its unit and kind, and its tags, each of which has one
/// of its values.
fn check(metrics: &ResourceMetrics) {
    let mut seen = BTreeSet::new();
    for metric in metrics.scope_metrics().flat_map(|scope| scope.metrics()) {
        let instrument = catalogue::named(metric.name()).unwrap();
        seen.insert(instrument.name);
        assert_eq!(metric.unit(), instrument.unit, "{}", instrument.name);
        assert_eq!(metric.description(), instrument.description);
        assert_eq!(kind_of(metric.data()), instrument.kind, "{}", instrument.name);
        for tags in tag_sets(metric.data()) {
            let expected: BTreeSet<&str> = instrument
                .tags
                .iter()
                .filter(|tag| tag.only.is_none() || tags.get("success").is_some_and(|value| value == "false"))
                .map(|tag| tag.key)
                .collect();
            let keys: BTreeSet<&str> = tags.keys().map(String::as_str).collect();
            assert_eq!(keys, expected, "{}", instrument.name);
            for tag in instrument.tags.iter().filter(|tag| tags.contains_key(tag.key)) {
                assert!(
                    tag.values.contains(&tags[tag.key].as_str()),
                    "{} {tags:?}",
                    instrument.name
                );
            }
        }
    }
    let all: BTreeSet<&str> = INSTRUMENTS.iter().map(|instrument| instrument.name).collect();
    assert_eq!(seen, all);
}

#[test]
fn every_event_is_recorded_as_the_catalogue_says() {
    let (metrics, reader, _provider) = read_metrics();
    everything_happens(&metrics);
    let mut collected = ResourceMetrics::default();
    reader.collect(&mut collected).unwrap();
    check(&collected);
}

#[test]
fn a_push_reads_the_same() {
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder()
        .with_reader(PeriodicReader::builder(exporter.clone()).build())
        .build();
    everything_happens(&Metrics::new(&provider));
    provider.force_flush().unwrap();
    let exported = exporter.get_finished_metrics().unwrap();
    assert_eq!(exported.len(), 1);
    check(&exported[0]);
}

#[test]
fn a_connection_is_open_until_it_is_dropped() {
    let (metrics, reader, _provider) = read_metrics();
    let active = || {
        let mut collected = ResourceMetrics::default();
        reader.collect(&mut collected).unwrap();
        let page = crate::scrape::text_of(&collected);
        let line = page
            .lines()
            .find(|line| line.starts_with("exec_server_connections_active"));
        line.map(str::to_owned)
    };
    let line = |count: u32| {
        Some(format!(
            "exec_server_connections_active{{transport=\"stdio\"}} {count}"
        ))
    };
    let one = metrics.connection_accepted(Transport::Stdio);
    let two = metrics.connection_accepted(Transport::Stdio);
    assert_eq!(active(), line(2));
    drop(one);
    assert_eq!(active(), line(1));
    drop(two);
    assert_eq!(active(), line(0));
}

#[test]
fn metrics_that_are_off_take_every_event() {
    assert!(!Metrics::off().is_on());
    everything_happens(&Metrics::off());
}
