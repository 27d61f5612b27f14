//! Proportional integral controller, enhanced (PIE): drops arrivals with a probability that follows
//! the queueing delay and its change.
//!
//! Standard: RFC 8033.

use super::discipline::{ManagedQueue, Start};
use super::fifo::{Fifo, Queued};
use super::{Effects, Limit};
use crate::LinkError;
use fadeout_core::Time;
use fadeout_core::aqm::pie::{self, PieConfig, Verdict};
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::random::Stream;

/// First-in, first-out queue with PIE.
#[derive(Debug)]
pub(crate) struct Pie {
    law: pie::Pie,
    queue: Fifo,
    /// Length above which the algorithm is active. `None` if it always is.
    wakes_above: Option<Limit>,
}

impl Pie {
    pub(crate) fn new(
        config: PieConfig,
        limit: Option<Limit>,
        stream: Stream,
    ) -> Result<Self, LinkError> {
        Ok(Pie {
            law: pie::Pie::new(config, limit.is_some(), stream)?,
            queue: Fifo::default(),
            wakes_above: limit.map(Limit::third),
        })
    }

    /// Activates the algorithm if the arrival fills a third of the limit.
    ///
    /// Standard: RFC 8033 §5.3.
    fn wake(&mut self, size: u32) {
        let Some(third) = self.wakes_above.filter(|_| self.law.is_off()) else {
            return;
        };
        if !third.admits(self.queue.packets(), self.queue.bytes(), size) {
            self.law.wake();
        }
    }

    fn catch_up(&mut self, now: Time) {
        let head = self.queue.front();
        self.law.catch_up(now, head.map(|head| head.arrived_at));
    }
}

impl Start for PieConfig {
    type Queue = Pie;

    fn start(self, limit: Option<Limit>, stream: Stream) -> Result<Option<Pie>, LinkError> {
        Pie::new(self, limit, stream).map(Some)
    }
}

impl ManagedQueue for Pie {
    fn enqueue(&mut self, arrival: Queued, effects: &mut Effects<'_>) -> bool {
        self.catch_up(arrival.arrived_at);
        self.wake(arrival.size);
        let is_taken = match self.law.on_arrival(self.queue.bytes()) {
            Verdict::Pass => true,
            Verdict::Mark => effects.mark(arrival.packet),
            Verdict::Drop => false,
        };
        if is_taken {
            self.queue.push(arrival);
        }
        is_taken
    }

    fn dequeue(&mut self, now: Time, _: &mut Effects<'_>) -> Option<Queued> {
        self.catch_up(now);
        self.queue.pop()
    }

    fn set_threshold(&mut self, now: Time, threshold: Threshold) -> Result<(), ThresholdError> {
        self.catch_up(now);
        self.law.set_threshold(threshold)
    }

    fn packets(&self) -> u64 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Rig, ms};
    use super::*;
    use fadeout_core::Ecn;

    /// Adds two packets each millisecond to a queue that serves one. Returns the times of drops in
    /// milliseconds.
    fn overload(pie: &mut Pie, rig: &mut Rig, ecn: Ecn, times: std::ops::Range<u64>) -> Vec<u64> {
        let mut drops = Vec::new();
        for n in times {
            for _ in 0..2 {
                let arrival = rig.packet(ms(n), 1500, ecn, 0);
                if !pie.enqueue(arrival, &mut rig.effects()) {
                    drops.push(n);
                }
            }
            pie.dequeue(ms(n), &mut rig.effects());
        }
        drops
    }

    #[test]
    fn one_that_switches_off_begins_at_a_third_of_the_limit_and_ends_with_the_congestion() {
        let config = PieConfig {
            switches_off: true,
            ..PieConfig::default()
        };
        let stream = Stream::new(1, "link.aqm", 0);
        let mut pie = Pie::new(config, Some(Limit::Packets(300)), stream).expect("valid");
        let mut rig = Rig::default();
        // The queue grows by a packet each millisecond. It reaches a third of 300 after 100 ms. The
        // burst allowance of 150 ms follows.
        let drops = overload(&mut pie, &mut rig, Ecn::NotEct, 10_000..10_099);
        assert!(drops.is_empty() && pie.law.is_off());
        let drops = overload(&mut pie, &mut rig, Ecn::NotEct, 10_099..10_400);
        let first = *drops.first().expect("drops follow");
        assert!((10_245..10_275).contains(&first), "{first}");
        // Without arrivals the queue empties, the probability falls to zero, and the algorithm
        // turns off.
        for n in 10_400..14_000 {
            pie.dequeue(ms(n), &mut rig.effects());
        }
        assert!(pie.law.is_off() && pie.packets() == 0);
    }

    #[test]
    fn capable_packets_are_marked_first_and_dropped_when_that_does_not_help() {
        let stream = Stream::new(1, "link.aqm", 0);
        let mut pie = Pie::new(PieConfig::default(), None, stream).expect("valid");
        let mut rig = Rig::default();
        let drops = overload(&mut pie, &mut rig, Ecn::Ect1, 10_000..10_400);
        let first = *drops.first().expect("marks do not help here");
        // The burst allowance of 150 ms comes first, then marks up to a probability of a tenth.
        assert!(rig.marked > 5 && first > 10_200, "{} {first}", rig.marked);
        assert_eq!(pie.bytes(), pie.packets() * 1500);
    }
}
