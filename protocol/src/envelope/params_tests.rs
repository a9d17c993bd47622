use serde_json::{Value, json};

use super::*;
use crate::error::{ErrorKind, INVALID_PARAMS};
use crate::method::{Initialize, Method, Read, Start, Wait, Write};
use crate::process::{ExecParams, WaitUntil};

fn decode<M: Method>(params: &Value) -> Result<M::Params, RpcError> {
    decode_params(Some(&serde_json::value::to_raw_value(params).unwrap()))
}

#[track_caller]
fn refused<M: Method>(params: &Value) -> (String, String) {
    let Err(error) = decode::<M>(params) else {
        panic!("accepted: {params}");
    };
    assert_eq!(error.code, INVALID_PARAMS);
    match error.kind() {
        Some(ErrorKind::InvalidParam { member, reason }) => {
            assert_eq!(error.message, format!("invalid params: {member}: {reason}"));
            (member, reason)
        }
        other => panic!("{other:?}"),
    }
}

fn start() -> Value {
    json!({"processId": "p", "argv": ["true"], "cwd": "file:///", "env": {}, "tty": false})
}

fn start_with(member: &str, value: Value) -> Value {
    let mut params = start();
    params[member] = value;
    params
}

#[test]
fn five_members_of_a_start_are_required() {
    assert!(decode::<Start>(&start()).is_ok());
    for member in ["processId", "argv", "cwd", "env", "tty"] {
        let mut absent = start();
        absent.as_object_mut().unwrap().remove(member);
        assert_eq!(
            refused::<Start>(&absent),
            (member.to_owned(), "missing, and required".to_owned())
        );
        assert_eq!(refused::<Start>(&start_with(member, Value::Null)).0, member);
    }
}

#[test]
fn null_is_the_same_as_absent() {
    let optional = [
        "envPolicy",
        "pipeStdin",
        "arg0",
        "sandbox",
        "enforceManagedNetwork",
        "managedNetwork",
        "metadata",
        "shellSnapshot",
        "size",
        "stdin",
        "timeoutMs",
        "idleTimeoutMs",
        "graceMs",
        "limits",
        "startId",
    ];
    let mut nulls = start();
    for member in optional {
        nulls[member] = Value::Null;
    }
    let absent: ExecParams = decode::<Start>(&start()).unwrap();
    assert_eq!(decode::<Start>(&nulls).unwrap(), absent);
    // Every optional member of the type is in the list above.
    let written = serde_json::to_value(&absent).unwrap();
    for member in written.as_object().unwrap().keys() {
        assert!(
            start().get(member).is_some() || optional.contains(&member.as_str()),
            "{member}"
        );
    }
    let policy = json!({"inherit": null, "ignoreDefaultExcludes": null, "exclude": null, "set": null, "includeOnly": null});
    assert_eq!(
        decode::<Start>(&start_with("envPolicy", policy))
            .unwrap()
            .env_policy,
        Some(crate::EnvPolicy::default())
    );
}

#[test]
fn unknown_members_are_ignored() {
    assert_eq!(
        decode::<Start>(&start_with("future", json!({"a": [1]}))).unwrap(),
        decode::<Start>(&start()).unwrap()
    );
}

#[test]
fn the_wrong_member_is_named_and_the_right_shape_said() {
    for (member, value, named, reason) in [
        (
            "argv",
            json!("ls"),
            "argv",
            "invalid type: string \"ls\", expected an array",
        ),
        (
            "argv",
            json!(["a", 1]),
            "argv[1]",
            "invalid type: integer `1`, expected a string",
        ),
        (
            "argv",
            json!([null]),
            "argv[0]",
            "invalid type: null, expected a string",
        ),
        ("env", json!([]), "env", "invalid type: array, expected an object"),
        (
            "env",
            json!({"A": 5}),
            "env.A",
            "invalid type: integer `5`, expected a string",
        ),
        (
            "tty",
            json!("yes"),
            "tty",
            "invalid type: string \"yes\", expected a boolean",
        ),
        (
            "size",
            json!({"rows": "x", "cols": 80}),
            "size.rows",
            "invalid type: string \"x\", expected an integer from 0 to 65535",
        ),
        (
            "size",
            json!({"rows": 70000, "cols": 80}),
            "size.rows",
            "invalid value: integer `70000`, expected an integer from 0 to 65535",
        ),
        ("size", json!({"cols": 80}), "size.rows", "missing, and required"),
        (
            "size",
            json!([24, 80]),
            "size",
            "invalid type: array, expected an object",
        ),
        (
            "timeoutMs",
            json!(-1),
            "timeoutMs",
            "invalid value: integer `-1`, expected an integer, 0 or more",
        ),
        (
            "limits",
            json!({"cpuSeconds": 1.5}),
            "limits.cpuSeconds",
            "invalid type: floating point `1.5`, expected an integer, 0 or more",
        ),
        (
            "limits",
            json!([1]),
            "limits",
            "invalid type: array, expected an object",
        ),
        (
            "metadata",
            json!([]),
            "metadata",
            "invalid type: array, expected an object",
        ),
        (
            "envPolicy",
            json!([]),
            "envPolicy",
            "invalid type: array, expected an object",
        ),
        (
            "envPolicy",
            json!({"inherit": "most"}),
            "envPolicy.inherit",
            "unknown variant `most`, expected one of `all`, `core`, `none`",
        ),
        (
            "envPolicy",
            json!({"exclude": ["a", 2]}),
            "envPolicy.exclude[1]",
            "invalid type: integer `2`, expected a string",
        ),
        (
            "sandbox",
            json!("none"),
            "sandbox",
            "invalid type: string \"none\", expected an object",
        ),
        (
            "sandbox",
            json!({}),
            "sandbox.permissions",
            "missing, and required",
        ),
        (
            "shellSnapshot",
            json!({"scopeId": "s"}),
            "shellSnapshot.shell",
            "missing, and required",
        ),
        (
            "shellSnapshot",
            json!({"scopeId": "s", "shell": ["a", "b"]}),
            "shellSnapshot.shell",
            "invalid type: array, expected an object",
        ),
        (
            "stdin",
            json!("a b"),
            "stdin",
            "not base64 (standard alphabet, padded, no white space)",
        ),
        (
            "stdin",
            json!(5),
            "stdin",
            "invalid type: integer `5`, expected a base64 string",
        ),
        (
            "cwd",
            json!("/tmp"),
            "cwd",
            "invalid URI: not a URI: \"/tmp\", expected file:///absolute/path, percent-encoded",
        ),
    ] {
        assert_eq!(
            refused::<Start>(&start_with(member, value.clone())),
            (named.to_owned(), reason.to_owned()),
            "{member}: {value}"
        );
    }
    assert_eq!(refused::<Write>(&json!({"processId": "p"})).0, "chunk");
    assert_eq!(refused::<Initialize>(&json!({})).0, "clientName");
}

