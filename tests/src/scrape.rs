//! A daemon that can be scraped, and what a scrape shows.

use std::collections::BTreeMap;
use std::path::Path;

use crate::http::Endpoint;
use crate::server::{Server, ServerBuilder};

/// What a page of Prometheus text says: series, as they stand there, and their values.
#[derive(Debug, Clone, PartialEq)]
pub struct Page(pub BTreeMap<String, f64>);

impl Page {
    /// Reads one.
    ///
    /// # Panics
    /// When a line is neither a comment nor a sample.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        Self(
            samples
                .map(|line| {
                    let (series, value) = line.rsplit_once(' ').expect("a sample");
                    (series.to_owned(), value.parse().expect("a number"))
                })
                .collect(),
        )
    }

    /// The samples of one name, by what stands between the braces.
    #[must_use]
    pub fn of(&self, name: &str) -> BTreeMap<&str, f64> {
        let samples = self.0.iter().filter_map(|(series, value)| {
            let tags = series.strip_prefix(name)?;
            match tags {
                "" => Some(("", *value)),
                tags => Some((tags.strip_prefix('{')?.strip_suffix('}')?, *value)),
            }
        });
        samples.collect()
    }
}

/// A daemon that serves scrapes on a unix socket in this folder, and where that is.
#[must_use]
pub fn scrapable(builder: ServerBuilder, folder: &Path) -> (Server, Endpoint) {
    let path = folder.join("metrics.sock");
    let address = format!("unix:{}", path.display());
    let server = builder.env("EXEC_SERVER_METRICS_LISTEN", &address).start();
    (server, Endpoint::Unix(path))
}
