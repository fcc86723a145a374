//! Whole recordings: the shipped pair, and those that are too large to ship.
//!
//! Test plan: the matching's figures on the shipped pair are those of its README; a pair that Linux made matches when its long
//! packets are cut; where the environment variable
//! `DELTALINE_DATA` names a folder with the full recordings, the figures of the full pair, which were computed by
//! another program, and every other file to its end.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use deltaline_capture::filter::Filter;
use deltaline_capture::matching::{End, Matching, Observations, match_exactly};
use deltaline_capture::segments::{Lengths, Segmentation};
use deltaline_capture::{Capture, Selection};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn observe(path: &Path) -> Observations {
    Observations::read(&mut Capture::open(path).unwrap()).unwrap()
}

/// The folder of the full recordings, if there is one.
fn full_recordings() -> Option<PathBuf> {
    let folder = std::env::var_os("DELTALINE_DATA");
    if folder.is_none() {
        // Not `eprintln!`, which the test harness swallows.
        let _ = writeln!(
            io::stderr(),
            "skipped, because the variable DELTALINE_DATA does not name a folder with the full recordings"
        );
    }
    folder.map(|folder| PathBuf::from(folder).join("captures"))
}

/// Mean, standard deviation, minimum and maximum; the first two to a tenth of a nanosecond.
fn delays(matching: &Matching) -> (String, String, i64, i64) {
    let delay = matching.truth(..).delay.unwrap();
    (format!("{:.1}", delay.mean_ns), format!("{:.1}", delay.std_ns), delay.min_ns, delay.max_ns)
}

#[test]
fn the_shipped_pair_is_matched_exactly() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../sim/traffic/captures"));
    let sender = observe(&folder.join("t1-sender.pcap.zst"));
    let receiver = observe(&folder.join("t1-receiver.pcap.zst"));
    let matching = match_exactly(&sender, &receiver);
    assert_eq!(matching.sender, End { packets: 59_461, ..End::default() });
    assert_eq!(matching.receiver, End { packets: 57_895, ..End::default() });
    assert_eq!((matching.pairs.len(), matching.lost.len(), matching.receiver_only.len()), (57_895, 1_566, 0));
    assert_eq!((matching.reordered, matching.reordered_overall), (0, 96));
    assert_eq!(delays(&matching), ("13058477.7".into(), "3305597.5".into(), 519, 21_980_771));

    let timestamps: Vec<u64> = sender.timestamps().collect();
    let counts = [(10_716, 1_566), (9_705, 0), (9_789, 0), (9_735, 0), (9_761, 0), (9_755, 0)];
    for (interval, (sent, lost)) in (0..).zip(counts) {
        let truth =
            matching.truth_where(|index| (timestamps[index] - timestamps[0]) / 500_000_000 == interval);
        assert_eq!(
            (truth.sent, truth.received, truth.lost),
            (sent, sent - lost, lost),
            "interval {interval}"
        );
    }
}

/// A transfer between two hosts of one machine, through a router with `tso off gso off` towards the receiver: the sender's own
/// recording holds packets of up to 40,610 bytes, the receiver's those that the kernel of Linux cut them into. The first 74
/// bytes of each frame, checksums zeroed, which hosts leave to their cards.
#[test]
fn packets_are_cut_as_linux_cuts_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let [sender, receiver] = ["sender", "receiver"].map(|end| folder.join(format!("offload-{end}.pcap.zst")));
    let forward =
        || Selection { filter: Some(Filter::new("src host 10.1.0.1").unwrap()), ..Selection::default() };
    let open = |path: &PathBuf, selection| Capture::open(path).unwrap().select(selection);
    let observe = |path: &PathBuf, selection| Observations::read(&mut open(path, selection)).unwrap();

    let whole = match_exactly(&observe(&sender, forward()), &observe(&receiver, forward()));
    assert_eq!((whole.pairs.len(), whole.lost.len(), whole.receiver_only.len()), (4, 28, 372));

    let lengths = |path: &PathBuf| {
        let mut lengths = Lengths::default();
        open(path, Selection::default()).for_each(|packet| lengths.take((&packet.unwrap()).into()));
        lengths
    };
    let both = Segmentation::new(&lengths(&sender), &lengths(&receiver));
    // From the handshake alone, as if the receiver's recording had been lost.
    let handshake = Segmentation::new(&lengths(&sender), &Lengths::default());
    for segmentation in [both, handshake] {
        let cut = Selection { segmentation: Some(Arc::new(segmentation)), ..forward() };
        let matching = match_exactly(&observe(&sender, cut), &observe(&receiver, forward()));
        assert_eq!((matching.pairs.len(), matching.lost.len(), matching.receiver_only.len()), (376, 0, 0));
        assert_eq!((matching.sender.duplicates, matching.reordered), (0, 0));
    }
}

#[test]
fn the_full_pair_is_matched_exactly() {
    let Some(folder) = full_recordings() else { return };
    let sender = observe(&folder.join("t1.ingress.pcap.zst"));
    let receiver = observe(&folder.join("t1.egress.pcap.zst"));
    let matching = match_exactly(&sender, &receiver);
    let truth = matching.truth(..);
    assert_eq!((truth.sent, truth.received, truth.lost), (196_622, 195_056, 1_566));
    assert_eq!(matching.receiver_only, []);
    assert_eq!((matching.reordered, matching.reordered_overall), (0, 179));
    for end in [matching.sender, matching.receiver] {
        assert_eq!((end.unmeasured, end.truncated, end.duplicates), (0, 0, 0));
    }
    assert_eq!(delays(&matching), ("12301070.6".into(), "1964427.6".into(), 519, 21_980_771));
}

#[test]
fn every_other_recording_is_read_to_its_end() {
    let Some(folder) = full_recordings() else { return };
    for (name, packets) in [
        ("d6g_upstream-nocross_vlan.pcap", 1_069),
        ("d6g_downstream-nocross.pcap", 1_003),
        ("zeek_echo.pcap.gz", 82_582),
        ("snabb_san4k.pcap.zst", 4_096),
        ("v6flood.pcap.zst", 39_838),
        ("mpls.pcap.zst", 10_507),
        ("vlan.pcap.zst", 395),
    ] {
        let path = folder.join(name);
        let mut capture = Capture::open(&path).unwrap();
        let mut count = 0;
        while let Some(packet) = capture.next_packet().unwrap() {
            assert!(packet.length as usize >= packet.data.len());
            count += 1;
        }
        assert_eq!(count, packets, "{name}");
        let size = path.metadata().unwrap().len();
        let progress = capture.progress();
        assert_eq!((progress.consumed, progress.total), (size, Some(size)), "{name}");
    }
}
