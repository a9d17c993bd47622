//! A client can find out what the server does and where its limits are.

use exec_tests::{Server, ours_only};
use serde_json::{Value, json};

#[test]
fn environment_info_is_what_initialize_said() {
    let server = Server::builder().without_handshake().start();
    let mut first = server.ok("initialize", json!({"clientName": "x"}));
    server.notify("initialized", json!({}));
    let info = server.ok("environment/info", json!({}));
    assert_eq!(first["environmentInfo"].take(), info);
    assert_eq!(server.ok("environment/status", json!({}))["status"], "ready");
    for (member, kind) in [
        ("shell", "object"),
        ("capabilities", "object"),
        ("cwd", "string"),
        ("userHomeDir", "string"),
    ] {
        let right = if kind == "object" {
            info[member].is_object()
        } else {
            info[member].is_string()
        };
        assert!(right, "{member}: {info}");
    }
    assert_eq!(info["platformOs"], "linux");
    for member in ["cwd", "userHomeDir", "tempDir"] {
        assert!(
            info[member]
                .as_str()
                .is_some_and(|uri| uri.starts_with("file:///")),
            "{member}: {info}"
        );
    }
    assert!(
        info["capabilities"]
            .as_object()
            .is_some_and(|c| c.values().all(Value::is_boolean)),
        "{info}"
    );
}

#[test]
fn the_protocol_section() {
    ours_only!();
    let server = Server::start();
    let info = server.ok("environment/info", json!({}));
    let protocol = &info["protocol"];
    assert_eq!(protocol["version"], 1);
    let mut methods: Vec<&str> = protocol["methods"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    methods.sort_unstable();
    for method in [
        "environment/info",
        "environment/status",
        "initialize",
        "process/closeStdin",
        "process/list",
        "process/read",
        "process/resize",
        "process/signal",
        "process/start",
        "process/terminate",
        "process/wait",
        "process/write",
    ] {
        assert!(methods.contains(&method), "{method}: {methods:?}");
    }
    let limits = [
        "maxLineBytes",
        "maxProcesses",
        "maxPendingRequests",
        "retainedBytes",
        "retentionMs",
        "stdinBacklogBytes",
        "maxWaitMs",
        "defaultGraceMs",
        "sessionEndGraceMs",
    ];
    for limit in limits {
        assert!(
            protocol["limits"][limit].as_u64().is_some_and(|n| n > 0),
            "{limit}: {protocol}"
        );
    }
    assert_eq!(
        (
            &protocol["limits"]["defaultGraceMs"],
            &protocol["limits"]["sessionEndGraceMs"]
        ),
        (&json!(2000), &json!(500))
    );
    for limit in ["memoryBytes", "cpuSeconds", "processes", "openFiles"] {
        let holder = &protocol["enforces"][limit];
        assert!(
            holder.is_null() || holder == "cgroup" || holder == "rlimit",
            "{limit}: {protocol}"
        );
    }
    assert!(
        ["cgroup", "subreaper"].contains(&protocol["treeTracking"].as_str().unwrap_or_default()),
        "{protocol}"
    );
}

#[test]
fn every_method_it_names_exists() {
    ours_only!();
    let server = Server::start();
    let info = server.ok("environment/info", json!({}));
    for method in info["protocol"]["methods"].as_array().expect("a list") {
        let method = method.as_str().expect("a name");
        // Whatever is wrong with these params, the method is known.
        if let Err(error) = server.call(method, json!({"processId": 5})) {
            assert_ne!(error["code"], -32601, "{method}: {error}");
        }
    }
}

#[test]
fn no_capability_is_claimed_that_does_not_work() {
    ours_only!();
    let server = Server::start();
    let info = server.ok("environment/info", json!({}));
    // What a later version brings; until then the client must not send it.
    for capability in [
        "fsWatchMissing",
        "environmentConfigRead",
        "sandboxedFileStreaming",
        "fileWriteStreaming",
        "networkProxyLaunch",
    ] {
        if info["capabilities"][capability] == true {
            let method = match capability {
                "fsWatchMissing" => "fs/watchMissing",
                "environmentConfigRead" => "environmentConfig/read",
                _ => continue,
            };
            let outcome = server.call(method, json!({}));
            assert!(
                outcome.is_ok_and(|_| true) || server.err(method, json!({}))["code"] != -32601,
                "{capability}"
            );
        }
    }
}
