//! Test packets (STAMP) along a segment, and those who answer them.
//!
//! Where several paths of equal cost lead to a router, each router on the way chooses by a packet's addresses and ports. A session's port is one with
//! which all of them choose the segment; it is found by asking each router's own table.
//!
//! # Test plan
//!
//! With the network: packets pass as many routers as the segment has, and those of a squeezed link are late on the segments that have
//! it alone.

use super::{Flow, Network};
use crate::answering::Answering;
use deltaline_stamp::PORT;
use deltaline_stamp::sender::{Outcome, Plan, measure};
use deltaline_stamp::socket::Socket;
use std::io;
use std::sync::atomic::AtomicBool;

/// Ports that are tried for a segment: of three ways one is missed once in 17,000 times.
const TRIES: usize = 24;

/// A session along a segment.
#[derive(Debug)]
pub struct Session(Socket);

impl Session {
    /// Opens one; none if the routers do not have this way at present.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn along(network: &Network, segment: &[usize]) -> io::Result<Option<Self>> {
        let (Some(&from), Some(&to)) = (segment.first(), segment.last()) else { return Ok(None) };
        let mut others = vec![];
        for _ in 0..TRIES {
            let end = (network.address(to), PORT).into();
            let socket = match network.inside(from, || Socket::to(end))? {
                Err(error) if error.kind() == io::ErrorKind::NetworkUnreachable => return Ok(None),
                socket => socket?,
            };
            let flow = Flow { from, to, ports: [socket.address()?.port(), PORT] };
            match network.way(&flow)? {
                Some(way) if way == segment => return Ok(Some(Session(socket))),
                // Kept open, so that the next has another port.
                _ => others.push(socket),
            }
        }
        Ok(None)
    }

    /// Sends test packets and takes their answers.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn measure(&self, plan: &Plan) -> io::Result<Outcome> {
        measure(&self.0, plan, None, &AtomicBool::new(false))
    }
}

/// Those who answer, one at each router, as long as this lives.
pub struct Reflectors(#[expect(dead_code, reason = "they live until they are dropped")] Vec<Answering>);

impl Reflectors {
    /// Starts them.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn start(network: &Network) -> io::Result<Self> {
        let at = |router: usize| (network.address(router), PORT).into();
        let started =
            (0..network.len()).map(|router| network.inside(router, || Answering::start(at(router)))?);
        started.collect::<io::Result<_>>().map(Reflectors)
    }
}
