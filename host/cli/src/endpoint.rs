//! The figures' endpoint: one page over HTTP, served on a thread of its own.
//!
//! The page is a text that the measuring side replaces, so that no connection keeps it waiting. Whoever connects may do
//! anything at all: a connection is for one request, of [`HEADERS`] bytes at most, and is over after [`PATIENCE`], be it idle,
//! slow or not reading; a body is never read. Of [`CONNECTIONS`], the oldest makes room for a new one: a scraper is
//! answered while others hold theirs open. The cost of each connection, and of all together, is bounded.
//!
//! # Test plan
//!
//! While a board is read (`tests/prometheus.rs`): thousands of idle, slow and malformed connections, requests of endless
//! lines and bodies; the intervals are the same and the page is served all the time. Here: a socket that cannot accept
//! is said to be lost. `sim/hostile`: a connection that says anything, in pieces.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::net::TcpListener as Listener;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// Where the page is.
const PATH: &str = "/metrics";
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
/// Most connections at a time.
const CONNECTIONS: usize = 64;
/// Most bytes of a request line and its header fields.
const HEADERS: usize = 16 << 10;
/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait when a connection cannot be accepted, such as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);
/// How often in a row it is tried.
const TRIES: u32 = 100;

/// The text that is served.
#[derive(Clone, Default)]
pub(crate) struct Page(Arc<Mutex<Bytes>>);

impl Page {
    pub(crate) fn of(text: &'static str) -> Self {
        Page(Arc::new(Mutex::new(text.into())))
    }

    fn get(&self) -> Bytes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, text: Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

/// A page that is being served.
pub(crate) struct Endpoint {
    address: SocketAddr,
    page: Page,
    /// Ends only with the reason why nothing is served any more.
    thread: Option<JoinHandle<io::Error>>,
}

impl Endpoint {
    /// Begins to serve an empty page.
    pub(crate) fn serve(address: SocketAddr) -> io::Result<Self> {
        Self::start(TcpListener::bind(address)?)
    }

    fn start(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let page = Page::default();
        let served = page.clone();
        let thread = thread::Builder::new().name("endpoint".into());
        let thread = thread.spawn(move || accept_all(&runtime, listener, &served))?;
        Ok(Endpoint { address, page, thread: Some(thread) })
    }

    /// Where it is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the page.
    pub(crate) fn publish(&self, text: String) {
        self.page.set(text.into());
    }

    /// Why the page is not served any more, once.
    pub(crate) fn lost(&mut self) -> Option<String> {
        let thread = self.thread.take_if(|thread| thread.is_finished())?;
        Some(thread.join().map_or_else(|_| "its thread has broken down".into(), |reason| reason.to_string()))
    }
}

fn accept_all(runtime: &Runtime, listener: TcpListener, page: &Page) -> io::Error {
    runtime.block_on(async {
        let listener = match Listener::from_std(listener) {
            Ok(listener) => listener,
            Err(reason) => return reason,
        };
        let mut open: VecDeque<AbortHandle> = VecDeque::new();
        let mut failures = 0;
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    failures = 0;
                    open.retain(|connection| !connection.is_finished());
                    if open.len() == CONNECTIONS
                        && let Some(oldest) = open.pop_front()
                    {
                        oldest.abort();
                    }
                    let connection =
                        tokio::spawn(timeout(PATIENCE, converse(TokioIo::new(stream), page.clone())));
                    open.push_back(connection.abort_handle());
                }
                Err(reason) if failures == TRIES => return reason,
                Err(_) => {
                    failures += 1;
                    sleep(PAUSE).await;
                }
            }
        }
    })
}

/// One request and its answer. A client that does not keep to the protocol, or goes away, is no error of ours.
pub(crate) async fn converse(connection: impl Read + Write + Unpin + 'static, page: Page) {
    let service = service_fn(|request| std::future::ready(Ok::<_, Infallible>(answer(&request, page.get()))));
    let mut server = http1::Builder::new();
    server.keep_alive(false).max_buf_size(HEADERS);
    let _ = server.serve_connection(connection, service).await;
}

fn answer(request: &Request<Incoming>, page: Bytes) -> Response<Full<Bytes>> {
    if request.uri().path() != PATH {
        let mut response = Response::new("Deltaline: the figures are at /metrics\n".into());
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        return response;
    }
    let mut response = Response::new(page.into());
    response.headers_mut().insert(CONTENT_TYPE, OPEN_METRICS);
    response
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::OwnedFd;

    #[test]
    fn an_endpoint_that_cannot_accept_is_lost() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(b"come in", socket.local_addr().unwrap()).unwrap();
        let mut endpoint = Endpoint::start(TcpListener::from(OwnedFd::from(socket))).unwrap();
        assert_eq!(endpoint.lost(), None);
        let reason = loop {
            match endpoint.lost() {
                Some(reason) => break reason,
                None => thread::sleep(PAUSE),
            }
        };
        assert!(reason.contains("not supported"), "{reason}");
        assert_eq!(endpoint.lost(), None);
    }
}
