//! Everything a daemon said, and the rules it may never break.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A notification about one process. Of an output only the length is kept here; its bytes are in the buffers.
#[derive(Debug, Clone)]
pub struct Event {
    /// `output`, `exited`, `closed`, `treeEnded`.
    pub kind: String,
    /// Its number, where it has one.
    pub seq: Option<u64>,
    /// Bytes of an output.
    pub length: usize,
    /// Params of anything but an output.
    pub params: Value,
    /// When it arrived.
    pub at: Instant,
}

/// One stream of one process.
#[derive(Debug, Default)]
pub struct Received {
    /// The bytes, if they are kept.
    pub bytes: Vec<u8>,
    /// How many came.
    pub length: u64,
}

/// Everything that arrived.
#[derive(Debug, Default)]
pub struct Transcript {
    /// Replies by id (as JSON text), in the order of arrival.
    pub replies: HashMap<String, Vec<Value>>,
    /// Every message but notifications about processes; a batch is one array.
    pub messages: Vec<Value>,
    /// Events by process.
    pub events: HashMap<String, Vec<Event>>,
    /// Output by process and stream.
    pub output: HashMap<(String, String), Received>,
    /// End of the daemon's stdout.
    pub ended: bool,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Whether output is kept, or only counted.
    pub keep_output: bool,
    /// Rules that were broken, in words.
    pub broken: Vec<String>,
    /// Processes whose start was answered.
    announced: HashSet<String>,
    /// Methods of requests, by id.
    pub requests: HashMap<String, String>,
    /// Ids of start requests, to know which reply announces which process.
    pub starts: HashMap<String, String>,
    /// Whether our own stricter rules are checked too.
    pub strict: bool,
}

#[derive(Deserialize)]
struct OutputLine<'a> {
    #[serde(borrow)]
    method: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    params: OutputParams<'a>,
    jsonrpc: Option<std::borrow::Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OutputParams<'a> {
    process_id: String,
    seq: u64,
    #[serde(borrow)]
    stream: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    chunk: std::borrow::Cow<'a, str>,
    offset: Option<u64>,
}

impl Transcript {
    /// Takes one line.
    pub fn line(&mut self, line: &[u8]) {
        if line.is_empty() {
            self.broken.push("an empty line on stdout".into());
            return;
        }
        // The bulk of a flood, without a detour over Value.
        if memchr::memmem::find(&line[..line.len().min(200)], b"process/output").is_some()
            && let Ok(output) = serde_json::from_slice::<OutputLine<'_>>(line)
            && output.method == "process/output"
        {
            self.version(output.jsonrpc.as_deref(), line);
            self.output(output.params);
            return;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(message @ Value::Object(_)) => self.message(message, line),
            Ok(Value::Array(entries)) => {
                for entry in &entries {
                    self.reply(entry);
                }
                self.messages.push(Value::Array(entries));
            }
            // JSON, with a number that this reader has no type for (an echoed id of 1e400).
            Err(_) if line.starts_with(b"{") && serde_json::from_slice::<&RawValue>(line).is_ok() => {
                self.messages.push(Value::String(shown(line)));
            }
            _ => self
                .broken
                .push(format!("not a JSON object or array: {}", shown(line))),
        }
    }

    fn version(&mut self, version: Option<&str>, line: &[u8]) {
        if self.strict && version != Some("2.0") {
            self.broken
                .push(format!("without \"jsonrpc\":\"2.0\": {}", shown(line)));
        }
    }

