//! Answers scrapes, on a thread and a runtime of its own.
//!
//! Not in the daemon's runtime: that has one thread, and a page of some hundred lines, written for a scrape, would
//! stand in the way of a command. Here a scrape reads the counts, which those who count do not wait for. A peer that is
//! silent holds up nobody; one that is slow, or is many, holds up other scrapes at most, and not for long.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::reader::MetricReader;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use super::address::{BindError, Bound, SocketFile};
use super::exposition::{self, Format};
use super::http::{self, BadRequest, Method, Request, Response, Status};
use super::places::{Places, Standing};
use crate::reader::SharedReader;

/// Bounds of the endpoint.
#[derive(Debug, Clone)]
pub struct ScrapeLimits {
    /// Connections served at once; one more is waited with, and others in the kernel's queue, which is bounded.
    pub connections: usize,
    /// How long one of those may ask for nothing while another wants its place.
    pub idle: Duration,
    /// Bytes of a request's head.
    pub request_bytes: usize,
    /// From a connection's acceptance to its end.
    pub exchange: Duration,
    /// Pause after a connection that could not be accepted, for want of descriptors mostly.
    pub accept_pause: Duration,
    /// How long the daemon's event loop may take to say that it lives.
    pub liveness: Duration,
}

/// What is shown.
pub(crate) struct Exposed {
    pub(crate) reader: SharedReader,
    /// Whether the daemon serves its client.
    pub(crate) ready: Arc<AtomicBool>,
    /// The daemon's event loop.
    pub(crate) event_loop: Handle,
    pub(crate) limits: ScrapeLimits,
}

/// Serves until what is returned is dropped.
pub(crate) fn start(bound: Bound, exposed: Exposed) -> Result<Serving, BindError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(BindError::Thread)?;
    let (listener, file) = match bound {
        Bound::Tcp(listener) => (Listening::Tcp(listener), None),
        Bound::Unix(listener, file) => (Listening::Unix(listener), Some(file)),
    };
    thread::Builder::new()
        .name("metrics".to_owned())
        .spawn(move || {
            let exposed = Arc::new(exposed);
            if let Err(error) = runtime.block_on(serve(listener, &exposed)) {
                tracing::warn!(kind = ?error.kind(), "metrics are not served");
            }
        })
        .map_err(BindError::Thread)?;
    Ok(Serving { _file: file })
}

/// The endpoint serves while this is there; its thread ends with the process.
#[derive(Debug)]
pub(crate) struct Serving {
    _file: Option<SocketFile>,
}

enum Listening {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

async fn serve(listener: Listening, exposed: &Arc<Exposed>) -> io::Result<()> {
    match listener {
        Listening::Tcp(listener) => {
            let listener = TcpListener::from_std(listener)?;
            accept(exposed, async || {
                listener.accept().await.map(|(stream, _)| stream)
            })
            .await
        }
        Listening::Unix(listener) => {
            let listener = UnixListener::from_std(listener)?;
            accept(exposed, async || {
                listener.accept().await.map(|(stream, _)| stream)
            })
            .await
        }
    }
}

async fn accept<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    exposed: &Arc<Exposed>,
    next: impl AsyncFn() -> io::Result<S>,
) -> io::Result<()> {
    let places = Places::new(exposed.limits.connections, exposed.limits.idle);
    loop {
        match next().await {
            Ok(stream) => {
                let exposed = Arc::clone(exposed);
                let serve = |standing| async move {
                    // A peer that takes too long, or is gone, is let go.
                    let _ = timeout(exposed.limits.exchange, exchange(stream, &standing, &exposed)).await;
                };
                places.admit(serve).await;
            }
            Err(_) => sleep(exposed.limits.accept_pause).await,
        }
    }
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    standing: &Standing,
    exposed: &Exposed,
) -> io::Result<()> {
    let max_bytes = exposed.limits.request_bytes;
    let request = http::read(&mut stream, max_bytes).await?;
    standing.busy();
    let (response, method) = match request {
        Ok(request) => (answer(&request, exposed).await, request.method),
        Err(BadRequest::Nothing) => return Ok(()),
        Err(BadRequest::TooLarge) => (
            Response::words(Status::HeadTooLarge, "request too large"),
            Method::Other,
        ),
        Err(BadRequest::Malformed) => (
            Response::words(Status::BadRequest, "not an HTTP/1 request"),
            Method::Other,
        ),
    };
    http::send(&mut stream, &response.to_bytes(method)).await?;
    standing.idle();
    http::await_end(&mut stream, max_bytes).await
}

