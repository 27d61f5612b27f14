//! A link that another link can replace. Closing it removes its waiting packets. After it opens,
//! packets that the other link left go first.

use super::Link;
use crate::queue::Queued;
use fadeout_core::{DropCause, PacketId, PacketPool, Probe, Time};

impl Link {
    /// Stops sending until [`open`](Self::open), and pushes the waiting packets to `out`, in order.
    /// A packet whose transmission is incomplete goes first. Packets already sent still arrive. A
    /// discipline may drop some packets. Only a link that [yields](super::LinkConfig::yields) can
    /// be closed.
    pub fn close(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        out: &mut Vec<PacketId>,
        probe: &mut impl Probe,
    ) {
        let Some(mut managed) = self.managed.take() else {
            return;
        };
        managed.close(true);
        self.serve_at = Time::NEVER;
        let first = out.len();
        self.transit
            .take_back(now, |carried| out.push(carried.packet));
        out[first..].reverse();
        self.transmitter.abort(now);
        while managed.packets() > 0 {
            let next = managed.dequeue(now, pool, &mut self.stats.packets_marked);
            for packet in managed.dropped.drain(..) {
                self.drop_packet(now, packet, DropCause::Aqm, pool, probe);
            }
            out.extend(next.map(|queued| queued.packet));
        }
        self.stats.packets_taken += (out.len() - first) as u64;
        debug_assert!(
            managed.bytes() == 0,
            "bytes wait in a link that was emptied"
        );
        self.managed = Some(managed);
        self.assert_conserved();
    }

    /// Begins no packet until [`open`](Self::open), and keeps the waiting packets.
    pub fn pause(&mut self) {
        if let Some(managed) = &mut self.managed {
            managed.close(true);
            self.serve_at = Time::NEVER;
        }
    }

    /// Resumes sending from `now` on.
    pub fn open(&mut self, now: Time, pool: &mut PacketPool, probe: &mut impl Probe) {
        let Some(managed) = &mut self.managed else {
            return;
        };
        managed.close(false);
        self.transmitter.begin_at(now);
        self.serve_at = managed.serve_at(now, &mut self.transmitter);
        self.serve(now, pool, probe);
    }

    /// Processes an arrival as [`on_packet`](Self::on_packet) does, but before all waiting packets.
    pub fn on_packet_ahead(
        &mut self,
        now: Time,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let size = self.count_in(&pool[packet]);
        self.serve(now, pool, probe);
        self.transit.leave_queue(now);
        if let Some(cause) = self.drop_cause(now, self.inside(), size) {
            self.drop_packet(now, packet, cause, pool, probe);
        } else if let Some(managed) = &mut self.managed {
            managed.put_ahead(Queued {
                arrived_at: now,
                packet,
                size,
            });
            if self.serve_at.is_never() {
                self.serve_at = managed.serve_at(now, &mut self.transmitter);
            }
            self.serve(now, pool, probe);
        }
        self.report_queue(now, probe);
    }

    /// Drops a packet that the link has returned, or that arrives after the link was closed for
    /// good.
    pub fn lose(
        &mut self,
        now: Time,
        packet: PacketId,
        was_inside: bool,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        if was_inside {
            debug_assert!(
                self.stats.packets_taken > 0,
                "a packet is lost that was never taken out"
            );
            self.stats.packets_taken -= 1;
        } else {
            self.count_in(&pool[packet]);
        }
        self.drop_packet(now, packet, DropCause::Handover, pool, probe);
        self.assert_conserved();
    }
}
