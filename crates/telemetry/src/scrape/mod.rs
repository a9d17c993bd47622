//! The scrape endpoint: `GET /metrics`, `/livez`, `/readyz`, on a loopback address or a unix socket.

mod address;
mod exposition;
mod http;
mod places;
mod server;

pub use address::{AddressError, BindError, ScrapeAddress};
pub use server::ScrapeLimits;
pub(crate) use server::{Exposed, Serving, start};

/// The Prometheus text of what was counted.
#[cfg(test)]
pub(crate) fn text_of(metrics: &opentelemetry_sdk::metrics::data::ResourceMetrics) -> String {
    exposition::write(metrics, exposition::Format::Text)
}
