//! What was counted, as text: the Prometheus text format, or OpenMetrics.
//!
//! The names are the catalogue's in both, dots as underscores, nothing added. OpenMetrics wants the samples of a
//! counter to end in `_total`: a counter whose fixed name does not is exposed there as `unknown`, which is valid and
//! leaves the name as it is.

use std::fmt::{self, Write};

use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, HistogramDataPoint, MetricData, ResourceMetrics};

use crate::catalogue::{self, Instrument, Kind};

/// How metrics are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Prometheus text 0.0.4.
    Text,
    /// OpenMetrics 1.0.0.
    OpenMetrics,
}

impl Format {
    /// The media type of a response.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// The one that an Accept header prefers; text where it says nothing of either.
    pub(crate) fn accepted(accept: &str) -> Self {
        let mut best = (0.0, Self::Text);
        for range in accept.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default().to_ascii_lowercase();
            let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
            let parameter = |name: &str| {
                let mut named = parameters
                    .iter()
                    .filter(|(key, _)| key.eq_ignore_ascii_case(name));
                named.next().map(|(_, value)| value.trim_matches('"'))
            };
            let format = match media.as_str() {
                "application/openmetrics-text" => match parameter("version") {
                    None | Some("1.0.0") => Self::OpenMetrics,
                    Some(_) => continue,
                },
                "text/plain" | "text/*" | "*/*" => Self::Text,
                _ => continue,
            };
            let quality = parameter("q").map_or(1.0, |q| q.parse().unwrap_or(0.0));
            if quality > best.0 {
                best = (quality, format);
            }
        }
        best.1
    }
}

/// Writes all that was counted. Instruments that are not in the catalogue are not ours.
pub(crate) fn write(metrics: &ResourceMetrics, format: Format) -> String {
    let mut page = Page {
        text: String::with_capacity(16 * 1024),
        format,
    };
    for metric in metrics.scope_metrics().flat_map(|scope| scope.metrics()) {
        if let Some(instrument) = catalogue::named(metric.name()) {
            // A String takes every write.
            let _ = page.family(instrument, metric.data());
        }
    }
    if format == Format::OpenMetrics {
        page.text.push_str("# EOF\n");
    }
    page.text
}

struct Page {
    text: String,
    format: Format,
}

impl Page {
    fn family(&mut self, of: &Instrument, data: &AggregatedMetrics) -> fmt::Result {
        let name = of.scrape_name();
        let (family, kind) = self.family_name(of, &name);
        writeln!(self.text, "# HELP {family} {}", of.description)?;
        writeln!(self.text, "# TYPE {family} {kind}")?;
        match data {
            AggregatedMetrics::F64(data) => self.samples(&name, data),
            AggregatedMetrics::U64(data) => self.samples(&name, data),
            AggregatedMetrics::I64(data) => self.samples(&name, data),
        }
    }

    fn family_name<'a>(&self, of: &Instrument, name: &'a str) -> (&'a str, &'static str) {
        match (self.format, of.kind) {
            (Format::OpenMetrics, Kind::Counter) => match name.strip_suffix("_total") {
                Some(family) => (family, "counter"),
                None => (name, "unknown"),
            },
            (_, kind) => (name, kind.name()),
        }
    }

    fn samples<T: Copy + Into<Number>>(&mut self, name: &str, data: &MetricData<T>) -> fmt::Result {
        match data {
            MetricData::Sum(sum) => {
                self.values(name, sum.data_points().map(|p| (tags(p.attributes()), p.value())))
            }
            MetricData::Gauge(gauge) => self.values(
                name,
                gauge.data_points().map(|p| (tags(p.attributes()), p.value())),
            ),
            MetricData::Histogram(histogram) => {
                for (tags, point) in sorted(histogram.data_points().map(|p| (tags(p.attributes()), p))) {
                    self.histogram(name, &tags, point)?;
                }
                Ok(())
            }
            // The catalogue has none.
            MetricData::ExponentialHistogram(_) => Ok(()),
        }
    }

    fn values<T: Into<Number>>(
        &mut self,
        name: &str,
        points: impl Iterator<Item = (String, T)>,
    ) -> fmt::Result {
        for (tags, value) in sorted(points) {
            self.sample(name, "", &tags, value.into())?;
        }
        Ok(())
    }

    fn histogram<T: Copy + Into<Number>>(
        &mut self,
        name: &str,
        tags: &str,
        point: &HistogramDataPoint<T>,
    ) -> fmt::Result {
        let bounds = point.bounds().map(Some).chain([None]);
        let comma = if tags.is_empty() { "" } else { "," };
        let mut below = 0;
        for (bound, inside) in bounds.zip(point.bucket_counts()) {
            below += inside;
            let bound = bound.map_or_else(|| "+Inf".to_owned(), |bound| self.bound(bound));
            let tags = format!("{tags}{comma}le=\"{bound}\"");
            self.sample(name, "_bucket", &tags, Number::Unsigned(below))?;
        }
        self.sample(name, "_sum", tags, point.sum().into())?;
        self.sample(name, "_count", tags, Number::Unsigned(point.count()))
    }

    fn sample(&mut self, name: &str, suffix: &str, tags: &str, value: Number) -> fmt::Result {
        write!(self.text, "{name}{suffix}")?;
        if !tags.is_empty() {
            write!(self.text, "{{{tags}}}")?;
        }
        match value {
            Number::Unsigned(value) => writeln!(self.text, " {value}"),
            Number::Signed(value) => writeln!(self.text, " {value}"),
            Number::Float(value) => writeln!(self.text, " {value:?}"),
        }
    }

    /// OpenMetrics wants bounds to look like floats.
    fn bound(&self, bound: f64) -> String {
        match self.format {
            Format::OpenMetrics => format!("{bound:?}"),
            Format::Text => bound.to_string(),
        }
    }
}

/// Tags as they stand between the braces, by key.
fn tags<'a>(tags: impl Iterator<Item = &'a KeyValue>) -> String {
    let mut tags: Vec<String> = tags
        // Words of closed sets: nothing in them needs an escape.
        .map(|tag| format!("{}=\"{}\"", tag.key, tag.value))
        .collect();
    tags.sort_unstable();
    tags.join(",")
}

/// In an order that is the same in every scrape.
fn sorted<T>(points: impl Iterator<Item = (String, T)>) -> Vec<(String, T)> {
    let mut points: Vec<_> = points.collect();
    points.sort_by(|one, other| one.0.cmp(&other.0));
    points
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self::Unsigned(value)
    }
}
impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Signed(value)
    }
}
impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

#[cfg(test)]
#[path = "exposition_tests.rs"]
mod tests;
