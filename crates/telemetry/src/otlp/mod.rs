//! Push: metrics and traces to an OTLP collector, over HTTP, as the standard variables say.
//!
//! A collector that is away, slow or wrong costs its own signal and nothing else: exporters have threads and bounded
//! queues of their own, and what does not fit is dropped.

mod client;
mod config;

use std::time::Duration;

use opentelemetry_otlp::{ExporterBuildError, MetricExporter, SpanExporter, WithHttpConfig};

pub use config::OtlpWhen;
pub(crate) use config::{Environment, Signal, is_asked_for};

use client::CollectorClient;

/// Bounds of an export.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OtlpLimits {
    /// Bytes of a collector's answer that are read.
    pub(crate) response_bytes: u64,
    /// How long it may take, where no variable says so.
    pub(crate) timeout: Duration,
}

/// Why a signal is not pushed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OtlpError {
    /// A variable says what is not understood, or what this program does not have.
    #[error("{0}")]
    Config(#[from] config::ConfigError),
    /// The exporter does not want it. Its words may name the collector.
    #[error("the OTLP settings are not understood")]
    Exporter(#[source] ExporterBuildError),
}

pub(crate) fn metric_exporter(
    environment: Environment<'_>,
    limits: OtlpLimits,
) -> Result<MetricExporter, OtlpError> {
    MetricExporter::builder()
        .with_http()
        .with_http_client(client(Signal::Metrics, environment, limits)?)
        .build()
        .map_err(OtlpError::Exporter)
}

pub(crate) fn span_exporter(
    environment: Environment<'_>,
    limits: OtlpLimits,
) -> Result<SpanExporter, OtlpError> {
    SpanExporter::builder()
        .with_http()
        .with_http_client(client(Signal::Traces, environment, limits)?)
        .build()
        .map_err(OtlpError::Exporter)
}

fn client(
    signal: Signal,
    environment: Environment<'_>,
    limits: OtlpLimits,
) -> Result<CollectorClient, OtlpError> {
    let timeout = config::check(signal, environment, limits.timeout)?;
    Ok(CollectorClient::new(signal, timeout, limits))
}
