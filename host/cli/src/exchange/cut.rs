//! A recording, cut into intervals by its clock.
//!
//! # Test plan
//!
//! `tests/exchange.rs`: intervals as both ends cut them, clocks that are set, stamps that are wrong, a share of all flows, packets that are not IP.

use super::End;
use crate::causes::{remark_on_backward, remark_on_both_ways, remark_on_tunnelled};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Input;
use crate::pass::{remark_on_nameless, unix_time};
use crate::point::{Batch, Point};
use crate::recordings::remark_on_cut;
use crate::report::duration;
use deltaline_capture::Selection;
use deltaline_capture::matching::flow;
use deltaline_capture::survey::Survey;
use deltaline_collect::exchange::{About, Recording, Terms};
use deltaline_collect::verdict::LONGEST_INTERVAL;
use deltaline_estimate::WRONG_BY;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BYTES, identify};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::sketch::place::Placement;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use std::collections::VecDeque;

/// A recording, cut into intervals by its clock.
pub(super) struct Cut {
    input: Input,
    running: Running,
    flows: Flows,
    /// Of an interval, in nanoseconds; zero for one of all.
    length: u64,
    /// The first packet's time, in nanoseconds since the Unix epoch.
    began: Option<u64>,
    /// The latest packet's time.
    latest: u64,
    /// Packets that were read and are in no interval yet, with their times.
    next: VecDeque<(Vec<u8>, u64)>,
    survey: Survey,
    packets: u64,
    unmeasured: u64,
    /// Packets without the end of their headers.
    cut: u64,
    /// Intervals that had packets.
    intervals: u64,
    /// Why there is no more, if not because the recording has ended.
    pub(super) failure: Option<Failure>,
}

impl Recording for &mut Cut {
    fn next(&mut self) -> Option<(u64, PacketCache)> {
        Cut::next(self)
    }

    fn about(&mut self) -> About {
        Cut::about(self)
    }
}

/// The running interval.
struct Running {
    point: MeasurementPoint,
    batch: Batch,
    /// None before the first.
    number: Option<u64>,
    has_any: bool,
}

impl Running {
    fn put(&mut self, data: &[u8], timestamp: u64) -> Result<(), Failure> {
        self.has_any = true;
        self.batch.push(data, Timestamp::from_nanoseconds(timestamp));
        if self.batch.is_full() {
            Point::observe(&mut self.point, &mut self.batch)?;
        }
        Ok(())
    }
}

impl Cut {
    pub(super) fn open(end: &End, terms: &Terms, role: Role) -> Result<Self, Failure> {
        let selection = Selection { filter: end.filter.clone(), ..Selection::default() };
        let mut point = MeasurementPoint::new(&terms.configuration, role);
        point.remember_packets();
        Ok(Cut {
            input: Input::open(&end.recording, end.keep_going)?.select(selection),
            running: Running { point, batch: Batch::default(), number: None, has_any: false },
            flows: Flows::new(terms),
            length: terms.length,
            began: None,
            latest: 0,
            next: VecDeque::new(),
            survey: Survey::default(),
            packets: 0,
            unmeasured: 0,
            cut: 0,
            intervals: 0,
            failure: None,
        })
    }

    /// The next interval that has packets.
    pub(super) fn next(&mut self) -> Option<(u64, PacketCache)> {
        self.try_next().unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }

    /// What is to be said of the recording, which is read to its end.
    pub(super) fn about(&mut self) -> About {
        self.read_rest();
        let (long, longest) = self.survey.long();
        let (packets, fragments) = (self.survey.packets(), self.survey.fragments());
        About { packets, fragments, long, longest, remarks: self.remarks(), ..About::default() }
    }

    /// Passes over what is not asked for.
    fn read_rest(&mut self) {
        while self.next().is_some() {}
    }

    fn try_next(&mut self) -> Result<Option<(u64, PacketCache)>, Failure> {
        self.running.has_any = false;
        while self.read_up_to_another()? {
            let Some((data, timestamp)) = self.next.pop_front() else { break };
            let number = timestamp.checked_div(self.length).unwrap_or(0);
            // The stamp of the packet behind it shows whether its own is wrong: then it stays where it is.
            if self.next.is_empty() {
                self.look_ahead()?;
            }
            let is_wrong =
                self.next.front().is_some_and(|(_, time)| time.saturating_add(WRONG_BY) <= timestamp);
            if !is_wrong {
                if self.running.number.is_some() && self.running.has_any {
                    self.next.push_front((data, timestamp));
                    break;
                }
                self.began.get_or_insert(timestamp);
                self.latest = self.latest.max(timestamp);
                self.running.number = Some(number);
            }
            self.running.put(&data, timestamp)?;
        }
        let Running { point, batch, number, has_any } = &mut self.running;
        Point::observe(point, batch)?;
        let Some(number) = number.filter(|_| *has_any) else { return Ok(None) };
        // Of one interval of all, the other end wants to know when it was.
        let number = match self.began {
            Some(began) if self.length == 0 => {
                let lasted = self.latest.saturating_sub(began);
                if lasted >= LONGEST_INTERVAL {
                    return Err(self.too_long(lasted));
                }
                unix_time(began).seconds
            }
            _ => number,
        };
        self.unmeasured += u64::from(point.totals(0).unmeasured);
        self.intervals += 1;
        point.end_interval(IntervalEnd::Request, |_| ());
        Ok(point.take_packets().and_then(|mut caches| caches.pop()).map(|packets| (number, packets)))
    }

