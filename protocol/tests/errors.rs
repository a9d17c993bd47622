//! The shapes of errors are public: clients match on code and kind. This file changes only together with them.

use exec_protocol::error::{self, ErrorKind, RpcError};
use serde_json::json;

#[path = "support/mod.rs"]
mod support;

#[test]
fn codes() {
    assert_eq!(error::PARSE_ERROR, -32700);
    assert_eq!(error::INVALID_REQUEST, -32600);
    assert_eq!(error::METHOD_NOT_FOUND, -32601);
    assert_eq!(error::INVALID_PARAMS, -32602);
    assert_eq!(error::INTERNAL_ERROR, -32603);
    assert_eq!(error::NOT_FOUND, -32004);
    assert_eq!(error::REQUEST_CANCELLED, -32800);
}

#[test]
fn kinds() {
    let shapes: Vec<_> = support::error_kinds()
        .into_iter()
        .map(|(_, kind)| (kind.code(), serde_json::to_value(kind).unwrap()))
        .collect();
    let expected = vec![
        (-32600, json!({"kind": "unknownProcess"})),
        (-32600, json!({"kind": "processIdInUse"})),
        (-32600, json!({"kind": "unknownSession"})),
        (-32600, json!({"kind": "wrongState", "state": "uninitialized"})),
        (-32600, json!({"kind": "stdinIsTerminal"})),
        (-32600, json!({"kind": "notTerminal"})),
        (-32600, json!({"kind": "stdinNotPiped"})),
        (
            -32600,
            json!({"kind": "stdinBacklogFull", "queuedBytes": 1_048_576, "limitBytes": 1_048_576}),
        ),
        (
            -32600,
            json!({"kind": "limitReached", "limit": "maxProcesses", "value": 4096}),
        ),
        (-32600, json!({"kind": "lineTooLong", "limitBytes": 16_777_216})),
        (-32600, json!({"kind": "notInBatch"})),
        (
            -32602,
            json!({"kind": "invalidParam", "member": "argv[0]", "reason": "a NUL byte"}),
        ),
        (
            -32602,
            json!({"kind": "unenforceable", "member": "limits.memoryBytes"}),
        ),
        (-32602, json!({"kind": "unsupported", "member": "sandbox"})),
        (
            -32603,
            json!({"kind": "spawnNotFound", "subject": "program", "path": "file:///srv/tool"}),
        ),
        (
            -32603,
            json!({"kind": "spawnPermissionDenied", "subject": "cwd", "path": "file:///srv/tool"}),
        ),
        (
            -32603,
            json!({"kind": "spawnFailed", "step": "fork", "errno": "EMFILE"}),
        ),
        (-32603, json!({"kind": "terminatedWhileStarting"})),
        (-32603, json!({"kind": "wardenLost"})),
        (
            -32603,
            json!({"kind": "snapshotFailed", "reason": "nonzero_exit"}),
        ),
        (-32800, json!({"kind": "requestCancelled"})),
    ];
    assert_eq!(shapes, expected);
}

#[test]
fn an_error_keeps_its_kind_on_the_way() {
    for (name, kind) in support::error_kinds() {
        let error = kind.clone().into_error("for people");
        let text = serde_json::to_string(&error).unwrap();
        let again: RpcError = serde_json::from_str(&text).unwrap();
        assert_eq!(again, error);
        assert_eq!(again.kind(), Some(kind));
        assert_eq!(again.data.unwrap()["kind"], name);
    }
}

#[test]
fn errors_of_others_are_read_too() {
    let read = |text: &str| serde_json::from_str::<RpcError>(text).unwrap();
    let bare = read(r#"{"code":-32004,"message":"No such file or directory (os error 2)"}"#);
    assert_eq!((bare.code, bare.data.clone(), bare.kind()), (-32004, None, None));
    assert_eq!(read(r#"{"code":-32004,"message":"x","data":null}"#).data, None);
    let newer = read(r#"{"code":-32600,"message":"x","data":{"kind":"notYetKnown"}}"#);
    assert_eq!(newer.kind(), None);
    let more = read(r#"{"code":-32600,"message":"x","data":{"kind":"notTerminal","hint":1}}"#);
    assert_eq!(more.kind(), Some(ErrorKind::NotTerminal));
}
