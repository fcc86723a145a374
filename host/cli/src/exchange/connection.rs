//! A connection between two ends, by TCP or a Unix socket: where it is, who waits for it and who asks for it.
//!
//! # Test plan
//!
//! `tests/exchange.rs`: both kinds; a port that the system chooses; a socket's file that a killed program left behind; nobody there.
//! Here: whatever else stands at a path stays there.

use super::room::Close;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a receiver listens.
#[derive(Clone, Debug)]
pub(super) enum Address {
    Tcp(String),
    Unix(PathBuf),
}

impl std::str::FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some("") => Err("give a path behind unix:"),
            Some(path) => Ok(Address::Unix(path.into())),
            None if text.contains(':') => Ok(Address::Tcp(text.into())),
            None => Err("give HOST:PORT, or unix:PATH"),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp(address) => f.write_str(address),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A connection of either kind.
pub(super) enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Close for Connection {
    fn close(&self) {
        // One that has ended already is closed.
        let _ = match self {
            Connection::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Connection::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Connection {
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Connection::Tcp(stream) => Connection::Tcp(stream.try_clone()?),
            Connection::Unix(stream) => Connection::Unix(stream.try_clone()?),
        })
    }

    /// The same, giving up after some time.
    pub(super) fn within(self, patience: Duration) -> io::Result<Self> {
        let patience = Some(patience);
        match &self {
            Connection::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)?;
            }
            Connection::Unix(stream) => {
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)?;
            }
        }
        Ok(self)
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.read(buffer),
            Connection::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.write(bytes),
            Connection::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Connection::Tcp(stream) => stream.flush(),
            Connection::Unix(stream) => stream.flush(),
        }
    }
}

/// Where senders come in.
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    pub(super) fn bind(address: &Address) -> io::Result<Self> {
        Ok(match address {
            Address::Tcp(address) => Listener::Tcp(TcpListener::bind(address)?),
            Address::Unix(path) => Listener::Unix(Self::bind_unix(path)?),
        })
    }

    /// A socket's file outlives its program: one that nobody listens to any more makes room.
    fn bind_unix(path: &Path) -> io::Result<UnixListener> {
        match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_behind(path) => {
                fs::remove_file(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        }
    }

    /// Where it is: of TCP, with the port that the system chose for port 0.
    pub(super) fn address(&self, asked: &Address) -> String {
        match self {
            Listener::Tcp(listener) => {
                listener.local_addr().map_or_else(|_| asked.to_string(), |own| own.to_string())
            }
            Listener::Unix(_) => asked.to_string(),
        }
    }

    pub(super) fn accept(&self) -> io::Result<Connection> {
        Ok(match self {
            Listener::Tcp(listener) => Connection::Tcp(listener.accept()?.0),
            Listener::Unix(listener) => Connection::Unix(listener.accept()?.0),
        })
    }
}

/// Whether this is a socket's file, and has no listener. Other files refuse a connection, too.
fn is_left_behind(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    is_socket
        && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// The connection to a receiver that listens there.
pub(super) fn connect(address: &Address, patience: Duration) -> io::Result<Connection> {
    let connection = match address {
        Address::Unix(path) => Connection::Unix(UnixStream::connect(path)?),
        Address::Tcp(address) => {
            let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
            let mut connected = None;
            for address in address.to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, patience) {
                    Ok(stream) => {
                        connected = Some(stream);
                        break;
                    }
                    Err(error) => refused = error,
                }
            }
            Connection::Tcp(connected.ok_or(refused)?)
        }
    };
    connection.within(patience)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_but_a_dead_socket_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        drop(UnixListener::bind(path("dead")).unwrap());
        symlink(path("dead"), path("link")).unwrap();
        fs::write(path("recording"), b"mine").unwrap();
        let _living = UnixListener::bind(path("living")).unwrap();
        for name in ["link", "recording", "living", "."] {
            let refused = Listener::bind_unix(&path(name)).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AddrInUse, "{name}");
        }
        assert_eq!(fs::read(path("recording")).unwrap(), b"mine");
        assert!(Listener::bind_unix(&path("dead")).is_ok());
    }
}
