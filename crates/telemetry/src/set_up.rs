//! Telemetry of a daemon: what was asked for is set up, and at the end it is flushed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;

use crate::metrics::{Metrics, SCOPE};
use crate::otlp::{self, Environment, OtlpError, OtlpLimits, OtlpWhen, Signal};
use crate::reader::SharedReader;
use crate::scrape::{self, BindError, Exposed, ScrapeAddress, ScrapeLimits};
use crate::spans::Spans;

/// `service.name`, unless a variable gives another.
const SERVICE_NAME: &str = "codex-exec-server";

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Where metrics can be scraped.
    pub scrape: Option<ScrapeAddress>,
    /// That address may be one that other machines reach.
    pub allow_remote: bool,
    /// Whether metrics and traces are pushed.
    pub otlp: OtlpWhen,
}

/// Bounds of telemetry.
#[derive(Debug, Clone)]
pub struct TelemetryLimits {
    /// Of the scrape endpoint.
    pub scrape: ScrapeLimits,
    /// Bytes of a collector's answer that are read.
    pub otlp_response_bytes: u64,
    /// How long an export may take, where no variable says so.
    pub otlp_timeout: Duration,
}

/// The telemetry of a daemon. With nothing asked for there is nothing behind it: no thread, no socket, no memory.
#[derive(Debug, Default)]
pub struct Telemetry {
    metrics: Metrics,
    spans: Spans,
    meter_provider: Option<SdkMeterProvider>,
    tracer_provider: Option<SdkTracerProvider>,
    ready: Arc<AtomicBool>,
    _serving: Option<scrape::Serving>,
}

impl Telemetry {
    /// Sets up what is asked for. `event_loop` is what `/livez` is about.
    ///
    /// # Errors
    /// Nothing can be served at the address for scrapes. A collector is no reason to fail: what cannot be pushed is
    /// logged.
    pub fn set_up(
        settings: &Settings,
        limits: TelemetryLimits,
        version: &'static str,
        event_loop: Handle,
    ) -> Result<Self, BindError> {
        let environment: Environment<'_> = &|name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let asked = |signal| otlp::is_asked_for(signal, settings.otlp, environment);
        let (push_metrics, push_traces) = (asked(Signal::Metrics), asked(Signal::Traces));
        if settings.scrape.is_none() && !push_metrics && !push_traces {
            return Ok(Self::default());
        }
        let bound = settings
            .scrape
            .as_ref()
            .map(|address| address.bind(settings.allow_remote))
            .transpose()?;
        let resource = resource(version, environment);
        let otlp_limits = OtlpLimits {
            response_bytes: limits.otlp_response_bytes,
            timeout: limits.otlp_timeout,
        };

        let mut meters = SdkMeterProvider::builder().with_resource(resource.clone());
        let mut has_reader = false;
        let reader = SharedReader::default();
        if bound.is_some() {
            meters = meters.with_reader(reader.clone());
            has_reader = true;
        }
        if push_metrics
            && let Some(exporter) = usable(Signal::Metrics, otlp::metric_exporter(environment, otlp_limits))
        {
            meters = meters.with_reader(PeriodicReader::builder(exporter).build());
            has_reader = true;
        }
        let meter_provider = has_reader.then(|| meters.build());
        let tracer_provider = push_traces
            .then(|| usable(Signal::Traces, otlp::span_exporter(environment, otlp_limits)))
            .flatten()
            .map(|exporter| {
                SdkTracerProvider::builder()
                    .with_resource(resource)
                    .with_batch_exporter(exporter)
                    .build()
            });

        let ready = Arc::new(AtomicBool::new(false));
        let serving = match bound {
            None => None,
            Some(bound) => {
                if let Some(address) = bound.tcp_address() {
                    tracing::info!(port = address.port(), "metrics can be scraped");
                }
                let exposed = Exposed {
                    reader,
                    ready: Arc::clone(&ready),
                    event_loop,
                    limits: limits.scrape,
                };
                Some(scrape::start(bound, exposed)?)
            }
        };
        let scope = InstrumentationScope::builder(SCOPE).with_version(version).build();
        Ok(Self {
            metrics: meter_provider.as_ref().map(Metrics::new).unwrap_or_default(),
            spans: tracer_provider
                .as_ref()
                .map(|provider| Spans::new(provider.tracer_with_scope(scope)))
                .unwrap_or_default(),
            meter_provider,
            tracer_provider,
            ready,
            _serving: serving,
        })
    }

    /// Where events are told.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    /// Where spans are made.
    #[must_use]
    pub fn spans(&self) -> Spans {
        self.spans.clone()
    }

    /// Whether a client is served, for `/readyz`.
    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
    }

    /// Pushes what is left, in so much time at most: what a collector has not taken by then is lost.
    pub fn flush(self, bound: Duration) {
        let deadline = Instant::now() + bound;
        let (done, ends) = mpsc::channel();
        // The exporters' own bounds do not cover a send that is under way, so they are waited for from outside.
        let mut awaited = 0;
        if let Some(provider) = self.tracer_provider {
            awaited += in_background(&done, move || drop(provider.shutdown_with_timeout(bound)));
        }
        if let Some(provider) = self.meter_provider {
            awaited += in_background(&done, move || drop(provider.shutdown_with_timeout(bound)));
        }
        for _ in 0..awaited {
            if ends
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
                .is_err()
            {
                tracing::info!("the last telemetry was not taken in time");
                return;
            }
        }
    }
}

/// Runs it on a thread. How many threads that are.
fn in_background(done: &mpsc::Sender<()>, work: impl FnOnce() + Send + 'static) -> usize {
    let done = done.clone();
    let thread = thread::Builder::new().name("telemetry-flush".to_owned());
    let spawned = thread.spawn(move || {
        work();
        // Nobody waits any more.
        let _ = done.send(());
    });
    usize::from(spawned.is_ok())
}

/// A signal that cannot be pushed is told, once, and is not.
fn usable<T>(signal: Signal, exporter: Result<T, OtlpError>) -> Option<T> {
    exporter
        .inspect_err(|error| tracing::warn!(signal = signal.name(), %error, "telemetry is not pushed"))
        .ok()
}

fn resource(version: &'static str, environment: Environment<'_>) -> Resource {
    let resource = Resource::builder().with_attribute(KeyValue::new("service.version", version));
    let named = environment("OTEL_SERVICE_NAME").is_some()
        || environment("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|attributes| {
            attributes
                .split(',')
                .filter_map(|attribute| attribute.split_once('='))
                .any(|(key, _)| key.trim() == "service.name")
        });
    if named {
        resource.build()
    } else {
        resource.with_service_name(SERVICE_NAME).build()
    }
}
