//! What tables that can be subtracted cost: `cargo bench -p deltaline-estimate --bench tables`.
//!
//! * `observe/NAME`: a packet through a measurement point of that synopsis, header bytes to cells, 32 frames at a time; `lda` for a comparison
//!   that means something on any machine;
//! * `decode/NAME`: 2,000 packets that differ out of 4,096 cells, half of them the sender's;
//! * `decode/told`: the same cells of `identity`, where somebody says which packets differ: the tables are subtracted, and each packet is checked and
//!   taken out of its four cells. What decoding takes beyond that is finding them;
//! * `flows/NAME`: what a table of 4 x 17,500 cells says of each of 100,000 flows, by the paper's estimator and by ours; an element of the throughput is a
//!   flow;
//! * `flows/interval`: the interval of one of 20 flows that are shown of 2,000.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use deltaline_estimate::Difference;
use deltaline_estimate::lds::{ALPHA, FlowEstimate, LdsPair};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::MeasurementPoint;
use deltaline_model::sketch::digest::{add, subtract};
use deltaline_model::sketch::identity_table::{IdentityCell, TABLES, row};
use deltaline_model::sketch::layout::Layout;
use deltaline_model::sketch::lds::{FlowPacket, Lds, LdsParameters};
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
        let hash = hash(packet);
        let halves = id.halves_of(hash);
        let cells = &mut ends[packet as usize % 2];
        layout.places(&id, halves).for_each(|place| add(&mut cells[place], hash, halves));
    }
    ends
}

fn hash(packet: u64) -> u64 {
    (packet + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// How many of these packets, every other one the sender's, have a right check in one of their cells at least; and whether nothing is left behind them.
fn told(packets: &[[u32; 2]], sent: &[IdentityCell], received: &[IdentityCell]) -> (usize, bool) {
    let id = PacketId::default();
    let rows = sent.len() / TABLES;
    let mut cells: Vec<(u32, [u32; 3])> = sent
        .iter()
        .zip(received)
        .map(|(sent, received)| {
            let fields = std::array::from_fn(|field| subtract(sent.fields[field], received.fields[field]));
            (sent.count.wrapping_sub(received.count), fields)
        })
        .collect();
    let mut right = 0;
    for (halves, number) in packets.iter().zip(0u32..) {
        let is_sent = number.is_multiple_of(2);
        let fields = [id.check_of(id.hash_of(*halves)), halves[0], halves[1]];
        let mut is_right = false;
        for table in 0..TABLES {
            let (count, left) = &mut cells[table * rows + row(*halves, table, rows)];
            is_right |= left[0] == fields[0];
            *count = if is_sent { count.wrapping_sub(1) } else { count.wrapping_add(1) };
            for (left, field) in left.iter_mut().zip(fields) {
                *left = if is_sent { subtract(*left, field) } else { add(*left, field) };
            }
        }
        right += usize::from(is_right);
    }
    (right, cells.iter().all(|cell| *cell == (0, [0; 3])))
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
    let packets: Vec<[u32; 2]> = (0..DIFFER).map(|packet| id.halves_of(hash(packet))).collect();
    group.bench_function("told", |bencher| bencher.iter(|| told(black_box(&packets), &sent, &received)));
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

fn flows(criterion: &mut Criterion) {
    const FLOWS: u64 = 100_000;
    let Ok(empty) = Lds::new(LdsParameters::plain(4, 17_500, 1)) else { return };
    let mut ends = [0, 5000].map(|delay| (empty.clone(), delay));
    // One flow in a hundred has a hundred packets, the others one.
    for flow in 0..FLOWS {
        for packet in 0..if flow % 100 == 0 { 100 } else { 1 } {
            let number = 128 * flow + packet;
            for (table, delay) in &mut ends {
                let nanoseconds = 1000 * number + *delay;
                let (flow, packet) = (hash(flow), hash(number));
                table.add(&FlowPacket { flow, packet, nanoseconds, octets: 64, weight: 1 });
            }
        }
    }
    let [(sent, _), (received, _)] = &ends;
    let Ok(pair) = LdsPair::new(sent, received) else { return };
    let mut group = criterion.benchmark_group("flows");
    group.throughput(Throughput::Elements(FLOWS));
    type Estimator = fn(&LdsPair, u64) -> FlowEstimate;
    let estimators: [(&str, Estimator); 2] = [
        ("paper", |pair, flow| pair.paper(flow, ALPHA)),
        ("regularised", |pair, flow| pair.regularised(flow)),
    ];
    for (name, estimator) in estimators {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                (0..FLOWS).filter(|flow| estimator(&pair, hash(black_box(*flow))).mean.is_ok()).count()
            });
        });
    }
    group.throughput(Throughput::Elements(1));
    group.bench_function("interval", |bencher| {
        bencher.iter(|| pair.read(hash(black_box(100)), 20, 2000));
    });
    group.finish();
}

criterion_group!(benches, observe, decode, flows);
criterion_main!(benches);
