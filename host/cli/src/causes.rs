//! What two recordings hold that makes them hard to compare, with the remedy.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::recordings::{KnownBy, Recordings};
use crate::report::duration;
use deltaline_capture::matching::{End, match_exactly};
use deltaline_capture::survey::{Backward, BothWays, FEWEST_TIMES, Survey, Tunnelled};
use deltaline_collect::summary::Finding;
use deltaline_estimate::Rounding;
use deltaline_model::wire::frame::Role;
use std::net::IpAddr;

/// What both ends' recordings hold, as far as a sample shows it.
#[derive(Default)]
pub(crate) struct Surveys {
    pub(crate) sender: Survey,
    pub(crate) receiver: Survey,
}

/// Fragments of IP packets among an end's packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragments {
    pub(crate) fragments: u64,
    pub(crate) packets: u64,
}

/// What is to be said of recordings of these names, the sender's first, where their fragments are those of something between the points that fragments
/// or reassembles: one end has more than twice as many, which loss does not explain until half is lost.
pub(crate) fn remark_on_fragments(ends: [Fragments; 2], names: [String; 2]) -> Option<String> {
    let fragments = ends.map(|end| end.fragments);
    let [less, more] = [fragments[0].min(fragments[1]), fragments[0].max(fragments[1])];
    if more <= 2 * less {
        return None;
    }
    let share = |Fragments { fragments, packets }: Fragments| {
        format!("{fragments} ({})", percent(fragments as f64 / packets.max(1) as f64))
    };
    let ([sent, received], [sender, receiver]) = (ends.map(share), names);
    Some(format!(
        "fragments of IP packets are {sent} of the packets in {sender} and {received} of those in {receiver}: something between the points fragments packets \
         or reassembles them, and a fragment is not the packet that was sent, so that these count as lost; record both ends on the \
         same side of it, or send packets that fit the path (a smaller MTU, or TCP's MSS)"
    ))
}

/// Refuses results where so many packets are fragmented in between that losses mean nothing; this is what is to be said of that.
pub(crate) fn check_fragments(
    [sender, receiver]: [Fragments; 2],
    remark: Option<&str>,
) -> Result<(), Failure> {
    let least = sender.packets.min(receiver.packets);
    let are_many = sender.fragments.abs_diff(receiver.fragments) > least / FRAGMENTS;
    match remark.filter(|_| are_many) {
        Some(remark) => Err(Failure::new(Exit::Ends, format!("loss is not identifiable: {remark}"))),
        None => Ok(()),
    }
}

/// What is to be said of packets that no link carries, or not the one between the points: of each end how many are longer than an ordinary link carries,
/// and the longest one's bytes; `remedy` goes in front of how to record.
pub(crate) fn remark_on_long(ends: [(u64, u32); 2], remedy: &str) -> Option<String> {
    if ends.iter().any(|(_, longest)| *longest == 0) {
        return None;
    }
    let [most, least] = [ends[0].1.max(ends[1].1), ends[0].1.min(ends[1].1)];
    let is_joined = most > LONGEST_FRAME || 10 * u64::from(least) < 9 * u64::from(most);
    if ends == [(0, ends[0].1), (0, ends[1].1)] || !is_joined {
        return None;
    }
    let [(long, longest), (long_received, longest_received)] = ends;
    Some(format!(
        "{long} of the sender's packets and {long_received} of the receiver's are longer than an ordinary link carries, up \
         to {longest} and {longest_received} bytes: hosts record packets before their network card cuts them and after it \
         has joined them; {remedy} after `ethtool -K INTERFACE tso off gso off gro off lro off`"
    ))
}

/// Whether so few, or so many, of the sent packets were received that it is rather the recordings than the path.
pub(crate) fn is_suspect(sent: u64, received: u64) -> bool {
    sent.abs_diff(received) * 5 > sent
}

impl Surveys {
    pub(crate) fn of(&mut self, role: Role) -> &mut Survey {
        match role {
            Role::Sender => &mut self.sender,
            Role::Receiver => &mut self.receiver,
        }
    }

