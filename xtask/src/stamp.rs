//! `cargo xtask stamp`: our sender and reflector of test packets (RFC 8762) with those of other people.
//!
//! | peer | open | with a key |
//! |---|---|---|
//! | stamp-suite, a program in Rust | both ways | both ways, and with another key |
//! | scapy's packets (`scapy_peer.py`) | both ways | it knows no such packets |
//!
//! All run on this machine, by one clock: a packet is misread if it seems to have arrived before it was sent, or longer under way than its
//! round trip took.
//!
//! # Test plan
//!
//! None is lost, none misread; of another key none is answered. What a peer says is read from examples of it.

use crate::{Failure, acceptance, cargo, tools};
use serde::Deserialize;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Between test packets, in microseconds; and what scapy keeps up with, whose packets take some milliseconds each.
const APART: u32 = 2000;
const SCAPY_APART: u32 = 10_000;
/// How long our sender waits for the last answers, in seconds.
const TIMEOUT: u32 = 10;
/// Nanoseconds by which times may seem to run backwards, as packets have them in parts of a second of 2^-32, and in error.
const ROUNDED: f64 = 1000.0;
/// How long a peer may take to open its port.
const PATIENCE: Duration = Duration::from_secs(20);

const PEER: &str = include_str!("stamp/scapy_peer.py");
const KEYS: [&str; 2] =
    ["00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"];

/// What came of one sender's packets.
#[derive(Debug, PartialEq)]
struct Exchange {
    received: u32,
    /// Whether all times of those are possible.
    is_right: bool,
}

/// A reflector that is ended with this.
struct Reflector(Child);

impl Drop for Reflector {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The programs, and files with the two keys.
struct Ends {
    deltaline: PathBuf,
    keys: [PathBuf; 2],
    peer: PathBuf,
}

/// Exchanges so many test packets each way with each peer.
pub(crate) fn run(count: u32) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let file = |name: &str, text: &str| -> Result<PathBuf, Failure> {
        let path = folder.path().join(name);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    };
    let ends = Ends {
        deltaline: cargo::build_program(&[])?,
        keys: [file("one.key", KEYS[0])?, file("other.key", KEYS[1])?],
        peer: file("scapy_peer.py", PEER)?,
    };
    let mut failed = vec![];
    let mut note = |what: &str, expected: u32, exchange: Exchange| {
        let Exchange { received, is_right } = exchange;
        println!("{what}: {received} of {count} answered{}", if is_right { "" } else { ", some misread" });
        if received != expected || !is_right {
            failed.push(what.to_string());
        }
    };
    for (kind, [sender, reflector], expected) in [
        ("open", [None, None], count),
        ("with a key", [Some(0), Some(0)], count),
        ("with different keys", [Some(0), Some(1)], 0),
    ] {
        note(
            &format!("deltaline asks stamp-suite, {kind}"),
            expected,
            ends.ask_suite(count, sender, reflector)?,
        );
        note(
            &format!("stamp-suite asks deltaline, {kind}"),
            expected,
            ends.suite_asks(count, sender, reflector)?,
        );
    }
    note("deltaline asks scapy, open", count, ends.ask_scapy(count)?);
    note("scapy asks deltaline, open", count, ends.scapy_asks(count)?);
    if failed.is_empty() { Ok(()) } else { Err(format!("lost or misread: {}", failed.join("; ")).into()) }
}

impl Ends {
    fn key(&self, key: Option<usize>) -> Option<&Path> {
        key.and_then(|key| self.keys.get(key)).map(PathBuf::as_path)
    }

    /// Our reflector, and its port.
    fn reflector(&self, key: Option<usize>) -> Result<(Reflector, u16), Failure> {
        let mut command = Command::new(&self.deltaline);
        command.args(["stamp", "reflect", "127.0.0.1:0", "--json"]);
        self.key(key).map(|key| command.arg("--key").arg(key));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let said = child.stderr.take();
        let reflector = Reflector(child);
        for line in said.into_iter().flat_map(|said| BufReader::new(said).lines()) {
            if let Some((_, port)) = line?.rsplit_once("answered at 127.0.0.1:") {
                return Ok((reflector, port.trim().parse()?));
            }
        }
        Err("deltaline's reflector ended before it had a port".into())
    }

