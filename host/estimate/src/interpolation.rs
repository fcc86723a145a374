//! Interpolation: delays of flows from those of reference packets, which RLI sends between them (Lee, Duffield, Kompella, SIGCOMM 2010).
//!
//! The receiver knows of packets when they arrive, and of reference packets their delays. Packets that leave a queue one behind the other have
//! waited about as long: so the delay of a packet is put on the line through those of the reference packets in front of it and behind
//! it. Packets wait for the latter in the interpolation buffer; then three counters of their flow take them.
//!
//! ```text
//! delay
//!   │      R₁ ·                             d = d₁ + (d₂ − d₁) (t − t₁) / (t₂ − t₁)
//!   │          ·  p   p                     count += 1,  sum += d,  squares += d²
//!   │                ·    p  · R₂
//!   └──────t₁─────────────────t₂──▶ arrival
//! ```
//!
//! | method | delay of a packet |
//! |---|---|
//! | [`Method::Linear`] | on that line |
//! | [`Method::OneSided`] | that of the reference packet in front of it; no buffer |
//! | [`Method::Shrinkage`] | λ times that on the line and 1 − λ times the moving average of the reference packets' delays |
//!
//! Packets in front of the first reference packet have its delay, and those behind the last one that one's. Nothing is known of a packet's
//! own part of its delay, such as the time that its octets take to be sent; and nothing where neighbours do not share a queue.
//! So there is no error that could be stated: the paper has none either. Packets that the buffer has no room for are counted and left out.
//!
//! # Test plan
//!
//! Each method by hand; delays that are linear in the arrival are exact; ends without a reference packet; a full buffer; references that
//! arrive together, or late.

use std::collections::HashMap;

/// Packets that the buffer holds: some hundred are between two reference packets, and more if these are lost.
pub const BUFFER: usize = 1 << 16;

/// How the delay of a packet is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Linear interpolation between two reference packets.
    Linear,
    /// The delay of the last reference packet.
    OneSided,
    /// Linear interpolation, drawn towards the moving average of the reference packets' delays.
    Shrinkage {
        /// λ, the weight of the interpolated delay, 0 to 1.
        lambda: f64,
        /// Weight of a reference packet in the moving average, 0 to 1.
        weight: f64,
    },
}

/// A flow's counters: the paper's three.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Packets.
    pub packets: u64,
    /// Sum of their estimated delays in nanoseconds.
    pub sum: f64,
    /// Sum of the squares of these.
    pub squares: f64,
}

impl Counters {
    /// Counts a packet of this delay in nanoseconds.
    pub fn add(&mut self, delay: f64) {
        self.packets += 1;
        self.sum += delay;
        self.squares += delay * delay;
    }

    /// The mean delay in nanoseconds; none without packets.
    pub fn mean(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.sum / self.packets as f64)
    }

    /// The standard deviation of the delays in nanoseconds; none without packets.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some((self.squares / self.packets as f64 - mean * mean).max(0.0).sqrt())
    }
}

/// A reference packet.
#[derive(Clone, Copy, Debug)]
struct Reference {
    arrival: u64,
    delay: f64,
}

/// The receiver of a segment.
#[derive(Clone, Debug)]
pub struct Interpolator {
    method: Method,
    last: Option<Reference>,
    /// Of the reference packets' delays.
    average: f64,
    /// Flow and arrival of the packets behind the last reference packet.
    buffer: Vec<(u64, u64)>,
    flows: HashMap<u64, Counters>,
    left_out: u64,
}

impl Interpolator {
    /// One that has seen nothing.
    pub fn new(method: Method) -> Self {
        let (buffer, flows) = (vec![], HashMap::new());
        Interpolator { method, last: None, average: 0.0, buffer, flows, left_out: 0 }
    }

    /// Takes a packet of a flow that arrives at `arrival` nanoseconds. Arrivals are in their order, reference packets among them.
    pub fn packet(&mut self, flow: u64, arrival: u64) {
        match (self.method, self.last) {
            (Method::OneSided, Some(last)) => self.flows.entry(flow).or_default().add(last.delay),
            _ if self.buffer.len() < BUFFER => self.buffer.push((flow, arrival)),
            _ => self.left_out += 1,
        }
    }

    /// Takes a reference packet that arrives at `arrival` after `delay`, both in nanoseconds.
    pub fn reference(&mut self, arrival: u64, delay: f64) {
        let next = Reference { arrival, delay };
        let weight = match self.method {
            Method::Shrinkage { weight, .. } if self.last.is_some() => weight,
            _ => 1.0,
        };
        self.average += weight * (delay - self.average);
        self.empty(self.last.unwrap_or(next), next);
        self.last = Some(next);
    }

