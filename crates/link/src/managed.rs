//! The part of a link that a queue under active management needs: packets wait with their
//! discipline until the transmitter can begin the next one.

use crate::queue::{Discipline, ManagedQueue as _, Outcome, Queued};
use crate::transmitter::Transmitter;
use fadeout_core::{PacketId, PacketPool, Time};

/// A queue whose discipline decides when a packet leaves it.
#[derive(Debug)]
pub(crate) struct Managed {
    discipline: Discipline,
    /// The packets that the discipline dropped, in order, until the link has seen to them.
    pub(crate) dropped: Vec<PacketId>,
}

impl Managed {
    pub(crate) fn new(discipline: Discipline) -> Self {
        Managed {
            discipline,
            dropped: Vec::new(),
        }
    }

    /// Packets that wait; the one in transmission is not among them.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        self.discipline.packets()
    }

    /// Bytes that wait.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.discipline.bytes()
    }

    /// Takes an arrival that fits. False when the discipline drops it.
    pub(crate) fn enqueue(
        &mut self,
        arrival: Queued,
        pool: &mut PacketPool,
        marked: &mut u64,
    ) -> bool {
        let mut outcome = Outcome {
            pool,
            dropped: &mut self.dropped,
            marked,
        };
        self.discipline.enqueue(arrival, &mut outcome)
    }

    /// The packet that the transmitter begins at `now`.
    pub(crate) fn dequeue(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        marked: &mut u64,
    ) -> Option<Queued> {
        let mut outcome = Outcome {
            pool,
            dropped: &mut self.dropped,
            marked,
        };
        self.discipline.dequeue(now, &mut outcome)
    }

    /// Whether an arrival that does not fit is taken all the same, and what waits makes room.
    pub(crate) fn makes_room(&self) -> bool {
        self.discipline.makes_room()
    }

    /// Drops some of what waits. False when nothing is left.
    pub(crate) fn make_room(&mut self) -> bool {
        self.discipline.make_room(&mut self.dropped)
    }

    /// When the transmitter can begin the next packet of a backlog that stands since `since`.
    pub(crate) fn serve_at(&self, since: Time, transmitter: &mut Transmitter) -> Time {
        if self.packets() == 0 {
            Time::NEVER
        } else {
            transmitter.ready_at(since)
        }
    }
}
