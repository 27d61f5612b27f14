//! Ports: ends of flows whose bytes come from and go to the caller of a simulation.

use super::port_state::{Arrival, PortEnd, PortError, Waiting};
use super::{Transport, World};
use fadeout_core::{Bytes, Datagram, Ecn, EndpointId, FlowEnd, FlowId, PacketId, Probe, Time};

impl<P: Probe> World<P> {
    /// Returns the two ends of a flow with a port, the sender of the flow first. `None` if the flow
    /// does not exist or has no port.
    pub fn port(&self, flow: FlowId) -> Option<[PortEnd; 2]> {
        let flow = self.flows.get(flow.index())?;
        let ends = [flow.sender, flow.receiver];
        let is_port = |end: EndpointId| matches!(self.endpoints[end].transport, Transport::Port(_));
        ends.into_iter().all(is_port).then(|| ends.map(PortEnd))
    }

    /// Returns the size of the largest datagram that an end may send.
    ///
    /// # Errors
    /// Returns [`PortError::Foreign`] if the end is not one of this world.
    pub fn largest_payload(&self, end: PortEnd) -> Result<Bytes, PortError> {
        match self.endpoints.get(end.0).map(|it| &it.transport) {
            Some(Transport::Port(port)) => Ok(port.limits.largest_payload()),
            _ => Err(PortError::Foreign),
        }
    }

    /// Sends a datagram from an end, at the present time. The other end gets the same bytes, unless
    /// the network loses the datagram.
    ///
    /// # Errors
    /// - [`PortError::TooLarge`] if an IP packet of the flow cannot carry the datagram.
    /// - [`PortError::Full`] if too many bytes are in flight or not fetched.
    /// - [`PortError::Foreign`] if the end is not one of this world.
    ///
    /// Nothing is sent then.
    pub fn send(&mut self, from: PortEnd, bytes: Vec<u8>, ecn: Ecn) -> Result<(), PortError> {
        let now = self.agenda.now();
        let held = self.pool.payloads().held();
        let transport = self.endpoints.get_mut(from.0).map(|it| &mut it.transport);
        let Some(Transport::Port(port)) = transport else {
            return Err(PortError::Foreign);
        };
        port.check(bytes.len() as u64, held)?;
        let datagram = port.next_datagram(now, bytes.len() as u32);
        self.send_with_bytes(from.0, datagram, ecn, bytes);
        Ok(())
    }

    /// Returns the memory of payload bytes that are in flight or not fetched. Each datagram counts
    /// with 64 bytes in addition to its payload.
    pub fn payload_memory(&self) -> Bytes {
        Bytes(self.pool.payloads().held())
    }

    /// Returns the next datagram that arrived at an end. `None` if no datagram waits there.
    pub fn take_arrival(&mut self, end: PortEnd) -> Option<Arrival> {
        let Transport::Port(port) = &mut self.endpoints.get_mut(end.0)?.transport else {
            return None;
        };
        let waiting = port.fetch()?;
        let payloads = self.pool.payloads_mut();
        Some(Arrival {
            bytes: payloads.take(waiting.payload),
            ecn: waiting.ecn,
            sent_at: waiting.sent_at,
            arrived_at: waiting.arrived_at,
        })
    }

    /// Processes all events up to and including `until`, or to the first event in which a datagram
    /// arrives at a port. Returns the time of the arrival. `None` if nothing arrives.
    pub fn advance_to_arrival(&mut self, until: Time) -> Option<Time> {
        self.await_arrival();
        self.run_unless(until, u64::MAX, |world| world.has_new_arrival);
        self.new_arrival_at()
    }

    /// Begins to wait for an arrival at a port. Arrivals that have not been fetched do not count.
    pub(crate) fn await_arrival(&mut self) {
        self.has_new_arrival = false;
    }

    /// Returns the present time if a datagram has arrived since the last call of `await_arrival`.
    /// `None` if no datagram has arrived.
    pub(crate) fn new_arrival_at(&self) -> Option<Time> {
        self.has_new_arrival.then(|| self.now())
    }

    /// Hands a datagram that reached an end of a port to the caller.
    #[cold]
    pub(super) fn receive_at_port(&mut self, id: PacketId) {
        let now = self.agenda.now();
        let (packet, payload) = self.pool.remove_with_bytes(id);
        let datagram = Datagram::from_segment(&packet.segment);
        let end = &mut self.endpoints[packet.to];
        let Transport::Port(port) = &mut end.transport else {
            unreachable!("the caller has looked at the transport");
        };
        let probe = &mut self.probe;
        port.udp.on_datagram(now, datagram, packet.sent_at, probe);
        port.arrived.push_back(Waiting {
            number: datagram.number,
            payload: payload.expect("a port stores its packets with their bytes"),
            ecn: packet.ecn,
            sent_at: packet.sent_at,
            arrived_at: now,
        });
        self.has_new_arrival = true;
        let flow = &mut self.flows[packet.flow.index()];
        if flow.side_of(packet.to) == FlowEnd::Receiver && datagram.len > 0 {
            flow.count_delivered(packet.flow, datagram.len.into(), now, probe);
        }
    }
}
