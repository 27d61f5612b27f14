//! QUIC connections: their datagrams, their events and their rows.

use super::{Transport, World};
use fadeout_core::{EndpointId, FlowEnd, PacketId, Probe, Time};
use fadeout_quic::{QuicDatagram, QuicEnd, QuicOutbox};

impl<P: Probe> World<P> {
    /// Lets an end of a QUIC connection take a step, and carries out the results. `id` is the
    /// endpoint of its first path. Does nothing for other ends.
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
        let (flow, delivered) = (socket.flow, out.delivered_bytes);
        if !out.log.is_empty() {
            let end = self.flows[flow.index()].side_of(id);
            self.probe.quic_log(flow, end, &out.log);
        }
        if !out.secrets.is_empty() {
            self.probe.secrets(&out.secrets);
        }
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
        for datagram in out.datagrams {
            self.send_from_quic(id, datagram);
        }
        let at = match &self.endpoints[id].transport {
            // A timer that is already due wakes the end at the present time.
            Transport::Quic(socket) => socket.quic.wake_at().max(now),
            _ => Time::NEVER,
        };
        self.finish_step(flow, id, at, delivered);
    }

    fn send_from_quic(&mut self, first: EndpointId, datagram: QuicDatagram) {
        let Transport::Quic(socket) = &mut self.endpoints[first].transport else {
            return;
        };
        let QuicDatagram { path, bytes, ecn } = datagram;
        let (from, numbered) = socket.next_datagram(path, bytes.len() as u32);
        self.send_with_bytes(from, numbered, ecn, bytes);
    }

    /// Hands a datagram to its end of a QUIC connection.
    #[inline(never)]
    pub(super) fn receive_quic(&mut self, id: PacketId) {
        let (packet, payload) = self.pool.remove_with_bytes(id);
        let payload = payload.expect("QUIC stores its packets with their bytes");
        let bytes = self.pool.payloads_mut().take(payload);
        let now = self.agenda.now();
        let (to, path) = match self.endpoints[packet.to].transport {
            Transport::QuicPath { first, path } => (first, usize::from(path)),
            _ => (packet.to, 0),
        };
        self.step_quic(to, |quic, now, out| {
            quic.on_datagram(now, path, (&bytes, packet.ecn), out);
        });
        let Transport::Quic(socket) = &self.endpoints[to].transport else {
            return;
        };
        if socket.flow != packet.flow && socket.quic.is_usable(now, path) {
            // The connection itself reports the bytes in order over all paths.
            self.probe.delivered(now, packet.flow, bytes.len() as u64);
        }
        let is_sender = self.flows[socket.flow.index()].side_of(to) == FlowEnd::Sender;
        if is_sender
            && self.probe.wants_congestion(now, packet.flow)
            && socket.quic.sending(path).cwnd_bytes > 0
        {
            let (congestion, quic) = socket.rows(now, path, packet.flow);
            self.probe.congestion(congestion);
            self.probe.quic(quic);
        }
    }
}
