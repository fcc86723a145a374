//! Packet sockets: the frames of our EtherType that an interface sees, and frames onto it.
//!
//! A filter in the kernel keeps all other frames from the socket, so that foreign traffic costs neither room in its
//! buffer nor a look of ours. It lets a frame pass whose EtherType is ours, behind at most two VLAN tags:
//!
//! ```text
//! byte 12: ours? ── no ── tag? ── byte 16: ours? ── no ── tag? ── byte 20: ours? ── no ── refused
//!            └─ yes ─────────────────────└─ yes ─────────────────────└─ yes ── passed, cut to the longest frame
//! ```
//!
//! What finds no room in the buffer is lost, and the kernel counts it: [`PacketSocket::take_drops`].
//!
//! # Test plan
//!
//! The filter, followed by hand, with frames of every depth of tags, too short ones and foreign ones. Over
//! the loopback interface, where the test may open it: foreign frames do not come, ours do, with the time of their coming; what
//! a full buffer could not hold is counted.

use deltaline_model::packet::identity::MAX_VLAN_TAGS;
use deltaline_model::wire::frame::{ETHERTYPE, MAX_FRAME_BYTES};
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::libc::{self, packet_mreq, tpacket_stats};
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{
    ControlMessageOwned, GetSockOpt, LinkAddr, MsgFlags, SetSockOpt, SockaddrStorage, bind, recvmsg,
};
use nix::{cmsg_space, getsockopt_impl, setsockopt_impl, sockopt_impl};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Room for frames that are not read yet, in bytes, where the system allows as much; some thousand frames.
const BUFFER: usize = 8 << 20;
/// The longest frame that comes, tags included, in bytes.
const LONGEST: usize = MAX_FRAME_BYTES + 4 * MAX_VLAN_TAGS;
/// EtherTypes of VLAN tags.
const TAGS: [u32; 2] = [0x8100, 0x88a8];

sockopt_impl!(
    /// Frames since the last look, and how many more found no room.
    Statistics,
    GetOnly,
    libc::SOL_PACKET,
    libc::PACKET_STATISTICS,
    tpacket_stats
);
sockopt_impl!(
    /// What the interface listens to while the socket is open.
    Membership,
    SetOnly,
    libc::SOL_PACKET,
    libc::PACKET_ADD_MEMBERSHIP,
    packet_mreq
);

/// An interface of the system.
pub(super) struct Link {
    address: SockaddrStorage,
    pub(super) is_up: bool,
    pub(super) has_carrier: bool,
}

impl Link {
    /// The interface of this name, if there is one.
    pub(super) fn find(name: &str) -> Option<Self> {
        links().find(|(found, _)| found == name).map(|(_, link)| link)
    }

    /// The names of all interfaces.
    pub(super) fn names() -> Vec<String> {
        links().map(|(name, _)| name).collect()
    }

    /// Its address, if it carries Ethernet frames.
    fn address(&self) -> Option<&LinkAddr> {
        let kinds = [libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK];
        self.address.as_link_addr().filter(|address| kinds.contains(&address.hatype()))
    }

    pub(super) fn is_ethernet(&self) -> bool {
        self.address().is_some()
    }

    fn bind(&self, socket: &Socket) -> io::Result<()> {
        let address = self.address().ok_or(Errno::EAFNOSUPPORT)?;
        Ok(bind(socket.as_raw_fd(), address)?)
    }
}

fn links() -> impl Iterator<Item = (String, Link)> {
    getifaddrs().into_iter().flatten().filter_map(|found| {
        let address = found.address.filter(|address| address.as_link_addr().is_some())?;
        let [is_up, has_carrier] =
            [InterfaceFlags::IFF_UP, InterfaceFlags::IFF_LOWER_UP].map(|flag| found.flags.contains(flag));
        Some((found.interface_name, Link { address, is_up, has_carrier }))
    })
}

/// A frame that came.
pub(super) struct Arrived {
    pub(super) bytes: Vec<u8>,
    /// When, by the system's clock, in nanoseconds since the Unix epoch.
    pub(super) time: Option<u64>,
}

/// Listens to the frames of our EtherType, to whomever they are addressed.
pub(super) struct PacketSocket(Socket);

impl PacketSocket {
    /// Opens it; [`Self::receive`] waits for so long at most.
    pub(super) fn open(link: &Link, wait: Duration) -> io::Result<Self> {
        Self::with_buffer(link, wait, BUFFER)
    }

