//! Of logs, metrics and traces.

/// Log lines waiting for a stderr that is not read; more are dropped and counted.
pub const LOG_QUEUE_LINES: usize = 1024;
/// How long the last log lines may take to reach stderr when the daemon goes, in milliseconds.
pub const LOG_FLUSH_MS: u64 = 100;
/// Connections to the scrape endpoint served at once: more than scrapers and people need, so that a hundred idle ones
/// are soon gone through; more wait in the kernel's queue.
pub const SCRAPE_CONNECTIONS: usize = 32;
/// How long one of those may ask for nothing while another wants its place, in milliseconds: whoever connects to ask
/// does so at once.
pub const SCRAPE_IDLE_MS: u64 = 100;
/// Longest head of a request to the scrape endpoint, in bytes: what web servers take.
pub const SCRAPE_REQUEST_BYTES: usize = 8192;
/// From a scrape's connection to its end, in milliseconds: half of what Prometheus waits, plenty for a page of 100 kB.
pub const SCRAPE_EXCHANGE_MS: u64 = 5_000;
/// Pause after a connection to the scrape endpoint that could not be accepted, in milliseconds: descriptors may be free
/// again by then, and no core is busy with asking.
pub const SCRAPE_ACCEPT_PAUSE_MS: u64 = 100;
/// How long the event loop may take to answer `/livez`, in milliseconds: a turn of it takes some of them at most.
pub const LIVENESS_MS: u64 = 1_000;
/// Bytes of an OTLP collector's answer that are read: it says how many items it refused, and why.
pub const OTLP_RESPONSE_BYTES: u64 = 64 * 1024;
/// How long one push to an OTLP collector may take, in milliseconds, where no variable says so: OpenTelemetry's own.
pub const OTLP_TIMEOUT_MS: u64 = 10_000;
/// How long pushing the last metrics and traces may take when the daemon ends, in milliseconds. What a collector has
/// not taken by then is lost.
pub const TELEMETRY_FLUSH_MS: u64 = 5_000;
