use std::sync::Mutex;

use exec_protocol::limits::Limits;
use exec_protocol::method::{Empty, List, Read, Write};
use exec_protocol::process::{ListResponse, ReadParams, WriteParams, WriteResponse, WriteStatus};
use tokio::sync::Notify;

use super::super::{Answer, Refusal};
use super::*;

/// Stands for the handlers: `process/list` answers at once; `process/read` waits for a notice; `process/write`
/// notes the order it acted in.
#[derive(Default)]
struct Acts {
    notice: Notify,
    acted: Mutex<Vec<String>>,
    dropped: Arc<AtomicU64>,
}

struct CountDrop(Arc<AtomicU64>);
impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

async fn list(_: Arc<Acts>, _: Call, _: Empty) -> Result<ListResponse, Refusal> {
    Ok(ListResponse::default())
}

async fn read(acts: Arc<Acts>, call: Call, _: ReadParams) -> Result<Vec<u8>, Refusal> {
    let _count = CountDrop(Arc::clone(&acts.dropped));
    acts.notice.notified().await;
    Ok(format!("{{\"id\":{},\"read\":true}}\n", call.id).into_bytes())
}

async fn write(acts: Arc<Acts>, _: Call, params: WriteParams) -> Result<Answer<WriteResponse>, Refusal> {
    let id = params.process_id.to_string();
    acts.acted.lock().unwrap().push(id.clone());
    let result = WriteResponse {
        status: WriteStatus::Accepted,
    };
    let after: crate::outbox::AfterReply =
        Arc::new(move || acts.acted.lock().unwrap().push(format!("after {id}")));
    Ok(Answer {
        result,
        after: Some(after),
    })
}

struct Fixture {
    dispatcher: Arc<Dispatcher>,
    acts: Arc<Acts>,
}

impl Fixture {
    fn new(limits: &Limits) -> Self {
        let acts = Arc::new(Acts::default());
        let mut router = Router::default();
        router.register::<List, _, _, _, _>(&acts, list);
        router.register::<Write, _, _, _, _>(&acts, write);
        router.register_written::<Read, _, _, _>(&acts, read);
        let handshake = Arc::new(Handshake::new());
        handshake.begin().unwrap();
        let dispatcher = Dispatcher {
            router,
            handshake,
            outbox: Outbox::new(limits),
            pending: Arc::new(Pending::new(limits.max_pending_requests)),
            outgoing: Arc::new(OutgoingRequests::new(limits.max_pending_requests)),
            max_line_bytes: 1000,
            max_batch_reply_bytes: limits.reply_queue_bytes,
            ignored: AtomicU64::new(0),
            probes: Probes::default(),
        };
        Self {
            dispatcher: Arc::new(dispatcher),
            acts,
        }
    }

    fn ready() -> Self {
        let fixture = Self::new(&Limits::default());
        fixture.send(r#"{"method":"initialized","params":{}}"#);
        fixture
    }

    fn send(&self, line: &str) {
        self.dispatcher.handle(Line::Complete(line.as_bytes()), None);
    }

    /// What has been queued to leave since the last call.
    fn sent(&self) -> Vec<String> {
        let mut buffer = Vec::new();
        self.dispatcher.outbox.fill(&mut buffer);
        String::from_utf8(buffer)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    fn codes(&self) -> Vec<(String, i64)> {
        let read = |line: &String| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            (value["id"].to_string(), value["error"]["code"].as_i64().unwrap())
        };
        self.sent().iter().map(read).collect()
    }

    fn ignored(&self) -> u64 {
        self.dispatcher.ignored.load(Ordering::Relaxed)
    }
}

const LISTED: &str = r#""result":{"processes":[]}}"#;

fn listed(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},{LISTED}"#)
}

