//! One message, told apart by its members and left unparsed behind them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::nesting::is_too_deep;
use super::{Trace, find_id};
use crate::RpcError;
use crate::error::INVALID_REQUEST;
use crate::limits::MAX_JSON_DEPTH;

/// What a line holds.
#[derive(Debug)]
pub enum Envelope<'a> {
    /// To be answered.
    Request(Request<'a>),
    /// Not to be answered.
    Notification(Notification<'a>),
    /// The answer to a request of ours.
    Response(Response<'a>),
    /// Entries of a batch, at least one, each to be read with [`Envelope::parse_entry`].
    Batch(Vec<&'a RawValue>),
    /// To be answered with its error.
    Invalid(Invalid<'a>),
}

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    /// A string, a number or null, to be echoed exactly.
    pub id: &'a RawValue,
    /// Not empty.
    pub method: Cow<'a, str>,
    /// Unparsed; for [`decode_params`](super::decode_params). Null is the same as absent.
    pub params: Option<&'a RawValue>,
    /// Trace context; one that cannot be read is none.
    pub trace: Option<Trace>,
}

/// A message without an answer.
#[derive(Debug)]
pub struct Notification<'a> {
    /// Not empty.
    pub method: Cow<'a, str>,
    /// Unparsed; for [`decode_params`](super::decode_params). Null is the same as absent.
    pub params: Option<&'a RawValue>,
    /// Trace context; one that cannot be read is none.
    pub trace: Option<Trace>,
}

/// An answer.
#[derive(Debug)]
pub struct Response<'a> {
    /// Of the request: a string or a number; null if the peer could not read it.
    pub id: &'a RawValue,
    /// What came of it.
    pub outcome: Outcome<'a>,
}

/// What came of a request.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// Its result, unparsed.
    Result(&'a RawValue),
    /// Its error.
    Error(RpcError),
}

/// A message that is none.
#[derive(Debug)]
pub struct Invalid<'a> {
    /// What to answer to: the message's id if it could be read, else `None`, which is null on the wire.
    pub id: Option<&'a RawValue>,
    /// What to answer.
    pub error: RpcError,
}

impl<'a> Envelope<'a> {
    /// Reads one line, with or without its line end. It never fails: what is wrong is [`Envelope::Invalid`],
    /// with the answer to give.
    ///
    /// `jsonrpc` may be missing. Unknown members are ignored. An `id` that is null is an id; the member must
    /// be missing for a notification.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Self {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let Ok(text) = std::str::from_utf8(line) else {
            return parse_error(None, "not UTF-8");
        };
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        if is_too_deep(text) {
            let id = find_id(text.as_bytes());
            return parse_error(id, format_args!("nested deeper than {MAX_JSON_DEPTH} levels"));
        }
        if text.starts_with('[') {
            return match serde_json::from_str::<Vec<&RawValue>>(text) {
                Ok(entries) if entries.is_empty() => invalid_request(None, "an empty batch"),
                Ok(entries) => Self::Batch(entries),
                Err(error) => parse_error(None, error),
            };
        }
        parse_object(text)
    }

    /// Reads an entry of a batch. A batch in a batch is invalid.
    #[must_use]
    pub fn parse_entry(entry: &'a RawValue) -> Self {
        parse_object(entry.get())
    }
}

/// Reads anything but a batch. The depth of `text` is known to be bounded.
fn parse_object(text: &str) -> Envelope<'_> {
    // Looked at first: serde takes an array for a struct.
    if !text.starts_with('{') {
        return match serde_json::from_str::<&RawValue>(text) {
            Ok(_) => invalid_request(None, "a message is an object"),
            Err(error) => parse_error(None, error),
        };
    }
    match Members::read(text) {
        Ok(members) => members.classify(),
        Err(error) => parse_error(None, error),
    }
}

fn parse_error<'a>(id: Option<&'a RawValue>, reason: impl fmt::Display) -> Envelope<'a> {
    Envelope::Invalid(Invalid {
        id,
        error: RpcError::parse_error(reason),
    })
}

fn invalid_request<'a>(id: Option<&'a RawValue>, reason: impl fmt::Display) -> Envelope<'a> {
    Envelope::Invalid(Invalid {
        id,
        error: RpcError::invalid_request(reason),
    })
}

/// The members of an envelope, unparsed.
#[derive(Debug, Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    trace: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    /// The first member, other than `trace`, that came twice. Readers disagree on which of the two counts.
    repeated: Option<&'static str>,
}

impl<'a> Members<'a> {
    fn read(text: &'a str) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let members = deserializer.deserialize_map(MembersVisitor)?;
        deserializer.end()?;
        Ok(members)
    }

