//! The reply to `process/read`, written as it goes out: its chunks go straight into base64.

use std::io::Write;

use exec_process::ReadPage;
use exec_protocol::process::ReadResponse;

/// How a result without chunks begins, up to where they go.
const HEAD: &[u8] = br#"{"chunks":["#;

/// The whole line of the reply to `id`.
pub(super) fn write_read_line(id: &str, page: &ReadPage) -> Vec<u8> {
    let encoded = |bytes: &[u8]| base64_simd::STANDARD.encoded_length(bytes.len()) + 80;
    let chunks: usize = page.chunks.iter().map(|(_, _, bytes)| encoded(bytes)).sum();
    let mut line = Vec::with_capacity(chunks + id.len() + 320);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    line.extend_from_slice(id.as_bytes());
    line.extend_from_slice(br#","result":"#);
    line.extend_from_slice(HEAD);
    for (place, (seq, stream, bytes)) in page.chunks.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let stream = stream.as_str();
        // A Vec takes every write.
        let _ = write!(line, r#"{comma}{{"seq":{seq},"stream":"{stream}","chunk":""#);
        base64_simd::STANDARD.encode_append(bytes, &mut line);
        line.extend_from_slice(br#""}"#);
    }
    let rest = ReadResponse {
        chunks: Vec::new(),
        next_seq: page.next_seq,
        exited: page.exit_code.is_some(),
        exit_code: page.exit_code,
        closed: page.closed,
        failure: page.failure.clone(),
        sandbox_denied: false,
        first_seq: page.first_seq,
        evicted_bytes: Some(page.evicted_bytes),
        cause: page.cause,
        signal: page.signal.map(exec_process::Signal::name),
    };
    // Its own head is cut off: the chunks stand there already.
    let head = line.len();
    let _ = serde_json::to_writer(&mut line, &rest);
    line.drain(head..head + HEAD.len());
    line.extend_from_slice(b"}\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use exec_protocol::Stream;
    use exec_protocol::exit::ExitCause;
    use exec_protocol::process::ReadChunk;

    #[derive(serde::Deserialize)]
    struct Reply {
        jsonrpc: String,
        id: serde_json::Value,
        result: ReadResponse,
    }

    fn page() -> ReadPage {
        ReadPage {
            chunks: Vec::new(),
            next_seq: 1,
            exit_code: None,
            cause: None,
            signal: None,
            closed: false,
            failure: None,
            first_seq: None,
            evicted_bytes: 0,
        }
    }

    fn read_back(id: &str, page: &ReadPage) -> Reply {
        let line = write_read_line(id, page);
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        serde_json::from_slice(&line).unwrap()
    }

    #[test]
    fn the_line_reads_back_as_the_result() {
        let page = ReadPage {
            chunks: vec![
                (3, Stream::Stdout, Bytes::from_static(b"\0\xff\n")),
                (4, Stream::Stderr, Bytes::from_static(b"x")),
            ],
            next_seq: 5,
            exit_code: Some(3),
            cause: Some(ExitCause::Exited),
            closed: true,
            failure: Some("a \"quoted\" failure".to_owned()),
            first_seq: Some(2),
            evicted_bytes: 7,
            ..page()
        };
        let reply = read_back(r#""id""#, &page);
        assert_eq!((reply.jsonrpc.as_str(), reply.id), ("2.0", "id".into()));
        let chunk = |seq, stream, bytes: &[u8]| ReadChunk {
            seq,
            stream,
            chunk: bytes.into(),
        };
        let expected = ReadResponse {
            chunks: vec![
                chunk(3, Stream::Stdout, b"\0\xff\n"),
                chunk(4, Stream::Stderr, b"x"),
            ],
            next_seq: 5,
            exited: true,
            exit_code: Some(3),
            closed: true,
            failure: Some("a \"quoted\" failure".to_owned()),
            sandbox_denied: false,
            first_seq: Some(2),
            evicted_bytes: Some(7),
            cause: Some(ExitCause::Exited),
            signal: None,
        };
        assert_eq!(reply.result, expected);
    }

    #[test]
    fn a_process_that_has_said_nothing() {
        let result = read_back("-1", &page()).result;
        assert_eq!(
            (result.chunks.len(), result.next_seq, result.exited),
            (0, 1, false)
        );
    }
}
