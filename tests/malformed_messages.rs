//! A bad message is answered as JSON-RPC says, and harms neither the connection nor a process.

use std::time::Duration;

use exec_tests::{Server, helper, marker, ours, ours_only, procfs, program, sh};
use serde_json::{Value, json};

/// Sends lines and returns what came in answer, up to the answer of a request sent behind them.
fn answers(server: &Server, lines: &[&[u8]]) -> Vec<Value> {
    let from = server.message_count();
    for line in lines {
        server.send_bytes(line);
        server.send_bytes(b"\n");
    }
    server.ping();
    let mut messages = server.messages_from(from);
    messages.pop();
    messages
}

/// The one answer to one line.
fn answer(server: &Server, line: &[u8]) -> Value {
    let mut all = answers(server, &[line]);
    assert_eq!(
        all.len(),
        1,
        "to {:?}: {all:?}",
        String::from_utf8_lossy(&line[..line.len().min(80)])
    );
    all.remove(0)
}

#[test]
fn not_json_is_a_parse_error_with_id_null() {
    ours_only!();
    let server = Server::start();
    let deep = "[".repeat(100_000);
    let lines: [&[u8]; 8] = [
        b"{not json",
        b"\xff\xfe\x00",
        b"{\"id\":5",
        b"nonsense",
        b"{\"id\":1,}",
        b"\"",
        b"{\"a\":\"\x01\"}",
        deep.as_bytes(),
    ];
    for line in lines {
        let answer = answer(&server, line);
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(-32700), &json!(null)),
            "{answer}"
        );
        assert!(answer.get("id").is_some(), "{answer}");
    }
    server.assert_works();
}

#[test]
fn invalid_utf8_does_not_end_the_session() {
    let server = Server::start();
    let mark = marker();
    server.spawn(helper(&["sleep", &mark]));
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":5000,\"method\":\"process/terminate\",\"params\":{\"processId\":\"\xff\xfe\"}}";
    let got = answers(&server, &[line, b"\xff\xfe\x00"]);
    if ours() {
        assert_eq!(got.len(), 2, "{got:?}");
        assert_eq!(got[0]["error"]["code"], -32700, "{}", got[0]);
    }
    assert_eq!(server.marked(&mark).len(), 1);
    server.assert_works();
}

#[test]
fn no_request_is_an_invalid_request() {
    ours_only!();
    let server = Server::start();
    let lines: [&[u8]; 8] = [
        b"5",
        b"\"text\"",
        b"null",
        b"true",
        b"{}",
        b"{\"params\":{}}",
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}",
        b"{\"method\":5}",
    ];
    for line in lines {
        let answer = answer(&server, line);
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
    }
}

#[test]
fn a_readable_id_is_echoed() {
    ours_only!();
    let server = Server::start();
    let got = answers(
        &server,
        &[
            br#"{"id":4242,"method":5,"params":{}}"#,
            br#"{"id":4243,"params":{}}"#,
            br#"{"id":4244,"method":"","params":{}}"#,
            br#"{"id":"four","method":"process/list","params":5}"#,
        ],
    );
    let ids: Vec<(&Value, &Value)> = got.iter().map(|m| (&m["id"], &m["error"]["code"])).collect();
    let (request, params) = (json!(-32600), json!(-32602));
    assert_eq!(
        ids,
        [
            (&json!(4242), &request),
            (&json!(4243), &request),
            (&json!(4244), &request),
            (&json!("four"), &params)
        ]
    );
}

#[test]
fn a_byte_order_mark_does_not_end_the_session() {
    let server = Server::start();
    server.send_bytes("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"bom\",\"method\":\"process/terminate\",\"params\":{\"processId\":\"q\"}}\n".as_bytes());
    server.ping();
    server.assert_works();
}

#[test]
fn an_unknown_method_is_32601() {
    let server = Server::start();
    assert_eq!(server.err("process/doesNotExist", json!({}))["code"], -32601);
    server.assert_works();
}

#[test]
fn an_unknown_notification_is_ignored() {
    ours_only!();
    let server = Server::start();
    let mark = marker();
    server.spawn(helper(&["sleep", &mark]));
    let pid = server.await_marked(&mark, 1)[0];
    let got = answers(
        &server,
        &[
            br#"{"jsonrpc":"2.0","method":"bogus/note","params":{"x":1}}"#,
            br#"{"method":"process/exited","params":{"processId":"x"}}"#,
            br#"{"method":"process/terminate","params":5}"#,
        ],
    );
    assert_eq!(got, Vec::<Value>::new());
    assert!(procfs::alive(pid), "an unknown notification ended a process");
    server.assert_works();
}

