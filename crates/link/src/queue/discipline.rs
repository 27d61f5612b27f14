//! Common interface of the queue disciplines.

use super::{
    BiasedConfig, CoDelConfig, DropTailConfig, DualPi2Config, FqCoDelConfig, Limit, PieConfig,
    Queued, RedConfig,
};
use crate::LinkError;
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::random::Stream;
use fadeout_core::{Ecn, PacketId, PacketPool, Rate, Time};

fadeout_core::registry! {
    /// Every queue discipline that a scenario can name.
    pub static QUEUE_DISCIPLINES;

    /// Queue discipline. It decides which packets a queue drops or marks, and the order in which
    /// they leave. `rate` is the mean rate of the link. RED derives the transmission time of a
    /// typical packet from it.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum QueueDiscipline(rate: Rate = Rate::from_bits_per_sec(10_000_000));

    /// Queue of a discipline other than drop-tail.
    #[derive(Debug)]
    pub(crate) enum Discipline {
        DropTail(DropTailConfig => std::convert::Infallible),
        Biased(BiasedConfig => super::biased::Biased),
        Red(RedConfig => super::red::Red),
        CoDel(CoDelConfig => super::codel::CoDel),
        FqCoDel(FqCoDelConfig => super::fq_codel::FqCoDel),
        Pie(PieConfig => super::pie::Pie),
        DualPi2(DualPi2Config => super::dual_pi2::DualPi2),
    }
    macro configured, each;
}

impl Default for QueueDiscipline {
    fn default() -> Self {
        QueueDiscipline::DropTail(DropTailConfig)
    }
}

/// Parameters of a discipline.
pub(crate) trait Start {
    /// Queue of the discipline.
    type Queue: ManagedQueue;

    /// Returns the empty queue of a link with this limit. `None` if only the limit decides.
    fn start(self, limit: Option<Limit>, stream: Stream) -> Result<Option<Self::Queue>, LinkError>;
}

/// Queue that decides about more than its limit.
pub(crate) trait ManagedQueue {
    /// Adds a packet that fits the limit, at its arrival. Returns false if the packet must be
    /// dropped.
    fn enqueue(&mut self, arrival: Queued, effects: &mut Effects<'_>) -> bool;

    /// Removes and returns the next packet for the transmitter, which is free at `now`. `None` if
    /// no packet is left, also because the others were dropped.
    fn dequeue(&mut self, now: Time, effects: &mut Effects<'_>) -> Option<Queued>;

    /// Returns the number of waiting packets.
    fn packets(&self) -> u64;

    /// Returns the number of waiting bytes.
    fn bytes(&self) -> u64;

    /// Returns true if an arrival that does not fit is accepted and a waiting packet is dropped
    /// instead.
    fn makes_room(&self) -> bool {
        false
    }

    /// Drops some of the waiting packets. Returns false if none is left, or if this discipline
    /// drops the arrival.
    fn make_room(&mut self, _dropped: &mut Vec<PacketId>) -> bool {
        false
    }

    /// Changes a threshold at `now`.
    ///
    /// # Errors
    /// Returns an error if the discipline does not have the threshold, or if the value is out of
    /// its range. Nothing has changed then.
    fn set_threshold(&mut self, _now: Time, _threshold: Threshold) -> Result<(), ThresholdError> {
        Err(ThresholdError::Absent)
    }
}

impl Start for DropTailConfig {
    type Queue = std::convert::Infallible;

    /// Returns no queue, because the packets of a drop-tail queue are in the link.
    fn start(self, _: Option<Limit>, _: Stream) -> Result<Option<Self::Queue>, LinkError> {
        Ok(None)
    }
}

impl ManagedQueue for std::convert::Infallible {
    fn enqueue(&mut self, _: Queued, _: &mut Effects<'_>) -> bool {
        match *self {}
    }
    fn dequeue(&mut self, _: Time, _: &mut Effects<'_>) -> Option<Queued> {
        match *self {}
    }
    fn packets(&self) -> u64 {
        match *self {}
    }
    fn bytes(&self) -> u64 {
        match *self {}
    }
}

/// Packets that a discipline drops and marks.
#[derive(Debug)]
pub(crate) struct Effects<'a> {
    pub(crate) pool: &'a mut PacketPool,
    /// Packets chosen for dropping. The link frees and counts them.
    pub(crate) dropped: &'a mut Vec<PacketId>,
    /// Number of marks.
    pub(crate) marked: &'a mut u64,
}

impl Effects<'_> {
    pub(crate) fn ecn(&self, packet: PacketId) -> Ecn {
        self.pool[packet].ecn
    }

    /// Sets Congestion Experienced. Returns false if the packet is not ECN-capable.
    pub(crate) fn mark(&mut self, packet: PacketId) -> bool {
        self.pool[packet].ecn.mark(self.marked)
    }

    pub(crate) fn drop(&mut self, packet: PacketId) {
        self.dropped.push(packet);
    }
}

impl Discipline {
    /// Returns the discipline of `config` in a queue with this limit. `None` for drop-tail, which
    /// stores no packets here.
    pub(crate) fn new(
        config: QueueDiscipline,
        limit: Option<Limit>,
        stream: Stream,
    ) -> Result<Option<Discipline>, LinkError> {
        Ok(Some(configured!(config, config => Discipline(
            match config.start(limit, stream)? {
                Some(queue) => queue,
                None => return Ok(None),
            }
        ))))
    }
}

impl ManagedQueue for Discipline {
    fn enqueue(&mut self, arrival: Queued, effects: &mut Effects<'_>) -> bool {
        each!(self, queue => queue.enqueue(arrival, effects))
    }
    fn dequeue(&mut self, now: Time, effects: &mut Effects<'_>) -> Option<Queued> {
        each!(self, queue => queue.dequeue(now, effects))
    }
    fn makes_room(&self) -> bool {
        each!(self, queue => queue.makes_room())
    }
    fn make_room(&mut self, dropped: &mut Vec<PacketId>) -> bool {
        each!(self, queue => queue.make_room(dropped))
    }
    fn set_threshold(&mut self, now: Time, threshold: Threshold) -> Result<(), ThresholdError> {
        each!(self, queue => queue.set_threshold(now, threshold))
    }
    #[inline]
    fn packets(&self) -> u64 {
        each!(self, queue => queue.packets())
    }
    #[inline]
    fn bytes(&self) -> u64 {
        each!(self, queue => queue.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Parameters;

    #[test]
    fn every_discipline_can_begin_with_its_defaults() {
        let rate = Rate::from_bits_per_sec(10_000_000);
        for entry in QUEUE_DISCIPLINES {
            let config = QueueDiscipline::new(entry.name, Parameters::NONE, rate);
            let stream = Stream::new(1, "link.aqm", 0);
            let built = Discipline::new(config.expect("an entry"), None, stream);
            assert!(built.is_ok(), "{}", entry.name);
        }
    }

    #[test]
    fn an_unknown_name_is_no_discipline() {
        assert!(QueueDiscipline::new("cake", Parameters::NONE, Rate::ZERO).is_none());
    }
}
