//! Why a feed cannot be opened or read, with the remedy.

use deltaline_capture::CaptureError;
use thiserror::Error;

/// Why a feed cannot be opened, or not be read further.
#[derive(Debug, Error)]
pub enum FeedError {
    /// There is nothing of this name.
    #[error(
        "{name}: there is no such serial port, network interface or file; {}; {}; \
         check the cable and the name",
        listed("serial ports", ports),
        listed("interfaces", interfaces)
    )]
    Missing {
        /// The name.
        name: String,
        /// The serial ports that there are.
        ports: Vec<String>,
        /// The network interfaces that there are.
        interfaces: Vec<String>,
    },
    /// Another program has the port.
    #[error("{name}: the port is in use by another program; end that program (`fuser {name}` names it)")]
    Busy {
        /// The name.
        name: String,
    },
    /// The user may not open the port.
    #[error(
        "{name}: no permission to open the port; join its group with `sudo usermod -aG dialout $USER`, \
         then log out and in again"
    )]
    PortDenied {
        /// The name.
        name: String,
    },
    /// The user may not open the interface.
    #[error("{name}: no permission to use the network interface; run as root")]
    InterfaceDenied {
        /// The name.
        name: String,
    },
    /// The interface is down.
    #[error("{name}: the network interface is down; set it up with `sudo ip link set {name} up`")]
    InterfaceDown {
        /// The name.
        name: String,
    },
    /// Nothing that is sent would leave the interface.
    #[error(
        "{name}: the network interface has no carrier, and nothing that is sent leaves it; plug in its cable, or set up the other end"
    )]
    NoCarrier {
        /// The name.
        name: String,
    },
    /// The device cannot be used as a serial port.
    #[error("{name}: cannot be used as a serial port: {reason}; name the board's port, such as /dev/ttyUSB1")]
    NoPort {
        /// The name.
        name: String,
        /// What the operating system says.
        reason: String,
    },
    /// The interface cannot be used.
    #[error("{name}: cannot be used: {reason}; name an Ethernet interface")]
    NoInterface {
        /// The name.
        name: String,
        /// What the operating system says.
        reason: String,
    },
    /// The feed takes no commands.
    #[error("{name}: is no serial port, and takes no commands; name the board's port, such as /dev/ttyUSB1")]
    NoCommands {
        /// The name.
        name: String,
    },
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The file is neither a capture nor a recording of a serial line.
    #[error(
        "{file}: is neither a pcap or pcapng capture nor a recording of a board's serial line: \
         not one whole message is in it; record with `deltaline read --record`"
    )]
    NoRecording {
        /// The file as it was named by the caller.
        file: String,
    },
}

/// The names that there are, or that there are none.
fn listed(what: &str, names: &[String]) -> String {
    match names {
        [] => format!("there are no {what}"),
        _ => format!("the {what} are {}", names.join(", ")),
    }
}
