//! What a client says and waits for, on threads and without a runtime.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::launch::Launch;
use crate::server::{PATIENCE, Server, lock};
use crate::transcript::Event;

impl Server {
    /// Writes bytes to the daemon's stdin as they are.
    ///
    /// # Panics
    /// When the daemon is gone, or the test closed its stdin.
    pub fn send_bytes(&self, bytes: &[u8]) {
        let mut stdin = lock(&self.stdin);
        let stdin = stdin.as_mut().expect("stdin is open");
        if let Err(error) = stdin.write_all(bytes) {
            panic!("the server is gone: {error}");
        }
    }

    /// Writes one message.
    pub fn send(&self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and does not wait; the id is for [`Server::reply`].
    pub fn post(&self, method: &str, params: Value) -> Value {
        let id = {
            let mut next = lock(&self.next_id);
            *next += 1;
            json!(*next)
        };
        {
            let mut transcript = lock(&self.shared.transcript);
            transcript.requests.insert(id.to_string(), method.to_owned());
            if method == "process/start"
                && let Some(process) = params["processId"].as_str()
            {
                transcript.starts.insert(id.to_string(), process.to_owned());
            }
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The reply to an id, if it has come.
    #[must_use]
    pub fn reply_now(&self, id: &Value) -> Option<Value> {
        let transcript = lock(&self.shared.transcript);
        transcript
            .replies
            .get(&id.to_string())
            .and_then(|replies| replies.first().cloned())
    }

    /// The reply to an id, if it comes within a limit.
    ///
    /// # Panics
    /// When the daemon ends before.
    pub fn reply_if_within(&self, id: &Value, limit: Duration) -> Option<Value> {
        let key = id.to_string();
        let found = self.until(limit, |t| {
            let reply = t.replies.get(&key).and_then(|replies| replies.first().cloned());
            reply.or_else(|| t.ended.then_some(Value::Null))
        });
        if found == Some(Value::Null) {
            panic!("the server closed its stdout before it answered {key}");
        }
        found
    }

    /// The reply to an id, within a limit.
    ///
    /// # Panics
    /// When none comes.
    pub fn reply_within(&self, id: &Value, limit: Duration) -> Value {
        let found = self.reply_if_within(id, limit);
        found.unwrap_or_else(|| panic!("no reply to {id} within {limit:?}"))
    }

    /// The reply to an id.
    pub fn reply(&self, id: &Value) -> Value {
        self.reply_within(id, PATIENCE)
    }

    /// A request and its result, or its error object.
    ///
    /// # Errors
    /// The error object of the reply.
    pub fn call(&self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.post(method, params);
        outcome(self.reply(&id))
    }

    /// A request that must succeed.
    pub fn ok(&self, method: &str, params: Value) -> Value {
        self.call(method, params)
            .unwrap_or_else(|error| panic!("{method} failed: {error}"))
    }

    /// A request that must fail; the error object.
    pub fn err(&self, method: &str, params: Value) -> Value {
        let error = match self.call(method, params) {
            Ok(result) => panic!("{method} should fail, returned {result}"),
            Err(error) => error,
        };
        assert!(
            error["code"].is_i64() && error["message"].is_string(),
            "an error out of shape: {error}"
        );
        error
    }

    /// A request that must fail with this code and this `data.kind` (the kind is an addition of ours).
    pub fn refused(&self, method: &str, params: Value, code: i64, kind: &str) -> Value {
        let error = self.err(method, params);
        assert_eq!(error["code"], code, "{error}");
        if crate::ours() {
            assert_eq!(error["data"]["kind"], kind, "{error}");
        }
        error
    }

    /// A cheap request that every server answers; how long the answer took.
    pub fn ping(&self) -> Duration {
        let start = Instant::now();
        let answer = self.call("process/terminate", json!({"processId": "no-such-process"}));
        assert_eq!(answer, Ok(json!({"running": false})));
        start.elapsed()
    }

    /// How many requests of [`Server::post`] were answered so far, by method and whether with a result.
    #[must_use]
    pub fn answered(&self) -> BTreeMap<(String, bool), u64> {
        let transcript = lock(&self.shared.transcript);
        let mut answered = BTreeMap::new();
        for (id, method) in &transcript.requests {
            for reply in transcript.replies.get(id).into_iter().flatten() {
                let key = (method.clone(), reply.get("result").is_some());
                *answered.entry(key).or_default() += 1;
            }
        }
        answered
    }

    /// How many messages other than notifications about processes have come.
    #[must_use]
    pub fn message_count(&self) -> usize {
        lock(&self.shared.transcript).messages.len()
    }

    /// Those messages, from the `from`-th on.
    #[must_use]
    pub fn messages_from(&self, from: usize) -> Vec<Value> {
        lock(&self.shared.transcript).messages[from..].to_vec()
    }

    /// Bytes that came on the daemon's stdout.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        lock(&self.shared.transcript).bytes
    }

    fn fresh_id(&self) -> String {
        let mut next = lock(&self.next_id);
        *next += 1;
        format!("p{next}")
    }

    /// Starts a process that must start.
    pub fn spawn(&self, launch: Launch) -> Running<'_> {
        let params = launch.params(&self.fresh_id());
        let result = self.ok("process/start", params.clone());
        assert_eq!(result["processId"], params["processId"], "{result}");
        Running {
            server: self,
            id: params["processId"].as_str().unwrap_or_default().to_owned(),
            result,
        }
    }

    /// Sends a start and does not wait for the reply: the process and the request's id.
    pub fn spawn_later(&self, launch: Launch) -> (Running<'_>, Value) {
        let params = launch.params(&self.fresh_id());
        let id = params["processId"].as_str().unwrap_or_default().to_owned();
        let request = self.post("process/start", params);
        (
            Running {
                server: self,
                id,
                result: Value::Null,
            },
            request,
        )
    }

    /// Tries to start a process; the error object if it is refused.
    ///
    /// # Errors
    /// The error object of the reply.
    pub fn try_spawn(&self, launch: Launch) -> Result<Running<'_>, Value> {
        let (running, request) = self.spawn_later(launch);
        outcome(self.reply(&request)).map(|result| Running { result, ..running })
    }

