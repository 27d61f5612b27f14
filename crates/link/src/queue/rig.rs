//! Packet pool and storage for results, for tests of single disciplines.

use super::{Effects, Queued};
use fadeout_core::{Ecn, EndpointId, FlowId, Packet, PacketId, PacketPool, Span, Time};

#[derive(Debug, Default)]
pub(super) struct Rig {
    pub(super) pool: PacketPool,
    pub(super) dropped: Vec<PacketId>,
    pub(super) marked: u64,
}

impl Rig {
    pub(super) fn effects(&mut self) -> Effects<'_> {
        Effects {
            pool: &mut self.pool,
            dropped: &mut self.dropped,
            marked: &mut self.marked,
        }
    }

    /// Returns a packet of `size` bytes that arrives at `at`.
    pub(super) fn packet(&mut self, at: Time, size: u32, ecn: Ecn, flow: u32) -> Queued {
        let packet = self.pool.insert(Packet {
            flow: FlowId(flow),
            to: EndpointId(flow),
            ecn,
            ..Packet::default()
        });
        Queued {
            arrived_at: at,
            packet,
            size,
        }
    }

    pub(super) fn full(&mut self, at: Time) -> Queued {
        self.packet(at, 1500, Ecn::NotEct, 0)
    }
}

pub(super) fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_millis(n)
}

pub(super) fn us(n: u64) -> Time {
    Time::ZERO + Span::from_micros(n)
}
