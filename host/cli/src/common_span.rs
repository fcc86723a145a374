//! Where two captures begin and end together: what only one of them holds in front of that and behind is left out.

use crate::failure::Failure;
use crate::progress::Progress;
use crate::recordings::Recordings;
use deltaline_capture::edges::{Edges, Identities, edges};
use deltaline_model::wire::frame::Role;

/// The edges of two captures, which are read for it, and what is to be said of captures that ended before their end.
pub(crate) fn of_captures(recordings: &Recordings) -> Result<(Option<Edges>, Vec<String>), Failure> {
    let (sender, of_sender) = identities(recordings, Role::Sender)?;
    let (receiver, of_receiver) = identities(recordings, Role::Receiver)?;
    Ok((edges(&sender, &receiver), of_sender.into_iter().chain(of_receiver).collect()))
}

fn identities(recordings: &Recordings, role: Role) -> Result<(Identities, Option<String>), Failure> {
    let mut recording = recordings.open(role)?;
    let mut progress =
        Progress::new("finding where the captures begin and end together", &[recording.capture()]);
    let mut identities = Identities::default();
    while let Some(packet) = recording.next_packet()? {
        identities.push(packet.data);
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
