//! Two captures, matched packet with packet.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::duration;
use deltaline_capture::Capture;
use deltaline_capture::matching::{End, Matching, Observations, match_exactly};
use deltaline_capture::replay::{Cuts, Span};
use std::path::Path;

/// Two captures and which packet of one is which of the other.
pub(crate) struct Matched {
    pub(crate) sender: Observations,
    pub(crate) receiver: Observations,
    pub(crate) matching: Matching,
}

impl Matched {
    /// Reads and matches two captures.
    pub(crate) fn read(sender: &Path, receiver: &Path) -> Result<Self, Failure> {
        let names = (sender, receiver);
        let sender = observe(sender, "matching the sender's packets")?;
        let receiver = observe(receiver, "matching the receiver's packets")?;
        let matching = match_exactly(&sender, &receiver);
        let measured = |end: &End| end.packets - end.unmeasured;
        let (sent, received) = (measured(&matching.sender), measured(&matching.receiver));
        if matching.pairs.is_empty() && sent > 0 && received > 0 {
            return Err(Failure::new(
                Exit::Ends,
                format!(
                    "{} and {} have no packet in common ({sent} and {received} packets); check that they are \
                     captures of the same traffic and time, that no address translation lies between them, \
                     and that their snap lengths are equal",
                    names.0.display(),
                    names.1.display()
                ),
            ));
        }
        Ok(Matched { sender, receiver, matching })
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

fn observe(path: &Path, what: &'static str) -> Result<Observations, Failure> {
    let mut capture = Capture::open(path)?;
    let mut progress = Progress::new(what, &[&capture]);
    let mut observations = Observations::default();
    while let Some(packet) = capture.next_packet()? {
        observations.push(packet.timestamp, packet.data);
        progress.packet(0, &capture);
    }
    Ok(observations)
}
