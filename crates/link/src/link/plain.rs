//! Short path for packets of a plain link.
//!
//! A plain link has a drop-tail queue, a constant rate and a constant delay. It keeps the order of
//! packets, and has no jitter, random loss or blockage.

use super::Link;
use crate::Changes;
use crate::transit::Carried;
use crate::transmitter::Transmitter;
use fadeout_core::{DropCause, PacketId, PacketPool, Probe, Span, Time};

impl Link {
    /// Returns the delay if the link is plain. `None` for other links. A link stays plain, because
    /// of all properties only the rate may change, to another constant rate.
    pub(super) fn constant_delay(&self) -> Option<Span> {
        let is_plain = self.constant_rate().is_some()
            && self.managed.is_none()
            && !self.counts_delay_line
            && !self.jitter.is_on()
            && !self.loss.is_on()
            && self.keeps_order
            && self.changes == Changes::AtOnce;
        self.delay.constant().filter(|_| is_plain)
    }

    /// Queues or drops an arrival at a plain link with this delay. The result is that of
    /// [`admit`](Self::admit), with fewer questions.
    #[inline(always)]
    pub(super) fn admit_plainly(
        &mut self,
        now: Time,
        (packet, size): (PacketId, u32),
        delay: Span,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        self.transit.leave_queue(now);
        let (packets, bytes) = self.transit.queued();
        if !self.queue.admits(packets, bytes, size) {
            return self.drop_packet(now, packet, DropCause::QueueFull, pool, probe);
        }
        let Transmitter::Fluid(fluid) = &mut self.transmitter else {
            unreachable!("a plain link has a fluid transmitter")
        };
        let departs_at = fluid.transmit(now, size).departs_at;
        self.transit.append(Carried {
            leaves_queue_at: departs_at,
            arrives_at: departs_at.saturating_add(delay),
            packet,
            size,
            is_lost: false,
        });
    }
}
