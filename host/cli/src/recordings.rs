//! The two recordings that a command compares, and which of their packets it takes.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Beginning, Input, check_standard_input, is_standard_input, name};
use clap::{Args, ValueEnum};
use deltaline_capture::filter::Filter;
use deltaline_capture::matching::Observations;
use deltaline_capture::segments::{Lengths, Segmentation};
use deltaline_capture::{Direction, Selection, blank_identification};
use deltaline_model::packet::identity::WINDOW_BYTES;
use deltaline_model::wire::frame::Role;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

#[derive(Debug, Args)]
pub(crate) struct Recordings {
    /// Capture of the sender, the point that packets pass first: pcap or pcapng, plain, gzip or Zstandard; - is standard
    /// input
    pub(crate) sender: PathBuf,
    /// Capture of the receiver
    pub(crate) receiver: PathBuf,
    /// Only packets that match, in tcpdump's syntax: host, net, port, proto, tcp, udp, ip6, vlan and their like with and, or,
    /// not; such as 'src net 10.1.0.0/16 and udp'. VLAN and MPLS tags are skipped
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::new)]
    filter: Option<Filter>,
    /// Only packets that went this way through the sender's interface, and the other way through the receiver's; of
    /// recordings that say so: Linux cooked (tcpdump -i any) and pcapng with flags
    #[arg(long, value_enum)]
    direction: Option<Way>,
    /// Take the innermost packet of those in tunnels: GTP-U, VXLAN, GRE, IP in IP, PPPoE. The filter sees the outer one
    #[arg(long)]
    inner: bool,
    /// Cut TCP packets that are longer than the path carries, as network cards do (TSO, GRO): to the longest packet of the
    /// other recording, or to what the hosts announced when they connected
    #[arg(long, conflicts_with = "nat")]
    split: bool,
    /// Match packets ignoring what a NAT between the points changes: addresses, ports, ICMP identifiers
    #[arg(long)]
    nat: bool,
    #[arg(skip)]
    segmentation: OnceLock<Arc<Segmentation>>,
    /// Read a truncated or damaged capture up to the bad record, instead of refusing it
    #[arg(long)]
    keep_going: bool,
}

/// By what packets are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownBy {
    /// All that no router changes.
    All,
    /// The same without addresses, ports and ICMP identifiers.
    AllButAddresses,
    /// The same without IPv4's identification and "don't fragment".
    AllButIdentification,
}

/// Which way the measured packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Out of the sender's interface and into the receiver's: recordings of the two hosts themselves
    Out,
    /// Into the sender's interface and out of the receiver's: recordings on both sides of what lies between
    In,
}

impl Recordings {
    /// All packets of two captures.
    #[cfg(feature = "lab")]
    pub(crate) fn whole(sender: &Path, receiver: &Path) -> Self {
        let (sender, receiver) = (sender.into(), receiver.into());
        Recordings {
            sender,
            receiver,
            filter: None,
            direction: None,
            inner: false,
            split: false,
            nat: false,
            segmentation: OnceLock::new(),
            keep_going: false,
        }
    }

    /// Where an end's recording is.
    pub(crate) fn path(&self, role: Role) -> &Path {
        match role {
            Role::Sender => &self.sender,
            Role::Receiver => &self.receiver,
        }
    }

    /// What an end's recording is called.
    pub(crate) fn name(&self, role: Role) -> String {
        name(self.path(role))
    }

