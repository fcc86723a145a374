//! Tables of flows from cells of 40 bits.

use crate::lds::ends::Ends;
use crate::{EndSums, Sums};
use deltaline_model::sketch::cell::{Cell, SUM_MASK};
use deltaline_model::sketch::digest::PacketDigest;
use deltaline_model::sketch::lds::{FlowPacket, Lds, LdsError, LdsParameters};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// One second of flows, of which the first two have `size` packets and are later than the others by `later`, through both ends: their tables, and what
/// they sum. Clocks are `apart`.
fn pass(size: u32, later: [u64; 2], apart: i64, loss: f64, seed: u64) -> ([Lds; 2], Sums) {
    let mut random = StdRng::seed_from_u64(seed);
    let parameters = LdsParameters { width: 4, ..LdsParameters::plain(4, 256, seed) };
    let mut ends = [(); 2].map(|()| Lds::new(parameters.clone()).unwrap());
    let digest = PacketDigest::new(seed);
    let (mut sums, mut times) = ([(0u64, 0u64, 0u32); 2], [vec![], vec![]]);
    for flow in 0..300u64 {
        let size = if flow < 2 { size } else { random.random_range(1..100) };
        let hash: u64 = random.random();
        for _ in 0..size {
            let sent = (1 << 45) + random.random_range(0..1_000_000_000u64);
            let delay =
                random.random_range(1_000_000..3_000_000u64) + later.get(flow as usize).copied().unwrap_or(0);
            let packet: u64 = random.random();
            let received = !random.random_bool(loss);
            let both = [Some(sent), received.then_some((sent + delay).wrapping_add_signed(apart))];
            for (end, nanoseconds) in both.into_iter().enumerate() {
                let Some(nanoseconds) = nanoseconds else { continue };
                ends[end].add(&FlowPacket { flow: hash, packet, nanoseconds, octets: 0, weight: 1 });
                let (packets, sum, digests) = sums[end];
                let added = deltaline_model::sketch::digest::add(digests, digest.digest(packet));
                sums[end] = (packets + 1, sum.wrapping_add(nanoseconds), added);
                times[end].push(nanoseconds);
            }
        }
    }
    let [sender, receiver] = [0, 1].map(|end| EndSums {
        packets: sums[end].0,
        times: sums[end].1,
        digests: Some(sums[end].2),
        first: times[end].iter().copied().min().unwrap_or(0),
        last: times[end].iter().copied().max().unwrap_or(0),
    });
    (ends, Sums { sender, receiver })
}

fn cells(table: &Lds) -> Vec<Cell> {
    let cell = |cell: &deltaline_model::sketch::lds::FlowCell| Cell {
        count: cell.count,
        sum: cell.sum & SUM_MASK,
        digest: cell.digest,
    };
    table.cells().iter().map(cell).collect()
}

#[test]
fn sums_are_those_of_64_bits_or_uncertain() {
    let (mut certain, mut uncertain) = (0, 0);
    for (size, later, loss) in [
        (100, [0, 0], 0.0),
        (6000, [0, 0], 1e-3),
        (20_000, [0, 0], 0.0),
        (20_000, [100_000_000, 0], 0.0),
        (20_000, [500_000_000, 0], 1e-4),
        (20_000, [500_000_000, 0], 1e-2),
        (12_000, [800_000_000, 0], 0.0),
        (12_000, [800_000_000, 400_000_000], 0.0),
        (3000, [900_000_000, 0], 1e-2),
    ] {
        for apart in [0, -2_000_000_000, 37_000_000_000, 500_000_000_000] {
            for seed in 0..3 {
                let (tables, sums) = pass(size, later, apart, loss, seed);
                let [sent, received] = [cells(&tables[0]), cells(&tables[1])];
                let ends = Ends::of_cells(tables[0].parameters(), [&sent, &received], &sums).unwrap();
                let pairs = |[sender, receiver]: [&Lds; 2]| {
                    let pairs = sender.cells().iter().zip(receiver.cells());
                    pairs.map(|(sent, received)| sent.delay_sum(received)).collect::<Vec<_>>()
                };
                let found = pairs([&ends.sender, &ends.receiver]);
                let truth = pairs([&tables[0], &tables[1]]);
                for (((found, truth), is_uncertain), cell) in
                    found.iter().zip(truth).zip(&ends.uncertain).zip(&sent)
                {
                    if *is_uncertain {
                        assert_eq!(*found, None);
                        uncertain += 1;
                    } else {
                        assert_eq!(*found, truth, "{size} {later:?} {loss} {apart}");
                        certain += 1;
                    }
                    // Sent and received within a second each, and what delays add.
                    assert!(!is_uncertain || cell.count > 200, "{cell:?}");
                }
            }
        }
    }
    println!("{certain} certain, {uncertain} uncertain");
    assert!(uncertain > 0 && certain > 10 * uncertain, "the test is blind");
}

#[test]
fn nothing_is_uncertain_where_everything_was_lost() {
    let (tables, sums) = pass(20_000, [0, 0], 0, 1.0, 1);
    let [sent, received] = [cells(&tables[0]), cells(&tables[1])];
    let ends = Ends::of_cells(tables[0].parameters(), [&sent, &received], &sums).unwrap();
    assert!(sums.sender.packets > 20_000 && sums.receiver.packets == 0);
    assert!(ends.uncertain.iter().all(|is_uncertain| !is_uncertain));
}

#[test]
fn tables_of_another_size_are_refused() {
    let (tables, sums) = pass(10, [0, 0], 0, 0.0, 1);
    let all = cells(&tables[0]);
    let found = Ends::of_cells(tables[0].parameters(), [&all[1..], &all[1..]], &sums);
    assert!(matches!(found, Err(LdsError::Cells { .. })), "{found:?}");
}
