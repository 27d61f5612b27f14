//! Links, and the way of a packet from hop to hop.

use super::{Event, World};
use crate::hop::Hop;
use fadeout_core::{LinkId, PacketId, Probe};

impl<P: Probe> World<P> {
    /// A packet left a hop: onto the next, or to its endpoint.
    pub(super) fn forward(&mut self, id: PacketId) {
        let packet = &mut self.pool[id];
        packet.hop += 1;
        match self.routes.at(packet.route, packet.hop) {
            Some(hop) => self.enter(hop, id),
            None => self.receive(id),
        }
    }

    /// A packet enters a hop.
    #[inline]
    pub(super) fn enter(&mut self, hop: Hop, packet: PacketId) {
        match hop {
            Hop::Link(link) => self.enter_link(link, packet),
            Hop::Bearer { bearer, direction } => self.enter_bearer(bearer, direction, packet),
        }
    }

    fn enter_link(&mut self, link: LinkId, packet: PacketId) {
        let hop = &mut self.links[link.index()];
        let states = hop.states;
        if let Some(states) = states {
            let states = &mut self.radio_states[states as usize];
            hop.link.open_at(states.on_packet(self.now));
        }
        hop.link
            .on_packet(self.now, packet, &mut self.pool, &mut self.probe);
        if let Some(states) = states {
            self.radio_states[states as usize].on_activity(hop.link.busy_until());
        }
        self.arm_link(link);
    }

    pub(super) fn wake_link(&mut self, id: LinkId) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let hop = &mut self.links[id.index()];
        hop.link
            .on_wake(self.now, &mut self.pool, &mut arrivals, &mut self.probe);
        for packet in arrivals.drain(..) {
            self.forward(packet);
        }
        self.arrivals = arrivals;
        self.arm_link(id);
    }

    #[inline]
    fn arm_link(&mut self, id: LinkId) {
        let hop = &mut self.links[id.index()];
        let at = hop.link.wake_at();
        if !at.is_never()
            && let Some(generation) = hop.wake.arm(at)
        {
            self.events.schedule(
                at,
                Event::Link {
                    link: id,
                    generation,
                },
            );
        }
    }
}
