//! Controlled delay (CoDel) drops packets at the head if the delay stays above a target.
//!
//! Standard: RFC 8289.

use super::discipline::{ManagedQueue, Start};
use super::fifo::{Fifo, Queued};
use super::{Effects, Limit};
use crate::LinkError;
use fadeout_core::aqm::codel::{self, CoDelConfig};
use fadeout_core::aqm::{Head, Heads, Threshold, ThresholdError};
use fadeout_core::random::Stream;
use fadeout_core::{Ecn, Time};

/// Queue from which CoDel takes its packets.
pub(super) trait Source {
    fn front(&self) -> Option<&Queued>;
    fn pop(&mut self) -> Option<Queued>;
    /// Returns the bytes in the queue.
    fn bytes(&self) -> u64;

    /// Returns the packet that leaves at `now`, after the packets that are dropped. `None` if no
    /// packet is left.
    #[inline]
    fn dequeue(
        &mut self,
        law: &mut codel::CoDel,
        config: &CoDelConfig,
        now: Time,
        effects: &mut Effects<'_>,
    ) -> Option<Queued>
    where
        Self: Sized,
    {
        let mut heads = SourceHeads {
            source: self,
            effects,
        };
        law.drop_or_mark_head(config, now, &mut heads);
        self.pop()
    }
}

impl Source for Fifo {
    fn front(&self) -> Option<&Queued> {
        Fifo::front(self)
    }
    fn pop(&mut self) -> Option<Queued> {
        Fifo::pop(self)
    }
    fn bytes(&self) -> u64 {
        Fifo::bytes(self)
    }
}

/// View of a queue for the algorithm.
struct SourceHeads<'a, 'b, S> {
    source: &'a mut S,
    effects: &'a mut Effects<'b>,
}

impl<S: Source> Heads for SourceHeads<'_, '_, S> {
    #[inline]
    fn head(&self) -> Option<Head> {
        let head = self.source.front()?;
        Some(Head {
            entered_at: head.arrived_at,
            behind: self.source.bytes() - u64::from(head.size),
        })
    }
    fn ecn(&self) -> Option<Ecn> {
        let head = self.source.front()?;
        Some(self.effects.ecn(head.packet))
    }
    fn mark_head(&mut self) -> bool {
        let head = self.source.front();
        head.is_some_and(|head| self.effects.mark(head.packet))
    }
    fn drop_head(&mut self) {
        if let Some(head) = self.source.pop() {
            self.effects.drop(head.packet);
        }
    }
}

/// First-in, first-out queue with CoDel.
#[derive(Debug)]
pub(crate) struct CoDel {
    config: CoDelConfig,
    law: codel::CoDel,
    queue: Fifo,
}

impl CoDel {
    pub(crate) fn new(config: CoDelConfig) -> Result<Self, LinkError> {
        config.check()?;
        Ok(CoDel {
            config,
            law: codel::CoDel::default(),
            queue: Fifo::default(),
        })
    }
}

impl Start for CoDelConfig {
    type Queue = CoDel;

    fn start(self, _: Option<Limit>, _: Stream) -> Result<Option<CoDel>, LinkError> {
        CoDel::new(self).map(Some)
    }
}

impl ManagedQueue for CoDel {
    fn enqueue(&mut self, arrival: Queued, _: &mut Effects<'_>) -> bool {
        self.queue.push(arrival);
        true
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects<'_>) -> Option<Queued> {
        self.queue
            .dequeue(&mut self.law, &self.config, now, effects)
    }

    fn set_threshold(&mut self, _: Time, threshold: Threshold) -> Result<(), ThresholdError> {
        self.config.set_threshold(threshold)
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

    /// Adds twenty packets at 0, and one each millisecond from 500 ms on. Returns the packets that
    /// leave in the following second, and those that still wait.
    fn standing(rig: &mut Rig, ecn: Ecn) -> (u64, u64) {
        let mut codel = CoDel::new(CoDelConfig::default()).expect("the defaults are valid");
        for _ in 0..20 {
            let packet = rig.packet(ms(0), 1500, ecn, 0);
            codel.enqueue(packet, &mut rig.effects());
        }
        let mut left = 0;
        for n in 500..1_500 {
            let packet = rig.packet(ms(n), 1500, ecn, 0);
            codel.enqueue(packet, &mut rig.effects());
            left += u64::from(codel.dequeue(ms(n), &mut rig.effects()).is_some());
        }
        assert_eq!(codel.bytes(), codel.packets() * 1500);
        (left, codel.packets())
    }

    #[test]
    fn a_standing_queue_is_dropped_down_to_the_target() {
        let mut rig = Rig::default();
        let (left, waiting) = standing(&mut rig, Ecn::NotEct);
        // A packet arrives and leaves each millisecond, so the queue shrinks by the dropped
        // packets. Four packets have a delay below 5 ms.
        assert_eq!((left, waiting, rig.dropped.len()), (1_000, 4, 16));
    }

    #[test]
    fn capable_packets_are_marked_and_all_leave() {
        let mut rig = Rig::default();
        let (left, waiting) = standing(&mut rig, Ecn::Ect0);
        assert_eq!((left, waiting, rig.dropped.len()), (1_000, 20, 0));
        assert!(rig.marked > 16, "{}", rig.marked);
    }

    #[test]
    fn an_interval_of_zero_is_an_error() {
        let config = CoDelConfig {
            interval: fadeout_core::Span::ZERO,
            ..CoDelConfig::default()
        };
        let error = CoDel::new(config).map(|_| ()).expect_err("no interval");
        assert_eq!(
            error.to_string(),
            "interval is 0 ns; expected at least 1 us"
        );
    }
}
