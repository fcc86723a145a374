//! Where two captures begin and end together: what one recorder has from a time when the other one did not run is left out.

use crate::failure::Failure;
use crate::progress::Progress;
use crate::recordings::Recordings;
use deltaline_capture::edges::{Edges, Identified, Identities, edges};
use deltaline_capture::stretches::{Passages, Stretches};
use deltaline_model::wire::frame::Role;

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
        let mut stretches = Stretches::default();
        let (sender, of_sender) =
            identities(recordings, Role::Sender, |time, packet| stretches.push(time, packet))?;
        let mut awaited = stretches.awaited(&sender);
        let (receiver, of_receiver) =
            identities(recordings, Role::Receiver, |time, packet| awaited.push(time, packet))?;
        let edges = edges(&sender, &receiver);
        let passages = awaited.passages(edges.as_ref().map(|edges| &edges.span));
        let left_out = remark(edges.as_ref(), [&sender, &receiver]);
        Ok(Common {
            edges,
            passages,
            remarks: of_sender.into_iter().chain(of_receiver).chain(left_out).collect(),
        })
    }
}

/// The identities of a capture's packets; `each` gets them with their times.
fn identities(
    recordings: &Recordings,
    role: Role,
    mut each: impl FnMut(u64, Option<&Identified>),
) -> Result<(Identities, Option<String>), Failure> {
    let mut recording = recordings.open(role)?;
    let mut progress =
        Progress::new("finding where the captures begin and end together", &[recording.capture()]);
    let mut identities = Identities::default();
    while let Some(packet) = recording.next_packet()? {
        each(packet.timestamp, identities.push(packet.timestamp, packet.data).as_ref());
        progress.packet(0, recording.capture());
    }
    Ok((identities, recording.remark()))
}

/// The part of an end's packets from which on what is left out may change what is concluded.
const NOTABLE: f64 = 0.2;

/// What is to be said of packets that are left out, or of captures whose edges are not known.
pub(crate) fn remark(edges: Option<&Edges>, ends: [&Identities; 2]) -> Option<String> {
    let Some(edges) = edges else {
        return ends.iter().all(|end| !end.is_empty()).then(|| {
            "the captures have too few packets in common to find where they begin and end together: they are taken whole, and what \
             one recorder has from a time when the other one did not run counts as lost or gained"
                .into()
        });
    };
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
    let share = |end: usize| left_out[end].iter().sum::<usize>() as f64 / edges.measured[end].max(1) as f64;
    let shares = [0, 1].map(share);
    let warning = if shares.iter().any(|share| *share > NOTABLE) {
        format!(
            ", {:.1} % of the sender's packets and {:.1} % of the receiver's; if traffic was interrupted there, and not a recorder, its \
             loss is missing in the result",
            100.0 * shares[0],
            100.0 * shares[1]
        )
    } else {
        String::new()
    };
    Some(format!(
        "the captures do not begin and end with the same packets: {} of a time when the other recorder did not run, which are \
         left out{warning}",
        parts.join(", ")
    ))
}
