//! Traffic: UDP flows in bursts, and TCP that takes what is left.
//!
//! Bursts are such that the router's queue overflows now and then; their sizes and distances, the packets' lengths and their
//! data are drawn by a seed.
//!
//! # Test plan
//!
//! With the path.

use deltaline_stamp::PORT;
use deltaline_stamp::sender::{Outcome, Plan, measure};
use deltaline_stamp::socket::Socket;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Ports of the sinks.
const UDP: u16 = 4000;
const TCP: u16 = 5001;
/// How long answers to test packets are waited for.
const PATIENCE: Duration = Duration::from_millis(250);
/// Most data of a UDP packet, in bytes.
const LONGEST: usize = 1200;

/// What is sent.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// For how long.
    pub lasts: Duration,
    /// UDP flows.
    pub flows: usize,
    /// Mean distance of a flow's bursts.
    pub distance: Duration,
    /// Most packets of a burst.
    pub burst: usize,
    /// TCP connections, which send as fast as they may.
    pub connections: usize,
    /// Sessions of test packets (STAMP), by their packets' distance.
    pub tests: Vec<Duration>,
    /// Of bursts and packets.
    pub seed: u64,
}

impl Default for Traffic {
    /// Twenty seconds of some 3,000 packets a second, of which the queues lose a few per cent.
    fn default() -> Self {
        Traffic {
            lasts: Duration::from_secs(20),
            flows: 16,
            distance: Duration::from_millis(80),
            burst: 24,
            connections: 1,
            tests: vec![],
            seed: 1,
        }
    }
}

impl Traffic {
    /// Sends all of it from this thread's namespace; says what came of the test packets.
    pub(crate) fn send(&self, to: Ipv4Addr) -> io::Result<Vec<Outcome>> {
        let end = Instant::now() + self.lasts;
        let streams: io::Result<Vec<TcpStream>> =
            (0..self.connections).map(|_| TcpStream::connect((to, TCP))).collect();
        let streams = streams?;
        thread::scope(|scope| {
            let senders: Vec<_> =
                streams.into_iter().map(|stream| scope.spawn(move || send_stream(stream, end))).collect();
            let tests: Vec<_> =
                (0..).zip(&self.tests).map(|each| scope.spawn(move || self.test(to, each))).collect();
            self.send_flows(to, end)?;
            let panicked = |_| io::Error::other("a sender has panicked");
            senders.into_iter().try_for_each(|sender| sender.join().map_err(panicked)?)?;
            tests.into_iter().map(|test| test.join().map_err(panicked)?).collect()
        })
    }

    fn test(&self, to: Ipv4Addr, (session, distance): (u16, &Duration)) -> io::Result<Outcome> {
        let count = (self.lasts.as_nanos() / distance.as_nanos().max(1)).min(u128::from(u32::MAX)) as u32;
        let plan = Plan { count, interval: *distance, length: 0, patience: PATIENCE, session };
        measure(&Socket::to((to, PORT).into())?, &plan, None, &AtomicBool::new(false))
    }

    fn send_flows(&self, to: Ipv4Addr, end: Instant) -> io::Result<()> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let sockets: io::Result<Vec<UdpSocket>> = (0..self.flows)
            .map(|_| {
                let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
                socket.connect((to, UDP))?;
                Ok(socket)
            })
            .collect();
        let sockets = sockets?;
        let mut data = [0; LONGEST];
        let mut due = Instant::now();
        while due < end {
            sleep(due.saturating_duration_since(Instant::now()));
            let Some(socket) = sockets.get(random.random_range(0..sockets.len().max(1))) else { break };
            for _ in 0..random.random_range(1..=self.burst.max(1)) {
                let length = random.random_range(40..=LONGEST);
                random.fill_bytes(&mut data[..40]);
                // A queue of the sender's own is full now and then, too: such packets were never sent.
                let _ = socket.send(&data[..length]);
            }
            let distance = self.distance.as_secs_f64() / self.flows.max(1) as f64;
            due += Duration::from_secs_f64(distance * -random.random_range(f64::EPSILON..1.0).ln());
        }
        Ok(())
    }
}

fn send_stream(mut stream: TcpStream, end: Instant) -> io::Result<()> {
    let mut random = StdRng::seed_from_u64(1);
    let mut data = [0; 16_384];
    stream.set_write_timeout(Some(Duration::from_millis(100)))?;
    while Instant::now() < end {
        random.fill_bytes(&mut data);
        match stream.write(&data) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Where traffic goes, as long as this lives.
pub(crate) struct Sinks(#[expect(dead_code, reason = "it lives until it is dropped")] UdpSocket);

impl Sinks {
    pub(crate) fn open(at: Ipv4Addr) -> io::Result<Self> {
        let listener = TcpListener::bind((at, TCP))?;
        thread::spawn(move || {
            // Ends with the namespace's last connection, or the program.
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { break };
                thread::spawn(move || while stream.read(&mut [0; 65_536]).is_ok_and(|read| read > 0) {});
            }
        });
        // Nobody reads what comes, which the kernel drops behind the recorder.
        Ok(Sinks(UdpSocket::bind((at, UDP))?))
    }
}
