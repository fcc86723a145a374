//! Where two captures begin and end together: what one recorder has from a time when the other one did not run is left out.

use crate::both::both;
use crate::failure::Failure;
use crate::input::Input;
use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::report::duration;
use deltaline_capture::edges::{Edges, Identified, Identities, Still, edges};
use deltaline_capture::stretches::{Passages, Stretches};
use deltaline_collect::summary::may_change;
use deltaline_estimate::quantity::Remark;
use deltaline_model::wire::frame::Role;

/// What is to be said of captures of which one cannot be read twice.
pub(crate) const READ_ONCE: &str = "a capture that can be read only once is measured as it is: packets that only one end has recorded at \
                                    the edges count as lost or gained";

/// What two captures have in common.
pub(crate) struct Common {
    /// Where they begin and end together, if anything is in common.
    pub(crate) edges: Option<Edges>,
    /// Packets of both between the edges, a sample of long captures.
    pub(crate) passages: Passages,
    /// What is to be said of captures that ended before their end, and of what is left out.
    pub(crate) remarks: Vec<String>,
}

impl Common {
    /// Reads two captures for it.
    pub(crate) fn of(recordings: &Recordings) -> Result<Self, Failure> {
        let captures = [recordings.open(Role::Sender)?, recordings.open(Role::Receiver)?];
        let progress = Progress::new(
            "finding where the captures begin and end together",
            &[captures[0].capture(), captures[1].capture()],
        );
        let mut stretches = Stretches::default();
        let [of_sender, of_receiver] = captures;
        let ((sender, of_sender), (receiver, of_receiver)) = both(
            || identities(of_sender, progress.clone(), |time, packet| stretches.push(time, packet)),
            || identities(of_receiver, progress.clone(), |_, _| ()),
        )?;
        let edges = edges(&sender, &receiver);
        let passages = stretches.passages(&sender, &receiver, edges.as_ref().map(|edges| &edges.span));
        let left_out = remarks(edges.as_ref(), [&sender, &receiver]);
        Ok(Common {
            edges,
            passages,
            remarks: of_sender.into_iter().chain(of_receiver).chain(left_out).collect(),
        })
    }
}

/// The identities of a capture's packets; `each` gets them with their times.
fn identities(
    mut recording: Input,
    mut progress: Progress,
    mut each: impl FnMut(u64, Option<&Identified>),
) -> Result<(Identities, Vec<String>), Failure> {
    let mut identities = Identities::default();
    while let Some(packet) = recording.next_packet()? {
        let time = packet.timestamp;
        match identities.push(time, packet.data) {
            Ok(packet) => each(time, packet.as_ref()),
            Err(_) => return Err(recording.out_of_memory()),
        }
        progress.packet(recording.capture());
    }
    identities.recorder_ran(recording.capture());
    Ok((identities, recording.remarks()))
}

/// The part of an end's packets from which on what is left out may change what is concluded.
const NOTABLE: f64 = 0.2;

/// What is to be said of packets that are left out, of captures whose edges are not known, and of recorders that may have stood still.
pub(crate) fn remarks(edges: Option<&Edges>, ends: [&Identities; 2]) -> Vec<String> {
    let Some(edges) = edges else {
        let unknown = "the captures have too few packets in common to find where they begin and end together: they are taken whole, and what \
                       one recorder has from a time when the other one did not run counts as lost or gained";
        return ends.iter().all(|end| !end.is_empty()).then(|| unknown.into()).into_iter().collect();
    };
    let still = ["sender", "receiver"].into_iter().zip(edges.still).filter_map(|(name, still)| {
        let Still { nanoseconds, packets } = still?;
        Some(format!(
            "the {name}'s recorder has no record of any kind of {}, of which the other one has {packets} packets: if it stood still, and not the \
             traffic, what they count as lost or gained is not",
            duration(nanoseconds as f64)
        ))
    });
    remark_on_outside(edges).into_iter().chain(remark_on_under_way(edges)).chain(still).collect()
}

/// What is to be said of packets that the other recorder cannot have.
fn remark_on_outside(edges: &Edges) -> Option<String> {
    let part = |name: &str, [front, behind]: [usize; 2]| {
        let place = match (front, behind) {
            (0, 0) => return None,
            (front, 0) => format!("{front} in front"),
            (0, behind) => format!("{behind} behind"),
            (front, behind) => format!("{front} in front and {behind} behind"),
        };
        Some(format!("the {name}'s has {place}"))
    };
    let left_out = [edges.sender, edges.receiver];
    let parts: Vec<String> =
        ["sender", "receiver"].into_iter().zip(left_out).filter_map(|(name, end)| part(name, end)).collect();
    if parts.is_empty() {
        return None;
    }
    let [sent, received] = shares(edges).map(|share| 100.0 * share);
    // What the sender's recorder alone has may also have been lost.
    let missing: usize = edges.sender.iter().sum();
    let warning = match missing {
        0 => String::new(),
        _ => format!(
            "; if traffic was interrupted there, and not a recorder, its loss, up to {missing} packets, is missing in the result"
        ),
    };
    Some(format!(
        "the captures do not begin and end with the same packets: {} that are of a time of which the other recorder has no record of any \
         kind, and are left out, {sent:.1} % of the sender's packets and {received:.1} % of the receiver's{warning}",
        parts.join(", ")
    ))
}

/// What is to be said of packets that the other recorder may not have had time for.
fn remark_on_under_way(edges: &Edges) -> Option<String> {
    let [sent, received] = edges.under_way.each_ref().map(Vec::len);
    (sent + received > 0).then(|| {
        format!(
            "{sent} of the sender's packets and {received} of the receiver's, at the edges, have no partner in the other capture and are left out of all \
             numbers: they may have been under way when its recorder began or stopped, or else were lost, or never sent"
        )
    })
}

/// What is to be said of a number of lost packets that is not certain, as packets at the edges may have been under way.
pub(crate) fn remark_on_doubtful(edges: &Edges, lost: u64) -> Option<String> {
    let packets = edges.doubtful.len() as u64;
    may_change(lost as f64, packets).then(|| format!("lost: {}", Remark::UnderWay(packets)))
}

/// The parts of the sender's and of the receiver's packets that are left out.
fn shares(edges: &Edges) -> [f64; 2] {
    let share = |left_out: [usize; 2], of: usize| left_out.iter().sum::<usize>() as f64 / of.max(1) as f64;
    [share(edges.sender, edges.measured[0]), share(edges.receiver, edges.measured[1])]
}

/// Whether so much is left out that it may change what is concluded.
pub(crate) fn is_notable(edges: &Edges) -> bool {
    shares(edges).iter().any(|share| *share > NOTABLE)
}