    /// A start that must be refused with this code and kind; the error object.
    pub fn start_refused(&self, launch: Launch, code: i64, kind: &str) -> Value {
        let params = launch.params(&self.fresh_id());
        let error = self.refused("process/start", params.clone(), code, kind);
        let id = params["processId"].as_str().unwrap_or_default();
        assert!(
            self.process(id).events().is_empty() || code == -32600,
            "events of a process that never started"
        );
        error
    }

    /// Runs a process to its end: exit code and all its output.
    pub fn run(&self, launch: Launch) -> (i64, Vec<u8>) {
        let process = self.spawn(launch);
        let code = process.closed();
        (code, process.output())
    }

    /// A process by its id.
    #[must_use]
    pub fn process(&self, id: &str) -> Running<'_> {
        Running {
            server: self,
            id: id.to_owned(),
            result: Value::Null,
        }
    }

    /// The session must still run commands.
    pub fn assert_works(&self) {
        assert_eq!(
            self.run(crate::sh("echo fine")),
            (0, b"fine\n".to_vec()),
            "the session is unusable"
        );
    }
}

fn outcome(mut reply: Value) -> Result<Value, Value> {
    match (reply.get("result").is_some(), reply.get("error").is_some()) {
        (true, false) => Ok(reply["result"].take()),
        (false, true) => Err(reply["error"].take()),
        _ => panic!("neither a result nor an error: {reply}"),
    }
}

/// A process the daemon was asked to start.
#[derive(Debug)]
pub struct Running<'a> {
    /// Its daemon.
    pub server: &'a Server,
    /// Its id.
    pub id: String,
    /// The result of its start.
    pub result: Value,
}

