//! Records both ends of a path: `deltaline-hosts FOLDER [SECONDS]`, to root alone.

use deltaline_capture::PcapWriter;
use deltaline_hosts::{Path, Queues, Traffic};
use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("usage: deltaline-hosts FOLDER [SECONDS]")?);
    let seconds = match arguments.next() {
        Some(seconds) => seconds.to_string_lossy().parse()?,
        None => 20,
    };
    let traffic = Traffic { lasts: Duration::from_secs(seconds), ..Traffic::default() };
    let recording = Path::new(Queues::Two)?.record(&traffic)?;
    std::fs::create_dir_all(&folder)?;
    for (name, packets) in [("sender.pcap", &recording.sender), ("receiver.pcap", &recording.receiver)] {
        let mut writer = PcapWriter::create(folder.join(name))?;
        packets.iter().try_for_each(|packet| writer.write(packet.into()))?;
        writer.finish()?;
    }
    println!(
        "{} packets sent, {} received, {} dropped by the router's queues; {} and {} not recorded",
        recording.sender.len(),
        recording.receiver.len(),
        recording.dropped,
        recording.unrecorded[0],
        recording.unrecorded[1]
    );
    Ok(())
}