    fn too_long(&self, lasted: u64) -> Failure {
        let message = format!(
            "{}: lasts {}, and an interval may last 39 hours at most, as packets' times are known modulo 2^48 ns (78 h); take shorter ones with --interval",
            self.input.name(),
            duration(lasted as f64)
        );
        Failure::new(Exit::Refused, message)
    }

    /// Puts packets into the running interval, up to one that comes after it, by its stamp, and waits; false at the end.
    fn read_up_to_another(&mut self) -> Result<bool, Failure> {
        loop {
            let is_later = |timestamp: u64, running: &Running| {
                running.number.is_none_or(|number| timestamp.checked_div(self.length).unwrap_or(0) > number)
            };
            // Packets from before a clock that was set back stay in the running interval.
            if let Some((_, timestamp)) = self.next.front() {
                if is_later(*timestamp, &self.running) {
                    return Ok(true);
                }
                if let Some((data, timestamp)) = self.next.pop_front() {
                    self.running.put(&data, timestamp)?;
                }
                continue;
            }
            let Some(packet) = self.input.next_packet()? else { return Ok(false) };
            self.packets += 1;
            if !self.flows.take(packet.data) {
                continue;
            }
            self.cut += u64::from(packet.has_cut_headers());
            self.survey.take(packet);
            if is_later(packet.timestamp, &self.running) {
                self.next.push_back((packet.data.to_vec(), packet.timestamp));
                return Ok(true);
            }
            self.latest = self.latest.max(packet.timestamp);
            self.running.put(packet.data, packet.timestamp)?;
        }
    }

    /// Has the next packet wait.
    fn look_ahead(&mut self) -> Result<(), Failure> {
        while let Some(packet) = self.input.next_packet()? {
            self.packets += 1;
            if self.flows.take(packet.data) {
                self.cut += u64::from(packet.has_cut_headers());
                self.survey.take(packet);
                self.next.push_back((packet.data.to_vec(), packet.timestamp));
                break;
            }
        }
        Ok(())
    }

    /// Reads the rest, and says what is to be said of intervals that are left out: all but those of which `sent` packets and `given` numbers came.
    pub(super) fn remark_on_rest(&mut self, given: u64, sent: u64) -> Option<String> {
        self.read_rest();
        let intervals = self.intervals.saturating_sub(given);
        // Recordings cut the first one and the last.
        (self.length > 0 && intervals > 2).then(|| {
            format!(
                "{}: {intervals} intervals, with {} packets, are not whole in the other end's recording and are left out: if its recorder ran on, and the traffic \
                 was interrupted, they are lost, and in no number",
                self.input.name(),
                self.packets.saturating_sub(self.unmeasured + sent)
            )
        })
    }

    /// What is to be said of the recording.
    pub(super) fn remarks(&self) -> Vec<String> {
        let name = self.input.name();
        let other = self.unmeasured.saturating_sub(self.cut);
        let unmeasured = (other > 0)
            .then(|| format!("{name}: {other} of {} packets are not IP and not measured", self.packets));
        let nameless = self.running.point.truncated();
        let sampled = (self.flows.zeros > 0).then(|| {
            format!(
                "{name}: of {} flows one was taken, and all numbers are of those alone",
                1u32 << self.flows.zeros
            )
        });
        let backward = self.survey.backward().map(|backward| remark_on_backward(name, backward));
        let both_ways = self.survey.both_ways().map(|both_ways| remark_on_both_ways(name, both_ways));
        unmeasured
            .into_iter()
            .chain(remark_on_cut(&name, self.cut, self.packets))
            .chain(remark_on_nameless([(name, nameless, self.packets)], CAPTURED))
            .chain(sampled)
            .chain(remark_on_tunnelled(name, &self.survey))
            .chain(both_ways)
            .chain(backward)
            .chain(self.input.remarks())
            .collect()
    }
}

/// What comes of packets without the end of their identity.
const CAPTURED: &str = "so that they are told apart by less than they could be, and look lost or foreign where the other end has more of them";
/// The smallest share of flows: one in 2^20.
pub(super) const MOST_SHARE: i64 = 20;

/// Which flows are taken, alike at both ends: those whose addresses, protocol and ports have a place with so many zeros in front.
struct Flows {
    zeros: u8,
    hash: LinearHash,
    placement: Placement,
}

impl Flows {
    fn new(terms: &Terms) -> Self {
        let (configuration, zeros) = (&terms.configuration, terms.flows);
        let hash = LinearHash::new(configuration.hash(), configuration.seed());
        Flows { zeros, hash, placement: Placement::new(configuration.seed()) }
    }

    /// Frames that are not measured are taken, to be counted.
    fn take(&self, frame: &[u8]) -> bool {
        let Some(identity) = Some(frame).filter(|_| self.zeros > 0).and_then(|frame| identify(frame).ok())
        else {
            return true;
        };
        let flow = flow(&identity.key);
        let mut bytes = [0; KEY_BYTES];
        bytes.iter_mut().zip(flow).for_each(|(byte, of)| *byte = of);
        self.placement.place(self.hash.hash(&bytes.into())).leading_zeros() >= self.zeros.into()
    }
}
