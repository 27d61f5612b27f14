//! Warnings about flows with a port whose caller has sent nothing.

use crate::world::World;
use fadeout_core::Probe;
use fadeout_scenario::Scenario;

/// Warning about a flow that [`silent`] returns.
pub(super) const SENTENCE: &str = "nothing was sent. The datagrams of a port come from a program that runs the \
     scenario in steps, by `fadeout.Simulation.port`";

/// Returns the names of the flows with a port that sent no datagram in either direction. A run
/// without steps has no caller that could send.
pub(super) fn silent<'a, P: Probe>(
    scenario: &'a Scenario,
    world: &World<P>,
) -> impl Iterator<Item = &'a str> {
    let machines = world.machines();
    let is_silent = move |end| machines.endpoints.udp(end).is_none_or(|it| it.sent() == 0);
    let flows = scenario.flows.iter().zip(machines.flows);
    flows.filter_map(move |(described, flow)| {
        let has_port = described.has_port();
        let is_silent = is_silent(flow.sender) && is_silent(flow.receiver);
        (has_port && is_silent).then_some(described.name.as_str())
    })
}
