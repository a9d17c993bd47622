//! A real Prometheus, and what it stored of the daemon it scrapes.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::eventually;
use crate::http::Endpoint;
use crate::server::PATIENCE;

/// What a failing start of it says.
const MISSING: &str = "prometheus is installed: `make needs`, or the Debian package prometheus";

/// Prometheus, with a folder of its own; killed when dropped. It scrapes one daemon, every 200 ms, and evaluates our
/// alerts.
#[derive(Debug)]
pub struct Prometheus {
    child: Child,
    endpoint: Endpoint,
    _folder: tempfile::TempDir,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // It is our child, and has not been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The samples that Prometheus stored of one series: when, and what.
pub type Samples = Vec<(f64, f64)>;

/// A series' tags but those that Prometheus adds: `key=value` by key, with commas.
pub type Tags = String;

/// Our alerts.
#[must_use]
pub fn alerts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/prometheus/alerts.yml")
}

/// A port of this machine where nobody listens.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn free_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address")
}

impl Prometheus {
    /// Starts one that scrapes the daemon at this address.
    ///
    /// # Panics
    /// When it is not installed, or does not start.
    #[must_use]
    pub fn scraping(daemon: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let config = format!(
            "global: {{scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 1s}}\n\
             rule_files: [{}]\n\
             scrape_configs:\n- job_name: exec-server\n  static_configs: [{{targets: ['{daemon}']}}]\n",
            alerts().display()
        );
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, config).expect("written");
        let address = free_port();
        let log = std::fs::File::create(folder.path().join("log")).expect("a log");
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.path().join("data").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect(MISSING);
        let endpoint = Endpoint::Tcp(address);
        // Between listening and being ready it answers 503.
        let ready = eventually(PATIENCE, || {
            TcpStream::connect(address).ok()?;
            let ready = endpoint.exchange(b"GET /-/ready HTTP/1.0\r\nHost: x\r\n\r\n");
            (ready.status == 200).then_some(())
        });
        assert!(ready.is_some(), "prometheus did not start");
        Self {
            child,
            endpoint,
            _folder: folder,
        }
    }

    /// What its HTTP API answers.
    ///
    /// # Panics
    /// When that is no JSON.
    #[must_use]
    pub fn ask(&self, path: &str) -> Value {
        // 1.0: without chunks.
        let answer = self
            .endpoint
            .exchange(format!("GET {path} HTTP/1.0\r\nHost: x\r\n\r\n").as_bytes());
        serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"))
    }

    fn query(&self, query: &str) -> Vec<Value> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let mut answer = self.ask(&format!("/api/v1/query?query={encoded}"));
        assert_eq!(answer["status"], "success", "{answer}");
        match answer["data"]["result"].take() {
            Value::Array(series) => series,
            other => panic!("{query} is {other}"),
        }
    }

    /// The value of a query with one series.
    #[must_use]
    pub fn value(&self, query: &str) -> Option<f64> {
        number(&self.query(query).first()?["value"][1])
    }

    /// Waits until a query has this value.
    ///
    /// # Panics
    /// When it does not come to that.
    #[track_caller]
    pub fn await_value(&self, query: &str, expected: f64) {
        let mut last = None;
        let found = eventually(Duration::from_secs(30), || {
            last = self.value(query);
            (last == Some(expected)).then_some(())
        });
        assert!(found.is_some(), "{query} is {last:?}, expected {expected}");
    }

    /// Everything it stored of the daemon: samples by series, by name.
    #[must_use]
    pub fn stored(&self) -> BTreeMap<String, BTreeMap<Tags, Samples>> {
        let mut stored: BTreeMap<String, BTreeMap<Tags, Samples>> = BTreeMap::new();
        for series in self.query("{job=\"exec-server\"}[1h]") {
            let name = series["metric"]["__name__"].as_str().unwrap_or_default();
            let values = series["values"].as_array().into_iter().flatten();
            let samples = values.filter_map(|pair| Some((pair[0].as_f64()?, number(&pair[1])?)));
            let of_name = stored.entry(name.to_owned()).or_default();
            of_name.insert(tags(&series["metric"]), samples.collect());
        }
        stored
    }
}

/// Numbers are strings in its API.
fn number(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok()
}

fn tags(metric: &Value) -> Tags {
    let own = metric.as_object().into_iter().flatten();
    let mut own: Vec<String> = own
        .filter(|(key, _)| !["__name__", "instance", "job"].contains(&key.as_str()))
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    own.sort_unstable();
    own.join(",")
}