    /// Refuses standard input for both.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        check_standard_input([self.sender.as_path(), &self.receiver])
    }

    /// Refuses what makes packets lose their addresses, where flows are told by them.
    pub(crate) fn check_addresses(&self) -> Result<(), Failure> {
        match self.nat {
            true => Err(Failure::new(
                Exit::Usage,
                "--nat ignores the addresses and ports by which flows are told; leave it out, or use `deltaline truth`",
            )),
            false => Ok(()),
        }
    }

    /// What is to be said of two recordings that are the same file, or copies, from which nothing is selected that would tell its ends.
    pub(crate) fn remark_on_same(&self) -> Option<String> {
        if self.direction.is_some() {
            return None;
        }
        let [sender, receiver] = [&self.sender, &self.receiver].map(|path| fs::canonicalize(path).ok());
        let what = if sender.is_some() && sender == receiver {
            format!("{} is given for both ends", self.name(Role::Sender))
        } else if are_copies(&self.sender, &self.receiver) {
            let [sender, receiver] = [Role::Sender, Role::Receiver].map(|role| self.name(role));
            format!(
                "{sender} and {receiver} are as long and begin with the same bytes, as copies of one recording do"
            )
        } else {
            return None;
        };
        Some(format!(
            "{what}, so that every delay is 0; name the receiver's capture, or with --direction which way packets of one capture went"
        ))
    }

    /// Whether packets in tunnels are taken out of them.
    pub(crate) fn takes_inner(&self) -> bool {
        self.inner
    }

    /// Whether packets that are too long are cut.
    pub(crate) fn splits(&self) -> bool {
        self.split
    }

    /// Whether packets are known without their addresses.
    pub(crate) fn ignores_addresses(&self) -> bool {
        self.nat
    }

    /// Opens an end's recording, of which only the wanted packets come. To split packets, both recordings are read before.
    pub(crate) fn open(&self, role: Role) -> Result<Input, Failure> {
        let segmentation = match (self.split, self.segmentation.get()) {
            (false, _) => None,
            (true, Some(known)) => Some(Arc::clone(known)),
            (true, None) => {
                self.must_be_files("--split")?;
                let lengths = |role| {
                    let mut recording = self.read(role, self.selection(role))?;
                    let mut lengths = Lengths::default();
                    while let Some(packet) = recording.next_packet()? {
                        lengths.take(packet);
                    }
                    Ok::<_, Failure>(lengths)
                };
                let known = Segmentation::new(&lengths(Role::Sender)?, &lengths(Role::Receiver)?);
                Some(Arc::clone(self.segmentation.get_or_init(|| Arc::new(known))))
            }
        };
        let selection = Selection { segmentation, translated: self.nat, ..self.selection(role) };
        self.read(role, selection)
    }

    fn read(&self, role: Role, selection: Selection) -> Result<Input, Failure> {
        Ok(Input::open(self.path(role), self.keep_going)?.select(selection))
    }

    /// Both recordings' packets as they are known by these features, of each at most so many.
    pub(crate) fn beginnings(&self, known_by: KnownBy, most: usize) -> Result<[Observations; 2], Failure> {
        let read = |role| {
            let translated = self.nat || known_by == KnownBy::AllButAddresses;
            let mut recording = self.read(role, Selection { translated, ..self.selection(role) })?;
            let mut observations = Observations::default();
            let mut frame = vec![];
            while observations.timestamps().len() < most
                && let Some(packet) = recording.next_packet()?
            {
                frame.clear();
                frame.extend(packet.data);
                if known_by == KnownBy::AllButIdentification {
                    blank_identification(&mut frame);
                }
                observations.push(packet.timestamp, &frame);
            }
            Ok::<_, Failure>(observations)
        };
        Ok([read(Role::Sender)?, read(Role::Receiver)?])
    }

    /// Which packets are wanted.
    fn selection(&self, role: Role) -> Selection {
        let direction = self.direction.map(|way| match (way, role) {
            (Way::Out, Role::Sender) | (Way::In, Role::Receiver) => Direction::Out,
            (Way::Out, Role::Receiver) | (Way::In, Role::Sender) => Direction::In,
        });
        Selection { filter: self.filter.clone(), direction, inner: self.inner, ..Selection::default() }
    }

    /// Whether both recordings can be read a second time.
    pub(crate) fn are_files(&self) -> bool {
        [Role::Sender, Role::Receiver].iter().all(|role| {
            let path = self.path(*role);
            !is_standard_input(path) && fs::metadata(path).is_ok_and(|about| about.is_file())
        })
    }

    /// Refuses pipes where these options read recordings a second time.
    pub(crate) fn must_be_files(&self, options: &str) -> Result<(), Failure> {
        for path in [&self.sender, &self.receiver] {
            // What is missing is reported when it is opened.
            if is_standard_input(path) || fs::metadata(path).is_ok_and(|about| !about.is_file()) {
                let name = name(path);
                let message = format!(
                    "{name}: is not a regular file, but {options} read a capture twice; save it to a file"
                );
                return Err(Failure::new(Exit::Input, message).of_file(name));
            }
        }
        Ok(())
    }
}

/// What is to be said of a recording of which `taken` packets were taken, and the others passed over.
pub(crate) fn remark_on_nothing_wanted(path: &Path, taken: u64, passed_over: u64) -> Option<String> {
    (taken == 0).then(|| match passed_over {
        0 => format!("{}: the capture has no packets; check that the recording ran, and its filter", path.display()),
        _ => format!(
            "{}: none of its {passed_over} packets is wanted by --filter and --direction; check which way the traffic goes, \
             and that its addresses are the same at both ends",
            path.display()
        ),
    })
}

/// What is to be said of a recording whose recorder cut packets within their headers.
pub(crate) fn remark_on_cut(path: &dyn Display, cut: u64, packets: u64) -> Option<String> {
    (cut > 0).then(|| {
        format!(
            "{path}: {cut} of {packets} packets were cut within their headers by the snap length, and are not measured; \
             record with a snap length of at least {WINDOW_BYTES} bytes"
        )
    })
}

/// Whether two files are as long and begin with the same bytes. Times of packets are among these, which two recorders hardly have in common
/// unless times are coarse.
fn are_copies(one: &Path, other: &Path) -> bool {
    Beginning::of(one).zip(Beginning::of(other)).is_some_and(|(one, other)| one.is_like(&other))
}
