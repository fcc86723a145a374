//! The two recordings that a command compares, and which of their packets it takes.

use crate::failure::Failure;
use crate::input::{Input, check_standard_input, name};
use clap::{Args, ValueEnum};
use deltaline_capture::filter::Filter;
use deltaline_capture::{Direction, Selection};
use deltaline_model::packet::identity::WINDOW_BYTES;
use deltaline_model::wire::frame::Role;
use std::fmt::Display;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Recordings {
    /// Capture of the sender, the point that packets pass first: pcap or pcapng, plain, gzip or Zstandard; - is standard
    /// input
    pub(crate) sender: PathBuf,
    /// Capture of the receiver
    pub(crate) receiver: PathBuf,
    /// Only packets that match, in tcpdump's syntax: host, net, port, proto, tcp, udp, ip6, vlan and their like with and, or,
    /// not; such as 'src net 10.1.0.0/16 and udp'. Tags are looked through
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::new)]
    filter: Option<Filter>,
    /// Only packets that went this way through the sender's interface, and the other way through the receiver's; of
    /// recordings that say so: Linux cooked (tcpdump -i any) and pcapng with flags
    #[arg(long, value_enum)]
    direction: Option<Way>,
    /// Take the innermost packet of those in tunnels: GTP-U, VXLAN, GRE, IP in IP, PPPoE. The filter sees the outer one
    #[arg(long)]
    inner: bool,
    /// Read a capture that was cut or damaged up to that record, instead of refusing it
    #[arg(long)]
    keep_going: bool,
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
        Recordings { sender, receiver, filter: None, direction: None, inner: false, keep_going: false }
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

    /// Whether packets in tunnels are taken out of them.
    pub(crate) fn takes_inner(&self) -> bool {
        self.inner
    }

    /// Opens an end's recording, of which only the wanted packets come.
    pub(crate) fn open(&self, role: Role) -> Result<Input, Failure> {
        let direction = self.direction.map(|way| match (way, role) {
            (Way::Out, Role::Sender) | (Way::In, Role::Receiver) => Direction::Out,
            (Way::Out, Role::Receiver) | (Way::In, Role::Sender) => Direction::In,
        });
        let selection = Selection { filter: self.filter.clone(), direction, inner: self.inner };
        Ok(Input::open(self.path(role), self.keep_going)?.select(selection))
    }
}

/// What is to be said of a recording of which `taken` packets were taken, and the others passed over.
pub(crate) fn remark_on_nothing_wanted(path: &Path, taken: u64, passed_over: u64) -> Option<String> {
    (taken == 0 && passed_over > 0).then(|| {
        format!(
            "{}: none of its {passed_over} packets is wanted by --filter and --direction; check which way the traffic goes, \
             and that its addresses are the same at both ends",
            path.display()
        )
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
