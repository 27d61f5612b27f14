//! Ports of a run: datagrams that the caller sends and receives.

use super::{Control, Progress, Simulation, end_of};
use crate::world::{Arrival, PortEnd, PortError, World};
use fadeout_core::{Bytes, Ecn, FlowId, Time};
use fadeout_record::Recorder;
use std::net::Ipv4Addr;

/// Address of an end, as in captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortAddress {
    /// Name of the node.
    pub node: String,
    /// IP address.
    pub ip: Ipv4Addr,
    /// UDP port.
    pub udp_port: u16,
}

impl Simulation {
    /// Returns the names of the flows with the transport `port`, in the order of the scenario.
    pub fn ports(&self) -> impl Iterator<Item = &str> + Clone {
        let flows = self.scenario.flows.iter();
        let ported = flows.filter(|flow| flow.has_port());
        ported.map(|flow| flow.name.as_str())
    }

    /// Returns the two ends of a flow with the transport `port`, first the one at the node `from`.
    ///
    /// # Errors
    /// Returns [`PortError::NoFlow`] or [`PortError::NoPort`] if there is no such flow, or if it
    /// has another transport.
    pub fn port(&self, flow: &str) -> Result<[PortEnd; 2], PortError> {
        let flows = &self.scenario.flows;
        let Some(index) = flows.iter().position(|it| it.name == flow) else {
            let nearest = fadeout_scenario::nearest(flow, self.ports());
            let known = nearest.or_else(|| self.ports().next().map(str::to_owned));
            return Err(PortError::NoFlow {
                name: flow.to_owned(),
                expected: match known {
                    Some(name) => format!("one with a port, such as \"{name}\""),
                    None => "a scenario with a flow that has `transport = \"port\"`".to_owned(),
                },
            });
        };
        let ends = self.world.port(FlowId(index as u32));
        ends.ok_or_else(|| PortError::NoPort {
            flow: flow.to_owned(),
        })
    }

    /// Returns the address of an end.
    ///
    /// # Errors
    /// Returns [`PortError::Foreign`] if the end belongs to another simulation.
    pub fn address(&self, end: PortEnd) -> Result<PortAddress, PortError> {
        // Refuses an end of another simulation.
        self.world.largest_payload(end)?;
        let directory = self.world.machines().directory;
        let info = &directory.endpoints()[end.0.index()];
        Ok(PortAddress {
            node: self.scenario.nodes[info.node.index()].name.clone(),
            ip: info.address,
            udp_port: info.port,
        })
    }

    /// Returns the size of the largest datagram that an end may send.
    ///
    /// # Errors
    /// Returns [`PortError::Foreign`] if the end belongs to another simulation.
    pub fn largest_payload(&self, end: PortEnd) -> Result<Bytes, PortError> {
        self.world.largest_payload(end)
    }

    /// Sends a datagram from an end, at the present time.
    ///
    /// # Errors
    /// Returns the errors of [`World::send`](crate::World::send), and [`PortError::Ended`] at the
    /// end of the run. Nothing is sent then, and the run may continue.
    pub fn send(&mut self, from: PortEnd, bytes: Vec<u8>, ecn: Ecn) -> Result<(), PortError> {
        let at = end_of(&self.scenario);
        if self.now() >= at {
            return Err(PortError::Ended { at });
        }
        self.world.send(from, bytes, ecn)
    }

    /// Returns the memory of payload bytes that are in flight or not fetched. Each datagram counts
    /// with 64 bytes in addition to its payload.
    pub fn payload_memory(&self) -> Bytes {
        self.world.payload_memory()
    }

    /// Returns the next datagram that arrived at an end. `None` if no datagram waits there.
    pub fn take_arrival(&mut self, end: PortEnd) -> Option<Arrival> {
        self.world.take_arrival(end)
    }

    /// Simulates as [`Simulation::advance`] does, but only to the first event in which a datagram
    /// arrives at a port. Returns the time of the arrival. `None` if nothing arrives. Datagrams
    /// that arrived earlier do not end the step, even if they have not been fetched.
    pub fn advance_to_arrival(&mut self, until: Time) -> Option<Time> {
        self.advance_to_arrival_unless(until, || false, |_| Control::Continue)
    }

    /// Simulates as [`Simulation::advance_to_arrival`] does, and stops as
    /// [`Simulation::advance_unless`] does.
    pub fn advance_to_arrival_unless(
        &mut self,
        until: Time,
        is_halted: impl Fn() -> bool,
        mut control: impl FnMut(Progress) -> Control,
    ) -> Option<Time> {
        self.world.await_arrival();
        let is_over = |world: &World<Recorder>| world.new_arrival_at().is_some() || is_halted();
        self.advance_while(until, Some(&is_over), &mut control);
        self.world.new_arrival_at()
    }
}
