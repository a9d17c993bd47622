//! Fuzz targets for every decoder of foreign bytes. As tests they run a bounded number of inputs; for as long as
//! one likes: `cargo bolero test -p exec-protocol --test fuzz fuzz_envelope`.

use exec_protocol::PathUri;
use exec_protocol::envelope::{Envelope, decode_params, find_id};
use exec_protocol::error::INVALID_PARAMS;
use exec_protocol::method::{self, Method, Notification, Visitor, WireType};
use serde_json::value::RawValue;

/// What JSON-RPC is made of: random bytes alone seldom get past the first one.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e400",
    "\"\"",
    "\"\\ud800\"",
    "\"id\"",
    "\"jsonrpc\"",
    "\"2.0\"",
    "\"method\"",
    "\"params\"",
    "\"result\"",
    "\"error\"",
    "\"trace\"",
    "\"type\"",
    "\"until\"",
    "\"processId\"",
    "\"argv\"",
    "\"file:///a\"",
    "\"sandbox\"",
    "\"permissions\"",
    "\"disabled\"",
    "\"chunk\"",
    "\u{feff}",
];

/// Bytes as tokens (below 128) or as they are.
fn text(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in bytes {
        match TOKENS.get(usize::from(*byte)) {
            Some(token) => text.extend_from_slice(token.as_bytes()),
            None => text.push(*byte),
        }
    }
    text
}

fn check_envelope(line: &[u8]) {
    match Envelope::parse(line) {
        Envelope::Request(request) => {
            assert!(!request.method.is_empty());
            // What find_id reads of a message is what the message says.
            if let Some(id) = find_id(line) {
                assert_eq!(id.get(), request.id.get());
            }
        }
        Envelope::Batch(entries) => {
            assert!(!entries.is_empty());
            for entry in entries {
                assert!(!matches!(Envelope::parse_entry(entry), Envelope::Batch(_)));
            }
        }
        Envelope::Invalid(invalid) => assert!(matches!(invalid.error.code, -32700 | -32600)),
        Envelope::Notification(_) | Envelope::Response(_) => {}
    }
}

#[test]
fn fuzz_envelope() {
    bolero::check!().for_each(|bytes: &[u8]| {
        check_envelope(bytes);
        check_envelope(&text(bytes));
    });
}

#[test]
fn fuzz_find_id() {
    bolero::check!().for_each(|bytes: &[u8]| {
        for prefix in [bytes, &text(bytes)] {
            if let Some(id) = find_id(prefix) {
                assert!(matches!(id.get().as_bytes()[0], b'"' | b'-' | b'0'..=b'9'));
            }
        }
    });
}

/// Params that decode must survive their own encoding.
fn check_params<T: WireType>(raw: &RawValue) {
    match decode_params::<T>(Some(raw)) {
        Ok(params) => {
            let once = serde_json::value::to_raw_value(&params).unwrap();
            let again: T = decode_params(Some(&once)).unwrap();
            let twice = serde_json::value::to_raw_value(&again).unwrap();
            assert_eq!(once.get(), twice.get());
        }
        Err(error) => assert_eq!(error.code, INVALID_PARAMS),
    }
}

struct EveryParams<'a>(&'a RawValue);

impl Visitor for EveryParams<'_> {
    fn method<M: Method>(&mut self) {
        check_params::<M::Params>(self.0);
    }
    fn notification<N: Notification>(&mut self) {
        check_params::<N::Params>(self.0);
    }
}

#[test]
fn fuzz_params() {
    bolero::check!().for_each(|bytes: &[u8]| {
        for json in [bytes, &text(bytes)] {
            if let Ok(raw) = serde_json::from_slice::<Box<RawValue>>(json) {
                method::visit(&mut EveryParams(&raw));
            }
        }
    });
}

/// Good params with one part of them replaced: near misses, which random text never is.
#[test]
fn fuzz_damaged_params() {
    const GOOD: &str = r#"{"processId":"p","argv":["a","b"],"cwd":"file:///","env":{"A":"1"},"tty":false,"size":{"rows":1,"cols":2},"until":{"type":"output","literal":"x"},"path":"file:///a","options":{"maxDepth":1,"maxDirectories":2,"maxEntries":3},"sandbox":{"permissions":{"type":"managed","network":"enabled","file_system":{"type":"restricted","entries":[{"path":{"type":"special","value":{"kind":"tmpdir"}},"access":"read"}]}}},"chunk":"YQ==","handleId":"h","offset":1,"len":2,"signal":"SIGTERM","id":1}"#;
    bolero::check!()
        .with_type::<(u16, u8, Vec<u8>)>()
        .for_each(|(at, length, bytes)| {
            let at = usize::from(*at) % GOOD.len();
            let end = GOOD.len().min(at + usize::from(*length) % 24);
            let damaged = [&GOOD.as_bytes()[..at], &text(bytes), &GOOD.as_bytes()[end..]].concat();
            if let Ok(raw) = serde_json::from_slice::<Box<RawValue>>(&damaged) {
                method::visit(&mut EveryParams(&raw));
            }
        });
}

#[test]
fn fuzz_path_uri() {
    bolero::check!().for_each(|bytes: &[u8]| {
        use std::os::unix::ffi::OsStrExt;
        // Any absolute path without NUL survives the wire.
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(bytes));
        if let Some(uri) = PathUri::from_path(path) {
            assert_eq!(
                uri.to_string().parse::<PathUri>().unwrap().as_os_str().as_bytes(),
                bytes
            );
        }
        // Any URI that is read names the same path when written.
        for prefix in ["", "file://", "file:/"] {
            let text = format!("{prefix}{}", String::from_utf8_lossy(bytes));
            if let Ok(uri) = text.parse::<PathUri>() {
                let again = uri.to_string().parse::<PathUri>().unwrap();
                assert_eq!(again.as_os_str(), uri.as_os_str());
            }
        }
    });
}
