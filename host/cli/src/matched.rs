//! Two captures, matched packet with packet.

use crate::both::both;
use crate::causes::Surveys;
use crate::common_span;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Input;
use crate::progress::{Progress, working};
use crate::recordings::{Recordings, remark_on_nothing_wanted};
use crate::report::duration;
use deltaline_capture::edges::{Edges, Identities, edges};
use deltaline_capture::exact::Unlike;
use deltaline_capture::matching::{End, Matching, Observations, Pair, match_exactly, reordering};
use deltaline_capture::reordering::Reordering;
use deltaline_capture::replay::{Cuts, Span, crossing};
use deltaline_capture::survey::Survey;
use deltaline_collect::pair::FEW_ROWS;
use deltaline_model::wire::frame::Role;

/// Two captures and which packet of one is which of the other.
pub(crate) struct Matched {
    pub(crate) sender: Observations,
    pub(crate) receiver: Observations,
    pub(crate) matching: Matching,
    /// The edges between which these packets lie in the captures, if they are known.
    pub(crate) edges: Option<Edges>,
    /// What is to be said of captures that ended before their end, and of packets at the edges that were left out.
    pub(crate) left_out: Vec<String>,
}

/// Two captures, read.
struct Observed {
    sender: Observations,
    receiver: Observations,
    /// What is to be said of captures that ended before their end.
    cut: Vec<String>,
    surveys: Surveys,
    remarks: Vec<String>,
    /// As they were read.
    captures: [Input; 2],
}

impl Observed {
    fn read(recordings: &Recordings) -> Result<Self, Failure> {
        let (mut remarks, mut cut) = (vec![], vec![]);
        let mut surveys = Surveys::default();
        let mut captures = [recordings.open(Role::Sender)?, recordings.open(Role::Receiver)?];
        let progress = Progress::new("reading the packets", &[captures[0].capture(), captures[1].capture()]);
        let [of_sender, of_receiver] = &mut captures;
        let (sender, receiver) = both(
            || observe(of_sender, &mut surveys.sender, progress.clone()),
            || observe(of_receiver, &mut surveys.receiver, progress.clone()),
        )?;
        let ends = [(Role::Sender, &sender), (Role::Receiver, &receiver)];
        for ((role, observations), recording) in ends.into_iter().zip(&captures) {
            let taken = observations.timestamps().len() as u64;
            let passed_over = recording.capture().passed_over();
            cut.extend(recording.remarks());
            remarks.extend(remark_on_nothing_wanted(recordings.path(role), taken, passed_over));
        }
        remarks.extend(surveys.remarks(recordings));
        Ok(Observed { sender, receiver, cut, surveys, remarks, captures })
    }
}

impl Matched {
    /// Reads and matches two captures, from where they begin together to where they end together.
    pub(crate) fn read_common(recordings: &Recordings) -> Result<Self, Failure> {
        let mut observed = Observed::read(recordings)?;
        let mut ends = [&observed.sender, &observed.receiver].map(Identities::from);
        ends.iter_mut().zip(&observed.captures).for_each(|(end, read)| end.recorder_ran(read.capture()));
        let edges = edges(&ends[0], &ends[1]);
        let remarks = common_span::remarks(edges.as_ref(), [&ends[0], &ends[1]]);
        drop(ends);
        let left_out = observed.cut.iter().cloned().chain(remarks).collect();
        let Some(edges) = edges else {
            return Ok(Matched { left_out, ..Matched::of(recordings, observed)? });
        };
        let Edges { span: Span { sender, receiver }, under_way: [sent, received], .. } = edges.clone();
        observed.sender.keep(sender, &sent);
        observed.receiver.keep(receiver, &received);
        Ok(Matched { edges: Some(edges), left_out, ..Matched::of(recordings, observed)? })
    }

    fn of(recordings: &Recordings, observed: Observed) -> Result<Self, Failure> {
        let Observed { sender, receiver, cut, surveys, mut remarks, captures: _ } = observed;
        remarks.splice(0..0, cut);
        let matching = working("matching packets with packets", || match_exactly(&sender, &receiver));
        if matching.pairs.is_empty() {
            check_common(recordings, [matching.sender, matching.receiver], 0, &surveys, &remarks)?;
        }
        Ok(Matched { sender, receiver, matching, edges: None, left_out: vec![] })
    }