impl Running<'_> {
    fn with(&self, more: Value) -> Value {
        let mut params = json!({"processId": self.id});
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        params
    }

    /// A request about this process that must succeed: `ask("read", json!({"waitMs": 0}))`.
    pub fn ask(&self, verb: &str, more: Value) -> Value {
        self.server.ok(&format!("process/{verb}"), self.with(more))
    }

    /// The same, not waiting for the reply.
    pub fn post(&self, verb: &str, more: Value) -> Value {
        self.server.post(&format!("process/{verb}"), self.with(more))
    }

    /// A request about this process that must fail with this code and kind.
    pub fn refused(&self, verb: &str, more: Value, code: i64, kind: &str) -> Value {
        self.server
            .refused(&format!("process/{verb}"), self.with(more), code, kind)
    }

    /// Params of a write with a fresh `writeId`.
    #[must_use]
    pub fn write_params(&self, bytes: &[u8]) -> Value {
        let write_id = self.server.fresh_id();
        json!({"chunk": base64_simd::STANDARD.encode_to_string(bytes), "writeId": write_id})
    }

    /// Writes to its stdin; must be accepted.
    pub fn write(&self, bytes: &[u8]) {
        assert_eq!(
            self.ask("write", self.write_params(bytes)),
            json!({"status": "accepted"})
        );
    }

    /// Sends a signal by name.
    pub fn signal(&self, name: &str) {
        assert_eq!(self.ask("signal", json!({"signal": name})), json!({}));
    }

    /// Asks for its end; whether it was running.
    pub fn terminate(&self) -> bool {
        let result = self.ask("terminate", json!({}));
        result["running"]
            .as_bool()
            .unwrap_or_else(|| panic!("terminate answered {result}"))
    }

    /// Waits with `process/wait`.
    pub fn wait(&self, until: Value) -> Value {
        self.ask("wait", json!({"until": until}))
    }

    /// Its process id: from the start reply, or from a `PID n` line it printed.
    pub fn pid(&self) -> u32 {
        if let Some(pid) = self.result["pid"].as_u64() {
            return pid as u32;
        }
        self.await_output(b"PID ");
        self.await_output(b"\n");
        let text = String::from_utf8_lossy(&self.output()).into_owned();
        let digits = text
            .split("PID ")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next());
        digits.and_then(|d| d.parse().ok()).expect("a PID line")
    }

    /// Its events so far.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        lock(&self.server.shared.transcript)
            .events
            .get(&self.id)
            .cloned()
            .unwrap_or_default()
    }

    /// Its first event of a kind, if it has come.
    #[must_use]
    pub fn event_now(&self, kind: &str) -> Option<Event> {
        self.events().into_iter().find(|e| e.kind == kind)
    }

    /// Waits for an event of a kind.
    ///
    /// # Panics
    /// When none comes.
    pub fn event_within(&self, kind: &str, limit: Duration) -> Event {
        let found = self.server.until(limit, |t| {
            t.events
                .get(&self.id)
                .and_then(|events| events.iter().find(|e| e.kind == kind).cloned())
        });
        found.unwrap_or_else(|| {
            panic!(
                "no {kind} of {:.80} within {limit:?}; events: {:?}",
                self.id,
                self.kinds()
            )
        })
    }

    fn kinds(&self) -> Vec<String> {
        let events = self.events();
        events
            .iter()
            .rev()
            .take(20)
            .rev()
            .map(|e| e.kind.clone())
            .collect()
    }

    /// The params of its `exited`.
    pub fn exited(&self) -> Value {
        self.event_within("exited", PATIENCE).params
    }

    /// Waits for its `exited`; the exit code.
    pub fn exit_code(&self) -> i64 {
        let exited = self.exited();
        exited["exitCode"]
            .as_i64()
            .unwrap_or_else(|| panic!("exited without an exit code: {exited}"))
    }

    /// Waits for its `closed`; the exit code.
    pub fn closed(&self) -> i64 {
        self.closed_within(PATIENCE)
    }

    /// Waits for its `closed` within a limit; the exit code.
    pub fn closed_within(&self, limit: Duration) -> i64 {
        self.event_within("closed", limit);
        self.exit_code()
    }

    /// The params of its `closed`.
    pub fn closed_params(&self) -> Value {
        self.event_within("closed", PATIENCE).params
    }

    /// What it printed so far, all streams (`stdout`, then `stderr`, then `pty`).
    #[must_use]
    pub fn output(&self) -> Vec<u8> {
        ["stdout", "stderr", "pty"]
            .iter()
            .flat_map(|stream| self.stream(stream))
            .collect()
    }

    /// What it printed so far on one stream.
    #[must_use]
    pub fn stream(&self, stream: &str) -> Vec<u8> {
        let transcript = lock(&self.server.shared.transcript);
        let received = transcript.output.get(&(self.id.clone(), stream.to_owned()));
        received.map(|r| r.bytes.clone()).unwrap_or_default()
    }

    /// How many bytes it printed so far on one stream.
    #[must_use]
    pub fn stream_length(&self, stream: &str) -> u64 {
        let transcript = lock(&self.server.shared.transcript);
        transcript
            .output
            .get(&(self.id.clone(), stream.to_owned()))
            .map_or(0, |r| r.length)
    }

    /// Its output as text, without carriage returns.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output()).replace('\r', "")
    }

    /// Waits for these bytes in one of its streams.
    ///
    /// # Panics
    /// When they do not come.
    pub fn await_output(&self, needle: &[u8]) {
        let found = self.server.until(PATIENCE, |t| {
            let mut streams = t.output.iter().filter(|((id, _), _)| *id == self.id);
            streams
                .any(|(_, r)| memchr::memmem::find(&r.bytes, needle).is_some())
                .then_some(())
        });
        assert!(
            found.is_some(),
            "{:?} did not come; output so far: {:?}",
            String::from_utf8_lossy(needle),
            String::from_utf8_lossy(&self.output())
        );
    }

    /// Waits until it printed at least so many bytes on one stream.
    pub fn await_length(&self, stream: &str, length: u64) {
        let key = (self.id.clone(), stream.to_owned());
        let found = self.server.until(PATIENCE, |t| {
            t.output.get(&key).filter(|r| r.length >= length).map(|_| ())
        });
        assert!(
            found.is_some(),
            "only {} of {length} bytes came",
            self.stream_length(stream)
        );
    }

    /// Reads everything retained with `process/read`, by cursor: the bytes, and the numbers of their chunks.
    pub fn read_all(&self) -> (Vec<u8>, Vec<u64>) {
        let (mut bytes, mut numbers, mut after) = (Vec::new(), Vec::new(), 0);
        loop {
            let result = self.ask("read", json!({"afterSeq": after, "waitMs": 2000}));
            for chunk in result["chunks"].as_array().into_iter().flatten() {
                bytes.extend(decode(&chunk["chunk"]));
                numbers.push(chunk["seq"].as_u64().expect("a seq"));
            }
            let next = result["nextSeq"].as_u64().expect("nextSeq");
            let empty = result["chunks"].as_array().is_none_or(Vec::is_empty);
            if result["closed"] == true && (empty || next - 1 == after) {
                return (bytes, numbers);
            }
            after = next - 1;
        }
    }
}

/// The bytes of a base64 member.
#[must_use]
pub fn decode(chunk: &Value) -> Vec<u8> {
    let text = chunk
        .as_str()
        .unwrap_or_else(|| panic!("not base64 text: {chunk}"));
    base64_simd::STANDARD
        .decode_to_vec(text)
        .unwrap_or_else(|_| panic!("not base64: {text:.80}"))
}
