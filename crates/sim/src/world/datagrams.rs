//! Sending and receiving of UDP datagrams.

use super::{Endpoint, Transport, World};
use fadeout_core::{
    Bytes, Datagram, Ecn, EndpointId, FlowEnd, Packet, PacketId, Probe, Protocol, Time,
};

impl<P: Probe> World<P> {
    /// Sends a datagram from one end of a flow.
    pub(super) fn send_datagram(&mut self, from: EndpointId, bytes: Bytes) {
        let now = self.agenda.now();
        let end = &mut self.endpoints[from];
        let Transport::Udp(udp) = &mut end.transport else {
            return;
        };
        let datagram = udp.send(now, bytes.0 as u32);
        let packet = packet_of(end, now, Ecn::NotEct, datagram);
        let id = self.pool.insert(packet);
        super::endpoints::show_sent(self, id);
        self.depart(id);
    }

    /// Sends a datagram with its bytes from an endpoint.
    pub(super) fn send_with_bytes(
        &mut self,
        from: EndpointId,
        datagram: Datagram,
        ecn: Ecn,
        bytes: Vec<u8>,
    ) {
        let packet = packet_of(&self.endpoints[from], self.agenda.now(), ecn, datagram);
        let id = self.pool.insert_with_bytes(&packet, bytes);
        super::endpoints::show_sent(self, id);
        self.depart(id);
    }

    /// Hands a datagram that reached its endpoint to the application.
    pub(super) fn receive_datagram(&mut self, id: PacketId) {
        let now = self.agenda.now();
        let packet = self.pool.remove(id);
        let datagram = Datagram::from_segment(&packet.segment);
        let end = &mut self.endpoints[packet.to];
        let Transport::Udp(udp) = &mut end.transport else {
            return;
        };
        let settled = udp.on_datagram(now, datagram, packet.sent_at, &mut self.probe);
        let (flow_id, bytes) = (end.flow, Bytes(u64::from(datagram.len)));
        let flow = &mut self.flows[flow_id.index()];
        let side = flow.side_of(packet.to);
        let application = &mut flow.application;
        application.on_datagram(now, side, bytes, settled, &mut self.asks);
        if side == FlowEnd::Receiver {
            flow.count_delivered(flow_id, bytes.0, now, &mut self.probe);
        }
        self.after_application(flow_id);
    }
}

/// Returns the packet of a datagram that an endpoint sends now.
fn packet_of(from: &Endpoint, now: Time, ecn: Ecn, datagram: Datagram) -> Packet {
    Packet {
        flow: from.flow,
        to: from.peer,
        route: from.route,
        ecn,
        protocol: Protocol::Udp,
        sent_at: now,
        segment: datagram.to_segment(),
        ..Packet::default()
    }
}
