//! QUIC connections: their datagrams, their events and their rows.

use super::{Transport, World};
use fadeout_core::{Ecn, EndpointId, FlowEnd, PacketId, Probe, Time};
use fadeout_quic::{QuicEnd, QuicOutbox};

impl<P: Probe> World<P> {
    /// Lets an end of a QUIC connection take a step, and carries out the results. Does nothing for
    /// other ends.
    #[inline(never)]
    pub(super) fn step_quic(
        &mut self,
        id: EndpointId,
        step: impl FnOnce(&mut QuicEnd, Time, &mut QuicOutbox),
    ) {
        let now = self.agenda.now();
        let Transport::Quic(socket) = &mut self.endpoints[id].transport else {
            return;
        };
        let mut out = QuicOutbox::default();
        step(&mut socket.quic, now, &mut out);
        let (flow, delivered) = (self.endpoints[id].flow, out.delivered_bytes);
        if delivered > 0 || !out.events.is_empty() {
            self.flows[flow.index()].on_endpoint_output(
                (flow, id),
                delivered,
                &mut out.events,
                &mut self.agenda,
                &mut self.asks,
                &mut self.probe,
            );
        }
        for (bytes, ecn) in out.datagrams {
            self.send_from_quic(id, bytes, ecn);
        }
        let at = match &self.endpoints[id].transport {
            // A timer that is already due wakes the end at the present time.
            Transport::Quic(socket) => socket.quic.wake_at().max(now),
            _ => Time::NEVER,
        };
        self.finish_step(flow, id, at, delivered);
    }

    fn send_from_quic(&mut self, from: EndpointId, bytes: Vec<u8>, ecn: Ecn) {
        let Transport::Quic(socket) = &mut self.endpoints[from].transport else {
            return;
        };
        let datagram = socket.next_datagram(bytes.len() as u32);
        self.send_with_bytes(from, datagram, ecn, bytes);
    }

    /// Hands a datagram to its end of a QUIC connection.
    #[inline(never)]
    pub(super) fn receive_quic(&mut self, id: PacketId) {
        let (packet, payload) = self.pool.remove_with_bytes(id);
        let payload = payload.expect("QUIC stores its packets with their bytes");
        let bytes = self.pool.payloads_mut().take(payload);
        let to = packet.to;
        self.step_quic(to, |quic, now, out| {
            quic.on_datagram(now, &bytes, packet.ecn, out);
        });
        let now = self.agenda.now();
        let is_sender = self.flows[packet.flow.index()].side_of(to) == FlowEnd::Sender;
        if is_sender
            && self.probe.wants_congestion(now, packet.flow)
            && let Transport::Quic(socket) = &self.endpoints[to].transport
            && socket.quic.statistics().cwnd_bytes > 0
        {
            let (congestion, quic) = socket.rows(now, packet.flow);
            self.probe.congestion(congestion);
            self.probe.quic(quic);
        }
    }
}
