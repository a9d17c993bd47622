//! docs/metrics.md, the dashboard and the alerts name what the catalogue has.
//!
//! `UPDATE_METRICS=1 cargo test -p exec-telemetry --test docs` (`make metrics`) writes the table of docs/metrics.md.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use exec_telemetry::catalogue::{INSTRUMENTS, Instrument, Kind, NOT_YET, TagKey};
use exec_telemetry::{Step, tags};

const BEGIN: &str = "<!-- instruments: written by `make metrics` -->\n";
const END: &str = "<!-- instruments: end -->\n";

fn document(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(file)
}

fn read(file: &str) -> String {
    let path = document(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn table() -> String {
    let mut text = String::from("| instrument | kind | unit | tags | |\n|---|---|---|---|---|\n");
    for instrument in INSTRUMENTS {
        let tags: Vec<String> = instrument.tags.iter().map(shown).collect();
        let not_yet = if is_recorded(instrument) {
            ""
        } else {
            " Nothing records it yet."
        };
        writeln!(
            text,
            "| `{}` | {} | {} | {} | {}{not_yet} |",
            instrument.name,
            instrument.kind.name(),
            instrument.unit,
            tags.join(", "),
            instrument.description,
        )
        .unwrap();
    }
    text.push_str("\n| tag | values | of |\n|---|---|---|\n");
    let mut seen: Vec<(&str, &[&str])> = Vec::new();
    for tag in INSTRUMENTS.iter().flat_map(|instrument| instrument.tags) {
        if !seen.contains(&(tag.key, tag.values)) {
            seen.push((tag.key, tag.values));
            let values: Vec<String> = tag.values.iter().map(|value| format!("`{value}`")).collect();
            let of: Vec<String> = INSTRUMENTS
                .iter()
                .filter(|instrument| {
                    instrument
                        .tags
                        .iter()
                        .any(|other| (other.key, other.values) == (tag.key, tag.values))
                })
                .map(|instrument| format!("`{}`", instrument.name))
                .collect();
            writeln!(
                text,
                "| `{}` | {} | {} |",
                tag.key,
                values.join(" "),
                of.join(" ")
            )
            .unwrap();
        }
    }
    text.push_str("\n| histogram | upper bounds of its buckets |\n|---|---|\n");
    for instrument in INSTRUMENTS
        .iter()
        .filter(|instrument| instrument.kind == Kind::Histogram)
    {
        let bounds: Vec<String> = instrument.buckets.iter().map(f64::to_string).collect();
        writeln!(text, "| `{}` | {} |", instrument.name, bounds.join(" ")).unwrap();
    }
    text
}

fn is_recorded(instrument: &Instrument) -> bool {
    NOT_YET.iter().all(|other| other.name != instrument.name)
}

fn shown(tag: &TagKey) -> String {
    match tag.only {
        None => format!("`{}`", tag.key),
        Some(only) => format!("`{}` (if `{only}`)", tag.key),
    }
}

#[test]
fn the_document_is_what_the_catalogue_says() {
    let text = read("metrics.md");
    let (head, rest) = text.split_once(BEGIN).expect("the marker");
    let (_, tail) = rest.split_once(END).expect("the end marker");
    let expected = format!("{head}{BEGIN}\n{}\n{END}{tail}", table());
    if std::env::var_os("UPDATE_METRICS").is_some() {
        fs::write(document("metrics.md"), &expected).expect("can be written");
    }
    assert!(
        read("metrics.md") == expected,
        "docs/metrics.md is not what the catalogue says: run `make metrics`"
    );
}

#[test]
fn the_document_names_every_span() {
    let text = read("metrics.md");
    for step in [
        Step::PrepareShellSnapshot,
        Step::CaptureShellSnapshot,
        Step::PrepareSandbox,
        Step::Start,
        Step::Exit,
    ] {
        assert!(
            text.contains(&format!("| `{}` |", step.name())),
            "{}",
            step.name()
        );
    }
}

/// The instrument that a series in a query belongs to.
fn instrument_of(series: &str) -> &'static Instrument {
    let found = INSTRUMENTS.iter().find(|instrument| {
        let name = instrument.scrape_name();
        match instrument.kind {
            Kind::Histogram => ["_bucket", "_sum", "_count"]
                .iter()
                .any(|suffix| series.strip_suffix(suffix) == Some(name.as_str())),
            Kind::Counter | Kind::Gauge => series == name,
        }
    });
    found.unwrap_or_else(|| panic!("no instrument has the series {series}"))
}

/// Holds a query to the catalogue: each series, the tags it is selected by, and those it is grouped by.
fn check_query(query: &str) -> usize {
    let mut count = 0;
    let mut keys = vec!["le"];
    for (at, _) in query.match_indices(['c', 'e']) {
        let before = query[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &query[at..];
        if !rest.starts_with("codex_") && !rest.starts_with("exec_server_") {
            continue;
        }
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let instrument = instrument_of(&rest[..end]);
        assert!(is_recorded(instrument), "nothing records {}", instrument.name);
        count += 1;
        keys.extend(instrument.tags.iter().map(|tag| tag.key));
        if let Some(selectors) = rest[end..].strip_prefix('{') {
            check_selectors(instrument, &selectors[..selectors.find('}').expect("closed")]);
        }
    }
    for (at, by) in query.match_indices(" by (") {
        let group = &query[at + by.len()..];
        for key in group[..group.find(')').expect("closed")].split(',') {
            assert!(keys.contains(&key.trim()), "{key} groups nothing in {query}");
        }
    }
    count
}

fn check_selectors(instrument: &Instrument, selectors: &str) {
    for selector in selectors.split(',').filter(|selector| !selector.is_empty()) {
        let (key, value) = selector.split_once('=').expect("key and value");
        let key = key.trim_end_matches('!');
        let tag = instrument.tags.iter().find(|tag| tag.key == key);
        let tag = tag.unwrap_or_else(|| panic!("{} has no tag {key}", instrument.name));
        let value = value.trim_start_matches('~').trim_matches('"');
        if !value.starts_with('$') {
            for value in value.split('|') {
                assert!(tag.values.contains(&value), "{key} is never {value}");
            }
        }
    }
}

/// Holds the labels that a text is filled with to those that its query leaves.
fn check_labels(query: &str, text: &str) {
    let groups = query.split(" by (").skip(1);
    let left: Vec<&str> = groups
        .flat_map(|group| group.split(')').next().unwrap_or_default().split(','))
        .map(str::trim)
        .collect();
    for filled in text.split("{{").skip(1) {
        let filled = filled.split("}}").next().unwrap_or_default().trim();
        let label = filled.strip_prefix("$labels.").unwrap_or(filled);
        let is_value = filled.starts_with("$value");
        assert!(is_value || left.contains(&label), "{filled} is none of {left:?}");
    }
}

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let dashboard: serde_json::Value = serde_json::from_str(&read("grafana/exec-server.json")).unwrap();
    let mut queries = 0;
    let mut ids = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        ids.push(panel["id"].as_u64().unwrap());
        for target in panel["targets"].as_array().into_iter().flatten() {
            let query = target["expr"].as_str().unwrap();
            assert!(check_query(query) > 0, "{target}");
            check_labels(query, target["legendFormat"].as_str().unwrap());
            queries += 1;
        }
    }
    assert!(queries >= 12, "{queries}");
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "panel ids are distinct");
}

