//! A UDP socket that says when packets arrived, by the kernel, and with which TTL.

use crate::packet::MOST;
use crate::time::now;
use nix::cmsg_space;
use nix::sys::socket::sockopt::{
    Ipv4RecvTtl, Ipv4Ttl, Ipv6RecvHopLimit, Ipv6Ttl, RcvBuf, ReceiveTimestampns,
};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// How long nothing may come until the caller may look at something else.
pub const WAIT: Duration = Duration::from_millis(100);
/// Packets leave with this TTL, so that their receiver sees how many routers they passed (RFC 8762, section 4.2.1).
const TTL: i32 = 255;
/// Octets that the kernel keeps while nobody takes them.
const BUFFER: usize = 1 << 21;

/// A packet that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Its octets, at most [`MOST`] and some.
    pub packet: Vec<u8>,
    /// Who sent it.
    pub from: SocketAddr,
    /// When, in nanoseconds since 1970: the kernel's time, or, if it has none, ours.
    pub time: i64,
    /// The TTL or hop limit that was left.
    pub ttl: Option<u8>,
}

/// The socket.
#[derive(Debug)]
pub struct Socket(UdpSocket);

impl Socket {
    /// Opens one at an address.
    ///
    /// # Errors
    ///
    /// Those of the system: the address is another's, or not allowed.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_read_timeout(Some(WAIT))?;
        // Without these, or where there is no such protocol, times are ours, and the TTL is not known.
        let _ = setsockopt(&socket, ReceiveTimestampns, &true);
        let _ = setsockopt(&socket, Ipv4RecvTtl, &true);
        let _ = setsockopt(&socket, Ipv4Ttl, &TTL);
        let _ = setsockopt(&socket, RcvBuf, &BUFFER);
        if address.is_ipv6() {
            let _ = setsockopt(&socket, Ipv6RecvHopLimit, &true);
            let _ = setsockopt(&socket, Ipv6Ttl, &TTL);
        }
        Ok(Socket(socket))
    }

    /// Opens one for packets to and from one address alone.
    ///
    /// # Errors
    ///
    /// Those of the system: there is no way there.
    pub fn to(address: SocketAddr) -> io::Result<Self> {
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = Socket::bind(any)?;
        socket.0.connect(address)?;
        Ok(socket)
    }

    /// Where it is.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// What arrives within [`WAIT`]; none if nothing does.
    ///
    /// # Errors
    ///
    /// Those of the system, such as that nobody listens where packets were sent.
    pub fn receive(&self) -> io::Result<Option<Arrived>> {
        let mut packet = vec![0; MOST + 8];
        let mut space = cmsg_space!(TimeSpec, i32, i32);
        let mut parts = [IoSliceMut::new(&mut packet)];
        let flags = MsgFlags::empty();
        let received = recvmsg::<SockaddrStorage>(self.0.as_raw_fd(), &mut parts, Some(&mut space), flags);
        let (length, from, times) = match received {
            Ok(message) => {
                let mut times = (None, None);
                for control in message.cmsgs()? {
                    match control {
                        ControlMessageOwned::ScmTimestampns(time) => {
                            times.0 = time
                                .tv_sec()
                                .checked_mul(1_000_000_000)
                                .map(|seconds| seconds + time.tv_nsec());
                        }
                        ControlMessageOwned::Ipv4Ttl(ttl) | ControlMessageOwned::Ipv6HopLimit(ttl) => {
                            times.1 = u8::try_from(ttl).ok();
                        }
                        _ => {}
                    }
                }
                (message.bytes, message.address.as_ref().and_then(address_of), times)
            }
            Err(reason) => {
                let reason = io::Error::from(reason);
                let nothing =
                    [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut, io::ErrorKind::Interrupted];
                return if nothing.contains(&reason.kind()) { Ok(None) } else { Err(reason) };
            }
        };
        packet.truncate(length);
        let (time, ttl) = times;
        Ok(from.map(|from| Arrived { packet, from, time: time.unwrap_or_else(now), ttl }))
    }

    /// Sends a packet to an address; none: to the one that it is [for](Socket::to).
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn send(&self, packet: &[u8], to: Option<SocketAddr>) -> io::Result<()> {
        match to {
            Some(to) => self.0.send_to(packet, to).map(|_| ()),
            None => self.0.send(packet).map(|_| ()),
        }
    }
}

fn address_of(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let four = storage.as_sockaddr_in().map(|address| SocketAddr::V4(SocketAddrV4::from(*address)));
    four.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddr::V6(SocketAddrV6::from(*address))))
}
