//! What an OTLP collector received, decoded: protobuf and JSON come to the same.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use prost::Message;

use crate::http::Post;

/// Tags, by key.
pub type Tags = BTreeMap<String, String>;

/// One span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its name.
    pub name: String,
    /// Its trace, in hex.
    pub trace_id: String,
    /// Its id, in hex.
    pub span_id: String,
    /// Its parent's id, in hex; empty if it has none.
    pub parent_id: String,
    /// Its attributes.
    pub tags: Tags,
    /// How long it took, in nanoseconds.
    pub nanoseconds: u64,
}

/// One series: a value, or how many values a histogram counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The instrument.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its tags.
    pub tags: Tags,
    /// Its value.
    pub value: f64,
}

fn decode<T: Message + Default + serde::de::DeserializeOwned>(post: &Post) -> T {
    if post.head.contains("content-type: application/json") {
        serde_json::from_slice(&post.body).expect("OTLP in JSON")
    } else {
        assert!(
            post.head.contains("content-type: application/x-protobuf"),
            "{}",
            post.head
        );
        T::decode(post.body.as_slice()).expect("OTLP in protobuf")
    }
}

fn tags(attributes: &[KeyValue]) -> Tags {
    let text = |attribute: &KeyValue| match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        value => panic!("{}: {value:?}", attribute.key),
    };
    attributes
        .iter()
        .map(|attribute| (attribute.key.clone(), text(attribute)))
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The spans in these posts.
#[must_use]
pub fn spans(posts: &[Post]) -> Vec<Span> {
    let mut spans = Vec::new();
    for post in posts.iter().filter(|post| post.path == "/v1/traces") {
        let request: ExportTraceServiceRequest = decode(post);
        let scopes = request
            .resource_spans
            .iter()
            .flat_map(|resource| &resource.scope_spans);
        for span in scopes.flat_map(|scope| &scope.spans) {
            spans.push(Span {
                name: span.name.clone(),
                trace_id: hex(&span.trace_id),
                span_id: hex(&span.span_id),
                parent_id: hex(&span.parent_span_id),
                tags: tags(&span.attributes),
                nanoseconds: span.end_time_unix_nano - span.start_time_unix_nano,
            });
        }
    }
    spans
}

/// The resource that the posts to this path are from.
#[must_use]
pub fn resource(posts: &[Post], path: &str) -> Option<Tags> {
    let post = posts.iter().find(|post| post.path == path)?;
    let resource = if path == "/v1/traces" {
        let request: ExportTraceServiceRequest = decode(post);
        request.resource_spans.into_iter().next()?.resource
    } else {
        let request: ExportMetricsServiceRequest = decode(post);
        request.resource_metrics.into_iter().next()?.resource
    };
    resource.map(|resource| tags(&resource.attributes))
}

/// The series in the last of these posts that has metrics: they are cumulative.
#[must_use]
pub fn series(posts: &[Post]) -> Vec<Series> {
    let Some(post) = posts.iter().rfind(|post| post.path == "/v1/metrics") else {
        return Vec::new();
    };
    let request: ExportMetricsServiceRequest = decode(post);
    let scopes = request
        .resource_metrics
        .iter()
        .flat_map(|resource| &resource.scope_metrics);
    let mut all = Vec::new();
    for metric in scopes.flat_map(|scope| &scope.metrics) {
        let mut add = |attributes: &[KeyValue], value: f64| {
            all.push(Series {
                name: metric.name.clone(),
                unit: metric.unit.clone(),
                tags: tags(attributes),
                value,
            });
        };
        let number = |value: Option<number_data_point::Value>| match value {
            Some(number_data_point::Value::AsInt(value)) => value as f64,
            Some(number_data_point::Value::AsDouble(value)) => value,
            None => panic!("{} has no value", metric.name),
        };
        match metric.data.as_ref().expect("data") {
            Data::Sum(sum) => sum
                .data_points
                .iter()
                .for_each(|p| add(&p.attributes, number(p.value))),
            Data::Gauge(gauge) => gauge
                .data_points
                .iter()
                .for_each(|p| add(&p.attributes, number(p.value))),
            Data::Histogram(histogram) => {
                histogram
                    .data_points
                    .iter()
                    .for_each(|p| add(&p.attributes, p.count as f64));
            }
            data => panic!("{data:?}"),
        }
    }
    all
}
