//! Where two captures begin and end together: what only one of them holds in front of that and behind is left out.

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
    /// What is to be said of captures that ended before their end.
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
        Ok(Common { edges, passages, remarks: of_sender.into_iter().chain(of_receiver).collect() })
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
        each(packet.timestamp, identities.push(packet.data).as_ref());
        progress.packet(0, recording.capture());
    }
    Ok((identities, recording.remark()))
}

/// What is to be said of packets that were left out.
pub(crate) fn remark(edges: &Edges) -> Option<String> {
    let part = |name: &str, [front, behind]: [usize; 2]| {
        let place = match (front, behind) {
            (0, 0) => return None,
            (front, 0) => format!("{front} in front"),
            (0, behind) => format!("{behind} behind"),
            (front, behind) => format!("{front} in front and {behind} behind"),
        };
        Some(format!("the {name}'s has {place}"))
    };
    let parts: Vec<String> =
        [part("sender", edges.sender), part("receiver", edges.receiver)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        format!(
            "the captures do not begin and end with the same packets: {} that the other one lacks, which are left out",
            parts.join(", ")
        )
    })
}
