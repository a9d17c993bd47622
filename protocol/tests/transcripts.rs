//! Recorded sessions decode into the catalogue's types and come out again as they were. `another-server-*` are
//! recordings of another server of this dialect, `own-*` show what this one adds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use exec_protocol::envelope::{Envelope, Outcome, decode_params, write};
use exec_protocol::method::{self, METHODS, Method, NOTIFICATIONS, Notification, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

#[path = "support/mod.rs"]
mod support;

/// Members that no type of ours has: on the wire of others, and ignored.
const UNKNOWN: &[&str] = &[
    "extra",
    "windowsSandboxLevel",
    "windowsSandboxProxySettingsMode",
    "useLegacyLandlock",
];

/// What to do with a raw value of a message.
enum Part<'a> {
    Params(Option<&'a RawValue>),
    Result(&'a RawValue),
}

/// Decodes a part of a message by the name of its method, and encodes it again.
struct Recode<'a> {
    name: &'a str,
    part: Part<'a>,
    value: Option<Value>,
}

impl Recode<'_> {
    fn of(name: &str, part: Part<'_>) -> Value {
        let mut recode = Recode {
            name,
            part,
            value: None,
        };
        method::visit(&mut recode);
        recode
            .value
            .unwrap_or_else(|| panic!("{name} is not in the catalogue"))
    }
}

impl Visitor for Recode<'_> {
    fn method<M: Method>(&mut self) {
        if M::NAME == self.name {
            self.value = Some(match self.part {
                Part::Params(params) => {
                    let params: M::Params = decode_params(params).unwrap();
                    serde_json::to_value(params).unwrap()
                }
                Part::Result(result) => {
                    let result: M::Result = serde_json::from_str(result.get()).unwrap();
                    serde_json::to_value(result).unwrap()
                }
            });
        }
    }
    fn notification<N: Notification>(&mut self) {
        if N::NAME == self.name {
            let Part::Params(params) = self.part else {
                panic!("a notification has no result")
            };
            let params: N::Params = decode_params(params).unwrap();
            self.value = Some(serde_json::to_value(params).unwrap());
        }
    }
}

/// Leaves out what may be absent: members that are null or a type's default, and those that are unknown.
fn pruned(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(name, _)| !UNKNOWN.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), pruned(value)))
                .filter(|(_, value)| !(value.is_null() || is_default(value)))
                .collect(),
        ),
        Value::Array(entries) => Value::Array(entries.iter().map(pruned).collect()),
        other => other.clone(),
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Array(entries) => entries.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// One session: which request each answer belongs to, and what was seen.
#[derive(Default)]
struct Session {
    /// Id → method.
    pending: BTreeMap<String, String>,
    names: BTreeSet<String>,
    results: BTreeSet<String>,
}

impl Session {
    /// Reads a message into its types and writes it again.
    fn recode(&mut self, envelope: Envelope<'_>, out: &mut Vec<u8>) {
        match envelope {
            Envelope::Request(request) => {
                let params = Recode::of(&request.method, Part::Params(request.params));
                write::request(out, request.id, &request.method, &params, request.trace.as_ref()).unwrap();
                self.names.insert(request.method.clone().into_owned());
                self.pending
                    .insert(request.id.get().to_owned(), request.method.into_owned());
            }
            Envelope::Notification(note) => {
                let params = Recode::of(&note.method, Part::Params(note.params));
                write::notification(out, &note.method, &params, note.trace.as_ref()).unwrap();
                self.names.insert(note.method.into_owned());
            }
            Envelope::Response(response) => {
                let method = self
                    .pending
                    .remove(response.id.get())
                    .unwrap_or_else(|| panic!("nobody asked for {}", response.id));
                match response.outcome {
                    Outcome::Result(result) => {
                        let result = Recode::of(&method, Part::Result(result));
                        write::response(out, response.id, &result).unwrap();
                        self.results.insert(method);
                    }
                    Outcome::Error(error) => write::error(out, Some(response.id), &error),
                }
            }
            Envelope::Batch(entries) => {
                out.push(b'[');
                for (index, entry) in entries.into_iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    self.recode(Envelope::parse_entry(entry), out);
                }
                out.push(b']');
            }
            Envelope::Invalid(invalid) => panic!("{invalid:?}"),
        }
    }
}

/// Whether a peer may leave `jsonrpc` out does not matter here: ours is always there.
fn without_version(mut message: Value) -> Value {
    for message in message
        .as_array_mut()
        .map_or_else(Vec::new, |entries| entries.iter_mut().collect())
    {
        message.as_object_mut().unwrap().remove("jsonrpc");
    }
    if let Some(members) = message.as_object_mut() {
        members.remove("jsonrpc");
    }
    message
}

fn run(file: &std::path::Path) -> Session {
    let mut session = Session::default();
    for (index, line) in fs::read_to_string(file).unwrap().lines().enumerate() {
        let place = format!("{}:{}", file.display(), index + 1);
        let message = line
            .strip_prefix("> ")
            .or_else(|| line.strip_prefix("< "))
            .unwrap_or_else(|| panic!("{place}: begins with neither > nor <"));
        let mut written = Vec::new();
        session.recode(Envelope::parse(message.as_bytes()), &mut written);
        let original: Value = serde_json::from_str(message).unwrap();
        let again: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(
            without_version(pruned(&again)),
            without_version(pruned(&original)),
            "{place}"
        );
    }
    session
}

fn transcripts() -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(support::crate_path("tests/transcripts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files
}

#[test]
fn every_message_comes_out_as_it_went_in() {
    for file in transcripts() {
        run(&file);
    }
}

#[test]
fn the_transcripts_show_the_whole_catalogue() {
    let mut names = BTreeSet::new();
    let mut results = BTreeSet::new();
    for file in transcripts() {
        let session = run(&file);
        names.extend(session.names);
        results.extend(session.results);
    }
    let missing: Vec<_> = METHODS
        .iter()
        .chain(NOTIFICATIONS)
        .filter(|name| !names.contains(**name))
        .chain(METHODS.iter().filter(|name| !results.contains(**name)))
        .collect();
    assert_eq!(missing, Vec::<&&str>::new());
}
