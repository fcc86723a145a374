//! A thread that answers test packets.
//!
//! # Test plan
//!
//! With the paths and networks: all test packets that are not lost are answered.

use deltaline_stamp::reflector::Reflector;
use deltaline_stamp::socket::Socket;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Answers as long as this lives.
pub(crate) struct Answering {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Answering {
    /// Starts at an address of this thread's namespace.
    pub(crate) fn start(at: SocketAddr) -> io::Result<Self> {
        let mut reflector = Reflector::new(Socket::bind(at)?, None);
        let ends = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ends);
        let thread = thread::spawn(move || {
            // What fails, such as an answer to where no way leads any more, is lost.
            while !until.load(Ordering::Relaxed) {
                let _ = reflector.answer_next();
            }
        });
        Ok(Answering { ends, thread: Some(thread) })
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // If it has panicked, it has ended.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
