//! Telemetry from flags and variables. A flag wins over its variable.

use std::time::Duration;

use exec_protocol::limits::{
    LIVENESS_MS, OTLP_RESPONSE_BYTES, OTLP_TIMEOUT_MS, SCRAPE_ACCEPT_PAUSE_MS, SCRAPE_CONNECTIONS,
    SCRAPE_EXCHANGE_MS, SCRAPE_IDLE_MS, SCRAPE_REQUEST_BYTES,
};
use exec_telemetry::{AddressError, OtlpWhen, ScrapeAddress, ScrapeLimits, Settings, TelemetryLimits};

use crate::cli::{Otlp, Serve};

/// The variable of `--metrics-listen`.
pub(crate) const METRICS_LISTEN: &str = "EXEC_SERVER_METRICS_LISTEN";
/// The variable of `--metrics-allow-remote`.
pub(crate) const METRICS_ALLOW_REMOTE: &str = "EXEC_SERVER_METRICS_ALLOW_REMOTE";
/// The variable of `--otlp`.
pub(crate) const OTLP: &str = "EXEC_SERVER_OTLP";

/// What `--metrics-listen` may say instead of an address.
const NOWHERE: &str = "off";

/// A setting that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    /// An address that is none.
    #[error("{from}: {error}")]
    Address {
        /// The flag or variable.
        from: &'static str,
        /// Why.
        error: AddressError,
    },
    /// A variable that is not one of these.
    #[error("{name}: {value:?} is not {expected}")]
    Variable {
        /// Its name.
        name: &'static str,
        /// What it says.
        value: String,
        /// What it may say.
        expected: &'static str,
    },
}

/// The settings that flags and variables make. `variable` gives the value of one.
///
/// # Errors
/// The first that is not understood.
pub(crate) fn settings(
    options: &Serve,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Settings, SettingsError> {
    let variable = |name| variable(name).filter(|value| !value.is_empty());
    let scrape = match (&options.metrics_listen, variable(METRICS_LISTEN)) {
        (Some(address), _) => scrape("--metrics-listen", address)?,
        (None, Some(address)) => scrape(METRICS_LISTEN, &address)?,
        (None, None) => None,
    };
    let allow_remote = options.metrics_allow_remote
        || match variable(METRICS_ALLOW_REMOTE) {
            Some(value) => yes_or_no(METRICS_ALLOW_REMOTE, &value)?,
            None => false,
        };
    let otlp = match (options.otlp, variable(OTLP)) {
        (Some(Otlp::On), _) => OtlpWhen::On,
        (Some(Otlp::Off), _) => OtlpWhen::Off,
        (Some(Otlp::Auto), _) | (None, None) => OtlpWhen::Auto,
        (None, Some(value)) => match value.as_str() {
            "auto" => OtlpWhen::Auto,
            _ if yes_or_no(OTLP, &value)? => OtlpWhen::On,
            _ => OtlpWhen::Off,
        },
    };
    Ok(Settings {
        scrape,
        allow_remote,
        otlp,
    })
}

fn scrape(from: &'static str, address: &str) -> Result<Option<ScrapeAddress>, SettingsError> {
    if address == NOWHERE {
        return Ok(None);
    }
    let address = address.parse();
    address
        .map(Some)
        .map_err(|error| SettingsError::Address { from, error })
}

fn yes_or_no(name: &'static str, value: &str) -> Result<bool, SettingsError> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(SettingsError::Variable {
            name,
            value: value.to_owned(),
            expected: "on or off",
        }),
    }
}

/// The bounds that the daemon's telemetry has.
pub(crate) fn limits() -> TelemetryLimits {
    TelemetryLimits {
        scrape: ScrapeLimits {
            connections: SCRAPE_CONNECTIONS,
            idle: Duration::from_millis(SCRAPE_IDLE_MS),
            request_bytes: SCRAPE_REQUEST_BYTES,
            exchange: Duration::from_millis(SCRAPE_EXCHANGE_MS),
            accept_pause: Duration::from_millis(SCRAPE_ACCEPT_PAUSE_MS),
            liveness: Duration::from_millis(LIVENESS_MS),
        },
        otlp_response_bytes: OTLP_RESPONSE_BYTES,
        otlp_timeout: Duration::from_millis(OTLP_TIMEOUT_MS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn read(flags: &[&str], variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let line = ["exec-server"].iter().chain(flags);
        let cli = Cli::try_parse_from(line).unwrap();
        settings(cli.serve(), |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn everything_is_off_by_default() {
        let settings = read(&[], &[]).unwrap();
        assert_eq!(
            (settings.scrape, settings.allow_remote, settings.otlp),
            (None, false, OtlpWhen::Auto)
        );
    }

    #[test]
    fn a_flag_wins_over_its_variable() {
        let address = |text: &str| Some(text.parse::<ScrapeAddress>().unwrap());
        let variable = [(METRICS_LISTEN, "127.0.0.1:2")];
        for (flags, variables, expected) in [
            (
                &["--metrics-listen", "127.0.0.1:1"][..],
                &variable[..],
                address("127.0.0.1:1"),
            ),
            (&["--metrics-listen", "off"], &variable, None),
            (&[], &variable, address("127.0.0.1:2")),
            (&[], &[(METRICS_LISTEN, "unix:/x")], address("unix:/x")),
            (&[], &[(METRICS_LISTEN, "")], None),
        ] {
            assert_eq!(read(flags, variables).unwrap().scrape, expected, "{flags:?}");
        }
        for (flags, value, expected) in [
            (&["--otlp"][..], "off", OtlpWhen::On),
            (&["--otlp=off"], "on", OtlpWhen::Off),
            (&["--otlp=auto"], "on", OtlpWhen::Auto),
            (&[], "1", OtlpWhen::On),
            (&[], "false", OtlpWhen::Off),
            (&[], "auto", OtlpWhen::Auto),
        ] {
            assert_eq!(
                read(flags, &[(OTLP, value)]).unwrap().otlp,
                expected,
                "{flags:?} {value}"
            );
        }
        assert!(read(&["--metrics-allow-remote"], &[]).unwrap().allow_remote);
        assert!(read(&[], &[(METRICS_ALLOW_REMOTE, "1")]).unwrap().allow_remote);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (flags, variables, named) in [
            (&["--metrics-listen", "9464"][..], &[][..], "--metrics-listen"),
            (&[], &[(METRICS_LISTEN, "9464")], METRICS_LISTEN),
            (&[], &[(METRICS_ALLOW_REMOTE, "maybe")], METRICS_ALLOW_REMOTE),
            (&[], &[(OTLP, "maybe")], OTLP),
        ] {
            let error = read(flags, variables).unwrap_err().to_string();
            assert!(error.starts_with(named), "{error}");
        }
    }

    #[test]
    fn every_method_of_the_protocol_has_a_tag() {
        use exec_telemetry::tags::Method;
        let untagged: Vec<_> = exec_protocol::method::METHODS
            .iter()
            .filter(|name| Method::named(name) == Method::Other)
            .collect();
        assert!(untagged.is_empty(), "{untagged:?}");
    }
}
