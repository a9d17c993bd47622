//! What is not built is refused, never ignored.

use exec_tests::{Server, ours_only, program};
use serde_json::{Value, json};

#[test]
fn a_sandbox_is_refused() {
    ours_only!();
    let server = Server::start();
    let managed =
        json!({"type": "managed", "file_system": {"type": "unrestricted"}, "network": "restricted"});
    let external = json!({"type": "external", "network": "enabled"});
    for permissions in [managed, external] {
        let sandbox = json!({"permissions": permissions});
        let error = server.start_refused(
            program(&["/bin/true"]).set("sandbox", sandbox),
            -32602,
            "unsupported",
        );
        assert!(
            error["data"]["member"]
                .as_str()
                .is_some_and(|m| m.starts_with("sandbox")),
            "{error}"
        );
    }
    // One that is not even understood is not served either.
    for sandbox in [
        json!({}),
        json!({"permissions": null}),
        json!({"permissions": {"type": "new"}}),
        json!(5),
    ] {
        let error = server.err(
            "process/start",
            program(&["/bin/true"]).set("sandbox", sandbox).params("bad"),
        );
        assert_eq!(error["code"], -32602, "{error}");
    }
    let error = server.start_refused(
        program(&["/bin/true"]).set("enforceManagedNetwork", true),
        -32602,
        "unsupported",
    );
    assert_eq!(error["data"]["member"], "enforceManagedNetwork", "{error}");
    server.assert_works();
}

#[test]
fn none_and_disabled_are_served() {
    ours_only!();
    let server = Server::start();
    for sandbox in [Value::Null, json!({"permissions": {"type": "disabled"}})] {
        let launch = program(&["/bin/echo", "x"])
            .set("sandbox", sandbox)
            .set("enforceManagedNetwork", false);
        let process = server.spawn(launch);
        assert_eq!(process.result["sandboxType"], "none", "{}", process.result);
        assert_eq!(process.closed(), 0);
        assert_eq!(process.exited()["sandboxDenied"], false);
    }
}

#[test]
fn a_snapshot_is_ignored_while_the_capability_is_not_claimed() {
    ours_only!();
    let server = Server::start();
    if server.ok("environment/info", json!({}))["capabilities"]["shellSnapshotV2"] == true {
        return;
    }
    let snapshot = json!({"scopeId": "t:e", "shell": {"name": "bash", "path": "/bin/bash"}});
    let (code, output) = server.run(program(&["/bin/echo", "x"]).set("shellSnapshot", snapshot));
    assert_eq!((code, output), (0, b"x\n".to_vec()));
}