    fn of_end(&self, role: Role) -> &Survey {
        match role {
            Role::Sender => &self.sender,
            Role::Receiver => &self.receiver,
        }
    }

    /// What is to be said in every case, since a result may look right all the same.
    pub(crate) fn remarks(&self, recordings: &Recordings) -> Vec<String> {
        let tunnels = if recordings.takes_inner() { None } else { self.remark_on_tunnels() };
        let long = self.remark_on_long(recordings.splits());
        let times = self.remarks_on_backward(recordings).into_iter().flatten();
        let same = recordings.remark_on_same();
        let fragments = self.remark_on_fragments(recordings);
        same.into_iter()
            .chain(fragments)
            .chain(tunnels)
            .chain(self.remark_on_both_ways())
            .chain(long)
            .chain(times)
            .collect()
    }

    /// What is to be said of each end's times that go back.
    pub(crate) fn remarks_on_backward(&self, recordings: &Recordings) -> [Option<String>; 2] {
        [Role::Sender, Role::Receiver]
            .map(|role| Some(remark_on_backward(&recordings.name(role), self.of_end(role).backward()?)))
    }

    /// Why most packets may not be found at the other end, where that is so: what [`Surveys::remarks`] does not say already.
    pub(crate) fn reasons(&self, recordings: &Recordings) -> Result<Vec<String>, Failure> {
        if self.sender.packets() == 0 || self.receiver.packets() == 0 {
            return Ok(vec![]);
        }
        let [sent, received] = [self.sender.packets(), self.receiver.packets()];
        let mut reasons = remarks_on_beginnings(recordings)?;
        reasons.extend(self.remark_on_times());
        let is_loss = is_suspect(sent, received) && sent > received;
        if is_loss && reasons.is_empty() && self.remarks(recordings).is_empty() {
            reasons.push(
                "nothing in the recordings explains it but loss: no tunnels, traffic of both directions, packets longer than \
                 the other end's, repeated packets, address translation, rewritten headers, packets that a recorder dropped or its sampling left out, or times that do not overlap"
                    .into(),
            );
        }
        Ok(reasons)
    }

    fn fragments(&self) -> [Fragments; 2] {
        [&self.sender, &self.receiver]
            .map(|end| Fragments { fragments: end.fragments(), packets: end.packets() })
    }

    /// Packets that are fragmented between the points, or reassembled.
    fn remark_on_fragments(&self, recordings: &Recordings) -> Option<String> {
        remark_on_fragments(
            self.fragments(),
            [Role::Sender, Role::Receiver].map(|role| recordings.name(role)),
        )
    }

    /// Refuses recordings that nothing can be concluded from.
    pub(crate) fn check(&self, recordings: &Recordings) -> Result<(), Failure> {
        self.check_stamps(recordings)?;
        self.check_fragments(recordings)
    }

    /// Refuses recordings whose packets all have the same time, which no recorder has given them.
    fn check_stamps(&self, recordings: &Recordings) -> Result<(), Failure> {
        for role in [Role::Sender, Role::Receiver] {
            let survey = self.of_end(role);
            let packets = survey.packets();
            if let Some([first, last]) = survey.span()
                && first == last
                && packets >= FEWEST_TIMES
            {
                let name = recordings.name(role);
                let message = format!(
                    "{name}: the delay is not identifiable: all {packets} packets have the same time, {first} ns since 1970; record again with \
                     times, and look for what has written the file without them"
                );
                return Err(Failure::new(Exit::NotIdentifiable, message));
            }
        }
        Ok(())
    }

    /// Refuses recordings of which so many packets are fragmented in between that losses mean nothing.
    fn check_fragments(&self, recordings: &Recordings) -> Result<(), Failure> {
        let remark = self.remark_on_fragments(recordings);
        check_fragments(self.fragments(), remark.as_deref())
    }