    fn with_buffer(link: &Link, wait: Duration, buffer: usize) -> io::Result<Self> {
        let every = Protocol::from(i32::from((libc::ETH_P_ALL as u16).to_be()));
        let socket = Socket::new(Domain::PACKET, Type::RAW, Some(every))?;
        socket.attach_filter(&filter())?;
        link.bind(&socket)?;
        // Beyond the system's limit for all, if that is permitted.
        if RcvBufForce.set(&socket, &buffer).is_err() {
            socket.set_recv_buffer_size(buffer)?;
        }
        ReceiveTimestampns.set(&socket, &true)?;
        let listen_to_all = packet_mreq {
            mr_ifindex: link.address().map_or(0, LinkAddr::ifindex) as i32,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        Membership.set(&socket, &listen_to_all)?;
        // Until it was bound it heard every interface.
        socket.set_nonblocking(true)?;
        let opened = PacketSocket(socket);
        while opened.receive().is_ok() {}
        opened.0.set_nonblocking(false)?;
        opened.0.set_read_timeout(Some(wait))?;
        Ok(opened)
    }

    /// Waits for a frame.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] when none came in time; what the system says when the interface goes down.
    pub(super) fn receive(&self) -> io::Result<Arrived> {
        let mut bytes = vec![0; LONGEST];
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let mut space = cmsg_space!(libc::timespec);
        let message = recvmsg::<()>(self.0.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty())?;
        let time = message.cmsgs()?.find_map(|about| match about {
            ControlMessageOwned::ScmTimestampns(time) => u64::try_from(Duration::from(time).as_nanos()).ok(),
            _ => None,
        });
        let length = message.bytes;
        bytes.truncate(length);
        Ok(Arrived { bytes, time })
    }

    /// How many frames found no room in the buffer since this was last asked.
    pub(super) fn take_drops(&self) -> u64 {
        Statistics.get(&self.0).map_or(0, |statistics| statistics.tp_drops.into())
    }
}

/// Sends frames; none come.
pub(super) fn open_sender(link: &Link) -> io::Result<Socket> {
    let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
    link.bind(&socket)?;
    Ok(socket)
}

const LOAD: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
const IS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const GIVE: u32 = libc::BPF_RET | libc::BPF_K;

/// The filter for the kernel's machine: code, instructions to pass over if so and if not, operand. A load from beyond the
/// frame's end refuses it.
const FILTER: [(u32, u8, u8, u32); 12] = [
    (LOAD, 0, 0, 12),
    (IS, 9, 0, ETHERTYPE as u32),
    (IS, 1, 0, TAGS[0]),
    (IS, 0, 6, TAGS[1]),
    (LOAD, 0, 0, 16),
    (IS, 5, 0, ETHERTYPE as u32),
    (IS, 1, 0, TAGS[0]),
    (IS, 0, 2, TAGS[1]),
    (LOAD, 0, 0, 20),
    (IS, 1, 0, ETHERTYPE as u32),
    (GIVE, 0, 0, 0),
    (GIVE, 0, 0, LONGEST as u32),
];

fn filter() -> [SockFilter; 12] {
    FILTER.map(|(code, if_so, if_not, operand)| SockFilter::new(code as u16, if_so, if_not, operand))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// What the filter gives of a frame, in bytes.
    fn passed(frame: &[u8]) -> u32 {
        let (mut at, mut word) = (0, 0);
        loop {
            let (code, if_so, if_not, operand) = FILTER[at];
            at += 1;
            match code {
                LOAD => match frame.get(operand as usize..operand as usize + 2) {
                    Some(bytes) => word = u32::from(u16::from_be_bytes([bytes[0], bytes[1]])),
                    None => return 0,
                },
                IS => at += usize::from(if word == operand { if_so } else { if_not }),
                _ => return operand,
            }
        }
    }

    /// A frame of these EtherTypes, one behind the other.
    fn frame(types: &[u16]) -> Vec<u8> {
        let mut frame = vec![0x5a; 12];
        types.iter().for_each(|of| frame.extend([of.to_be_bytes(), [0, 7]].concat()));
        frame.resize(60, 0);
        frame
    }

    #[test]
    fn our_frames_pass_behind_two_tags_and_no_others() {
        let (q, ad) = (0x8100, 0x88a8);
        for tags in [&[][..], &[q], &[ad], &[q, q], &[q, ad], &[ad, q], &[ad, ad]] {
            assert_eq!(passed(&frame(&[tags, &[ETHERTYPE]].concat())), LONGEST as u32, "{tags:x?}");
            for other in [0x0800, 0x86dd, 0x88b4, 0x88b6, 0x08b5, 0] {
                assert_eq!(passed(&frame(&[tags, &[other, ETHERTYPE]].concat())), 0, "{tags:x?} {other:#x}");
            }
        }
        assert_eq!(passed(&frame(&[q, q, q, ETHERTYPE])), 0);
        for length in 0..14 {
            assert_eq!(passed(&frame(&[ETHERTYPE])[..length]), 0);
        }
    }

    /// To root alone, as a rule.
    fn loopback() -> Option<Link> {
        let link = Link::find("lo").unwrap();
        PacketSocket::open(&link, Duration::ZERO).is_ok().then_some(link)
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let Some(link) = loopback() else { return };
        let socket = PacketSocket::with_buffer(&link, Duration::from_millis(200), 0).unwrap();
        let sender = open_sender(&link).unwrap();
        // Of one that nobody else sends.
        let mut ours = frame(&[ETHERTYPE]);
        ours[..6].copy_from_slice(b"\x03drops");
        let foreign = frame(&[0x88b6]);
        for _ in 0..500 {
            sender.send(&ours).unwrap();
            sender.send(&foreign).unwrap();
        }
        let mut came = 0;
        while let Ok(arrived) = socket.receive() {
            // Other tests send ours, too.
            assert_ne!(arrived.bytes[12..14], [0x88, 0xb6]);
            came += u64::from(arrived.bytes == ours);
        }
        let dropped = socket.take_drops();
        // Seen as they leave and as they come.
        assert!(came < 1000 && came + dropped >= 1000, "{came} came, {dropped} were dropped");
        assert_eq!(socket.take_drops(), 0);
    }

    #[test]
    fn frames_have_the_time_of_their_coming() {
        let Some(link) = loopback() else { return };
        let socket = PacketSocket::open(&link, Duration::from_secs(5)).unwrap();
        let mut ours = frame(&[0x8100, ETHERTYPE]);
        ours[..6].copy_from_slice(b"\x03times");
        let now = || u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos()).unwrap();
        let before = now();
        open_sender(&link).unwrap().send(&ours).unwrap();
        let arrived =
            std::iter::repeat_with(|| socket.receive().unwrap()).find(|it| it.bytes[..6] == ours[..6]);
        let time = arrived.unwrap().time.unwrap();
        assert!((before..=now()).contains(&time), "{time}");
    }
}