#[test]
fn the_alerts_ask_for_what_there_is() {
    let mut count = 0;
    for (_, alert) in alerts() {
        let expr = alert.split("expr: |\n").nth(1).expect("an expression");
        let lines = expr.lines().take_while(|line| line.starts_with("            "));
        let query: Vec<&str> = lines.map(str::trim).collect();
        let query = query.join(" ");
        assert!(check_query(&query) > 0, "{alert}");
        check_labels(&query, &alert);
        count += 1;
    }
    assert!(count >= 6, "{count}");
}

/// The alerts by name, and what follows each.
fn alerts() -> Vec<(String, String)> {
    let text = read("prometheus/alerts.yml");
    let alerts = text.split("- alert: ").skip(1);
    let named = |alert: &str| {
        let (name, rest) = alert.split_once('\n').expect("more than a name");
        (name.to_owned(), rest.to_owned())
    };
    alerts.map(named).collect()
}

/// promtool runs these tests beside the real Prometheus.
#[test]
fn every_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not() {
    let tests = read("prometheus/alerts_test.yml");
    let expectations: Vec<(&str, bool)> = tests
        .split("alertname: ")
        .skip(1)
        .map(|test| {
            let (name, rest) = test.split_once('\n').expect("more than a name");
            let expected = rest.lines().next().expect("what is expected").trim();
            assert!(expected.starts_with("exp_alerts:"), "{name}: {expected}");
            (name, expected == "exp_alerts:")
        })
        .collect();
    for (name, _) in alerts() {
        for fires in [true, false] {
            assert!(
                expectations.contains(&(name.as_str(), fires)),
                "{name}, fires: {fires}"
            );
        }
    }
}

/// A counter that is born with its first event is never seen to rise by it.
#[test]
fn what_happens_once_is_seen() {
    let dashboard: serde_json::Value = serde_json::from_str(&read("grafana/exec-server.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let shown = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    for query in alerts().into_iter().map(|(_, alert)| alert).chain(shown) {
        for (at, _) in query.match_indices("(codex_shell_snapshot") {
            let before = &query[..at];
            assert!(!before.ends_with("rate"), "a capture is rare: {query}");
            if before.ends_with("increase") {
                assert!(before.contains(" unless codex_shell_snapshot"), "{query}");
            }
        }
    }
}

/// The check itself sees what is wrong.
#[test]
fn a_wrong_query_is_found() {
    for wrong in [
        "exec_server_nothing_total",
        "exec_server_request_duration_seconds",
        "exec_server_requests_total_bucket",
        r#"exec_server_requests_total{methods="process/start"}"#,
        r#"exec_server_requests_total{method="process/begin"}"#,
        "sum by (shell) (exec_server_requests_total)",
        "exec_server_sessions_active",
    ] {
        let checked = std::panic::catch_unwind(|| check_query(wrong));
        assert!(checked.is_err(), "{wrong}");
    }
    for wrong in ["{{shell}}", "{{ $labels.le }} and more", "{{method}} {{result}}"] {
        let query = "sum by (method) (exec_server_requests_total)";
        let checked = std::panic::catch_unwind(|| check_labels(query, wrong));
        assert!(checked.is_err(), "{wrong}");
    }
    assert_eq!(
        check_query("sum by (method) (rate(exec_server_requests_total[5m]))"),
        1
    );
    assert_eq!(tags::Method::ALL.len(), <tags::Method as tags::Tag>::VALUES.len());
}