    fn classify(self) -> Envelope<'a> {
        let is_answer = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        // Two ids are none; and the id of an answer names a request of ours, which the peer must not be told
        // an error under: there it would mean a request of its own.
        let readable_id = self.id.filter(|id| is_id(id.get()));
        let id = if is_answer || self.repeated == Some("id") {
            None
        } else {
            readable_id
        };
        if let Some(member) = self.repeated {
            return invalid_request(id, format_args!("`{member}` more than once"));
        }
        if self.id.is_some() && readable_id.is_none() {
            return invalid_request(None, "`id` is a string, a number or null");
        }
        if let Some(version) = present(self.jsonrpc)
            && read_string(version).as_deref() != Some("2.0")
        {
            return invalid_request(id, "`jsonrpc` is \"2.0\", or left out");
        }
        if is_answer {
            return match self.id {
                Some(id) => Envelope::Response(Response {
                    id,
                    outcome: Outcome::read(self.result, self.error),
                }),
                None => invalid_request(None, "an answer without `id`"),
            };
        }
        let Some(method) = self.method else {
            return invalid_request(id, "no `method`");
        };
        let method = match read_string(method) {
            Some(method) if !method.is_empty() => method,
            Some(_) => return invalid_request(id, "`method` is empty"),
            None => return invalid_request(id, "`method` is a string"),
        };
        let params = present(self.params);
        let trace = self
            .trace
            .and_then(|trace| serde_json::from_str(trace.get()).ok());
        match id {
            Some(id) => Envelope::Request(Request {
                id,
                method,
                params,
                trace,
            }),
            None => Envelope::Notification(Notification {
                method,
                params,
                trace,
            }),
        }
    }
}

impl<'a> Outcome<'a> {
    /// Some peers send both members, the one that does not count as null.
    fn read(result: Option<&'a RawValue>, error: Option<&'a RawValue>) -> Self {
        match (present(error), result) {
            (Some(error), _) => Self::Error(serde_json::from_str(error.get()).unwrap_or_else(|reason| {
                let mut malformed =
                    RpcError::new(INVALID_REQUEST, format!("malformed error object: {reason}"));
                malformed.data = serde_json::from_str(error.get()).ok();
                malformed
            })),
            (None, Some(result)) => Self::Result(result),
            (None, None) => Self::Error(RpcError::new(INVALID_REQUEST, "malformed error object: null")),
        }
    }
}

/// A member that is there and not null.
fn present(member: Option<&RawValue>) -> Option<&RawValue> {
    member.filter(|value| value.get() != "null")
}

/// Whether JSON text is what an id may be.
fn is_id(text: &str) -> bool {
    text == "null" || matches!(text.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'))
}

/// The string that raw JSON is, borrowed unless it has escapes; `None` if it is another type, or not Unicode.
fn read_string(value: &RawValue) -> Option<Cow<'_, str>> {
    let inside = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') {
        serde_json::from_str(value.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inside))
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(key) = map.next_key_seed(KeySeed)? {
            let value: &'de RawValue = map.next_value()?;
            let (slot, name) = match key {
                Key::Jsonrpc => (&mut members.jsonrpc, "jsonrpc"),
                Key::Id => (&mut members.id, "id"),
                Key::Method => (&mut members.method, "method"),
                Key::Params => (&mut members.params, "params"),
                Key::Trace => {
                    // Never a reason to refuse a message.
                    members.trace = Some(value);
                    continue;
                }
                Key::Result => (&mut members.result, "result"),
                Key::Error => (&mut members.error, "error"),
                Key::Unknown => continue,
            };
            // A repeated id outweighs others: there is no id to answer under.
            if slot.replace(value).is_some() && (members.repeated.is_none() || name == "id") {
                members.repeated = Some(name);
            }
        }
        Ok(members)
    }
}

enum Key {
    Jsonrpc,
    Id,
    Method,
    Params,
    Trace,
    Result,
    Error,
    Unknown,
}

struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        // As bytes: a key may hold a lone surrogate, and is then merely unknown.
        deserializer.deserialize_bytes(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_bytes<E: de::Error>(self, name: &[u8]) -> Result<Key, E> {
        Ok(match name {
            b"jsonrpc" => Key::Jsonrpc,
            b"id" => Key::Id,
            b"method" => Key::Method,
            b"params" => Key::Params,
            b"trace" => Key::Trace,
            b"result" => Key::Result,
            b"error" => Key::Error,
            _ => Key::Unknown,
        })
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Key, E> {
        self.visit_bytes(name.as_bytes())
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