    /// Tunnels, which may hide what is in them, and that only one end may be in.
    fn remark_on_tunnels(&self) -> Option<String> {
        let found = [self.sender.tunnelled(), self.receiver.tunnelled()];
        let share = found.map(|found| found.map_or(0.0, |found| found.share));
        let most = found.into_iter().flatten().max_by(|one, other| one.share.total_cmp(&other.share))?;
        if most.share < NOTABLE {
            return None;
        }
        let harm = if (share[0] - share[1]).abs() > NOTABLE {
            "and one packet has a different identity inside and outside of one"
        } else if most.are_alike {
            "whose headers do not distinguish them"
        } else {
            "and known by the outer headers and a few bytes behind them, which must be the same at both ends"
        };
        Some(format!(
            "{} of the sender's packets and {} of the receiver's are in tunnels ({}), {harm}; --inner takes the packets inside",
            percent(share[0]),
            percent(share[1]),
            most.tunnel
        ))
    }

    /// Packets of both directions, whose delays have different signs.
    fn remark_on_both_ways(&self) -> Option<String> {
        let found = [self.sender.both_ways(), self.receiver.both_ways()];
        let share = found.map(|found| found.map_or(0.0, |found| found.share));
        let BothWays { example, .. } = found.into_iter().flatten().next()?;
        let [sent, received] = share.map(percent);
        Some(remark_on_against(
            &format!("{sent} of the sender's packets and {received} of the receiver's"),
            example,
            "or with --direction where the recordings say it",
        ))
    }
}

impl Surveys {
    /// Packets that no link carries, or not the one between the points.
    fn remark_on_long(&self, splits: bool) -> Option<String> {
        let remedy = if splits {
            "not all could be cut, for want of a handshake in the recordings; record"
        } else {
            "--split cuts those of TCP as the card does, or record"
        };
        remark_on_long([self.sender.long(), self.receiver.long()], remedy)
    }

    /// What the times of both ends are multiples of.
    pub(crate) fn rounding(&self) -> Rounding {
        let unit = |survey: &Survey| survey.resolution().unwrap_or(0);
        Rounding { sender: unit(&self.sender), receiver: unit(&self.receiver) }
    }

    /// What the times' unit leaves open of an exact `mean`.
    pub(crate) fn remark_on_resolution(&self, mean: f64) -> Option<String> {
        let coarsest = self.sender.resolution().max(self.receiver.resolution())?;
        Finding::of_unit(coarsest, mean, 0.0).map(|finding| finding.to_string())
    }

    /// Recordings of different times.
    fn remark_on_times(&self) -> Option<String> {
        let ([first, last], [first_received, last_received]) = (self.sender.span()?, self.receiver.span()?);
        let both = last.min(last_received).saturating_sub(first.max(first_received));
        let shorter = (last - first).min(last_received - first_received);
        let is_apart = last < first_received || last_received < first;
        (is_apart || both < shorter / 2).then(|| {
            let offset = i128::from(first_received) - i128::from(first);
            format!(
                "by their clocks the recordings have {} in common: the receiver's begins {} {} the sender's, and they last {} and \
                 {}; check that both were made at the same time, and the clocks",
                duration(both as f64),
                duration(offset.unsigned_abs() as f64),
                if offset < 0 { "before" } else { "after" },
                duration((last - first) as f64),
                duration((last_received - first_received) as f64)
            )
        })
    }
}

/// What is to be said of a recording of which packets are in tunnels, where the other end's is not at hand.
pub(crate) fn remark_on_tunnelled(name: &str, survey: &Survey) -> Option<String> {
    let Tunnelled { tunnel, share, are_alike } =
        survey.tunnelled().filter(|tunnelled| tunnelled.share >= NOTABLE)?;
    let harm = if are_alike {
        "whose headers do not distinguish them"
    } else {
        "and known by the outer headers and a few bytes behind them, which must be the same at both ends"
    };
    Some(format!(
        "{name}: {} of its packets are in tunnels ({tunnel}), {harm}; record both ends on the same side of the tunnel",
        percent(share)
    ))
}

