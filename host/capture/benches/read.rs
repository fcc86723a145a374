//! How fast captures are read and measured on one core: `cargo bench -p deltaline-capture`.
//!
//! A pass reads a file of 200,000 packets of 94 bytes from the page cache, so an element of the throughput is a packet:
//!
//! * `read`: the packets are read and nothing else;
//! * `measure`: they pass through a measurement point, as in `deltaline measure`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use deltaline_capture::{Capture, CaptureError, PacketRef, PcapWriter, WriteError};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::MeasurementPoint;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;

const PACKETS: u64 = 200_000;
const FRAME_BYTES: usize = 94;

/// Writes UDP packets over IPv4 with a drawn payload.
fn write(path: &Path) -> Result<(), WriteError> {
    let mut writer = PcapWriter::create(path)?;
    let mut data = [0; FRAME_BYTES];
    data[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 80]);
    data[23] = 17;
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for number in 0..PACKETS {
        for word in data[26..].chunks_exact_mut(4) {
            // Marsaglia's xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_be_bytes()[..4]);
        }
        let packet =
            PacketRef { timestamp: 200 * number, length: FRAME_BYTES as u32, interface: 0, data: &data };
        writer.write(packet)?;
    }
    writer.finish()
}

/// Reads all packets.
fn read(path: &Path, mut packet: impl FnMut(PacketRef)) -> Result<(), CaptureError> {
    let mut capture = Capture::open(path)?;
    while let Some(found) = capture.next_packet()? {
        packet(found);
    }
    Ok(())
}

fn passes(criterion: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("packets.pcap");
    write(&path)?;
    let mut group = criterion.benchmark_group("pcap");
    group.throughput(Throughput::Elements(PACKETS));
    group.bench_function("read", |bencher| {
        bencher.iter(|| read(&path, |packet| _ = black_box(packet.data)));
    });
    let configuration = Configuration::new(Settings::default())?;
    let mut point = MeasurementPoint::new(&configuration, Role::Sender);
    group.bench_function("measure", |bencher| {
        bencher.iter(|| {
            read(&path, |packet| {
                point.observe(packet.data, Timestamp::from_nanoseconds(packet.timestamp));
            })
        });
    });
    group.finish();
    Ok(())
}

fn captures(criterion: &mut Criterion) {
    if let Err(error) = passes(criterion) {
        eprintln!("nothing is measured: {error}");
    }
}

criterion_group!(benches, captures);
criterion_main!(benches);
