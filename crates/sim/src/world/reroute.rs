//! Changes of routes during a run.

use super::World;
use crate::directory::{Directory, FlowEntry};
use crate::hop::{Hop, MAX_HOPS};
use fadeout_core::{CellId, EndpointId, FlowId, Probe, UeId};

/// Reasons why a flow cannot use a route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// There is no flow with the given number.
    #[error("there is no flow number {0}")]
    NoFlow(u32),
    /// The flow has several paths, each of which has a route of its own.
    #[error("flow \"{0}\" has several paths; expected one of them, such as \"{0}/0\"")]
    SeveralPaths(String),
    /// The route has too few or too many hops.
    #[error("flow \"{flow}\": a route of {hops} hops; expected 1 to {MAX_HOPS}")]
    Length {
        /// Name of the flow.
        flow: String,
        /// Number of hops of the route.
        hops: usize,
    },
    /// A hop does not exist, has no serving cell, or does not start where the hop before it ends.
    #[error(
        "flow \"{flow}\": hop {position} of its route does not start where the previous hop \
        ends"
    )]
    Gap {
        /// Name of the flow.
        flow: String,
        /// Position of the hop, counted from zero.
        position: usize,
    },
    /// The last hop of the route does not end at the other end of the flow, which the value names.
    #[error("flow \"{0}\": its route does not end at its receiver")]
    Astray(String),
}

impl<P: Probe> World<P> {
    /// Changes the route of a flow, or of one path of a multipath flow. `hops` lead from its sender
    /// to its receiver. The reverse direction uses the same hops. Paths have flow numbers of their
    /// own, which follow those of all flows.
    ///
    /// Packets that either end sends from now on use the new route. Packets in the network finish
    /// on their old route, as in a network that forwards by labels of the first hop. So a packet
    /// may overtake earlier ones.
    ///
    /// # Errors
    /// Returns a [`RouteError`] if there is no such flow, or if the hops do not connect its ends.
    /// Then no route has changed.
    pub fn reroute(&mut self, flow: FlowId, hops: &[Hop]) -> Result<(), RouteError> {
        let entry = self.directory.flow(flow);
        let entry = entry.ok_or(RouteError::NoFlow(flow.0))?;
        if entry.is_multipath() {
            return Err(RouteError::SeveralPaths(entry.name.clone()));
        }
        let (sender, receiver) = (entry.sender, entry.receiver);
        let serving = |ue| self.radio.as_ref()?.access.serving_cell(ue);
        check_route(entry, hops, &self.directory, serving)?;
        let back: Vec<Hop> = hops
            .iter()
            .rev()
            .map(|&hop| self.directory.reversed(hop))
            .collect();
        self.endpoints[sender].route = self.routes.over(hops);
        self.endpoints[receiver].route = self.routes.over(&back);
        Ok(())
    }
}

/// Checks that `hops` lead from the sender of a flow to its receiver. `serving` returns the serving
/// cell of a UE.
fn check_route(
    entry: &FlowEntry,
    hops: &[Hop],
    directory: &Directory,
    serving: impl Fn(UeId) -> Option<CellId> + Copy,
) -> Result<(), RouteError> {
    let flow = || entry.name.clone();
    if hops.is_empty() || hops.len() > MAX_HOPS {
        return Err(RouteError::Length {
            flow: flow(),
            hops: hops.len(),
        });
    }
    let node_of = |endpoint: EndpointId| directory.endpoints()[endpoint.index()].node;
    let mut at = node_of(entry.sender);
    for (position, &hop) in hops.iter().enumerate() {
        match directory.ends(hop, serving) {
            Some((from, to)) if from == at => at = to,
            _ => {
                return Err(RouteError::Gap {
                    flow: flow(),
                    position,
                });
            }
        }
    }
    if at != node_of(entry.receiver) {
        return Err(RouteError::Astray(flow()));
    }
    Ok(())
}