async fn answer(request: &Request, exposed: &Exposed) -> Response {
    let path = request.path.as_str();
    if !matches!(path, "/metrics" | "/livez" | "/readyz") {
        return Response::words(
            Status::NotFound,
            "not found: there are /metrics, /livez and /readyz",
        );
    }
    if request.method == Method::Other {
        return Response::words(Status::MethodNotAllowed, "method not allowed: GET or HEAD");
    }
    match path {
        "/metrics" => metrics(exposed, Format::accepted(&request.accept)),
        "/livez" if is_alive(exposed).await => Response::words(Status::Ok, "ok"),
        "/livez" => Response::words(Status::Unavailable, "the event loop does not answer"),
        _ if exposed.ready.load(Ordering::Relaxed) => Response::words(Status::Ok, "ok"),
        _ => Response::words(Status::Unavailable, "no client is served"),
    }
}

fn metrics(exposed: &Exposed, format: Format) -> Response {
    let mut metrics = ResourceMetrics::default();
    match exposed.reader.collect(&mut metrics) {
        Ok(()) => Response {
            status: Status::Ok,
            content_type: format.content_type(),
            body: exposition::write(&metrics, format),
        },
        Err(_) => Response::words(Status::Unavailable, "metrics are off"),
    }
}

/// Whether the daemon's event loop still takes turns.
async fn is_alive(exposed: &Exposed) -> bool {
    let turn = exposed.event_loop.spawn(async {});
    matches!(timeout(exposed.limits.liveness, turn).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::{Builder, Runtime};

    fn event_loop() -> Runtime {
        Builder::new_current_thread().enable_time().build().unwrap()
    }

    fn exposed(event_loop: &Runtime) -> Exposed {
        Exposed {
            reader: SharedReader::default(),
            ready: Arc::new(AtomicBool::new(false)),
            event_loop: event_loop.handle().clone(),
            limits: ScrapeLimits {
                connections: 1,
                idle: Duration::from_millis(10),
                request_bytes: 1000,
                exchange: Duration::from_secs(10),
                accept_pause: Duration::from_millis(1),
                liveness: Duration::from_millis(10),
            },
        }
    }

    fn status(exposed: &Exposed, method: Method, path: &str) -> Status {
        let request = Request {
            method,
            path: path.to_owned(),
            accept: String::new(),
        };
        let scraper = event_loop();
        scraper.block_on(answer(&request, exposed)).status
    }

    #[test]
    fn a_daemon_that_is_stuck_or_gone_does_not_live() {
        let stuck = event_loop();
        let exposed = exposed(&stuck);
        assert_eq!(status(&exposed, Method::Get, "/livez"), Status::Unavailable);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let turns = thread::spawn(move || {
            let _ = stuck.block_on(stopped);
        });
        while status(&exposed, Method::Get, "/livez") != Status::Ok {}
        stop.send(()).unwrap();
        // The loop goes with its thread.
        turns.join().unwrap();
        assert_eq!(status(&exposed, Method::Get, "/livez"), Status::Unavailable);
    }

    #[test]
    fn it_is_ready_while_it_is_told_so() {
        let event_loop = event_loop();
        let exposed = exposed(&event_loop);
        assert_eq!(status(&exposed, Method::Get, "/readyz"), Status::Unavailable);
        exposed.ready.store(true, Ordering::Relaxed);
        assert_eq!(status(&exposed, Method::Head, "/readyz"), Status::Ok);
        assert_eq!(
            status(&exposed, Method::Other, "/readyz"),
            Status::MethodNotAllowed
        );
        assert_eq!(status(&exposed, Method::Other, "/nothing"), Status::NotFound);
        // Its provider is gone, or never was.
        assert_eq!(status(&exposed, Method::Get, "/metrics"), Status::Unavailable);
    }
}
