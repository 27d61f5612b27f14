//! A link between two parts of a simulation. Queue and transmitter are in one part, and the far end
//! of the delay line is in the other. Packets that have left the transmitter are handed over before
//! they arrive.

use super::Link;
use crate::transit::Carried;
use fadeout_core::{DropCause, Packet, PacketId, PacketPool, Probe, Time};

impl Link {
    /// Returns the time of the transmitter's next decision. [`Time::NEVER`] if there is none. The
    /// near end of a parted link wakes only for this.
    #[inline]
    pub fn serve_at(&self) -> Time {
        self.serve_at
    }

    /// Returns the time at which the next packet reaches the far end.
    pub fn next_arrival_at(&self) -> Time {
        self.transit.next_arrival_at()
    }

    /// Hands over the packets that reach the far end by `until`, in order and each with its arrival
    /// time. Drops packets that are lost in transit. All of them have left the queue by `now`,
    /// because their delay is at least the time from `now` to `until`.
    pub fn hand_over(
        &mut self,
        (now, until): (Time, Time),
        pool: &mut PacketPool,
        mut give: impl FnMut(Time, Packet),
        probe: &mut impl Probe,
    ) {
        self.transit.leave_queue(now);
        while let Some(carried) = self.transit.pop_arrived(until) {
            if carried.is_lost {
                let (at, cause) = (carried.arrives_at, DropCause::Blocked);
                self.drop_packet(at, carried.packet, cause, pool, probe);
            } else {
                self.stats.count_out(carried.size);
                give(carried.arrives_at, pool.remove(carried.packet));
            }
        }
        self.assert_conserved();
    }

    /// Adds a packet in transit at the far end, which arrives at `arrives_at`. Packets must be
    /// added in the order of their arrivals.
    pub fn take_over(&mut self, arrives_at: Time, packet: PacketId) {
        self.transit.push(Carried {
            leaves_queue_at: arrives_at,
            arrives_at,
            packet,
            size: 0,
            is_lost: false,
        });
    }
}
