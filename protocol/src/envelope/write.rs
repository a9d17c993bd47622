//! Messages as text, appended to a buffer. The newline that ends a line is the caller's, since a batch joins
//! messages with commas. `"jsonrpc":"2.0"` is always there.

use serde::Serialize;
use serde_json::value::RawValue;

use super::Trace;
use crate::process::Stream;
use crate::{ProcessId, RpcError};

/// Appends a request.
///
/// # Errors
/// `params` or `trace` that cannot be written as JSON; `out` is as it was.
pub fn request(
    out: &mut Vec<u8>,
    id: &RawValue,
    method: &str,
    params: &impl Serialize,
    trace: Option<&Trace>,
) -> serde_json::Result<()> {
    all_or_nothing(out, |out| {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.get().as_bytes());
        out.push(b',');
        method_and_params(out, method, params, trace)
    })
}

/// Appends a notification.
///
/// # Errors
/// `params` or `trace` that cannot be written as JSON; `out` is as it was.
pub fn notification(
    out: &mut Vec<u8>,
    method: &str,
    params: &impl Serialize,
    trace: Option<&Trace>,
) -> serde_json::Result<()> {
    all_or_nothing(out, |out| {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
        method_and_params(out, method, params, trace)
    })
}

/// Appends the answer to a request.
///
/// # Errors
/// A `result` that cannot be written as JSON; `out` is as it was.
pub fn response(out: &mut Vec<u8>, id: &RawValue, result: &impl Serialize) -> serde_json::Result<()> {
    all_or_nothing(out, |out| {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.get().as_bytes());
        out.extend_from_slice(br#","result":"#);
        serde_json::to_writer(&mut *out, result)?;
        out.push(b'}');
        Ok(())
    })
}

/// Appends the answer to a request that failed, or to what was no request: then `id` is `None`, null on the wire.
pub fn error(out: &mut Vec<u8>, id: Option<&RawValue>, error: &RpcError) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.map_or("null", RawValue::get).as_bytes());
    out.extend_from_slice(br#","error":{"code":"#);
    out.extend_from_slice(error.code.to_string().as_bytes());
    out.extend_from_slice(br#","message":"#);
    string(out, &error.message);
    if let Some(data) = &error.data {
        out.extend_from_slice(br#","data":"#);
        out.extend_from_slice(data.to_string().as_bytes());
    }
    out.extend_from_slice(b"}}");
}

/// Appends a `process/output` notification: the bytes of
/// [`OutputNotification`](crate::process::OutputNotification), with the chunk encoded straight into `out`.
pub fn output(
    out: &mut Vec<u8>,
    process_id: &ProcessId,
    seq: u64,
    stream: Stream,
    offset: u64,
    bytes: &[u8],
) {
    let start = br#"{"jsonrpc":"2.0","method":"process/output","params":{"processId":"#;
    out.reserve(start.len() + process_id.len() + base64_simd::STANDARD.encoded_length(bytes.len()) + 120);
    out.extend_from_slice(start);
    string(out, process_id);
    out.extend_from_slice(br#","seq":"#);
    out.extend_from_slice(seq.to_string().as_bytes());
    out.extend_from_slice(br#","stream":""#);
    out.extend_from_slice(stream.as_str().as_bytes());
    out.extend_from_slice(br#"","offset":"#);
    out.extend_from_slice(offset.to_string().as_bytes());
    out.extend_from_slice(br#","chunk":""#);
    base64_simd::STANDARD.encode_append(bytes, out);
    out.extend_from_slice(br#""}}"#);
}

fn method_and_params(
    out: &mut Vec<u8>,
    method: &str,
    params: &impl Serialize,
    trace: Option<&Trace>,
) -> serde_json::Result<()> {
    out.extend_from_slice(br#""method":"#);
    string(out, method);
    out.extend_from_slice(br#","params":"#);
    serde_json::to_writer(&mut *out, params)?;
    if let Some(trace) = trace {
        out.extend_from_slice(br#","trace":"#);
        serde_json::to_writer(&mut *out, trace)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends a JSON string.
fn string(out: &mut Vec<u8>, text: &str) {
    // Neither a str nor a Vec can fail to be written.
    let start = out.len();
    if serde_json::to_writer(&mut *out, text).is_err() {
        out.truncate(start);
        out.extend_from_slice(br#""""#);
    }
}

/// Half a message must not stay in a buffer that others append to.
fn all_or_nothing(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    let start = out.len();
    let result = write(out);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
