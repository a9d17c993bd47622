//! As much of HTTP/1.1 as a scrape needs: one request a connection, its head read, its body ignored.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Headers a request may have; a browser sends about 20.
const MAX_HEADERS: usize = 64;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Without the query.
    pub(crate) path: String,
    /// The Accept headers, joined.
    pub(crate) accept: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Other,
}

/// Why a request is not one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BadRequest {
    /// The peer left without a word.
    Nothing,
    /// Its head is too large.
    TooLarge,
    /// It is not HTTP/1.
    Malformed,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: Status,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    HeadTooLarge,
    Unavailable,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
        }
    }
}

impl Response {
    /// A line of words.
    pub(crate) fn words(status: Status, words: &str) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{words}\n"),
        }
    }

    /// As it goes out. A HEAD is answered without the body.
    pub(crate) fn to_bytes(&self, to: Method) -> Vec<u8> {
        let allow = match self.status {
            Status::MethodNotAllowed => "Allow: GET, HEAD\r\n",
            _ => "",
        };
        let mut out = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{allow}Cache-Control: no-store\r\n\
             Connection: close\r\n\r\n",
            self.status.line(),
            self.content_type,
            self.body.len(),
        )
        .into_bytes();
        if to != Method::Head {
            out.extend_from_slice(self.body.as_bytes());
        }
        out
    }
}

/// Reads the head of a request, of so many bytes at most.
pub(crate) async fn read(
    from: &mut (impl AsyncRead + Unpin),
    max_bytes: usize,
) -> io::Result<Result<Request, BadRequest>> {
    let mut head = Vec::with_capacity(1024);
    loop {
        match parse(&head) {
            Ok(Some(request)) => return Ok(Ok(request)),
            Ok(None) if head.len() >= max_bytes => return Ok(Err(BadRequest::TooLarge)),
            Ok(None) => {}
            Err(bad) => return Ok(Err(bad)),
        }
        let room = (max_bytes - head.len()) as u64;
        if (&mut *from).take(room).read_buf(&mut head).await? == 0 {
            let bad = if head.is_empty() {
                BadRequest::Nothing
            } else {
                BadRequest::Malformed
            };
            return Ok(Err(bad));
        }
    }
}

/// The request a head is, once it is whole.
fn parse(head: &[u8]) -> Result<Option<Request>, BadRequest> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(BadRequest::TooLarge),
        Err(_) => return Err(BadRequest::Malformed),
    }
    let method = match request.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        _ => Method::Other,
    };
    let target = request.path.unwrap_or_default();
    // A proxy asks with the whole URL.
    let path = match target.strip_prefix("http://") {
        Some(rest) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => target,
    };
    let path = path.split('?').next().unwrap_or_default().to_owned();
    let accept: Vec<&str> = request
        .headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("accept"))
        .filter_map(|header| std::str::from_utf8(header.value).ok())
        .collect();
    Ok(Some(Request {
        method,
        path,
        accept: accept.join(","),
    }))
}

/// Sends a response, which is the last thing sent.
pub(crate) async fn send(to: &mut (impl AsyncWrite + Unpin), response: &[u8]) -> io::Result<()> {
    to.write_all(response).await?;
    to.shutdown().await
}