#[test]
fn numbers_that_no_integer_holds() {
    for text in [
        r#"{"processId":"p","afterSeq":1e400}"#,
        r#"{"processId":"p","afterSeq":99999999999999999999999}"#,
    ] {
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        let error = decode_params::<<Read as Method>::Params>(Some(&raw)).unwrap_err();
        let Some(ErrorKind::InvalidParam { member, .. }) = error.kind() else {
            panic!("{error:?}");
        };
        assert_eq!(member, "afterSeq");
    }
}

#[test]
fn text_that_is_not_unicode() {
    let raw: Box<RawValue> = serde_json::from_str(r#"{"processId":"\ud800"}"#).unwrap();
    let error = decode_params::<<Read as Method>::Params>(Some(&raw)).unwrap_err();
    assert!(error.message.contains("processId"), "{error:?}");
}

#[test]
fn params_are_an_object_or_absent() {
    for (text, reason) in [
        ("[]", "positional params are not supported, give an object"),
        ("5", "expected an object"),
        ("\"x\"", "expected an object"),
    ] {
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        let error = decode_params::<crate::method::Empty>(Some(&raw)).unwrap_err();
        assert_eq!(error, RpcError::invalid_param("params", reason));
    }
    assert!(decode_params::<crate::method::Empty>(None).is_ok());
    assert_eq!(refused::<Read>(&json!({})).0, "processId");
}

#[test]
fn wait_conditions() {
    let until = |until: Value| json!({"processId": "p", "until": until});
    for (condition, expected) in [
        (json!({"type": "exit"}), WaitUntil::Exit),
        (json!({"type": "treeEnded", "future": 1}), WaitUntil::TreeEnded),
        (
            json!({"type": "quiet", "ms": 5}),
            WaitUntil::Quiet { ms: 5, stream: None },
        ),
        (
            json!({"type": "bytes", "count": 5, "stream": null}),
            WaitUntil::Bytes {
                count: 5,
                stream: None,
            },
        ),
        (
            json!({"type": "output", "regex": "a+", "stream": "stderr", "fromOffset": 9}),
            WaitUntil::Output {
                literal: None,
                regex: Some("a+".to_owned()),
                stream: Some(crate::Stream::Stderr),
                from_offset: Some(9),
            },
        ),
    ] {
        let decoded = decode::<Wait>(&until(condition)).unwrap().until;
        assert_eq!(decoded, expected);
        let again = serde_json::to_value(&decoded).unwrap();
        assert_eq!(decode::<Wait>(&until(again)).unwrap().until, expected);
    }
    for (condition, member) in [
        (json!("exit"), "until"),
        (json!(["exit"]), "until"),
        (json!({}), "until.type"),
        (json!({"type": "gone"}), "until.type"),
        (json!({"type": "quiet"}), "until.ms"),
        (json!({"type": "quiet", "ms": "5"}), "until.ms"),
        (json!({"type": "bytes", "ms": 5}), "until.count"),
        (
            json!({"type": "bytes", "count": 5, "stream": "std"}),
            "until.stream",
        ),
        (json!({"type": "output", "literal": 5}), "until.literal"),
        (
            json!({"type": "output", "literal": "x", "fromOffset": -1}),
            "until.fromOffset",
        ),
        // Exactly one of the two.
        (json!({"type": "output"}), "until"),
        (json!({"type": "output", "literal": "x", "regex": "x"}), "until"),
    ] {
        assert_eq!(
            refused::<Wait>(&until(condition.clone())).0,
            member,
            "{condition}"
        );
    }
}