    /// The intervals of this length, by the packets of the matched part, and what is to be said of them; one interval
    /// without a length.
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
        let remark = remark_on_postponed(cuts.postponed() as u64, average as u64);
        Ok((spans, remark))
    }

    /// Per interval, how many packets it has at one end, and another interval at the other end: they look like others.
    pub(crate) fn crossing(&self, spans: &[Span]) -> Vec<u64> {
        crossing(spans, &self.matching.pairs)
    }

    /// Per interval, how many packets the receiver has of it that are none of the sender's.
    pub(crate) fn foreign(&self, spans: &[Span]) -> Vec<u64> {
        let place = |index: usize| self.matching.receiver_only.partition_point(|only| *only < index);
        spans.iter().map(|span| (place(span.receiver.end) - place(span.receiver.start)) as u64).collect()
    }

    /// What is to be said of packets that arrived before they were sent.
    pub(crate) fn remark_on_negative_delays(&self) -> Option<String> {
        let delays = self.matching.pairs.iter().map(|pair| (pair.delay, pair.likeness));
        remark_on_negative_delays(Unlike::of(delays))
    }

    /// When each packet that arrived was sent, in nanoseconds since the Unix epoch, and its delay.
    pub(crate) fn delays(&self) -> impl Iterator<Item = (u64, i64)> {
        let times: Vec<u64> = self.sender.timestamps().collect();
        self.matching.pairs.iter().map(move |pair| (times[pair.sender], pair.delay))
    }

    /// How many packets overtook each other, of those of the sender in `span`.
    pub(crate) fn reordering(&self, span: &Span) -> Reordering {
        reordering(self.pairs(span), &self.sender, &self.receiver)
    }

    /// The delays in nanoseconds of those of the sender in `span` that arrived.
    pub(crate) fn delays_of(&self, span: &Span) -> Vec<i64> {
        self.pairs(span).iter().map(|pair| pair.delay).collect()
    }

    /// The same of packets that came once, and of those that came more than once or look like others.
    pub(crate) fn delays_by_likeness(&self, span: &Span) -> [Vec<i64>; 2] {
        let (repeated, once): (Vec<_>, Vec<_>) =
            self.pairs(span).iter().partition(|pair| pair.likeness.is_alike());
        [once, repeated].map(|pairs: Vec<&Pair>| pairs.iter().map(|pair| pair.delay).collect())
    }

    fn pairs(&self, span: &Span) -> &[Pair] {
        let pairs = &self.matching.pairs;
        let place = |index: usize| pairs.partition_point(|pair| pair.sender < index);
        &pairs[place(span.sender.start)..place(span.sender.end)]
    }

    /// What is to be said of packets that look alike.
    pub(crate) fn remark_on_duplicates(&self) -> Option<String> {
        remark_on_duplicates(self.matching.sender.duplicates)
    }
}

/// Refuses ends that have packets, and so few in `common` that they have not seen the same ones: loss alone leaves none that only the receiver has. The
/// two ends' packets differ by more than half then, and each has more than half as many of its own as in common, as rows are asked for it
/// ([`Rows::are_unrelated`](deltaline_collect::pair::Rows::are_unrelated)).
pub(crate) fn check_common(
    recordings: &Recordings,
    ends: [End; 2],
    common: u64,
    surveys: &Surveys,
    remarks: &[String],
) -> Result<(), Failure> {
    let [sent, received] = ends.map(|end| end.packets - end.unmeasured);
    let own = [sent, received].map(|packets| packets.saturating_sub(common));
    let least = own[0].min(own[1]);
    let are_unrelated = least > FEW_ROWS as u64 && 2 * least > common && own[0] + own[1] > 2 * common;
    if sent == 0 || received == 0 || common > 0 && !are_unrelated {
        return Ok(());
    }
    let common = if common == 0 { "no packet".into() } else { format!("only {common} packets") };
    let mut message = format!(
        "{} and {} have {common} in common ({sent} and {received} packets); check that they are captures of the \
         same traffic and time, that their snap lengths are equal, and that nothing between the points rewrites packets, such as a firewall \
         TCP's sequence numbers",
        recordings.name(Role::Sender),
        recordings.name(Role::Receiver)
    );
    let reasons = surveys.reasons(recordings)?;
    remarks.iter().chain(&reasons).for_each(|remark| message += &format!(". {remark}"));
    Err(Failure::new(Exit::Ends, message))
}

/// What is to be said of intervals whose ends were put so many packets later than wanted.
pub(crate) fn remark_on_postponed(postponed: u64, average: u64) -> Option<String> {
    let is_missing = postponed > average;
    (postponed > average / 10).then(|| match is_missing {
        true => format!(
            "packets overtake each other, so that for {postponed} packets, more than an interval has, there is no place for a cut: an \
             interval holds the packets of several, and others are empty; take longer intervals, or one kind of traffic with --filter"
        ),
        false => format!(
            "packets overtake each other, so that a cut was put up to {postponed} packets later than asked for: an interval \
             holds the same packets at both ends, but not those of exactly its time"
        ),
    })
}

/// What is to be said of packets that arrived before they were sent. Of those that look alike it is a guess which is which.
pub(crate) fn remark_on_negative_delays(Unlike { packets, negative, least }: Unlike) -> Option<String> {
    (negative > 0).then(|| {
        format!(
            "{negative} of {packets} packets arrived before they were sent: the receiver's clock is behind the sender's \
             by at least {}, or the two files are swapped",
            duration(-(least as f64))
        )
    })
}

/// What is to be said of packets that look alike.
pub(crate) fn remark_on_duplicates(duplicates: u64) -> Option<String> {
    (duplicates > 0).then(|| {
        format!(
            "{duplicates} of the sender's packets have the same identity as an earlier one: which of them is which is a \
             guess, by their times; the mean, the standard deviation and intervals are less certain than they say"
        )
    })
}

fn observe(
    recording: &mut Input,
    survey: &mut Survey,
    mut progress: Progress,
) -> Result<Observations, Failure> {
    let mut observations = Observations::default();
    while let Some(packet) = recording.next_packet()? {
        survey.take(packet);
        if observations.take(packet).is_err() {
            return Err(recording.out_of_memory());
        }
        progress.packet(recording.capture());
    }
    Ok(observations)
}
