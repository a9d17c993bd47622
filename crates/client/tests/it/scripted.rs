//! A server whose every message the test writes, and whose every input the test sees.

use exec_client::{Client, ClientLimits, ServerRequestHandler};
use exec_protocol::{ExecParams, PathUri};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// The server's end.
pub(crate) struct Server {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl Server {
    /// The next message from the client.
    pub(crate) async fn receive(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("read").expect("a message");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// A request of `method`; its id.
    pub(crate) async fn receive_request(&mut self, method: &str) -> Value {
        let message = self.receive().await;
        assert_eq!(message["method"], method, "{message}");
        message["id"].clone()
    }

    /// True when the client closed its side.
    pub(crate) async fn is_at_end(&mut self) -> bool {
        self.lines.next_line().await.expect("read").is_none()
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_line(&message.to_string()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.expect("write");
        self.writer.write_all(b"\n").await.expect("write");
    }

    pub(crate) async fn answer(&mut self, id: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await;
    }

    pub(crate) async fn refuse(&mut self, id: &Value, kind: &str) {
        let error = json!({"code": -32600, "message": format!("no: {kind}"), "data": {"kind": kind}});
        self.send(json!({"jsonrpc": "2.0", "id": id, "error": error}))
            .await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    pub(crate) async fn output(&mut self, process: &str, seq: u64, chunk: &str) {
        let params = json!({"processId": process, "seq": seq, "stream": "stdout", "chunk": chunk});
        self.notify("process/output", params).await;
    }

    pub(crate) async fn exited(&mut self, process: &str, seq: u64) {
        self.notify(
            "process/exited",
            json!({"processId": process, "seq": seq, "exitCode": 0}),
        )
        .await;
    }

    pub(crate) async fn closed(&mut self, process: &str, seq: u64, tree: &str) {
        self.notify(
            "process/closed",
            json!({"processId": process, "seq": seq, "tree": tree}),
        )
        .await;
    }

    /// Takes a start and says yes.
    pub(crate) async fn accept_start(&mut self) {
        let message = self.receive().await;
        assert_eq!(message["method"], "process/start");
        let result = json!({"processId": message["params"]["processId"], "sandboxType": "none", "pid": 1});
        self.answer(&message["id"], result).await;
    }
}

/// A client and the server it talks to; the connection runs on a task.
pub(crate) fn pair() -> (Client, Server) {
    pair_with(None, ClientLimits::default(), 64 * 1024)
}

/// The same, with a handler, limits, and the bytes that fit between the two.
pub(crate) fn pair_with(
    handler: Option<Box<dyn ServerRequestHandler>>,
    limits: ClientLimits,
    pipe_bytes: usize,
) -> (Client, Server) {
    let (ours, theirs) = tokio::io::duplex(pipe_bytes);
    let (reader, writer) = tokio::io::split(ours);
    let (client, connection) = Client::connect_with(reader, writer, handler, limits);
    tokio::spawn(connection.run());
    let (reader, writer) = tokio::io::split(theirs);
    let lines = BufReader::new(reader).lines();
    (client, Server { lines, writer })
}

/// A command that a scripted server says yes to.
pub(crate) fn command(process_id: &str) -> ExecParams {
    let cwd = PathUri::from_path("/".as_ref()).expect("absolute");
    ExecParams::new(process_id, vec!["true".to_owned()], cwd)
}
