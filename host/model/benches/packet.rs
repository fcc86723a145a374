//! What a packet costs on one core: `cargo bench -p deltaline-model --bench packet`.
//!
//! A pass measures 1024 packets (63 KB of header bytes), so an element of the throughput is a packet. They come in random
//! order: a processor can no more learn which of them are sampled than in traffic. The passes, each with one more stage:
//!
//! * `copy`: the header bytes are copied, for a comparison that means something on any machine;
//! * `identity`: header bytes to key;
//! * `hash`: identity and hash;
//! * `update`: identity, hash, sampling and the cell: what a measurement point is made of;
//! * `observe`: all that a measurement point does with a frame, so also classes and totals;
//! * `observe-batch`: the same, 32 frames at a time;
//! * `observe-batch-digests`: the same with digests, as `deltaline measure` has them;
//! * `observe-batch-identities`: the same with an identity table of all packets;
//! * `observe-batch-flows`: the same with rows of flows: two hashes, the flow's and the packet's, and four cells of 4 x 16,384;
//! * `lds`: the same hashes and as many cells, one packet after the other, as the laboratory does it;
//! * `observe-ipv6`: the same with IPv6, whose keys are found and hashed by the general way, as those of tagged frames are.

mod common;

use common::{FRAME_BYTES, KINDS, frames, ipv6_frames};
use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::flow::{FlowFields, FlowMasks};
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::identify;
use deltaline_model::point::MeasurementPoint;
use deltaline_model::sketch::lda::Lda;
use deltaline_model::sketch::lds::{FlowHash, FlowPacket, Lds, LdsParameters};
use deltaline_model::sketch::place::Placement;
use deltaline_model::sketch::sampler::Sampler;
use deltaline_model::sketch::synopsis::{Hashed, Synopsis};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use deltaline_model::wire::shape::Kind;
use std::hint::black_box;

const PACKETS: usize = 1024;
/// Frames of a batch.
const AT_ONCE: usize = 32;

/// Places of frames in random order: Knuth's linear congruential generator, whose high bits are random enough.
struct Order(u64);

impl Order {
    #[inline(always)]
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> (64 - PACKETS.ilog2())) as usize
    }
}

/// Times `packet` over as many frames as there are.
fn pass<const BYTES: usize>(
    group: &mut BenchmarkGroup<WallTime>,
    name: &str,
    frames: &[[u8; BYTES]],
    mut packet: impl FnMut(&[u8; BYTES]),
) {
    let mut order = Order(1);
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            for _ in 0..PACKETS {
                packet(&frames[order.next()]);
            }
        });
    });
}

fn packets(criterion: &mut Criterion) {
    let (frames, ipv6) = (frames(PACKETS), ipv6_frames(PACKETS));
    let mut group = criterion.benchmark_group("packet");
    group.throughput(Throughput::Elements(PACKETS as u64));
    let mut copy = [0; FRAME_BYTES];
    pass(&mut group, "copy", &frames, |frame| {
        copy.copy_from_slice(black_box(frame));
        black_box(&copy);
    });
    pass(&mut group, "identity", &frames, |frame| {
        black_box(identify(black_box(frame))).ok();
    });
    for (name, kind) in KINDS {
        let Ok(configuration) = Configuration::new(Settings { hash: kind, ..Settings::default() }) else {
            continue;
        };
        let hash = LinearHash::new(kind, configuration.seed());
        let placement = Placement::new(configuration.seed());
        pass(&mut group, &format!("hash/{name}"), &frames, |frame| {
            if let Ok(identity) = identify(black_box(frame)) {
                black_box(hash.hash(&identity.key));
            }
        });
        let (mut lda, sampler, mut time) =
            (Lda::new(&configuration.parameters()), Sampler::new(*configuration.prefixes()), 0);
        pass(&mut group, &format!("update/{name}"), &frames, |frame| {
            time += 100;
            if let Ok(identity) = identify(black_box(frame)) {
                let hash = hash.hash(&identity.key);
                let (place, time) = (placement.place(hash), Timestamp::from_nanoseconds(time));
                let packet = Hashed { hash, place, time, ..Hashed::default() };
                lda.add(0, &sampler, &[packet]);
            }
        });
        let hashes = FlowHash::new(kind, configuration.seed());
        let flows = FlowMasks::new(&FlowFields::default());
        if let Ok(mut lds) = Lds::new(LdsParameters::plain(4, 16_384, configuration.seed())) {
            pass(&mut group, &format!("lds/{name}"), &frames, |frame| {
                time += 100;
                if let Ok(identity) = identify(black_box(frame)) {
                    let (flow, packet) =
                        (hashes.flow(&flows.flow(&identity.key)), hashes.packet(&identity.key));
                    lds.add(&FlowPacket { flow, packet, nanoseconds: time, octets: 64, weight: 1 });
                }
            });
        }
        let mut point = MeasurementPoint::new(&configuration, Role::Sender);
        pass(&mut group, &format!("observe/{name}"), &frames, |frame| {
            time += 100;
            point.observe(black_box(frame), Timestamp::from_nanoseconds(time));
        });
        let base = Settings { hash: kind, ..Settings::default() };
        for (settings, of) in [
            (base, ""),
            (Settings { digest: true, ..base }, "-digests"),
            (Settings { synopsis: Kind::IDENTITY_TABLE, prefixes: &[0], ..base }, "-identities"),
            (Settings { synopsis: Kind::FLOW_ROWS, rows: 16_384, prefixes: &[0], ..base }, "-flows"),
        ] {
            let Ok(configuration) = Configuration::new(settings) else { continue };
            let (mut point, mut order) = (MeasurementPoint::new(&configuration, Role::Sender), Order(1));
            group.bench_function(format!("observe-batch{of}/{name}"), |bencher| {
                bencher.iter(|| {
                    for _ in 0..PACKETS / AT_ONCE {
                        point.observe_batch((0..AT_ONCE).map(|_| {
                            time += 100;
                            (&black_box(&frames[order.next()])[..], Timestamp::from_nanoseconds(time))
                        }));
                    }
                });
            });
        }
        pass(&mut group, &format!("observe-ipv6/{name}"), &ipv6, |frame| {
            time += 100;
            point.observe(black_box(frame), Timestamp::from_nanoseconds(time));
        });
    }
    group.finish();
}

criterion_group!(benches, packets);
criterion_main!(benches);
