//! Two captures, matched packet with packet.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Input, name};
use crate::progress::{Progress, working};
use crate::report::duration;
use deltaline_capture::matching::{End, Matching, Observations, match_exactly};
use deltaline_capture::replay::{Cuts, Span};
use std::path::Path;

/// Two captures and which packet of one is which of the other.
pub(crate) struct Matched {
    pub(crate) sender: Observations,
    pub(crate) receiver: Observations,
    pub(crate) matching: Matching,
    /// What is to be said of captures that ended before their end.
    pub(crate) cut: Vec<String>,
}

impl Matched {
    /// Reads and matches two captures.
    pub(crate) fn read(sender: &Path, receiver: &Path, keeps_going: bool) -> Result<Self, Failure> {
        let names = (sender, receiver);
        let mut cut = vec![];
        let sender = observe(sender, keeps_going, "reading the sender's packets", &mut cut)?;
        let receiver = observe(receiver, keeps_going, "reading the receiver's packets", &mut cut)?;
        let matching = working("matching packets with packets", || match_exactly(&sender, &receiver));
        let measured = |end: &End| end.packets - end.unmeasured;
        let (sent, received) = (measured(&matching.sender), measured(&matching.receiver));
        if matching.pairs.is_empty() && sent > 0 && received > 0 {
            return Err(Failure::new(
                Exit::Ends,
                format!(
                    "{} and {} have no packet in common ({sent} and {received} packets); check that they are \
                     captures of the same traffic and time, that no address translation lies between them, \
                     and that their snap lengths are equal",
                    name(names.0),
                    name(names.1)
                ),
            ));
        }
        Ok(Matched { sender, receiver, matching, cut })
    }

    /// The intervals of this length, and what is to be said of them; one interval without a length.
    pub(crate) fn spans(&self, length: Option<u64>) -> Result<(Vec<Span>, Option<String>), Failure> {
        let Some(length) = length else {
            let whole = Span {
                sender: 0..self.sender.timestamps().len(),
                receiver: 0..self.receiver.timestamps().len(),
            };
            return Ok((vec![whole], None));
        };
        let cuts = Cuts::in_band(&self.sender, &self.receiver, &self.matching, length)?;
        let spans: Vec<Span> = cuts.spans().collect();
        let average = self.sender.timestamps().len() / spans.len().max(1);
        let remark = (cuts.postponed() > average / 10).then(|| {
            format!(
                "packets overtake each other, so that a cut was put up to {} packets later than asked for: \
                 an interval holds the same packets at both ends, but not those of exactly its time",
                cuts.postponed()
            )
        });
        Ok((spans, remark))
    }

    /// Whether more of the matched packets arrived before they were sent than after.
    pub(crate) fn is_mostly_negative(&self) -> bool {
        let pairs = &self.matching.pairs;
        2 * pairs.iter().filter(|pair| pair.delay < 0).count() > pairs.len()
    }

    /// What is to be said of packets that arrived before they were sent.
    pub(crate) fn remark_on_negative_delays(&self) -> Option<String> {
        let negative = self.matching.pairs.iter().map(|pair| pair.delay).filter(|delay| *delay < 0);
        let least = negative.clone().min()?;
        Some(format!(
            "{} of {} packets arrived before they were sent: the receiver's clock is behind the sender's by at \
             least {}, or the two files are swapped",
            negative.count(),
            self.matching.pairs.len(),
            duration(-(least as f64))
        ))
    }

    /// What is to be said of packets that look alike.
    pub(crate) fn remark_on_duplicates(&self) -> Option<String> {
        let End { duplicates, .. } = self.matching.sender;
        (duplicates > 0).then(|| {
            format!(
                "{duplicates} of the sender's packets have the same identity as an earlier one: which of them is \
                 which is a guess, and intervals and standard deviations are less certain than they say"
            )
        })
    }
}

fn observe(
    path: &Path,
    keeps_going: bool,
    what: &'static str,
    cut: &mut Vec<String>,
) -> Result<Observations, Failure> {
    let mut recording = Input::open(path, keeps_going)?;
    let mut progress = Progress::new(what, &[recording.capture()]);
    let mut observations = Observations::default();
    while let Some(packet) = recording.next_packet()? {
        observations.push(packet.timestamp, packet.data);
        progress.packet(0, recording.capture());
    }
    cut.extend(recording.remark());
    Ok(observations)
}
