//! Every request has a method of the client.

use std::collections::BTreeMap;

use exec_protocol::PathUri;
use exec_protocol::method::METHODS;
use exec_protocol::snapshot::{Shell, SnapshotAvailability, SnapshotParams};
use serde_json::json;

use crate::scripted::pair;

/// Those that are `call`ed: no server of ours has them.
const CALLED: [&str; 2] = ["environmentConfig/", "fs/"];

#[test]
fn each_method_of_the_catalogue_is_named_by_one_of_the_client() {
    let sources = [
        include_str!("../../src/client.rs"),
        include_str!("../../src/verbs.rs"),
    ];
    let called = |name: &&str| CALLED.iter().any(|family| name.starts_with(family));
    for name in METHODS
        .iter()
        .filter(|name| !called(name) && **name != "process/start")
    {
        let says = sources.iter().any(|source| {
            let mut documents = source
                .lines()
                .filter(|line| line.trim_start().starts_with("/// "));
            documents.any(|line| line.contains(&format!("`{name}`")))
        });
        assert!(says, "the client has no method for {name}");
    }
}

#[tokio::test]
async fn snapshots_are_asked_for_as_the_protocol_says() {
    let (client, mut server) = pair();
    let params = SnapshotParams {
        scope_id: "scope".to_owned(),
        shell: Shell {
            name: "bash".to_owned(),
            path: "/bin/bash".to_owned(),
        },
        cwd: PathUri::from_path("/".as_ref()).expect("absolute"),
        env: BTreeMap::new(),
        env_policy: None,
        sandbox: None,
    };
    let server_side = async {
        let id = server.receive_request("shellSnapshot/prewarm").await;
        let made = json!({
            "durationMs": 1, "stateBytes": 2, "environmentBytes": 3, "functions": 4, "aliases": 5, "variables": 6,
        });
        server.answer(&id, made).await;
        let id = server.receive_request("shellSnapshot/describe").await;
        let described =
            json!({"availability": "prewarm_ready", "failure": null, "snapshot": null, "watchedFiles": []});
        server.answer(&id, described).await;
        let message = server.receive().await;
        assert_eq!(
            (&message["method"], &message["params"]),
            (&json!("shellSnapshot/invalidate"), &json!({"scopeId": "scope"}))
        );
        server.answer(&message["id"], json!({"dropped": 7})).await;
    };
    let client_side = async {
        let made = client.prewarm_snapshot(&params).await.expect("prewarmed");
        assert_eq!((made.functions, made.variables), (4, 6));
        let described = client.describe_snapshot(&params).await.expect("described");
        assert_eq!(described.availability, SnapshotAvailability::PrewarmReady);
        let dropped = client.invalidate_snapshots(Some("scope")).await;
        assert_eq!(dropped.expect("invalidated"), 7);
    };
    tokio::join!(client_side, server_side);
}
