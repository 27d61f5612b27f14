//! Sending and receiving of UDP datagrams.

use super::{Transport, World};
use fadeout_core::{Bytes, Datagram, EndpointId, FlowEnd, Packet, PacketId, Probe, Protocol};

impl<P: Probe> World<P> {
    /// Sends a datagram from one end of a flow.
    pub(super) fn send_datagram(&mut self, from: EndpointId, bytes: Bytes) {
        let now = self.agenda.now();
        let end = &mut self.endpoints[from];
        let (flow, to, route) = (end.flow, end.peer, end.route);
        let Transport::Udp(udp) = &mut end.transport else {
            return;
        };
        let datagram = udp.send(now, bytes.0 as u32);
        let id = self.pool.insert(Packet {
            flow,
            to,
            route,
            protocol: Protocol::Udp,
            sent_at: now,
            segment: datagram.to_segment(),
            ..Packet::default()
        });
        super::endpoints::show_sent(self, id);
        self.enter(self.routes.first(route), id);
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
