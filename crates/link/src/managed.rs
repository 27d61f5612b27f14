//! Queue of packets that wait until the transmitter can begin the next one. Their discipline
//! determines the order. A link that yields without a discipline is first in, first out.

use crate::queue::{Discipline, Effects, Fifo, ManagedQueue as _, Queued};
use crate::transmitter::Transmitter;
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::{PacketId, PacketPool, Time};

/// Queue whose packets wait until the transmitter takes them.
#[derive(Debug)]
pub(crate) struct WaitingPackets {
    discipline: Option<Discipline>,
    /// Packets of a queue without a discipline.
    waiting: Fifo,
    /// Packets that go before all others.
    ahead: Fifo,
    /// True if no packet may leave.
    is_closed: bool,
    /// Packets that the discipline dropped, in order, until the link processes them.
    pub(crate) dropped: Vec<PacketId>,
}

impl WaitingPackets {
    pub(crate) fn new(discipline: Option<Discipline>) -> Self {
        WaitingPackets {
            discipline,
            waiting: Fifo::default(),
            ahead: Fifo::default(),
            is_closed: false,
            dropped: Vec::new(),
        }
    }

    /// Closes the queue, so that no packet leaves, or opens it again.
    pub(crate) fn close(&mut self, is_closed: bool) {
        self.is_closed = is_closed;
    }

    /// Adds a packet that goes before all others.
    pub(crate) fn put_ahead(&mut self, arrival: Queued) {
        self.ahead.push(arrival);
    }

    /// Returns the number of waiting packets, without the one in transmission.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        let ordinary = match &self.discipline {
            Some(discipline) => discipline.packets(),
            None => self.waiting.packets(),
        };
        ordinary + self.ahead.packets()
    }

    /// Returns the number of waiting bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        let ordinary = match &self.discipline {
            Some(discipline) => discipline.bytes(),
            None => self.waiting.bytes(),
        };
        ordinary + self.ahead.bytes()
    }

    /// Adds an arrival that fits. Returns false if the discipline drops it.
    pub(crate) fn enqueue(
        &mut self,
        arrival: Queued,
        pool: &mut PacketPool,
        marked: &mut u64,
    ) -> bool {
        let Some(discipline) = &mut self.discipline else {
            self.waiting.push(arrival);
            return true;
        };
        let mut effects = Effects {
            pool,
            dropped: &mut self.dropped,
            marked,
        };
        discipline.enqueue(arrival, &mut effects)
    }

    /// Removes and returns the packet that the transmitter begins at `now`. `None` if there is
    /// none.
    pub(crate) fn dequeue(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        marked: &mut u64,
    ) -> Option<Queued> {
        if !self.ahead.is_empty() {
            return self.ahead.pop();
        }
        let Some(discipline) = &mut self.discipline else {
            return self.waiting.pop();
        };
        let mut effects = Effects {
            pool,
            dropped: &mut self.dropped,
            marked,
        };
        discipline.dequeue(now, &mut effects)
    }

    /// Changes a threshold of the discipline at `now`.
    pub(crate) fn set_threshold(
        &mut self,
        now: Time,
        threshold: Threshold,
    ) -> Result<(), ThresholdError> {
        let discipline = self.discipline.as_mut();
        let discipline = discipline.ok_or(ThresholdError::Absent)?;
        discipline.set_threshold(now, threshold)
    }

    /// Returns true if an arrival that does not fit is accepted and a waiting packet is dropped
    /// instead.
    pub(crate) fn makes_room(&self) -> bool {
        self.discipline.as_ref().is_some_and(Discipline::makes_room)
    }

    /// Drops some of the waiting packets. Returns false if none is left.
    pub(crate) fn make_room(&mut self) -> bool {
        let discipline = self.discipline.as_mut();
        discipline.is_some_and(|it| it.make_room(&mut self.dropped))
    }

    /// Returns the time at which the transmitter can begin the next packet of a backlog that exists
    /// since `since`.
    pub(crate) fn serve_at(&self, since: Time, transmitter: &mut Transmitter) -> Time {
        if self.is_closed || self.packets() == 0 {
            Time::NEVER
        } else {
            transmitter.ready_at(since)
        }
    }
}