#[tokio::test]
async fn any_id_is_echoed_as_it_came() {
    let fixture = Fixture::ready();
    for id in [
        "1",
        "-7",
        "1.50",
        "123456789012345678901234567890",
        r#""\u0061""#,
        "null",
        "\"\"",
    ] {
        fixture.send(&format!(r#"{{"id":{id},"method":"process/list","params":{{}}}}"#));
        assert_eq!(fixture.sent(), [listed(id)]);
        fixture.send(&format!(r#"{{"id":{id},"method":"process/nothing"}}"#));
        assert_eq!(fixture.codes().len(), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_answered_is_ignored_and_counted() {
    let fixture = Fixture::ready();
    for line in [
        r#"{"method":"no/such","params":{}}"#,
        r#"{"method":"process/list","params":{}}"#,
        r#"{"id":7,"result":{}}"#,
        r#"{"method":"initialized"}"#,
        r#"{"method":"$/cancelRequest"}"#,
    ] {
        fixture.send(line);
    }
    assert_eq!(fixture.ignored(), 5);
    fixture.send("");
    fixture.send("  \r");
    fixture.send(r#"{"method":"$/cancelRequest","params":{"id":99}}"#);
    assert_eq!(fixture.ignored(), 5);
    assert!(fixture.sent().is_empty());
}

#[tokio::test]
async fn bad_messages_have_their_codes() {
    let fixture = Fixture::ready();
    for (line, id, code) in [
        ("{", "null", -32700),
        ("[]", "null", -32600),
        (r#"{"id":3,"method":7}"#, "3", -32600),
        (r#"{"id":3,"method":"no/such"}"#, "3", -32601),
        (r#"{"id":3,"method":"initialized"}"#, "3", -32601),
        (r#"{"id":3,"method":"process/list","params":[]}"#, "3", -32602),
        (r#"{"id":3,"method":"process/read","params":{}}"#, "3", -32602),
    ] {
        fixture.send(line);
        assert_eq!(fixture.codes(), [(id.to_owned(), code)], "{line}");
    }
    fixture
        .dispatcher
        .handle(Line::TooLong(br#"{"id":"big","method":"#), None);
    fixture.dispatcher.handle(Line::TooLong(b"xxxx"), None);
    assert_eq!(
        fixture.codes(),
        [("\"big\"".to_owned(), -32600), ("null".to_owned(), -32600)]
    );
}

#[tokio::test]
async fn before_the_handshake_known_methods_are_told_what_is_missing() {
    let fixture = Fixture::new(&Limits::default());
    fixture.send(r#"{"id":1,"method":"process/list"}"#);
    fixture.send(r#"{"id":2,"method":"no/such"}"#);
    assert_eq!(
        fixture.codes(),
        [("1".to_owned(), -32600), ("2".to_owned(), -32601)]
    );
    fixture.send(r#"{"method":"initialized"}"#);
    fixture.send(r#"{"id":3,"method":"process/list"}"#);
    assert_eq!(fixture.sent(), [listed("3")]);
}

fn read_line(id: &str) -> String {
    format!(r#"{{"id":{id},"method":"process/read","params":{{"processId":"p"}}}}"#)
}

#[tokio::test]
async fn a_long_poll_holds_nobody_up() {
    let fixture = Fixture::ready();
    fixture.send(&read_line("1"));
    fixture.send(r#"{"id":2,"method":"process/list"}"#);
    assert_eq!(fixture.sent(), [listed("2")]);
    fixture.acts.notice.notify_one();
    fixture.dispatcher.pending.emptied().await;
    assert_eq!(fixture.sent(), [r#"{"id":1,"read":true}"#]);
}

#[tokio::test]
async fn a_cancelled_request_is_answered_once_and_its_work_dropped() {
    let fixture = Fixture::ready();
    fixture.send(&read_line("1"));
    fixture.send(&read_line("2"));
    fixture.send(r#"{"method":"$/cancelRequest","params":{"id":1}}"#);
    fixture.send(r#"{"method":"$/cancelRequest","params":{"id":1}}"#);
    assert_eq!(fixture.codes(), [("1".to_owned(), -32800)]);
    while fixture.acts.dropped.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    fixture.acts.notice.notify_one();
    fixture.dispatcher.pending.emptied().await;
    assert_eq!(fixture.sent(), [r#"{"id":2,"read":true}"#]);
}

#[tokio::test]
async fn too_many_in_work_are_refused_but_what_answers_at_once_is_not() {
    let fixture = Fixture::new(&Limits {
        max_pending_requests: 2,
        ..Limits::default()
    });
    fixture.send(r#"{"method":"initialized"}"#);
    for id in ["1", "2", "3"] {
        fixture.send(&read_line(id));
    }
    assert_eq!(fixture.codes(), [("3".to_owned(), -32600)]);
    fixture.send(r#"{"id":4,"method":"process/list"}"#);
    assert_eq!(fixture.sent(), [listed("4")]);
}

fn write_line(id: u32, process: &str) -> String {
    format!(r#"{{"id":{id},"method":"process/write","params":{{"processId":"{process}","chunk":""}}}}"#)
}

#[tokio::test]
async fn a_batch_acts_in_order_and_is_one_array() {
    let fixture = Fixture::ready();
    let (a, b) = (write_line(1, "a"), write_line(2, "b"));
    let read = read_line("3");
    fixture.send(&format!(r#"[{a},{read},7,{{"method":"no/such"}},{b}]"#));
    assert_eq!(*fixture.acts.acted.lock().unwrap(), ["a", "b"]);
    assert!(fixture.sent().is_empty());
    fixture.acts.notice.notify_one();
    fixture.dispatcher.pending.emptied().await;
    let sent = fixture.sent();
    assert_eq!(sent.len(), 1);
    let array: Vec<serde_json::Value> = serde_json::from_str(&sent[0]).unwrap();
    let ids: Vec<String> = array.iter().map(|reply| reply["id"].to_string()).collect();
    assert_eq!(ids, ["1", "3", "null", "2"]);
    // What comes after a reply comes after the array.
    assert_eq!(
        *fixture.acts.acted.lock().unwrap(),
        ["a", "b", "after a", "after b"]
    );
    assert_eq!(fixture.ignored(), 1);
}

#[tokio::test]
async fn a_batch_of_notifications_is_answered_with_nothing() {
    let fixture = Fixture::ready();
    fixture.send(r#"[{"method":"no/such"},{"method":"$/cancelRequest","params":{"id":1}}]"#);
    assert!(fixture.sent().is_empty());
}

#[tokio::test]
async fn a_batch_is_bounded_in_entries_and_in_bytes_of_its_replies() {
    let limits = Limits {
        max_pending_requests: 3,
        reply_queue_bytes: 60,
        ..Limits::default()
    };
    let fixture = Fixture::new(&limits);
    fixture.send(r#"{"method":"initialized"}"#);
    fixture.send("[1,2,3,4]");
    assert_eq!(fixture.codes(), [("null".to_owned(), -32600)]);
    let entries: Vec<String> = (1..4)
        .map(|id| format!(r#"{{"id":{id},"method":"process/list"}}"#))
        .collect();
    fixture.send(&format!("[{}]", entries.join(",")));
    let array: Vec<serde_json::Value> = serde_json::from_str(&fixture.sent()[0]).unwrap();
    let refused: Vec<bool> = array
        .iter()
        .map(|reply| reply["error"]["code"] == -32600)
        .collect();
    assert_eq!(refused, [false, false, true]);
}

#[test]
fn the_names_of_the_catalogue_are_distinct() {
    let mut names = exec_protocol::method::METHODS.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), exec_protocol::method::METHODS.len());
    let acts = Arc::new(Acts::default());
    let mut router = Router::default();
    router.register::<List, _, _, _, _>(&acts, list);
    assert_eq!(router.names(), ["process/list"]);
}
