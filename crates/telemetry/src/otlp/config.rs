//! What the standard variables ask for.

use std::time::Duration;

/// A variable of the daemon's environment; `None` if it is not set, not UTF-8, or empty, which says the same.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Whether metrics and traces are pushed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtlpWhen {
    /// Where a variable names a collector.
    #[default]
    Auto,
    /// To the collector that the variables name, or the standard one on this machine.
    On,
    /// Never.
    Off,
}

/// What is pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Metrics,
    Traces,
}

impl Signal {
    /// Its name in a log line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::Traces => "traces",
        }
    }

    /// `OTEL_METRICS_EXPORTER`.
    fn exporter_variable(self) -> &'static str {
        match self {
            Self::Metrics => "OTEL_METRICS_EXPORTER",
            Self::Traces => "OTEL_TRACES_EXPORTER",
        }
    }

    /// The value of `OTEL_EXPORTER_OTLP_METRICS_…`, or of `OTEL_EXPORTER_OTLP_…`.
    fn setting(self, name: &str, environment: Environment<'_>) -> Option<String> {
        let signal = match self {
            Self::Metrics => "METRICS",
            Self::Traces => "TRACES",
        };
        environment(&format!("OTEL_EXPORTER_OTLP_{signal}_{name}"))
            .or_else(|| environment(&format!("OTEL_EXPORTER_OTLP_{name}")))
    }
}

/// What a variable says and cannot be done. It names variables, never their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("OTEL_EXPORTER_OTLP_PROTOCOL is neither http/protobuf nor http/json: gRPC is not built in")]
    Protocol,
    #[error("OTEL_EXPORTER_OTLP_COMPRESSION: compression is not built in")]
    Compression,
    #[error("OTEL_EXPORTER_OTLP_ENDPOINT is not an HTTP URL")]
    Endpoint,
    #[error(
        "OTEL_EXPORTER_OTLP_ENDPOINT is an HTTPS URL: TLS is not built in, name a collector on this machine"
    )]
    Tls,
}

/// Whether a signal is to be pushed.
pub(crate) fn is_asked_for(signal: Signal, when: OtlpWhen, environment: Environment<'_>) -> bool {
    if environment("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return false;
    }
    let exporter = environment(signal.exporter_variable());
    // Another exporter than ours is asked for, or `none`.
    if exporter
        .as_deref()
        .is_some_and(|name| !name.eq_ignore_ascii_case("otlp"))
    {
        return false;
    }
    match when {
        OtlpWhen::Off => false,
        OtlpWhen::On => true,
        OtlpWhen::Auto => exporter.is_some() || signal.setting("ENDPOINT", environment).is_some(),
    }
}

/// Sees that the variables ask for what there is. The time an export may take; `timeout` where none is given.
pub(crate) fn check(
    signal: Signal,
    environment: Environment<'_>,
    timeout: Duration,
) -> Result<Duration, ConfigError> {
    let protocol = signal.setting("PROTOCOL", environment);
    if protocol.is_some_and(|protocol| protocol != "http/protobuf" && protocol != "http/json") {
        return Err(ConfigError::Protocol);
    }
    let compression = signal.setting("COMPRESSION", environment);
    if compression.is_some_and(|compression| compression != "none") {
        return Err(ConfigError::Compression);
    }
    if let Some(endpoint) = signal.setting("ENDPOINT", environment) {
        let scheme = endpoint
            .split_once("://")
            .map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("http") => {}
            Some("https") => return Err(ConfigError::Tls),
            _ => return Err(ConfigError::Endpoint),
        }
    }
    let given = signal
        .setting("TIMEOUT", environment)
        .and_then(|ms| ms.parse().ok());
    Ok(given.map_or(timeout, Duration::from_millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(variables: &[(&str, &str)], then: impl FnOnce(Environment<'_>) -> T) -> T {
        then(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_signal_is_pushed_where_somebody_says_so() {
        use OtlpWhen::{Auto, Off, On};
        for (variables, when, metrics, traces) in [
            (&[][..], Auto, false, false),
            (&[], On, true, true),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x")], Auto, true, true),
            (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x")], Off, false, false),
            (
                &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://x")],
                Auto,
                false,
                true,
            ),
            (&[("OTEL_METRICS_EXPORTER", "otlp")], Auto, true, false),
            (&[("OTEL_METRICS_EXPORTER", "none")], On, false, true),
            (&[("OTEL_TRACES_EXPORTER", "console")], On, true, false),
            (&[("OTEL_SDK_DISABLED", "TRUE")], On, false, false),
        ] {
            let asked = |signal| with(variables, |environment| is_asked_for(signal, when, environment));
            assert_eq!(
                (asked(Signal::Metrics), asked(Signal::Traces)),
                (metrics, traces),
                "{variables:?} {when:?}"
            );
        }
    }

    #[test]
    fn what_is_not_built_in_is_told() {
        let seconds = |seconds| Ok(Duration::from_secs(seconds));
        for (name, value, expected) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", seconds(10)),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", Err(ConfigError::Protocol)),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "none", seconds(10)),
            (
                "OTEL_EXPORTER_OTLP_COMPRESSION",
                "gzip",
                Err(ConfigError::Compression),
            ),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "HTTP://x:4318", seconds(10)),
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "x:4318",
                Err(ConfigError::Endpoint),
            ),
            (
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
                "https://x",
                Err(ConfigError::Tls),
            ),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "3000", seconds(3)),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "1000", seconds(1)),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", seconds(10)),
        ] {
            let checked = with(&[(name, value)], |environment| {
                check(Signal::Metrics, environment, Duration::from_secs(10))
            });
            assert_eq!(checked, expected, "{name}={value}");
        }
    }
}