#[test]
fn wrong_types_are_refused_one_by_one() {
    let server = Server::start();
    let wrong: [(&str, &[Value]); 5] = [
        ("processId", &[json!(5), json!(null), json!([]), json!({})]),
        (
            "argv",
            &[json!("ls"), json!(null), json!({}), json!([1, 2]), json!([null])],
        ),
        ("cwd", &[json!(5), json!(null), json!([]), json!("")]),
        ("env", &[json!(null), json!([]), json!("A=B"), json!({"A": 5})]),
        ("tty", &[json!("yes"), json!(1), json!(null)]),
    ];
    let mut all = Vec::new();
    for (member, values) in wrong {
        all.extend(values.iter().map(|v| {
            (
                member,
                program(&["/bin/true"])
                    .id("bad")
                    .set(member, v.clone())
                    .params("bad"),
            )
        }));
    }
    for member in ["processId", "argv", "cwd", "env"] {
        let mut params = program(&["/bin/true"]).params("bad");
        params.as_object_mut().expect("an object").remove(member);
        all.push((member, params));
    }
    for (member, params) in all {
        let error = server.err("process/start", params.clone());
        if ours() {
            assert_eq!(error["code"], -32602, "{params}: {error}");
            let named = error["data"]["member"].as_str().unwrap_or_default();
            assert!(named.starts_with(member), "{params}: {error}");
        }
    }
    for params in [json!("str"), json!(5), json!([]), json!(null), json!(true)] {
        server.err("process/start", params);
    }
    for (method, params) in [
        ("process/read", json!({"processId": "x", "afterSeq": -1})),
        ("process/read", json!({"processId": "x", "waitMs": "a"})),
        (
            "process/write",
            json!({"processId": "x", "chunk": 5, "writeId": "a"}),
        ),
        ("process/terminate", json!({})),
        ("process/signal", json!({"processId": "x"})),
        ("process/read", json!({"processId": 5})),
        ("process/write", json!({"processId": "x"})),
        ("process/start", json!({})),
    ] {
        assert_eq!(server.err(method, params)["code"], -32602, "{method}");
    }
    server.assert_works();
}

#[test]
fn unknown_members_are_ignored_and_null_is_absent() {
    let server = Server::start();
    let launch = program(&["/bin/echo", "x"])
        .set("futureField", json!({"a": [1]}))
        .set("sandbox", Value::Null)
        .set("shellSnapshot", Value::Null)
        .set("envPolicy", Value::Null);
    let params = launch.params("extra");
    server.send(&json!({"jsonrpc": "2.0", "id": "xf", "method": "process/start", "params": params, "trace": {"traceparent": "x"}, "more": 1}));
    assert!(server.reply(&json!("xf"))["result"].is_object());
    assert_eq!(server.process("extra").closed(), 0);
    ours_only!();
    let nulls = [
        "size",
        "stdin",
        "timeoutMs",
        "idleTimeoutMs",
        "graceMs",
        "limits",
        "startId",
        "metadata",
        "pipeStdin",
    ];
    let launch = nulls
        .iter()
        .fold(sh("true"), |launch, member| launch.set(member, Value::Null));
    assert_eq!(server.run(launch).0, 0);
}

#[test]
fn every_id_is_echoed_exactly() {
    ours_only!();
    let server = Server::start();
    for id in [
        "1.5",
        "-7",
        "null",
        "\"text\"",
        "\"\\u00e9\"",
        "0",
        "18446744073709551615",
        "\"\"",
    ] {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"process/terminate\",\"params\":{{\"processId\":\"q\"}}}}"
        );
        let answer = answer(&server, line.as_bytes());
        assert_eq!(
            answer["id"],
            serde_json::from_str::<Value>(id).expect("json"),
            "{answer}"
        );
        assert_eq!(answer["result"], json!({"running": false}), "{answer}");
    }
}

#[test]
fn an_id_in_use_twice_is_answered_twice() {
    let server = Server::start();
    let line: &[u8] =
        br#"{"jsonrpc":"2.0","id":"same","method":"process/terminate","params":{"processId":"q"}}"#;
    let got = answers(&server, &[line, line]);
    assert_eq!(got.iter().filter(|m| m["id"] == "same").count(), 2, "{got:?}");
}

#[test]
fn a_duplicate_member_is_refused_under_its_id_or_none() {
    ours_only!();
    let server = Server::start();
    let answer = answer(
        &server,
        br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"process/list"}"#,
    );
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
}

#[test]
fn jsonrpc_may_be_there_or_not() {
    let server = Server::start();
    for line in [
        &br#"{"jsonrpc":"2.0","id":"j","method":"process/terminate","params":{"processId":"q"}}"#[..],
        br#"{"id":"j","method":"process/terminate","params":{"processId":"q"}}"#,
    ] {
        assert_eq!(answer(&server, line)["result"], json!({"running": false}));
    }
}

