//! Queue of packets that wait until the transmitter can begin the next one. The order is that of
//! their discipline under active management. On a link that yields it is first in, first out.

use crate::queue::{Discipline, Effects, Fifo, ManagedQueue as _, Queued};
use crate::transmitter::Transmitter;
use fadeout_core::{PacketId, PacketPool, Time};

/// Queue whose packets wait until the transmitter takes them.
#[derive(Debug)]
pub(crate) struct Managed {
    discipline: Option<Discipline>,
    /// The packets of a queue without discipline.
    waiting: Fifo,
    /// Packets that go before all others.
    ahead: Fifo,
    /// True if no packet leaves.
    is_closed: bool,
    /// Packets that the discipline dropped, in order, until the link has processed them.
    pub(crate) dropped: Vec<PacketId>,
}

impl Managed {
    pub(crate) fn new(discipline: Option<Discipline>) -> Self {
        Managed {
            discipline,
            waiting: Fifo::default(),
            ahead: Fifo::default(),
            is_closed: false,
            dropped: Vec::new(),
        }
    }

    /// Lets nothing out any more, or lets it out again.
    pub(crate) fn close(&mut self, is_closed: bool) {
        self.is_closed = is_closed;
    }

    /// Takes a packet that goes before all others.
    pub(crate) fn put_ahead(&mut self, arrival: Queued) {
        self.ahead.push(arrival);
    }

    /// Packets that wait; the one in transmission is not among them.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        let ordinary = match &self.discipline {
            Some(discipline) => discipline.packets(),
            None => self.waiting.packets(),
        };
        ordinary + self.ahead.packets()
    }

    /// Bytes that wait.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        let ordinary = match &self.discipline {
            Some(discipline) => discipline.bytes(),
            None => self.waiting.bytes(),
        };
        ordinary + self.ahead.bytes()
    }

    /// Takes an arrival that fits. False when the discipline drops it.
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

    /// The packet that the transmitter begins at `now`.
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

    /// Returns true if an arrival that does not fit is accepted and a waiting packet makes room.
    pub(crate) fn makes_room(&self) -> bool {
        self.discipline.as_ref().is_some_and(Discipline::makes_room)
    }

    /// Drops some of the waiting packets. Returns false if none is left.
    pub(crate) fn make_room(&mut self) -> bool {
        let discipline = self.discipline.as_mut();
        discipline.is_some_and(|it| it.make_room(&mut self.dropped))
    }

    /// When the transmitter can begin the next packet of a backlog that stands since `since`.
    pub(crate) fn serve_at(&self, since: Time, transmitter: &mut Transmitter) -> Time {
        if self.is_closed || self.packets() == 0 {
            Time::NEVER
        } else {
            transmitter.ready_at(since)
        }
    }
}