/// Reads what the peer still sends, so many bytes at most: closing on unread bytes would reset the connection, and
/// the response with it.
pub(crate) async fn await_end(from: &mut (impl AsyncRead + Unpin), max_unread: usize) -> io::Result<()> {
    let mut unread = vec![0; 1024];
    let mut left = max_unread;
    while left > 0 {
        match from.read(&mut unread).await? {
            0 => break,
            count => left = left.saturating_sub(count),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::ReadBuf;

    fn request(method: Method, path: &str, accept: &str) -> Request {
        Request {
            method,
            path: path.into(),
            accept: accept.into(),
        }
    }

    #[test]
    fn heads_are_read() {
        for (head, expected) in [
            ("", Ok(None)),
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n", Ok(None)),
            (
                "GET /metrics?a=b HTTP/1.1\r\nHost: x\r\naccept: a\r\nAccept: b;q=1\r\n\r\nbody",
                Ok(Some(request(Method::Get, "/metrics", "a,b;q=1"))),
            ),
            (
                "HEAD http://h:1/livez HTTP/1.0\r\n\r\n",
                Ok(Some(request(Method::Head, "/livez", ""))),
            ),
            (
                "GET http://h HTTP/1.0\r\n\r\n",
                Ok(Some(request(Method::Get, "/", ""))),
            ),
            (
                "POST / HTTP/1.1\r\n\r\n",
                Ok(Some(request(Method::Other, "/", ""))),
            ),
            ("PRI * HTTP/2.0\r\n\r\n", Err(BadRequest::Malformed)),
            ("\x16\x03\x01", Err(BadRequest::Malformed)),
        ] {
            assert_eq!(parse(head.as_bytes()), expected, "{head:?}");
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(parse(many.as_bytes()), Err(BadRequest::TooLarge));
    }

    #[tokio::test]
    async fn a_head_is_bounded_and_may_come_in_pieces() {
        let read_all = async |bytes: &[u8], max| read(&mut &bytes[..], max).await.unwrap();
        let head = b"GET /metrics HTTP/1.1\r\n\r\n";
        assert_eq!(
            read_all(head, head.len()).await,
            Ok(request(Method::Get, "/metrics", ""))
        );
        assert_eq!(read_all(head, head.len() - 1).await, Err(BadRequest::TooLarge));
        assert_eq!(read_all(b"", 10).await, Err(BadRequest::Nothing));
        assert_eq!(read_all(b"GET /", 10).await, Err(BadRequest::Malformed));
        let (mut near, mut far) = tokio::io::duplex(3);
        let writing = async {
            far.write_all(head).await.unwrap();
            far
        };
        let (request, _far) = tokio::join!(read(&mut near, 1000), writing);
        assert_eq!(request.unwrap().unwrap().path, "/metrics");
    }

    proptest! {
        /// Whatever bytes come, in whatever pieces: an answer, and no more read than is allowed.
        #[test]
        fn any_bytes_are_a_request_or_are_refused(
            bytes in prop_oneof![vec(any::<u8>(), 0..200), text()],
            max_bytes in 1_usize..300,
        ) {
            let mut whole = &bytes[..];
            let mut pieces = OneByOne(&bytes);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let read_whole = runtime.block_on(read(&mut whole, max_bytes)).unwrap();
            let read_pieces = runtime.block_on(read(&mut pieces, max_bytes)).unwrap();
            prop_assert!(bytes.len() - whole.len() <= max_bytes);
            prop_assert!(bytes.len() - pieces.0.len() <= max_bytes);
            prop_assert_eq!(read_whole.is_ok(), read_pieces.is_ok());
            if let (Ok(whole), Ok(pieces)) = (read_whole, read_pieces) {
                prop_assert_eq!(whole, pieces);
            }
        }
    }

    /// Something like a request.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let line = "(GET|HEAD|POST|BREW) (/metrics|/livez|http://h/x|[ -~]{0,20}) HTTP/(1.1|1.0|2)";
        let header = "(Accept|accept|X): ?[ -~]{0,20}";
        (line, vec(header, 0..5), "(\r\n\r\n|\r\n|\n\n|)").prop_map(|(line, headers, end)| {
            let mut text = line;
            for header in headers {
                text.push_str("\r\n");
                text.push_str(&header);
            }
            text.push_str(&end);
            text.into_bytes()
        })
    }

    /// Comes a byte at a time.
    struct OneByOne<'a>(&'a [u8]);

    impl AsyncRead for OneByOne<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if let Some((first, rest)) = self.0.split_first() {
                buffer.put_slice(&[*first]);
                self.0 = rest;
            }
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_head_request_is_answered_with_the_length_alone() {
        let response = Response::words(Status::MethodNotAllowed, "no");
        let text = String::from_utf8(response.to_bytes(Method::Head)).unwrap();
        assert!(text.contains("Content-Length: 3\r\n") && text.contains("Allow: GET, HEAD\r\n"));
        assert!(text.ends_with("\r\n\r\n"), "{text}");
    }
}
