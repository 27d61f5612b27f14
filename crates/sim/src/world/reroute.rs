//! Routes that change while a run goes on.

use super::World;
use crate::directory::{Directory, FlowEntry};
use crate::hop::{Hop, MAX_HOPS};
use fadeout_core::{CellId, EndpointId, FlowId, Probe, UeId};

/// Why a flow cannot take a route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// A flow that does not exist.
    #[error("there is no flow number {0}")]
    NoFlow(u32),
    /// A whole multipath flow, whose paths have routes of their own.
    #[error("flow \"{0}\" has several paths; expected one of them, such as \"{0}/0\"")]
    SeveralPaths(String),
    /// Too few or too many hops.
    #[error("flow \"{flow}\": a route of {hops} hops; expected 1 to {MAX_HOPS}")]
    Length {
        /// The flow.
        flow: String,
        /// How many hops there are.
        hops: usize,
    },
    /// A hop that does not exist, that no cell serves, or that is not reached by those before it.
    #[error(
        "flow \"{flow}\": hop {position} of its route does not start where the previous hop \
        ends"
    )]
    Gap {
        /// The flow.
        flow: String,
        /// Which hop, from zero.
        position: usize,
    },
    /// The last hop does not end at the flow's other end.
    #[error("flow \"{0}\": its route does not end at its receiver")]
    Astray(String),
}

impl<P: Probe> World<P> {
    /// Gives a flow, or a path of a multipath flow, another route: `hops` lead from its sender to
    /// its receiver, and the same hops back. Paths have flow numbers of their own, after those of
    /// all flows.
    ///
    /// Packets that either end sends from now on take the new route. Those under way finish on the route they
    /// began on, as in a network that forwards by a label that the first hop puts on; so a packet may
    /// overtake those sent before it.
    ///
    /// # Errors
    /// When there is no such flow, or the hops are not a way between its ends. Nothing has changed
    /// then.
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

/// Whether `hops` lead from the sender of a flow to its receiver; `serving` knows which cell a UE is in.
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
