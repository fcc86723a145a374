//! What tables that can be subtracted cost: `cargo bench -p deltaline-estimate --bench tables`.
//!
//! * `observe/NAME`: a packet through a measurement point of that synopsis, header bytes to cells, 32 frames at a time; `lda` for a comparison
//!   that means something on any machine;
//! * `decode/NAME`: 2,000 packets that differ out of 4,096 cells, half of them the sender's.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use deltaline_estimate::Difference;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::MeasurementPoint;
use deltaline_model::sketch::identity_table::IdentityCell;
use deltaline_model::sketch::layout::Layout;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::rda::{RdaCell, SrdaCell};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use deltaline_model::wire::shape::Kind;
use std::hint::black_box;

const PACKETS: usize = 1024;
const AT_ONCE: usize = 32;
const DIFFER: u64 = 2000;

fn observe(criterion: &mut Criterion) {
    let frames: Vec<[u8; 46]> = (0..PACKETS as u32)
        .map(|number| {
            let mut frame = [0; 46];
            frame[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 32]);
            frame[42..].copy_from_slice(&number.wrapping_mul(0x9e37_79b9).to_be_bytes());
            frame
        })
        .collect();
    let mut group = criterion.benchmark_group("observe");
    group.throughput(Throughput::Elements(PACKETS as u64));
    for synopsis in Kind::all() {
        let settings = Settings { synopsis, prefixes: &[0], ..Settings::default() };
        let Ok(configuration) = Configuration::new(settings) else { continue };
        let (mut point, mut time) = (MeasurementPoint::new(&configuration, Role::Sender), 0);
        group.bench_function(synopsis.name().unwrap_or_default(), |bencher| {
            bencher.iter(|| {
                for frames in frames.chunks(AT_ONCE) {
                    point.observe_batch(frames.iter().map(|frame| {
                        time += 100;
                        (&black_box(frame)[..], Timestamp::from_nanoseconds(time))
                    }));
                }
            });
        });
    }
    group.finish();
}

/// Both ends' cells of packets that differ.
fn tables<C: Copy + Default>(layout: Layout, add: impl Fn(&mut C, u64, [u32; 2])) -> [Vec<C>; 2] {
    let id = PacketId::default();
    let mut ends = [vec![C::default(); layout.cells()], vec![C::default(); layout.cells()]];
    for packet in 0..DIFFER {
        let hash = (packet + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let halves = id.halves_of(hash);
        let cells = &mut ends[packet as usize % 2];
        layout.places(&id, halves).for_each(|place| add(&mut cells[place], hash, halves));
    }
    ends
}

fn decode(criterion: &mut Criterion) {
    let id = PacketId::default();
    let mut group = criterion.benchmark_group("decode");
    let checked = |hash: u64, halves: [u32; 2]| [id.check_of(hash), halves[0], halves[1]];
    let [sent, received] =
        tables(Layout::Identity { rows: 1024 }, |cell: &mut IdentityCell, hash, halves| {
            cell.add(0, checked(hash, halves));
        });
    group.bench_function("identity", |bencher| bencher.iter(|| Difference::of(black_box(&sent), &received)));
    let layout = Layout::Banks { rows: 2048, banks: 2 };
    let [sent, received] = tables(layout, |cell: &mut RdaCell, _, halves| {
        cell.add(0, halves);
    });
    group.bench_function("rda", |bencher| {
        bencher.iter(|| Difference::of_rda(black_box(&sent), &received, layout));
    });
    let layout = Layout::Flat { cells: 4096, hashes: 2 };
    let [sent, received] = tables(layout, |cell: &mut SrdaCell, hash, halves| {
        cell.add(0, checked(hash, halves));
    });
    group.bench_function("srda", |bencher| {
        bencher.iter(|| Difference::of_srda(black_box(&sent), &received, layout));
    });
    group.finish();
}

criterion_group!(benches, observe, decode);
criterion_main!(benches);
