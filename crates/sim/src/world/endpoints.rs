//! Endpoints: their commands, their wake-ups and their packets.

use super::{Event, Transport, World};
use crate::hop::Hop;
use crate::kernels::Kernels;
use fadeout_core::{
    EndpointId, Fingerprint, FlowEnd, FlowId, PacketId, PacketPool, Probe, Protocol, RouteId,
    Segment, SegmentRow, Time, UnderWay,
};
use fadeout_transport::tcp::{AppCommand, Outgoing};

impl<P: Probe> World<P> {
    pub(super) fn command(&mut self, endpoint: EndpointId, command: AppCommand) {
        self.show_host_queue(endpoint);
        match &mut self.endpoints[endpoint].transport {
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
                self.endpoints.host_mut(connection).connection.on_app(
                    self.agenda.now(),
                    command,
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.after_connection(connection);
            }
            Transport::Kernel(end) => {
                if let Some(kernels) = &mut self.kernels {
                    kernels.ask(end, command, &mut self.agenda);
                }
            }
            Transport::Quic(_) => {
                self.step_quic(endpoint, |quic, now, out| quic.on_app(now, command, out));
            }
            // The bytes of a port come from the caller, and not from an application.
            // The first endpoint of a QUIC connection receives the commands for all paths.
            Transport::Waiting(_)
            | Transport::Over(_)
            | Transport::Elsewhere
            | Transport::QuicPath { .. }
            | Transport::Port(_) => {}
            Transport::Udp(_) => {
                // UDP flows have no connection. Only `Write` has an effect, and commands to open or
                // close are ignored.
                if let AppCommand::Write(bytes) = command {
                    self.send_datagram(endpoint, bytes);
                }
            }
        }
    }

