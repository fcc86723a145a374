//! A connection to the figures' endpoint.

use deltaline::outside::converse;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

const PAGE: &str = "deltaline_intervals_total 7\n# EOF\n";
/// What an answer may take besides the page.
const HEAD: usize = 512;
/// Bytes of a request that are read at most: its head, and what comes with the last of it.
const READ: usize = 64 << 10;
/// So often is a connection asked whether it is over, at most.
const POLLS: usize = 1_000;

/// What a client says, all at once and a few bytes at a time: at most one answer of bounded length comes back, the page at most once, and of
/// a body without an end only the beginning is read.
pub fn http(bytes: &[u8]) {
    let answers = [usize::MAX, 7].map(|piece| {
        let said = Arc::new(Mutex::new(Said::default()));
        let client = Client { bytes: bytes.to_vec(), piece, said: said.clone() };
        let mut conversation = pin!(converse(client, PAGE));
        let mut context = Context::from_waker(Waker::noop());
        let is_over = (0..POLLS).any(|_| conversation.as_mut().poll(&mut context).is_ready());
        assert!(is_over, "a client that has gone is waited for");
        let said = said.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(said.read <= READ, "{} bytes were read", said.read);
        said.answer.clone()
    });
    for answer in &answers {
        let text = String::from_utf8_lossy(answer);
        assert!(answer.is_empty() || text.starts_with("HTTP/1."), "{text}");
        assert!(text.matches("HTTP/1.").count() <= 1 && answer.len() <= PAGE.len() + HEAD, "{text}");
        assert!(!text.contains(PAGE) || text.contains(" 200 OK"), "{text}");
    }
    // A beginning of HTTP/2 is refused with an answer or without, as it comes; but never in two ways.
    if answers.iter().all(|answer| !answer.is_empty()) {
        assert_eq!(answers[0].get(..12), answers[1].get(..12));
    }
}

#[derive(Default)]
struct Said {
    read: usize,
    answer: Vec<u8>,
}

/// A client that says these bytes in pieces, takes everything, and goes.
struct Client {
    bytes: Vec<u8>,
    piece: usize,
    said: Arc<Mutex<Said>>,
}

impl Read for Client {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = &self.bytes[said.read..];
        let count = rest.len().min(self.piece).min(buffer.remaining());
        buffer.put_slice(&rest[..count]);
        said.read += count;
        Poll::Ready(Ok(()))
    }
}

impl Write for Client {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).answer.extend(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