/// What is to be said of a recording that holds packets of both directions, where the other end's is not at hand.
pub(crate) fn remark_on_both_ways(name: &str, both_ways: BothWays) -> String {
    let packets = format!("{name}: {} of its packets", percent(both_ways.share));
    remark_on_against(&packets, both_ways.example, "at both ends")
}

/// These packets go the other way than others, such as those between two addresses; `filtering` goes on behind the filter that helps.
fn remark_on_against(packets: &str, [source, destination]: [IpAddr; 2], filtering: &str) -> String {
    format!(
        "{packets} go against the others of the same two addresses, such as {source} and {destination}: the delays of two directions \
         make one mean, and what only one end has seen is lost or foreign; take one direction with --filter, such as \
         'src host {source}', {filtering}"
    )
}

/// What is to be said of a recording whose times go back.
pub(crate) fn remark_on_backward(name: &str, Backward { times, most }: Backward) -> String {
    format!(
        "{name}: the times of its packets go back {}, by up to {}: a clock was set back, single stamps are wrong, or recordings \
         were joined out of order; delays about there mean nothing",
        if times == 1 { "once".into() } else { format!("{times} times") },
        duration(most as f64)
    )
}

/// What the beginnings of two recordings show, packet by packet: packets that occur more than once, and those that are the same but for what
/// something between the points changes.
fn remarks_on_beginnings(recordings: &Recordings) -> Result<Vec<String>, Failure> {
    if !recordings.are_files() {
        return Ok(vec![]);
    }
    let measured = |end: &End| (end.packets - end.unmeasured).max(1);
    let matched = |known_by| {
        let [sender, receiver] = recordings.beginnings(known_by, MOST_COMPARED)?;
        let matching = match_exactly(&sender, &receiver);
        let repeated =
            [&matching.sender, &matching.receiver].map(|end| end.duplicates as f64 / measured(end) as f64);
        let least = measured(&matching.sender).min(measured(&matching.receiver));
        Ok::<_, Failure>((matching.pairs.len() as f64 / least as f64, repeated))
    };
    let (with, repeated) = matched(KnownBy::All)?;
    let mut remarks = vec![];
    if repeated.iter().any(|share| *share > NOTABLE) {
        remarks.push(format!(
            "{} of the sender's packets and {} of the receiver's repeat an earlier one: mirror ports and recorders of several interfaces \
             give packets more than once; record one interface, or one direction of the mirror, or remove them with `editcap -d`",
            percent(repeated[0]),
            percent(repeated[1])
        ));
    }
    let explains = |without: f64| without > 0.5 && without > 2.0 * with;
    let (without, _) = matched(KnownBy::AllButIdentification)?;
    if explains(without) {
        remarks.push(format!(
            "{} of the packets are at both ends, but {} without IPv4's identification and \"don't fragment\": a firewall or tunnel between \
             the points rewrites these; record both ends on the same side of it",
            percent(with),
            percent(without)
        ));
    }
    if recordings.ignores_addresses() {
        return Ok(remarks);
    }
    let (without, _) = matched(KnownBy::AllButAddresses)?;
    if explains(without) {
        remarks.push(format!(
            "{} of the packets are at both ends, but {} without addresses and ports: an address translation (NAT) lies between \
             the points; --nat knows packets without what it changes, or record both ends on the same side of it",
            percent(with),
            percent(without)
        ));
    }
    Ok(remarks)
}

/// Packets of each recording, from its beginning, that are compared with addresses and without.
const MOST_COMPARED: usize = 200_000;
/// The longest frames that links carry, jumbo frames: 9,216 bytes with Ethernet's header and two VLAN tags.
const LONGEST_FRAME: u32 = 9238;
/// One packet in how many may be a fragment that only one end has, before results are refused.
const FRAGMENTS: u64 = 1000;
/// The share of packets from which on something about them is said.
const NOTABLE: f64 = 0.05;

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
