//! Endpoints: what they are told, and what they send.

use super::crossings::Changing;
use super::{Event, Transport, World};
use crate::hop::Hop;
use fadeout_core::{EndpointId, FlowId, Packet, PacketId, Probe, Protocol, RouteId, Time};
use fadeout_transport::tcp::{AppCommand, AppEvent, Outgoing};

impl<P: Probe> World<P> {
    pub(super) fn command(&mut self, endpoint: EndpointId, command: AppCommand) {
        match &mut self.endpoints[endpoint.index()].transport {
            Transport::Tcp(tcp) => {
                tcp.on_app(
                    self.agenda.now(),
                    command,
                    &mut self.outbox,
                    &mut self.probe,
                );
                self.after_endpoint(endpoint);
            }
            &mut Transport::Subflow { connection, .. } => {
                self.connections[connection as usize].connection.on_app(
                    self.agenda.now(),
                    command,
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.after_connection(connection);
            }
            Transport::Kernel(_) => self.command_kernel(endpoint, command),
            Transport::Udp(_) => {
                // There is no connection to open or to close.
                if let AppCommand::Write(bytes) = command {
                    self.send_datagram(endpoint, bytes);
                }
            }
        }
    }

    pub(super) fn wake_endpoint(&mut self, endpoint: EndpointId) {
        match &mut self.endpoints[endpoint.index()].transport {
            Transport::Tcp(tcp) => {
                tcp.on_wake(self.agenda.now(), &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
            &mut Transport::Subflow { connection, .. } => {
                self.connections[connection as usize].connection.on_wake(
                    self.agenda.now(),
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.after_connection(connection);
            }
            Transport::Kernel(_) => {}
            // It sends what it is asked to, and waits for nothing.
            Transport::Udp(_) => {}
        }
    }

    /// A packet reached its endpoint, which reads it where it lies: most are never all read.
    pub(super) fn receive(&mut self, id: PacketId) {
        self.delivered_packets += 1;
        let packet = &self.pool[id];
        let segment = &packet.segment;
        self.fingerprint
            .mix(self.agenda.now(), segment.seq ^ segment.ack.rotate_left(24));
        self.fingerprint.mix(
            packet.sent_at,
            u64::from(packet.to.0) ^ (segment.window << 16),
        );
        self.probe.received(self.agenda.now(), packet);
        if self.crossings.is_some() {
            Changing::of(self).note_arrival(id);
        }
        let packet = &self.pool[id];
        let segment = &packet.segment;
        let (to, now) = (packet.to, self.agenda.now());
        match &mut self.endpoints[to.index()].transport {
            Transport::Tcp(tcp) => {
                tcp.on_segment(now, segment, packet.ecn, &mut self.outbox, &mut self.probe);
                self.pool.free(id);
                self.after_endpoint(to);
            }
            &mut Transport::Subflow { connection, path } => {
                self.connections[connection as usize].connection.on_segment(
                    now,
                    path,
                    segment,
                    packet.ecn,
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.pool.free(id);
                self.after_connection(connection);
            }
            Transport::Kernel(end) => {
                let machine = end.machine;
                self.receive_by_kernel(machine, id);
            }
            Transport::Udp(_) => self.receive_datagram(id),
        }
    }

    /// Carries out what a step of an endpoint put into the outbox.
    pub(super) fn after_endpoint(&mut self, id: EndpointId) {
        let sender = &self.endpoints[id.index()];
        let (flow, to, route) = (sender.flow, sender.peer, sender.route);
        let mut outbox = std::mem::take(&mut self.outbox);
        let delivered = outbox.delivered_bytes;
        self.pass_up(flow, id, delivered, &mut outbox.events);
        let first = self.routes.first(route);
        for outgoing in &outbox.segments {
            self.put_on_wire(outgoing, flow, to, route, first);
        }
        outbox.clear();
        self.outbox = outbox;
        let at = match &self.endpoints[id.index()].transport {
            Transport::Tcp(tcp) => tcp.wake_at(),
            Transport::Subflow { .. } | Transport::Udp(_) | Transport::Kernel(_) => Time::NEVER,
        };
        self.finish_step(flow, id, at, delivered);
    }

    /// Carries out what a step of a multipath connection put into the outbox.
    fn after_connection(&mut self, connection: u32) {
        let host = &self.connections[connection as usize];
        let (stands_for_all, flow) = (host.endpoints[0], host.flow);
        let mut outbox = std::mem::take(&mut self.path_outbox);
        for &(path, bytes) in &outbox.arrived {
            let host = &self.connections[connection as usize];
            let flow = self.endpoints[host.endpoints[path.index()].index()].flow;
            self.probe.delivered(self.agenda.now(), flow, bytes);
        }
        let delivered = outbox.delivered_bytes;
        self.pass_up(flow, stands_for_all, delivered, &mut outbox.events);
        for (path, outgoing) in &outbox.segments {
            let host = &self.connections[connection as usize];
            let sender = &self.endpoints[host.endpoints[path.index()].index()];
            let (flow, to, route) = (sender.flow, sender.peer, sender.route);
            let first = self.routes.first(route);
            self.put_on_wire(outgoing, flow, to, route, first);
        }
        outbox.clear();
        self.path_outbox = outbox;
        let at = self.connections[connection as usize].connection.wake_at();
        self.finish_step(flow, stands_for_all, at, delivered);
    }

    /// Hands the application what a step of a connection has for it; `at` is the endpoint that
    /// stands for the connection.
    #[inline]
    fn pass_up(
        &mut self,
        flow: FlowId,
        at: EndpointId,
        delivered: u64,
        events: &mut Vec<AppEvent>,
    ) {
        if delivered > 0 {
            self.deliver(flow, at, delivered);
        }
        for event in events.drain(..) {
            self.on_app_event(flow, event);
        }
    }

    /// Ends a step of a connection: its next wake-up, then what the application made of it.
    #[inline]
    fn finish_step(&mut self, flow: FlowId, at: EndpointId, wake_at: Time, delivered: u64) {
        let wake = &mut self.endpoints[at.index()].wake;
        self.agenda
            .arm(wake, wake_at, |generation| Event::Endpoint {
                endpoint: at,
                generation,
            });
        if !self.asks.is_empty() || delivered > 0 {
            self.after_application(flow);
        }
    }

    #[inline(always)]
    fn put_on_wire(
        &mut self,
        outgoing: &Outgoing,
        flow: FlowId,
        to: EndpointId,
        route: RouteId,
        first: Hop,
    ) {
        let (id, packet) = self.pool.claim();
        *packet = Packet {
            flow,
            to,
            route,
            hop: 0,
            ecn: outgoing.ecn,
            sent_at: self.agenda.now(),
            segment: outgoing.segment,
            protocol: Protocol::Tcp,
        };
        self.probe.sent(self.agenda.now(), packet);
        if self.crossings.is_some() {
            Changing::of(self).turn(id);
            let first = self.routes.first(self.pool[id].route);
            return self.enter(first, id);
        }
        self.enter(first, id);
    }
}
