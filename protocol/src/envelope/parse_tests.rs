use proptest::prelude::*;

use super::*;

/// A message in a form that whole expectations can be compared in.
fn shown(line: &[u8]) -> String {
    show(&Envelope::parse(line))
}

fn show(envelope: &Envelope<'_>) -> String {
    let raw = |value: Option<&RawValue>| value.map_or("-", RawValue::get).to_owned();
    match envelope {
        Envelope::Request(r) => format!("request {} {} {}", r.id, r.method, raw(r.params)),
        Envelope::Notification(n) => format!("notification {} {}", n.method, raw(n.params)),
        Envelope::Response(r) => match &r.outcome {
            Outcome::Result(result) => format!("result {} {result}", r.id),
            Outcome::Error(error) => format!("error {} {}", r.id, error.code),
        },
        Envelope::Batch(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|entry| show(&Envelope::parse_entry(entry)))
                .collect();
            format!("batch [{}]", entries.join(", "))
        }
        Envelope::Invalid(invalid) => format!("invalid {} {}", raw(invalid.id), invalid.error.code),
    }
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(shown(line.as_bytes()), *expected, "{line}");
    }
}

#[test]
fn messages() {
    check(&[
        (
            r#"{"id":1,"method":"m","params":{"a":1}}"#,
            r#"request 1 m {"a":1}"#,
        ),
        (r#"{"jsonrpc":"2.0","id":"x","method":"m"}"#, r#"request "x" m -"#),
        (r#"{"method":"m","params":null}"#, "notification m -"),
        (r#"{"method":"m","params":[1]}"#, "notification m [1]"),
        (r#"{"id":1,"method":"a\/b\u0063"}"#, "request 1 a/bc -"),
        (r#"{"id":1,"result":{}}"#, "result 1 {}"),
        (r#"{"id":1,"result":null}"#, "result 1 null"),
        (r#"{"id":1,"error":{"code":-1,"message":"x"}}"#, "error 1 -1"),
        (r#"{"id":1,"error":null,"result":2}"#, "result 1 2"),
        (
            r#"{"id":null,"error":{"code":-1,"message":"x"}}"#,
            "error null -1",
        ),
        (r#"{"id":1,"error":"odd"}"#, "error 1 -32600"),
    ]);
}

#[test]
fn ids_are_echoed_as_they_came() {
    for id in [
        "null",
        "0",
        "-0",
        "1.50",
        "-7",
        "1e400",
        "123456789012345678901234567890",
        r#""\ud800""#,
        r#""\u0041""#,
    ] {
        assert_eq!(
            shown(format!(r#"{{"id":{id},"method":"m"}}"#).as_bytes()),
            format!("request {id} m -")
        );
    }
}

#[test]
fn a_readable_id_is_answered_whatever_else_is_wrong() {
    check(&[
        (r#"{"id":1,"method":5}"#, "invalid 1 -32600"),
        (r#"{"id":1,"method":null}"#, "invalid 1 -32600"),
        (r#"{"id":1,"method":""}"#, "invalid 1 -32600"),
        (r#"{"id":1,"method":"\ud800"}"#, "invalid 1 -32600"),
        (r#"{"id":1}"#, "invalid 1 -32600"),
        (r#"{"id":1,"params":{}}"#, "invalid 1 -32600"),
        (r#"{"id":1,"method":"m","method":"n"}"#, "invalid 1 -32600"),
        (
            r#"{"id":1,"method":"m","params":{},"params":{}}"#,
            "invalid 1 -32600",
        ),
        (
            r#"{"jsonrpc":"1.0","id":"a","method":"m"}"#,
            r#"invalid "a" -32600"#,
        ),
        (
            r#"{"jsonrpc":2.0,"id":"a","method":"m"}"#,
            r#"invalid "a" -32600"#,
        ),
        (r#"{"id":null,"method":5}"#, "invalid null -32600"),
    ]);
}

#[test]
fn ids_that_cannot_be_answered() {
    check(&[
        (r#"{"id":{},"method":"m"}"#, "invalid - -32600"),
        (r#"{"id":[1],"method":"m"}"#, "invalid - -32600"),
        (r#"{"id":true,"method":"m"}"#, "invalid - -32600"),
        (r#"{"id":1,"id":1,"method":"m"}"#, "invalid - -32600"),
        (r#"{"id":1,"\u0069d":2,"method":"m"}"#, "invalid - -32600"),
        (r#"{"method":"m","method":"m","id":1,"id":1}"#, "invalid - -32600"),
        (r#"{"method":5}"#, "invalid - -32600"),
        ("{}", "invalid - -32600"),
        // An answer's id is one of ours: an error under it would hit a request of the peer's.
        (r#"{"jsonrpc":"3","id":1,"result":{}}"#, "invalid - -32600"),
        (r#"{"result":{}}"#, "invalid - -32600"),
    ]);
}

#[test]
fn what_is_no_object() {
    check(&[
        ("", "invalid - -32700"),
        ("   ", "invalid - -32700"),
        ("{not json", "invalid - -32700"),
        (r#"{"id":1,"method":"m""#, "invalid - -32700"),
        (r#"{"id":1,"method":"m"} x"#, "invalid - -32700"),
        (r#"{"id":1,"method":"m","x":nul}"#, "invalid - -32700"),
        ("null", "invalid - -32600"),
        ("5", "invalid - -32600"),
        (r#""text""#, "invalid - -32600"),
    ]);
}

#[test]
fn batches() {
    check(&[
        ("[]", "invalid - -32600"),
        (" [ ] ", "invalid - -32600"),
        (
            r#"[1,"m",{}]"#,
            "batch [invalid - -32600, invalid - -32600, invalid - -32600]",
        ),
        (
            r#"[{"id":1,"method":"m"},{"method":"n"},[{"id":2,"method":"m"}],{"id":3,"method":3}]"#,
            "batch [request 1 m -, notification n -, invalid - -32600, invalid 3 -32600]",
        ),
        ("[1,", "invalid - -32700"),
    ]);
}

#[test]
fn what_surrounds_a_message() {
    for line in [
        &b"\xef\xbb\xbf{\"id\":1,\"method\":\"m\"}"[..],
        b" \t{\"id\":1,\"method\":\"m\"}\r\n",
        b"\xef\xbb\xbf  {\"id\" : 1 , \"method\" : \"m\" }\n",
        br#"{"id":1,"method":"m","future":[{}],"\ud800":1}"#,
    ] {
        assert_eq!(shown(line), "request 1 m -", "{line:?}");
    }
    assert_eq!(shown(b"{\"id\":1,\"method\":\"\xff\"}"), "invalid - -32700");
}

#[test]
fn depth_is_bounded_and_the_id_still_found() {
    let nested = |depth: usize| {
        format!(
            r#"{{"id":8,"method":"m","x":{}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert_eq!(shown(nested(MAX_JSON_DEPTH - 1).as_bytes()), "request 8 m -");
    assert_eq!(shown(nested(MAX_JSON_DEPTH).as_bytes()), "invalid 8 -32700");
    assert_eq!(shown("[".repeat(1_000_000).as_bytes()), "invalid - -32700");
}

#[test]
fn trace_is_read_or_ignored() {
    let trace =
        |text: &str| match Envelope::parse(format!(r#"{{"id":1,"method":"m","trace":{text}}}"#).as_bytes()) {
            Envelope::Request(request) => request.trace,
            other => panic!("{other:?}"),
        };
    assert_eq!(
        trace(r#"{"traceparent":"00-a-b-01","tracestate":null,"x":1}"#),
        Some(Trace {
            traceparent: Some("00-a-b-01".to_owned()),
            tracestate: None
        })
    );
    for malformed in [
        "null",
        "5",
        r#"{"traceparent":5}"#,
        r#"{},"trace":{"traceparent":5}"#,
    ] {
        assert_eq!(trace(malformed), None, "{malformed}");
    }
}

proptest! {
    #[test]
    fn never_panics(line in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Envelope::parse(&line);
    }

    /// Text near enough to JSON-RPC to reach the rarer arms.
    #[test]
    fn tokens_never_panic(tokens in proptest::collection::vec(
        proptest::sample::select(vec!["{", "}", "[", "]", ",", ":", "\"id\"", "\"method\"", "\"result\"", "1", "null", "\"\\u", " "]), 0..24)) {
        let _ = Envelope::parse(tokens.concat().as_bytes());
    }

    #[test]
    fn a_written_request_reads_back(id in "[a-z\\PC]{0,8}", method in "\\PC{1,12}", value in any::<i64>()) {
        let id = serde_json::value::to_raw_value(&id).unwrap();
        let mut line = Vec::new();
        super::super::write::request(&mut line, &id, &method, &serde_json::json!({"v": value}), None).unwrap();
        prop_assert_eq!(shown(&line), format!("request {id} {method} {{\"v\":{value}}}"));
        prop_assert_eq!(find_id(&line).map(RawValue::get), Some(id.get()));
    }
}
