//! `envPolicy`: which variables of the daemon's environment a child sees.

use std::collections::BTreeMap;

use exec_tests::{Server, program};
use serde_json::{Value, json};

fn server() -> Server {
    Server::builder()
        .env("POLICY_TOKEN", "secret")
        .env("POLICY_apikey_x", "secret")
        .env("POLICY_PLAIN", "p")
        .env("POLICY_OTHER", "o")
        .env("LANG", "C.UTF-8")
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")
        .env("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=secret")
        .env("CODEX_THREAD_ID", "outer")
        .env("CODEX_TOOL_CALL_ID", "outer")
        .start()
}

fn environment(server: &Server, policy: Value) -> BTreeMap<String, String> {
    let launch = program(&["/usr/bin/env", "-0"])
        .set("env", json!({"MINE": "1"}))
        .set("envPolicy", policy);
    let (code, output) = server.run(launch);
    assert_eq!(code, 0);
    let text = String::from_utf8_lossy(&output).into_owned();
    text.split('\0')
        .filter_map(|e| e.split_once('='))
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .collect()
}

fn policy(inherit: &str, change: Value) -> Value {
    let mut policy = json!({"inherit": inherit, "ignoreDefaultExcludes": true, "exclude": [], "set": {}, "includeOnly": []});
    for (name, value) in change.as_object().into_iter().flatten() {
        policy[name] = value.clone();
    }
    policy
}

fn names(environment: &BTreeMap<String, String>) -> Vec<&str> {
    environment.keys().map(String::as_str).collect()
}

#[test]
fn all() {
    let server = server();
    let seen = environment(&server, policy("all", json!({})));
    for (name, value) in [("POLICY_PLAIN", "p"), ("POLICY_TOKEN", "secret"), ("MINE", "1")] {
        assert_eq!(seen.get(name).map(String::as_str), Some(value), "{name}");
    }
}

#[test]
fn default_excludes_hide_secrets() {
    let server = server();
    let seen = environment(&server, policy("all", json!({"ignoreDefaultExcludes": false})));
    assert_eq!(seen.get("POLICY_PLAIN").map(String::as_str), Some("p"));
    assert!(
        !seen.contains_key("POLICY_TOKEN") && !seen.contains_key("POLICY_apikey_x"),
        "{:?}",
        names(&seen)
    );
}

#[test]
fn exclude_takes_whole_name_globs_in_any_case() {
    let server = server();
    let seen = environment(
        &server,
        policy(
            "all",
            json!({"exclude": ["policy_p*", "OLICY_OTHER", "POLICY_TOKE?"]}),
        ),
    );
    assert!(
        !seen.contains_key("POLICY_PLAIN") && !seen.contains_key("POLICY_TOKEN"),
        "{:?}",
        names(&seen)
    );
    assert_eq!(seen.get("POLICY_OTHER").map(String::as_str), Some("o"));
}

#[test]
fn set_is_laid_over() {
    let server = server();
    let change = json!({"set": {"POLICY_PLAIN": "set", "MINE": "lost"}, "exclude": ["POLICY_PLAIN"]});
    let seen = environment(&server, policy("all", change));
    assert_eq!(seen.get("POLICY_PLAIN").map(String::as_str), Some("set"));
    assert_eq!(
        seen.get("MINE").map(String::as_str),
        Some("1"),
        "env is laid over set"
    );
}

#[test]
fn include_only_filters_all_but_env() {
    let server = server();
    let change = json!({"set": {"SET_IN": "1", "SET_OUT": "1"}, "includeOnly": ["POLICY_*", "set_in"]});
    let seen = environment(&server, policy("all", change));
    let expected = [
        "MINE",
        "POLICY_OTHER",
        "POLICY_PLAIN",
        "POLICY_TOKEN",
        "POLICY_apikey_x",
        "SET_IN",
    ];
    assert_eq!(names(&seen), expected);
}

#[test]
fn none_and_core() {
    let server = server();
    assert_eq!(names(&environment(&server, policy("none", json!({})))), ["MINE"]);
    let core = environment(&server, policy("core", json!({})));
    assert!(
        core.contains_key("PATH") && core.contains_key("LANG"),
        "{:?}",
        names(&core)
    );
    let allowed = [
        "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "USER",
        "MINE",
    ];
    assert!(
        core.keys().all(|name| allowed.contains(&name.as_str())),
        "{:?}",
        names(&core)
    );
}

#[test]
fn no_policy_is_env_alone() {
    let server = server();
    assert_eq!(names(&environment(&server, Value::Null)), ["MINE"]);
}

#[test]
fn the_daemons_own_secrets_and_an_outer_session_are_never_inherited() {
    exec_tests::ours_only!();
    let server = server();
    let seen = environment(&server, policy("all", json!({})));
    let never = [
        "OTEL_EXPORTER_OTLP_HEADERS",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
        "CODEX_THREAD_ID",
        "CODEX_TOOL_CALL_ID",
    ];
    for name in never {
        assert!(!seen.contains_key(name), "{name}");
    }
}

#[test]
fn an_unknown_inherit_is_refused() {
    let server = Server::start();
    let launch = program(&["/bin/true"]).set("envPolicy", json!({"inherit": "some"}));
    let error = server.err("process/start", launch.params("bad"));
    assert_eq!(error["code"], -32602, "{error}");
}
