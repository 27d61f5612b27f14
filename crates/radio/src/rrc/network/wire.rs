//! Transmission of network messages between base stations and the core.

use crate::config::{Interface, Signalling};
use crate::rrc::backhaul::{NetworkMessages, NetworkNode, NetworkSignal};
use crate::rrc::effect::{Effect, Step};

impl NetworkMessages {
    /// Sends a message between two base stations, or between a base station and the core.
    pub(crate) fn send_between(
        &mut self,
        signal: NetworkSignal,
        [from, to]: [NetworkNode; 2],
        step: &mut Step<'_>,
    ) {
        let Signalling::Links { unconnected } = &step.config.signalling else {
            return;
        };
        let next = match (from, to) {
            (NetworkNode::Station(one), NetworkNode::Station(other))
                if step.config.interface == Interface::Core
                    || unconnected.contains(&(one, other)) =>
            {
                NetworkNode::Core
            }
            _ => to,
        };
        self.send_hop(signal, from, [next, to], step);
    }

    /// Sends a message over one hop, from `from` to the first node of `route`.
    pub(crate) fn send_hop(
        &mut self,
        signal: NetworkSignal,
        from: NetworkNode,
        route: [NetworkNode; 2],
        step: &mut Step<'_>,
    ) {
        let number = *step.next_message;
        *step.next_message += 1;
        self.add(number, signal, route);
        let ([to, _], size) = (route, signal.size());
        step.push(Effect::Send {
            number,
            from,
            to,
            size,
        });
    }
}