    fn message(&mut self, message: Value, line: &[u8]) {
        self.version(message.get("jsonrpc").and_then(Value::as_str), line);
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some("process/output"), None) => {
                let params = &message["params"];
                let (id, stream, chunk) = (&params["processId"], &params["stream"], &params["chunk"]);
                match (
                    id.as_str(),
                    stream.as_str(),
                    chunk.as_str(),
                    params["seq"].as_u64(),
                ) {
                    (Some(id), Some(stream), Some(chunk), Some(seq)) => self.output(OutputParams {
                        process_id: id.into(),
                        seq,
                        stream: stream.into(),
                        chunk: chunk.into(),
                        offset: params["offset"].as_u64(),
                    }),
                    _ => self
                        .broken
                        .push(format!("a process/output out of shape: {}", shown(line))),
                }
            }
            (Some(method), None) if message["params"]["processId"].is_string() => {
                let id = message["params"]["processId"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                let kind = method.trim_start_matches("process/").to_owned();
                let params = message["params"].clone();
                self.new_life(&id, params["seq"].as_u64().unwrap_or_default());
                self.event(
                    &id,
                    Event {
                        kind,
                        seq: params["seq"].as_u64(),
                        length: 0,
                        params,
                        at: Instant::now(),
                    },
                );
            }
            (Some(_), _) => self.messages.push(message),
            (None, _) => {
                self.reply(&message);
                self.messages.push(message);
            }
        }
    }

    fn reply(&mut self, message: &Value) {
        let id = message.get("id").cloned().unwrap_or(Value::Null).to_string();
        if let (Some(process), true) = (self.starts.get(&id), message.get("result").is_some()) {
            self.announced.insert(process.clone());
        }
        self.replies.entry(id).or_default().push(message.clone());
    }

    /// The id was free and is used again: what the one before it printed is not this one's.
    fn new_life(&mut self, id: &str, seq: u64) {
        if seq == 1 && self.events.get(id).is_some_and(|events| !events.is_empty()) {
            self.output.retain(|(process, _), _| process != id);
        }
    }

    fn output(&mut self, params: OutputParams<'_>) {
        let Ok(chunk) = base64_simd::STANDARD.decode_to_vec(params.chunk.as_bytes()) else {
            self.broken.push(format!(
                "a chunk that is not base64: {}",
                shown(params.chunk.as_bytes())
            ));
            return;
        };
        let id = params.process_id;
        self.new_life(&id, params.seq);
        let received = self
            .output
            .entry((id.clone(), params.stream.into_owned()))
            .or_default();
        if params
            .offset
            .is_some_and(|offset| self.strict && offset != received.length)
        {
            let (offset, length) = (params.offset, received.length);
            self.broken.push(format!(
                "{id}: an output at offset {offset:?}, after {length} bytes"
            ));
        }
        received.length += chunk.len() as u64;
        if self.keep_output {
            received.bytes.extend_from_slice(&chunk);
        }
        let (kind, seq, length) = ("output".into(), Some(params.seq), chunk.len());
        self.event(
            &id,
            Event {
                kind,
                seq,
                length,
                params: Value::Null,
                at: Instant::now(),
            },
        );
    }

    /// Rules 3 and 1 of a process's notifications: the start reply first, numbers without gaps, exited once, closed once and last.
    fn event(&mut self, id: &str, event: Event) {
        let before = self.events.entry(id.to_owned()).or_default();
        let life = before
            .iter()
            .rposition(|e| e.kind == "closed")
            .map_or(0, |i| i + 1);
        let this_life = &before[life..];
        let mut broken = Vec::new();
        if self.strict {
            let unknown_start = !self.announced.contains(id);
            if this_life.is_empty() && unknown_start && self.starts.values().any(|p| p == id) {
                broken.push(format!("{} before the start reply", event.kind));
            }
            let expected = this_life
                .iter()
                .filter_map(|e| e.seq)
                .next_back()
                .map_or(1, |seq| seq + 1);
            if event.seq.is_some_and(|seq| seq != expected) {
                broken.push(format!(
                    "{} has seq {:?}, expected {expected}",
                    event.kind, event.seq
                ));
            }
            if event.kind == "closed" && !this_life.iter().any(|e| e.kind == "exited") {
                broken.push("closed before exited".into());
            }
        }
        if event.kind == "exited" && this_life.iter().any(|e| e.kind == "exited") {
            broken.push("exited twice".into());
        }
        self.broken.extend(
            broken
                .into_iter()
                .map(|b| format!("{}: {b}", shown(id.as_bytes()))),
        );
        before.push(event);
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned()
}
