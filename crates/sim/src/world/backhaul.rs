//! Routes of messages and forwarded packets between base stations, and between base stations and
//! the core network.

use super::World;
use super::utran::leave_radio;
use crate::directory::Directory;
use crate::hop::{Hop, Routes};
use crate::routing::Topology;
use fadeout_core::{FlowId, NodeId, PacketId, Probe, RouteId};
use fadeout_radio::access::{Backhaul, NetworkNode};
use std::collections::{BTreeMap, BTreeSet};

/// Routes between base stations, and between base stations and the core.
#[derive(Debug, Default)]
pub(crate) struct Interfaces {
    /// Node of the core network. `None` if no links carry messages.
    core: Option<NodeId>,
    /// True if base stations send to each other directly where links allow it.
    is_direct: bool,
    strangers: BTreeSet<(NodeId, NodeId)>,
    /// Routes found so far.
    known: BTreeMap<((NodeId, NodeId), Backhaul), RouteId>,
    /// The route of the last request, as a cache of one entry.
    latest: Option<([NetworkNode; 2], Backhaul, RouteId)>,
}

impl Interfaces {
    /// Creates the routes of base stations. Each base station must have links to the core.
    ///
    /// # Errors
    /// Returns the first base station that no links connect with the core.
    pub(crate) fn over_links(
        topology: &mut Topology,
        core: NodeId,
        bases: &BTreeSet<NodeId>,
        is_direct: bool,
    ) -> Result<Interfaces, NodeId> {
        let mut strangers = BTreeSet::new();
        for &base in bases {
            // Each hop has a reverse hop, so a check of one direction is enough.
            if topology.wired((base, core)).is_none() {
                return Err(base);
            }
            let is_near = topology.reached_around(base, core);
            let others = bases.iter().filter(|&&other| other != base);
            let far = others.filter(|&&other| !is_near(other));
            strangers.extend(far.map(|&other| (base, other)));
        }
        Ok(Interfaces {
            core: Some(core),
            is_direct,
            strangers,
            known: BTreeMap::new(),
            latest: None,
        })
    }

    /// Returns the pairs of base stations that links connect only through the core.
    pub(crate) fn strangers(&self) -> &BTreeSet<(NodeId, NodeId)> {
        &self.strangers
    }

    /// Returns the hops from one node to another.
    fn hops(
        &self,
        topology: &mut Topology,
        directory: &Directory,
        ends: (NodeId, NodeId),
    ) -> Vec<Hop> {
        let (from, to) = ends;
        if from == to {
            return Vec::new();
        }
        let is_near = self.is_direct && !self.strangers.contains(&ends);
        let hops = match self.core {
            Some(core) if from != core && to != core && is_near => {
                topology.wired_around(ends, core)
            }
            Some(core) if from != core && to != core => {
                let there = topology.wired((from, core));
                there
                    .zip(topology.wired((core, to)))
                    .map(|(mut hops, rest)| {
                        hops.extend(rest);
                        hops
                    })
            }
            _ => topology.wired(ends),
        };
        let hops = hops.unwrap_or_default();
        hops.iter().map(|&hop| directory.hop(hop)).collect()
    }

    fn node(&self, place: NetworkNode) -> NodeId {
        match place {
            NetworkNode::Station(number) => NodeId(number),
            NetworkNode::Core => self.core.unwrap_or_default(),
        }
    }

    /// Returns the route between two network nodes. `what` is the purpose of the packet at the end
    /// of its route.
    #[inline]
    pub(super) fn route(
        &mut self,
        around: (&mut Topology, &Directory),
        routes: &mut Routes,
        ends: [NetworkNode; 2],
        what: Backhaul,
    ) -> RouteId {
        match self.latest {
            Some(([from, to], same, route)) if same == what && from == ends[0] && to == ends[1] => {
                route
            }
            _ => {
                let route = self.find(around, routes, ends, what);
                self.latest = Some((ends, what, route));
                route
            }
        }
    }

    fn find(
        &mut self,
        (topology, directory): (&mut Topology, &Directory),
        routes: &mut Routes,
        [from, to]: [NetworkNode; 2],
        what: Backhaul,
    ) -> RouteId {
        let ends = (self.node(from), self.node(to));
        if let Some(&known) = self.known.get(&(ends, what)) {
            return known;
        }
        let mut hops = self.hops(topology, directory, ends);
        hops.push(Hop::Backhaul(what));
        let route = routes.over(&hops);
        self.known.insert((ends, what), route);
        route
    }
}

impl<P: Probe> World<P> {
    /// Sends a message, a frame between base stations, or an end marker.
    pub(super) fn send_backhaul(
        &mut self,
        route: RouteId,
        (flow, number, size): (FlowId, u64, u32),
    ) {
        let now = self.agenda.now();
        let id = self.pool.send_message((flow, route), now, (number, size));
        self.enter(self.routes.first(route), id);
    }

    /// Sends a downlink packet to another base station.
    pub(super) fn send_forwarded(&mut self, route: RouteId, id: PacketId) {
        let packet = &mut self.pool[id];
        (packet.route, packet.hop) = (route, 0);
        self.enter(self.routes.first(route), id);
    }

    /// Handles a message or packet that has arrived at a base station or at the core.
    #[cold]
    pub(super) fn enter_backhaul(&mut self, what: Backhaul, packet: PacketId) {
        // `arrivals` is in use while a link hands over packets, so this function has its own list.
        let mut arrivals = std::mem::take(&mut self.from_backhaul);
        if let Some(radio) = &mut self.radio {
            let (pool, probe, now) = (&mut self.pool, &mut self.probe, self.agenda.now());
            let packets = (pool, &mut arrivals);
            radio
                .access
                .on_backhaul(now, (what, packet), packets, probe);
        }
        self.follow_radio();
        for packet in arrivals.drain(..) {
            leave_radio(self, packet);
        }
        self.from_backhaul = arrivals;
    }
}
