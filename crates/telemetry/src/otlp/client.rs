//! The HTTP client of the exporters.
//!
//! It blocks the thread that calls it, which is an exporter's own. The exporters would take an async client, but run it
//! without the runtime that those of hyper and reqwest need.

use std::fmt;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};

use super::OtlpLimits;
use super::config::Signal;

/// Sends what it is given, and says once if that does not work.
#[derive(Debug)]
pub(super) struct CollectorClient {
    agent: ureq::Agent,
    signal: Signal,
    limits: OtlpLimits,
    told: AtomicBool,
}

impl CollectorClient {
    pub(super) fn new(signal: Signal, timeout: Duration, limits: OtlpLimits) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            // Headers may carry secrets: they go where the operator said, and nowhere else.
            .max_redirects(0)
            // The variables for proxies are those of the commands that are run.
            .proxy(None)
            // A status is an answer: the exporter reads it.
            .http_status_as_error(false)
            .build();
        Self {
            agent: config.new_agent(),
            signal,
            limits,
            told: AtomicBool::new(false),
        }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let (parts, body) = self.agent.run(request.map(Vec::from))?.into_parts();
        let mut bytes = Vec::new();
        body.into_reader()
            .take(self.limits.response_bytes)
            .read_to_end(&mut bytes)?;
        Ok(Response::from_parts(parts, bytes.into()))
    }

    /// Logs the first failure. What comes after is the same failure, or its consequence.
    fn tell(&self, trouble: &Trouble) {
        if !self.told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                signal = self.signal.name(),
                %trouble,
                "the OTLP collector does not take telemetry; commands are not affected, and this is told once"
            );
        }
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        match self.send(request) {
            Ok(response) => {
                if !response.status().is_success() {
                    self.tell(&Trouble::Status(response.status().as_u16()));
                }
                Ok(response)
            }
            Err(error) => {
                self.tell(&Trouble::of(&error));
                Err(error.into())
            }
        }
    }
}

/// What went wrong, without the name of the collector.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    Status(u16),
    Timeout,
    UnknownHost,
    Io(std::io::ErrorKind),
    Protocol,
}

impl Trouble {
    fn of(error: &ureq::Error) -> Self {
        match error {
            ureq::Error::StatusCode(status) => Self::Status(*status),
            ureq::Error::Timeout(_) => Self::Timeout,
            ureq::Error::HostNotFound => Self::UnknownHost,
            ureq::Error::Io(error) => Self::Io(error.kind()),
            ureq::Error::ConnectionFailed => Self::Io(std::io::ErrorKind::ConnectionRefused),
            _ => Self::Protocol,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "it answered HTTP {status}"),
            Self::Timeout => f.write_str("it did not answer in time"),
            Self::UnknownHost => f.write_str("its host is not known"),
            Self::Io(kind) => kind.fmt(f),
            Self::Protocol => f.write_str("it does not speak HTTP"),
        }
    }
}
