use serde::Serializer;
use serde_json::json;

use super::*;
use crate::method::{Notification as _, Output};
use crate::process::OutputNotification;

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = b"before ".to_vec();
    write(&mut out);
    String::from_utf8(out)
        .unwrap()
        .strip_prefix("before ")
        .unwrap()
        .to_owned()
}

#[test]
fn shapes() {
    let id = serde_json::value::to_raw_value(&-1.5).unwrap();
    let trace = Trace {
        traceparent: Some("00-a-b-01".to_owned()),
        tracestate: None,
    };
    assert_eq!(
        text(|out| request(out, &id, "a\"b", &json!({"c": 1}), Some(&trace)).unwrap()),
        r#"{"jsonrpc":"2.0","id":-1.5,"method":"a\"b","params":{"c":1},"trace":{"traceparent":"00-a-b-01"}}"#
    );
    assert_eq!(
        text(|out| notification(out, "m", &json!({}), None).unwrap()),
        r#"{"jsonrpc":"2.0","method":"m","params":{}}"#
    );
    assert_eq!(
        text(|out| response(out, &id, &json!(null)).unwrap()),
        r#"{"jsonrpc":"2.0","id":-1.5,"result":null}"#
    );
    assert_eq!(
        text(|out| error(out, None, &RpcError::new(-32700, "no \"JSON\"\n"))),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no \"JSON\"\n"}}"#
    );
    assert_eq!(
        text(|out| error(out, Some(&id), &crate::ErrorKind::NotTerminal.into_error("pipes"))),
        r#"{"jsonrpc":"2.0","id":-1.5,"error":{"code":-32600,"message":"pipes","data":{"kind":"notTerminal"}}}"#
    );
}

#[test]
fn output_is_the_notification_of_that_name() {
    for (id, bytes) in [
        ("p", &b""[..]),
        ("a \"quoted\" \u{1f600} id", &[0, 1, 2, 255, 254][..]),
    ] {
        let params = OutputNotification {
            process_id: id.into(),
            seq: u64::MAX,
            stream: Stream::Pty,
            offset: Some(7),
            chunk: bytes.into(),
        };
        assert_eq!(
            text(|out| output(out, &id.into(), u64::MAX, Stream::Pty, 7, bytes)),
            text(|out| notification(out, Output::NAME, &params, None).unwrap())
        );
    }
}

#[test]
fn a_failure_leaves_nothing_behind() {
    struct Unwritable;
    impl Serialize for Unwritable {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }
    let id = serde_json::value::to_raw_value(&1).unwrap();
    assert_eq!(text(|out| assert!(response(out, &id, &Unwritable).is_err())), "");
    assert_eq!(
        text(|out| assert!(request(out, &id, "m", &Unwritable, None).is_err())),
        ""
    );
    assert_eq!(
        text(|out| assert!(notification(out, "m", &Unwritable, None).is_err())),
        ""
    );
}