    /// Each flow's counters, and how many packets were left out. Without any reference packet all are left out.
    pub fn finish(mut self) -> (HashMap<u64, Counters>, u64) {
        match self.last {
            Some(last) => self.empty(last, last),
            None => self.left_out += self.buffer.len() as u64,
        }
        (self.flows, self.left_out)
    }

    fn empty(&mut self, before: Reference, behind: Reference) {
        let span = behind.arrival.saturating_sub(before.arrival);
        for (flow, arrival) in self.buffer.drain(..) {
            let part = arrival.saturating_sub(before.arrival).min(span) as f64 / span.max(1) as f64;
            let linear = before.delay + part * (behind.delay - before.delay);
            let delay = match self.method {
                Method::Shrinkage { lambda, .. } => lambda * linear + (1.0 - lambda) * self.average,
                Method::Linear | Method::OneSided => linear,
            };
            self.flows.entry(flow).or_default().add(delay);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of flow 7 and references, by arrival.
    fn found(method: Method, arrivals: &[(u64, Option<f64>)]) -> Counters {
        let mut interpolator = Interpolator::new(method);
        for (arrival, delay) in arrivals {
            match delay {
                Some(delay) => interpolator.reference(*arrival, *delay),
                None => interpolator.packet(7, *arrival),
            }
        }
        let (flows, left_out) = interpolator.finish();
        assert_eq!(left_out, 0);
        flows[&7]
    }

    const ARRIVALS: [(u64, Option<f64>); 6] =
        [(50, None), (100, Some(10.0)), (125, None), (175, None), (200, Some(30.0)), (300, None)];

    #[test]
    fn each_method_by_hand() {
        // In front of the first reference packet its delay, behind the last one that one's.
        let linear = found(Method::Linear, &ARRIVALS);
        assert_eq!(linear, Counters { packets: 4, sum: 10.0 + 15.0 + 25.0 + 30.0, squares: 1850.0 });
        assert_eq!((linear.mean(), linear.deviation()), (Some(20.0), Some(62.5f64.sqrt())));
        assert_eq!(found(Method::OneSided, &ARRIVALS).sum, 10.0 + 10.0 + 10.0 + 30.0);
        // Averages 10, and 10 + (30 - 10) / 4 = 15.
        let shrinkage = found(Method::Shrinkage { lambda: 0.5, weight: 0.25 }, &ARRIVALS);
        assert_eq!(shrinkage.sum, 10.0 + (15.0 + 15.0) / 2.0 + (25.0 + 15.0) / 2.0 + (30.0 + 15.0) / 2.0);
        assert_eq!(found(Method::Shrinkage { lambda: 1.0, weight: 0.25 }, &ARRIVALS), linear);
        assert_eq!((Counters::default().mean(), Counters::default().deviation()), (None, None));
    }

    #[test]
    fn linear_delays_are_exact() {
        let delay = |arrival: u64| 500.0 + 0.25 * arrival as f64;
        let mut interpolator = Interpolator::new(Method::Linear);
        let mut truth = [Counters::default(); 3];
        for arrival in 0..=10_000u64 {
            if arrival % 100 == 0 {
                interpolator.reference(arrival, delay(arrival));
            } else {
                interpolator.packet(arrival % 3, arrival);
                truth[arrival as usize % 3].add(delay(arrival));
            }
        }
        let (flows, _) = interpolator.finish();
        for (flow, truth) in truth.iter().enumerate() {
            let found = flows[&(flow as u64)];
            assert_eq!(found.packets, truth.packets);
            assert!((found.mean().unwrap() - truth.mean().unwrap()).abs() < 1e-6);
            assert!((found.deviation().unwrap() - truth.deviation().unwrap()).abs() < 1e-6);
        }
    }

    #[test]
    fn what_cannot_be_told_is_counted() {
        let mut interpolator = Interpolator::new(Method::Linear);
        (0..BUFFER as u64 + 3).for_each(|arrival| interpolator.packet(1, arrival));
        assert_eq!(interpolator.clone().finish(), (HashMap::new(), BUFFER as u64 + 3));
        interpolator.reference(1 << 20, 5.0);
        let (flows, left_out) = interpolator.finish();
        assert_eq!((flows[&1].packets, left_out), (BUFFER as u64, 3));
    }

    #[test]
    fn references_that_arrive_together_or_late_do_no_harm() {
        // At once, and one that was overtaken: all delays stay between theirs.
        let arrivals = [(10, Some(4.0)), (10, None), (10, Some(8.0)), (12, None), (9, Some(6.0)), (20, None)];
        let found = found(Method::Linear, &arrivals);
        assert_eq!(found.packets, 3);
        assert!((4.0..=8.0).contains(&found.mean().unwrap()), "{found:?}");
    }
}
