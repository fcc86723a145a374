//! A recorder of an interface's packets, by a packet socket.
//!
//! # Test plan
//!
//! With the path: what it has not recorded, it counts.

use deltaline_capture::Packet;
use nix::ifaddrs::getifaddrs;
use nix::libc::{self, tpacket_stats};
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{ControlMessageOwned, GetSockOpt, MsgFlags, SetSockOpt, bind, recvmsg};
use nix::{cmsg_space, getsockopt_impl, sockopt_impl};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Room for frames that are not read yet, in bytes.
const BUFFER: usize = 64 << 20;
/// Bytes of a frame that are kept: all that identities are made of.
const KEPT: usize = 128;
/// How long a read waits until it is seen whether it is time to end.
const WAIT: Duration = Duration::from_millis(50);

sockopt_impl!(
    /// Frames since the last look, and how many more found no room.
    Statistics,
    GetOnly,
    libc::SOL_PACKET,
    libc::PACKET_STATISTICS,
    tpacket_stats
);

/// A thread that records.
pub(crate) struct Recorder {
    ends: Arc<AtomicBool>,
    thread: JoinHandle<(Vec<Packet>, u64)>,
}

impl Recorder {
    /// Records frames of an interface of this thread's namespace that are wanted.
    pub(crate) fn start(interface: &str, wants: fn(&[u8]) -> bool) -> io::Result<Self> {
        let socket = open(interface)?;
        let ends = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ends);
        Ok(Recorder { ends, thread: thread::spawn(move || record(&socket, wants, &until)) })
    }

    /// Lets it end when nothing more comes.
    pub(crate) fn stop(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }

    /// What was recorded, and how many frames found no room.
    pub(crate) fn end(self) -> (Vec<Packet>, u64) {
        self.stop();
        self.thread.join().unwrap_or_default()
    }
}

fn open(interface: &str) -> io::Result<Socket> {
    let every = Protocol::from(i32::from((libc::ETH_P_ALL as u16).to_be()));
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(every))?;
    let link = getifaddrs()?.filter(|found| found.interface_name == interface);
    let address = link.filter_map(|found| found.address).find(|address| address.as_link_addr().is_some());
    let address = address.ok_or_else(|| io::Error::other(format!("{interface}: no such interface")))?;
    bind(socket.as_raw_fd(), &address)?;
    RcvBufForce.set(&socket, &BUFFER)?;
    ReceiveTimestampns.set(&socket, &true)?;
    socket.set_read_timeout(Some(WAIT))?;
    Ok(socket)
}

fn record(socket: &Socket, wants: fn(&[u8]) -> bool, until: &AtomicBool) -> (Vec<Packet>, u64) {
    let mut packets = vec![];
    let mut bytes = [0; KEPT];
    loop {
        match receive(socket, &mut bytes) {
            Ok((timestamp, length)) => {
                let data = &bytes[..KEPT.min(length as usize)];
                if wants(data) {
                    packets.push(Packet { timestamp, length, interface: 0, data: data.to_vec() });
                }
            }
            // Whatever came before is recorded.
            Err(_) if until.load(Ordering::Relaxed) => break,
            Err(_) => {}
        }
    }
    (packets, Statistics.get(socket).map_or(0, |statistics| statistics.tp_drops.into()))
}

/// The next frame's time in nanoseconds since the Unix epoch, and its length.
fn receive(socket: &Socket, bytes: &mut [u8]) -> io::Result<(u64, u32)> {
    let mut parts = [IoSliceMut::new(bytes)];
    let mut space = cmsg_space!(libc::timespec);
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_TRUNC)?;
    let time = message.cmsgs()?.find_map(|about| match about {
        ControlMessageOwned::ScmTimestampns(time) => u64::try_from(Duration::from(time).as_nanos()).ok(),
        _ => None,
    });
    let time = time.ok_or_else(|| io::Error::other("a frame without its time"))?;
    Ok((time, message.bytes as u32))
}
