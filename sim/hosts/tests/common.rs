//! What tests ask of recorded packets: exact matching, and what a pair of measurement points says.

use deltaline_capture::Packet;
use deltaline_capture::matching::Observations;
use deltaline_collect::collector::Collector;
use deltaline_collect::evaluation::Evaluation;
use deltaline_estimate::Estimate;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;

/// Packets as exact matching takes them.
pub(crate) fn observations<'a>(packets: impl IntoIterator<Item = &'a Packet>) -> Observations {
    let mut observations = Observations::default();
    packets.into_iter().for_each(|packet| observations.take(packet.into()).unwrap());
    observations
}

/// What an LDA of 1,024 rows at both ends says of an interval's packets, if it says anything.
pub(crate) fn measured<'a>(ends: [impl IntoIterator<Item = &'a Packet>; 2]) -> Option<Estimate> {
    let settings = Settings { rows: 1024, prefixes: &[0], digest: true, seed: 7, ..Settings::default() };
    let configuration = Configuration::new(settings).unwrap();
    let mut collector = Collector::expecting(&configuration);
    for (role, packets) in [Role::Sender, Role::Receiver].into_iter().zip(ends) {
        let mut point = MeasurementPoint::new(&configuration, role);
        for packet in packets {
            point.observe(&packet.data, Timestamp::from_nanoseconds(packet.timestamp));
        }
        point.end_interval(IntervalEnd::Delimiter, |frame| collector.push(frame));
    }
    let evaluation = Evaluation::all(&collector.finish()).next()?;
    Some(evaluation.result.ok()?.0)
}