#[test]
fn lines_are_lines_however_they_are_cut() {
    let server = Server::start();
    let line = "{\"jsonrpc\":\"2.0\",\"id\":\"split\",\"method\":\"process/terminate\",\"params\":{\"processId\":\"é\"}}\n";
    for byte in line.as_bytes() {
        server.send_bytes(&[*byte]);
        std::thread::yield_now();
    }
    assert!(server.reply(&json!("split"))["result"].is_object());
    let many: String = (0..500)
        .map(|i| format!("{{\"jsonrpc\":\"2.0\",\"id\":\"m{i}\",\"method\":\"process/terminate\",\"params\":{{\"processId\":\"q\"}}}}\n"))
        .collect();
    server.send_bytes(many.as_bytes());
    for i in 0..500 {
        assert!(server.reply(&json!(format!("m{i}")))["result"].is_object());
    }
    if ours() {
        let windows = answer(&server, b"{\"id\":\"crlf\",\"method\":\"process/list\"}\r");
        assert_eq!(windows["id"], "crlf");
    }
}

#[test]
fn a_giant_line_is_served_or_refused() {
    let server = Server::start();
    let process = server.spawn(sh("cat >/dev/null").pipe_stdin());
    let id = process.post("write", process.write_params(&vec![0; 37_500_000]));
    let reply = server.reply_within(&id, Duration::from_secs(60));
    if ours() {
        // Over the cap: refused under its id, which stands within the first 4 KiB.
        assert_eq!(reply["error"]["code"], -32600, "{reply}");
        assert_eq!(reply["error"]["data"]["kind"], "lineTooLong", "{reply}");
        assert!(
            reply["error"]["data"]["limitBytes"]
                .as_u64()
                .is_some_and(|n| n >= 1 << 20),
            "{reply}"
        );
    }
    server.assert_works();
}

#[test]
fn giant_garbage_is_refused_and_its_memory_given_back() {
    let server = Server::start();
    let before = server.memory("VmRSS");
    let mut line = b"{\"id\":\"giant\",\"x\":\"".to_vec();
    line.resize(50_000_000, b'a');
    let got = answers(&server, &[&line]);
    if ours() {
        assert_eq!(got[0]["error"]["data"]["kind"], "lineTooLong", "{}", got[0]);
        assert_eq!(got[0]["id"], "giant", "{}", got[0]);
    }
    server.assert_works();
    let kept = server.memory("VmRSS").saturating_sub(before) >> 20;
    assert!(kept < if ours() { 32 } else { 200 }, "{kept} MiB kept");
}

#[test]
fn a_response_nobody_asked_for_is_ignored() {
    ours_only!();
    let server = Server::start();
    let got = answers(
        &server,
        &[
            br#"{"id":999,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":998,"error":{"code":1,"message":"x"}}"#,
        ],
    );
    assert_eq!(got, Vec::<Value>::new());
    server.assert_works();
}

#[test]
fn surrogates_and_numbers_out_of_range_do_no_harm() {
    let server = Server::start();
    for line in [
        &br#"{"jsonrpc":"2.0","id":"s1","method":"process/terminate","params":{"processId":"\ud800"}}"#[..],
        br#"{"jsonrpc":"2.0","id":"s2","method":"process/read","params":{"processId":"q","maxBytes":1e400}}"#,
        br#"{"jsonrpc":"2.0","id":"s3","method":"process/read","params":{"processId":"q","afterSeq":99999999999999999999999}}"#,
        br#"{"jsonrpc":"2.0","id":1e400,"method":"process/terminate","params":{"processId":"q"}}"#,
    ] {
        let from = server.message_count();
        server.send_bytes(line);
        server.send_bytes(b"\n");
        server.ping();
        if ours() {
            assert!(server.messages_from(from).len() >= 2, "no answer to {}", String::from_utf8_lossy(line));
        }
    }
    server.assert_works();
}

#[test]
fn a_request_without_an_id_is_ignored() {
    let server = Server::start();
    let from = server.message_count();
    server.notify("process/start", program(&["/bin/true"]).params("note"));
    server.ping();
    let results = server
        .messages_from(from)
        .into_iter()
        .filter(|m| m.get("result").is_some() && m["id"].is_null());
    assert_eq!(results.count(), 0);
    server.assert_works();
    ours_only!();
    assert!(server.process("note").events().is_empty());
    server
        .process("note")
        .refused("read", json!({}), -32600, "unknownProcess");
}

#[test]
fn positional_params_are_invalid() {
    ours_only!();
    let server = Server::start();
    server.refused("process/terminate", json!(["x"]), -32602, "invalidParam");
    server.refused("process/list", json!([]), -32602, "invalidParam");
}

#[test]
fn a_log_nobody_reads_does_not_stop_the_daemon() {
    let server = Server::builder().stderr_unread().start();
    for i in 0..3000 {
        server.send_bytes(format!("{{bad {i}\n").as_bytes());
        if i % 100 == 0 {
            server.start_refused(program(&["/no/such"]), -32603, "spawnNotFound");
        }
    }
    server.ping();
    server.assert_works();
}

#[test]
fn blank_lines_are_nothing() {
    ours_only!();
    let server = Server::start();
    let got = answers(&server, &[b"", b"  ", b"\t\r"]);
    assert!(
        got.iter()
            .all(|m| m["error"]["code"] == -32700 && m["id"].is_null()),
        "{got:?}"
    );
    server.assert_works();
}
