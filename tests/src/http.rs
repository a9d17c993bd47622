//! As much of HTTP as the tests of telemetry need: a GET, and a collector that is posted to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

use crate::server::{PATIENCE, lock};

/// Where something is served.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// On a port.
    Tcp(SocketAddr),
    /// On a unix socket.
    Unix(PathBuf),
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header lines.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answer {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Endpoint {
    /// Sends bytes as they are; what comes until the end.
    ///
    /// # Panics
    /// When nobody listens there, or nothing comes.
    #[must_use]
    pub fn exchange(&self, request: &[u8]) -> Answer {
        fn talk(mut stream: impl Read + Write, request: &[u8]) -> String {
            stream.write_all(request).expect("can be sent");
            let mut all = String::new();
            stream.read_to_string(&mut all).expect("an answer");
            all
        }
        let all = match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address).expect("somebody listens");
                stream.set_read_timeout(Some(PATIENCE)).expect("can be set");
                talk(stream, request)
            }
            Self::Unix(path) => {
                let stream = UnixStream::connect(path).expect("somebody listens");
                stream.set_read_timeout(Some(PATIENCE)).expect("can be set");
                talk(stream, request)
            }
        };
        let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Answer {
            status: status.unwrap_or_else(|| panic!("no HTTP: {all:?}")),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// GET, with this Accept header.
    #[must_use]
    pub fn get_as(&self, path: &str, accept: &str) -> Answer {
        self.exchange(
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n").as_bytes(),
        )
    }

    /// GET.
    #[must_use]
    pub fn get(&self, path: &str) -> Answer {
        self.get_as(path, "*/*")
    }
}

/// How a collector behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It takes everything.
    Takes,
    /// It takes connections, and never answers.
    Silent,
    /// It answers with this status.
    Refuses(u16),
    /// It answers with something that is not HTTP.
    Babbles,
}

/// What was posted to a collector.
#[derive(Debug, Clone)]
pub struct Post {
    /// The path.
    pub path: String,
    /// The header lines, in lower case.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

/// A collector on a port of its own.
#[derive(Debug)]
pub struct Collector {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<(Mutex<Vec<Post>>, Condvar)>,
}

impl Collector {
    /// Starts one.
    ///
    /// # Panics
    /// When no port is free.
    #[must_use]
    pub fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let to = Arc::clone(&shared);
        // The threads end with the test.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let to = Arc::clone(&to);
                thread::spawn(move || while receive(&stream, manner, &to).is_some() {});
            }
        });
        Self { address, shared }
    }

    /// For `OTEL_EXPORTER_OTLP_ENDPOINT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What came so far.
    #[must_use]
    pub fn posts(&self) -> Vec<Post> {
        lock(&self.shared.0).clone()
    }

    /// Looks at what came, at every arrival, until `look` finds something.
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    pub fn until<T>(&self, mut look: impl FnMut(&[Post]) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        let mut posts = lock(&self.shared.0);
        loop {
            if let Some(found) = look(&posts) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "not found in {} posts", posts.len());
            posts = self
                .shared
                .1
                .wait_timeout(posts, left)
                .unwrap_or_else(|e| e.into_inner())
                .0;
        }
    }
}

/// Receives one post; `None` at the end of the connection.
fn receive(stream: &TcpStream, manner: Manner, to: &(Mutex<Vec<Post>>, Condvar)) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    lock(&to.0).push(Post { path, head, body });
    to.1.notify_all();
    let mut out = stream;
    match manner {
        Manner::Takes => out
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            .ok(),
        Manner::Refuses(status) => {
            let answer = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n");
            out.write_all(answer.as_bytes()).ok()
        }
        Manner::Babbles => out.write_all(&[b'?'; 100_000]).ok().and(None),
        Manner::Silent => {
            // Until the other side gives up.
            let _ = reader.read(&mut [0]);
            None
        }
    }
}
