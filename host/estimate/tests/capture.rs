//! Intervals of flows' means on real traffic: the repository's capture of a queue that rises, falls and drops packets.
//!
//! Test plan: in tables that are far too small, small, and large enough for its flows, over seeds of the hash and quarters of a second, no more
//! are missed of the flows that are asked than 5 %; the truth is by exact matching.

use deltaline_capture::matching::{Observations, match_exactly};
use deltaline_capture::{Capture, CaptureError};
use deltaline_estimate::lds::LdsPair;
use deltaline_model::packet::flow::FlowKey;
use deltaline_model::packet::hash::HashKind;
use deltaline_model::sketch::lds::{FlowHash, FlowPacket, Lds, LdsParameters};
use std::collections::HashMap;

const SEEDS: u64 = 20;
const WINDOW: u64 = 250_000_000;

/// Sum of delays and packets of each flow.
type Means = HashMap<u64, (f64, f64)>;

fn observe(file: &str) -> Result<Observations, CaptureError> {
    let path = format!("{}/../../sim/traffic/captures/{file}", env!("CARGO_MANIFEST_DIR"));
    Observations::read(&mut Capture::open(path)?)
}

#[test]
fn intervals_hold_on_a_capture() {
    let ends = [observe("t1-sender.pcap.zst").unwrap(), observe("t1-receiver.pcap.zst").unwrap()];
    let matching = match_exactly(&ends[0], &ends[1]);
    // Time, key and, of those that arrived, delay.
    let [sent, received] = ends.each_ref().map(|end| end.timestamps().zip(end.keys()).collect::<Vec<_>>());
    let arrived = matching.pairs.iter().map(|pair| (pair.sender, Some(received[pair.receiver].0)));
    let packets: Vec<_> = arrived
        .chain(matching.lost.iter().map(|lost| (*lost, None)))
        .filter_map(|(index, arrival)| Some((sent[index].0, sent[index].1?, arrival)))
        .collect();
    let first = packets.iter().map(|packet| packet.0).min().unwrap();
    for (columns, width) in [(8, 1), (16, 1), (32, 4), (64, 1)] {
        let (mut asked, mut given, mut missed) = (0.0, 0.0, 0.0);
        for seed in 1..=SEEDS {
            let hash = FlowHash::new(HashKind::H3, seed);
            let parameters = LdsParameters {
                columns,
                width,
                prefixes: vec![0; 4],
                has_octets: false,
                is_scattered: false,
                seed,
            };
            let mut windows: HashMap<u64, ([Lds; 2], Means)> = HashMap::new();
            for (time, key, arrival) in &packets {
                let (tables, means) = windows.entry((time - first) / WINDOW).or_insert_with(|| {
                    ([(); 2].map(|()| Lds::new(parameters.clone()).unwrap()), HashMap::new())
                });
                let (flow, packet) = (hash.flow(&FlowKey::of(key)), hash.packet(key));
                let packet = FlowPacket { flow, packet, nanoseconds: *time, octets: 0, weight: 1 };
                tables[0].add(&packet);
                if let Some(arrival) = arrival {
                    tables[1].add(&FlowPacket { nanoseconds: *arrival, ..packet });
                    let (sum, count) = means.entry(flow).or_default();
                    (*sum, *count) = (*sum + (*arrival - *time) as f64, *count + 1.0);
                }
            }
            for (tables, means) in windows.values() {
                let pair = LdsPair::new(&tables[0], &tables[1]).unwrap();
                for (flow, (sum, count)) in means {
                    asked += 1.0;
                    let Some(Ok(mean)) = pair.read(*flow, 1, 1).map(|reading| reading.mean) else { continue };
                    if mean.share < 1.0 {
                        continue;
                    }
                    given += 1.0;
                    let (range, mean, slack) = (mean.range, sum / count, 1e-3);
                    missed += f64::from(u8::from(mean < range.lower - slack || range.upper + slack < mean));
                }
            }
        }
        println!("{columns} columns, {width} each: {missed} of {given} given and {asked} asked");
        // Five standard deviations of four independent flows in each table, one for each seed and quarter of a second.
        let independent = 4.0 * 10.0 * SEEDS as f64;
        assert!(missed / asked < 0.05 + 5.0 * (0.05 * 0.95 / independent).sqrt(), "{missed} of {asked}");
        assert!(columns < 64 || given > 0.8 * asked, "{given} of {asked}");
    }
}