    pub(super) fn wake_endpoint(&mut self, endpoint: EndpointId) {
        self.show_host_queue(endpoint);
        match &mut self.endpoints[endpoint].transport {
            Transport::Tcp(tcp) => {
                tcp.on_wake(self.agenda.now(), &mut self.outbox, &mut self.probe);
                self.after_endpoint(endpoint);
            }
            &mut Transport::Subflow { connection, .. } => {
                self.endpoints.host_mut(connection).connection.on_wake(
                    self.agenda.now(),
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.after_connection(connection);
            }
            Transport::Quic(_) => {
                self.step_quic(endpoint, |quic, now, out| quic.on_wake(now, out));
            }
            // Other transports have no timers: they only respond to packets and commands.
            _ => {}
        }
    }

    /// Hands a packet to its endpoint. The endpoint reads the packet in place, because it rarely
    /// needs all fields.
    pub(super) fn receive(&mut self, id: PacketId) {
        self.delivered_packets += 1;
        if self.crossings.is_some() {
            self.cross(|it| it.note_arrival(id));
        }
        let now = self.agenda.now();
        debug_assert!(
            self.pool[id].sent_at <= now,
            "a packet is received before it was sent"
        );
        debug_assert!(
            self.endpoints[self.pool[id].to].flow == self.pool[id].flow,
            "a packet of {:?} reached an end of {:?}",
            self.pool[id].flow,
            self.endpoints[self.pool[id].to].flow
        );
        if self.hosts.is_some() {
            if self.enter_host(id) {
                return;
            }
            self.show_host_queue(self.pool[id].to);
        }
        let packet = &self.pool[id];
        let (to, ecn) = (packet.to, packet.ecn);
        let segment = self.pool.segment_of(packet);
        let segment: &Segment = &segment;
        let observers = (&mut self.fingerprint, &mut self.probe);
        record_arrival(observers, now, (&self.pool, id, packet), segment);
        match &mut self.endpoints[to].transport {
            Transport::Tcp(tcp) => {
                tcp.on_segment(now, segment, ecn, &mut self.outbox, &mut self.probe);
                self.pool.free(id);
                self.after_endpoint(to);
            }
            &mut Transport::Subflow { connection, path } => {
                self.endpoints.host_mut(connection).connection.on_segment(
                    now,
                    path,
                    segment,
                    ecn,
                    &mut self.path_outbox,
                    &mut self.probe,
                );
                self.pool.free(id);
                self.after_connection(connection);
            }
            Transport::Kernel(end) => {
                if let Some(kernels) = &mut self.kernels {
                    if !Kernels::is_of_program(packet) {
                        end.on_arrival(segment);
                    }
                    kernels.receive(end.machine, id, &mut self.pool, &mut self.agenda);
                }
            }
            Transport::Waiting(_) | Transport::Over(_) | Transport::Elsewhere => self.pool.free(id),
            Transport::Udp(_) => self.receive_datagram(id),
            Transport::Quic(_) | Transport::QuicPath { .. } => self.receive_quic(id),
            Transport::Port(_) => self.receive_at_port(id),
        }
    }

    /// Carries out the results of an endpoint's step, which are in the outbox.
    pub(super) fn after_endpoint(&mut self, id: EndpointId) {
        let sender = &self.endpoints[id];
        let (flow, to, route) = (sender.flow, sender.peer, sender.route);
        let delivered = self.outbox.delivered_bytes;
        if delivered > 0 || !self.outbox.events.is_empty() {
            self.flows[flow.index()].on_endpoint_output(
                (flow, id),
                delivered,
                &mut self.outbox.events,
                &mut self.agenda,
                &mut self.asks,
                &mut self.probe,
            );
        }
        if !self.outbox.segments.is_empty() {
            let segments = std::mem::take(&mut self.outbox.segments);
            let first = self.routes.first(route);
            for outgoing in &segments {
                self.put_on_wire(outgoing, flow, to, route, first);
            }
            self.outbox.segments = segments;
        }
        self.outbox.clear();
        let at = match &self.endpoints[id].transport {
            Transport::Tcp(tcp) => tcp.wake_at(),
            _ => Time::NEVER,
        };
        self.finish_step(flow, id, at, delivered);
        if at.is_never() && !self.flows[flow.index()].takes_notices {
            self.endpoints[id].keep_account();
        }
    }

    /// Carries out the results of a multipath connection's step, which are in the outbox.
    pub(super) fn after_connection(&mut self, connection: u32) {
        let host = self.endpoints.host(connection);
        let (stands_for_all, flow) = (host.endpoints[0], host.flow);
        let mut outbox = std::mem::take(&mut self.path_outbox);
        for &(path, bytes) in &outbox.arrived {
            let host = self.endpoints.host(connection);
            let flow = self.endpoints[host.endpoints[path.index()]].flow;
            self.probe.delivered(self.agenda.now(), flow, bytes);
        }
        let delivered = outbox.delivered_bytes;
        if delivered > 0 || !outbox.events.is_empty() {
            self.flows[flow.index()].on_endpoint_output(
                (flow, stands_for_all),
                delivered,
                &mut outbox.events,
                &mut self.agenda,
                &mut self.asks,
                &mut self.probe,
            );
        }
        for (path, outgoing) in &outbox.segments {
            let host = self.endpoints.host(connection);
            let sender = &self.endpoints[host.endpoints[path.index()]];
            let (flow, to, route) = (sender.flow, sender.peer, sender.route);
            let first = self.routes.first(route);
            self.put_on_wire(outgoing, flow, to, route, first);
        }
        outbox.clear();
        self.path_outbox = outbox;
        let at = self.endpoints.host(connection).connection.wake_at();
        self.finish_step(flow, stands_for_all, at, delivered);
    }

    /// Ends a step of a connection: schedules its next wake-up and carries out the application's
    /// requests.
    #[inline]
    pub(super) fn finish_step(
        &mut self,
        flow: FlowId,
        at: EndpointId,
        wake_at: Time,
        delivered: u64,
    ) {
        let wake = &mut self.endpoints[at].wake;
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
        let (now, addresses) = (self.agenda.now(), (flow, to, route));
        let id = self
            .pool
            .send(addresses, now, outgoing.ecn, &outgoing.segment);
        show_sent(self, id);
        if self.crossings.is_some()
            || self.hosts.is_some()
            || (self.paths.as_ref()).is_some_and(|paths| paths.has_forks())
        {
            return self.depart(id);
        }
        self.enter(first, id);
    }

    /// Lets a packet leave its endpoint. It may wait in the queue of its host.
    pub(super) fn depart(&mut self, id: PacketId) {
        if self.hosts.is_none() || !self.wait_in_host(id) {
            self.leave_host(id);
        }
    }

    /// Lets a packet enter the first hop of its route. A handover may have changed the route.
    pub(super) fn leave_host(&mut self, id: PacketId) {
        if self.crossings.is_some() {
            self.cross(|it| it.turn(id));
        }
        super::UePaths::copy_at_fork(self, id);
        let first = self.routes.first(self.pool[id].route);
        self.enter(first, id);
    }
}

/// Mixes a packet's arrival at its end into the digest of the run, and shows the packet to the
/// probe, for captures.
#[inline(always)]
pub(super) fn record_arrival<P: Probe>(
    (fingerprint, probe): (&mut Fingerprint, &mut P),
    now: Time,
    (pool, id, packet): (&PacketPool, PacketId, &UnderWay),
    segment: &Segment,
) {
    record_segment(now, packet, segment, probe);
    fingerprint.mix(now, segment.seq ^ segment.ack.rotate_left(24));
    let to = u64::from(packet.to.0);
    fingerprint.mix(packet.sent_at, to ^ (segment.window << 16));
    if probe.wants_packets() {
        let packet = pool.packet(id);
        probe.received(now, pool.whole(id, &packet));
    }
}

/// Records the delay of a TCP segment with data, if its row is due.
#[inline]
fn record_segment(now: Time, packet: &UnderWay, segment: &Segment, probe: &mut impl Probe) {
    if packet.protocol != Protocol::Tcp || segment.len == 0 {
        return;
    }
    // The directory numbers the two ends of a flow in a row, the sender of its data first.
    let end = match packet.to.0 % 2 {
        0 => FlowEnd::Sender,
        _ => FlowEnd::Receiver,
    };
    if probe.wants_segment(now, packet.flow, end) {
        probe.segment(SegmentRow {
            time_s: now,
            flow: packet.flow,
            end,
            offset_bytes: segment.seq.saturating_sub(1),
            payload_bytes: segment.len,
            delay_s: now.since(packet.sent_at),
        });
    }
}

/// Shows a sent packet to the probe, for captures.
#[inline]
pub(super) fn show_sent<P: Probe>(world: &mut World<P>, id: PacketId) {
    if world.probe.wants_packets() {
        let packet = world.pool.packet(id);
        let now = world.agenda.now();
        world.probe.sent(now, world.pool.whole(id, &packet));
    }
}