    /// Our sender, with whoever answers at this port.
    fn ask(&self, count: u32, apart: u32, port: u16, key: Option<usize>) -> Result<Exchange, Failure> {
        let mut command = Command::new(&self.deltaline);
        command.args(["stamp", "send", &format!("127.0.0.1:{port}"), "--json"]);
        command.args(["--timeout", &format!("{TIMEOUT}s")]);
        command.args(["--count", &count.to_string(), "--interval", &format!("{apart}us")]);
        self.key(key).map(|key| command.arg("--key").arg(key));
        // Its exit code tells of losses, which are looked at here.
        let output = command.stderr(Stdio::null()).output()?;
        ours(&String::from_utf8_lossy(&output.stdout))
    }

    fn suite(&self, key: Option<usize>) -> Result<Command, Failure> {
        let mut command = tools::stamp_suite()?;
        if let Some(key) = self.key(key) {
            command.args(["--auth-mode", "A", "--hmac-key-file"]).arg(key);
        }
        Ok(command)
    }

    fn ask_suite(
        &self,
        count: u32,
        sender: Option<usize>,
        reflector: Option<usize>,
    ) -> Result<Exchange, Failure> {
        let port = free_port()?;
        let mut command = self.suite(reflector)?;
        command.args(["--is-reflector", "--local-addr", "127.0.0.1", "--local-port", &port.to_string()]);
        let _reflector = Reflector(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        wait_for(port)?;
        self.ask(count, APART, port, sender)
    }

    fn suite_asks(
        &self,
        count: u32,
        sender: Option<usize>,
        reflector: Option<usize>,
    ) -> Result<Exchange, Failure> {
        let (_reflector, port) = self.reflector(reflector)?;
        let mut command = self.suite(sender)?;
        command.args(["--remote-addr", "127.0.0.1", "--remote-port", &port.to_string(), "--timeout", "2"]);
        command.args(["--count", &count.to_string(), "--send-delay", &format!("{APART}us")]);
        let output = command.args(["--output-format", "json"]).stderr(Stdio::null()).output()?;
        suites(&String::from_utf8_lossy(&output.stdout))
    }

    fn ask_scapy(&self, count: u32) -> Result<Exchange, Failure> {
        let mut command = tools::peers_python()?;
        let mut child = command.arg(&self.peer).arg("reflect").stdout(Stdio::piped()).spawn()?;
        let said = child.stdout.take();
        let _reflector = Reflector(child);
        let port = said.map(first_line).transpose()?.unwrap_or_default();
        self.ask(count, SCAPY_APART, port.trim().parse()?, None)
    }

    fn scapy_asks(&self, count: u32) -> Result<Exchange, Failure> {
        let (_reflector, port) = self.reflector(None)?;
        let mut command = tools::peers_python()?;
        command.arg(&self.peer).args(["send", &port.to_string(), &count.to_string()]);
        scapys(&acceptance::run(&mut command)?)
    }
}

/// The first line that is said.
fn first_line(said: ChildStdout) -> Result<String, Failure> {
    let mut line = String::new();
    BufReader::new(said).read_line(&mut line)?;
    Ok(line)
}

/// A port of the loopback interface that nobody has now.
fn free_port() -> Result<u16, Failure> {
    Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Waits until somebody has it.
fn wait_for(port: u16) -> Result<(), Failure> {
    let begin = Instant::now();
    while UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
        if begin.elapsed() > PATIENCE {
            return Err(format!("stamp-suite has not opened port {port}").into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Whether delays of one way can be of packets whose round trip took at most so long; all in nanoseconds.
fn are_possible(ways: &[[f64; 2]], round_trip: f64) -> bool {
    ways.iter().all(|[least, most]| *least >= -ROUNDED && *most <= round_trip + ROUNDED)
}

/// What our sender says.
fn ours(said: &str) -> Result<Exchange, Failure> {
    #[derive(Deserialize)]
    struct Delays {
        min: f64,
        max: f64,
    }
    #[derive(Deserialize)]
    struct Said {
        received: u32,
        round_trip_ns: Option<Delays>,
        forward_ns: Option<Delays>,
        backward_ns: Option<Delays>,
    }
    let Said { received, round_trip_ns, forward_ns, backward_ns } = serde_json::from_str(said)?;
    let ways: Vec<[f64; 2]> =
        [forward_ns, backward_ns].iter().flatten().map(|way| [way.min, way.max]).collect();
    let is_right = match round_trip_ns {
        Some(round_trip) => ways.len() == 2 && are_possible(&ways, round_trip.max),
        None => received == 0,
    };
    Ok(Exchange { received, is_right })
}

/// What stamp-suite's sender says.
fn suites(said: &str) -> Result<Exchange, Failure> {
    #[derive(Deserialize)]
    struct Ways {
        forward_min_ms: f64,
        forward_max_ms: f64,
        reverse_min_ms: f64,
        reverse_max_ms: f64,
    }
    #[derive(Deserialize)]
    struct Said {
        packets_received: u32,
        max_rtt_ms: Option<f64>,
        owd: Option<Ways>,
    }
    let Said { packets_received: received, max_rtt_ms, owd } = serde_json::from_str(said)?;
    let nanoseconds = |milliseconds: f64| 1e6 * milliseconds;
    let is_right = match (max_rtt_ms, owd) {
        (Some(round_trip), Some(ways)) => {
            let ways =
                [[ways.forward_min_ms, ways.forward_max_ms], [ways.reverse_min_ms, ways.reverse_max_ms]];
            are_possible(&ways.map(|way| way.map(nanoseconds)), nanoseconds(round_trip))
        }
        (_, _) => received == 0,
    };
    Ok(Exchange { received, is_right })
}

/// What scapy's sender says.
fn scapys(said: &str) -> Result<Exchange, Failure> {
    #[derive(Deserialize)]
    struct Said {
        received: u32,
        misread: u32,
    }
    let Said { received, misread } = serde_json::from_str(said)?;
    Ok(Exchange { received, is_right: misread == 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_senders_say_is_read() {
        let exchange = |received, is_right| Exchange { received, is_right };
        // Forward, and round trip, in nanoseconds; the way back takes 500 ns.
        let said = |forward: [f64; 2], round_trip: f64| {
            ours(&format!(
                r#"{{"sent": 9, "received": 7, "round_trip_ns": {{"min": 2000, "max": {round_trip}}},
                "forward_ns": {{"min": {}, "max": {}, "p50": 9}}, "backward_ns": {{"min": 500, "max": 500}}, "reason": null}}"#,
                forward[0], forward[1]
            ))
            .unwrap()
        };
        assert_eq!(said([1500.0, 3000.0], 3500.0), exchange(7, true));
        // Arrived before it was sent; longer under way than the round trip took.
        assert_eq!(said([-2000.0, 3000.0], 3500.0), exchange(7, false));
        assert_eq!(said([1500.0, 9000.0], 3500.0), exchange(7, false));
        let none = r#"{"received": 0, "round_trip_ns": null, "forward_ns": null, "backward_ns": null}"#;
        assert_eq!(ours(none).unwrap(), exchange(0, true));
        assert_eq!(ours(&none.replace('0', "1")).unwrap(), exchange(1, false));
        assert!(ours("").is_err());
        // Lines of stamp-suite 1.0.0, shortened.
        let some = r#"{"type":"summary","packets_sent":20,"packets_received":20,"min_rtt_ms":0.02604,"max_rtt_ms":3.528474,
            "owd":{"samples":20,"forward_min_ms":0.002515,"forward_max_ms":3.338339,"reverse_min_ms":0.015852,"reverse_max_ms":0.872193}}"#;
        assert_eq!(suites(&format!("\n{some}\n")).unwrap(), exchange(20, true));
        assert_eq!(suites(&some.replace("0.002515", "-5.2")).unwrap(), exchange(20, false));
        let none = r#"{"type":"summary","packets_sent":20,"packets_received":0,"max_rtt_ms":null}"#;
        assert_eq!(suites(none).unwrap(), exchange(0, true));
        assert_eq!(scapys(r#"{"received": 300, "misread": 0}"#).unwrap(), exchange(300, true));
        assert_eq!(scapys(r#"{"received": 300, "misread": 2}"#).unwrap(), exchange(300, false));
    }
}
