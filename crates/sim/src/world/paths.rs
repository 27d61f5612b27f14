//! Routes of packets to and from UEs that change cells.
//!
//! A route never changes, so both ends of a flow use a new route after a path switch. Packets on
//! the old route change to the new one at the hop where the two routes part, as at an anchor in the
//! core. Packets beyond this hop continue to the old base station.

use super::backhaul::Interfaces;
use super::notices::notify;
use super::utran::Utran;
use super::{Endpoints, Parts, World};
use crate::directory::Directory;
use crate::hop::{Hop, Routes};
use crate::routing::{Topology, backward};
use fadeout_core::{
    Direction, DrbId, EndpointId, FlowId, NodeId, PacketId, Probe, RouteId, UeId, UnderWay,
};
use fadeout_radio::access::{Backhaul, Move, NetworkNode};
use std::collections::{BTreeMap, BTreeSet};

/// The routes to all UEs under mobility management.
#[derive(Debug)]
pub(crate) struct UePaths {
    topology: Topology,
    paths: Vec<UePath>,
    /// Indexed by old route: the position at which packets change to a new route, and the new
    /// route.
    detours: BTreeMap<RouteId, (u8, RouteId)>,
    /// Indexed by route: the position at which copies take another route, with that route and the
    /// UE.
    copies: BTreeMap<RouteId, Bicast>,
    interfaces: Interfaces,
    pub(super) utran: Utran,
    moves: Vec<Move>,
}

/// Bicast of the core to a second base station.
#[derive(Debug, Clone, Copy)]
struct Bicast {
    ue: UeId,
    position: u8,
    route: RouteId,
}

/// The route of a flow to a UE.
#[derive(Debug, Clone)]
pub(crate) struct UePath {
    pub(crate) ue: UeId,
    pub(crate) flow: FlowId,
    pub(crate) bearer: DrbId,
    /// Endpoint of the flow at the UE.
    pub(crate) near: EndpointId,
    /// Endpoint of the flow at the other side.
    pub(crate) far: EndpointId,
    /// First hops from the far endpoint, which are the same for all cells. They come from an
    /// explicit route and end at `anchor`. From there on the flow takes the fewest links.
    pub(crate) kept: Vec<Hop>,
    pub(crate) anchor: NodeId,
}

impl UePaths {
    pub(crate) fn new(topology: Topology, paths: Vec<UePath>, interfaces: Interfaces) -> UePaths {
        UePaths {
            topology,
            paths,
            detours: BTreeMap::new(),
            copies: BTreeMap::new(),
            interfaces,
            utran: Utran::default(),
            moves: Vec::new(),
        }
    }

    /// Adds the links that carry packets of UEs in 3G cells.
    pub(crate) fn add_utran(&mut self, utran: Utran) {
        self.utran = utran;
    }

    /// Ends the downlink of a UE that is idle at the start, because the core has no bearers for it.
    /// Packets end at the core. If the core is unknown or not on the route, they end where the
    /// routes to the base stations begin.
    pub(crate) fn end_downlink_at_core(
        &mut self,
        ue: UeId,
        (core, bases): (Option<NodeId>, &[NodeId]),
        parts: &mut Parts,
    ) {
        for path in self.paths.iter().filter(|path| path.ue == ue) {
            let passes = |core: &NodeId| {
                let mut bases = bases.iter();
                bases.all(|&base| self.topology.passes((path.anchor, base), *core))
            };
            let end = core.filter(passes).unwrap_or(path.anchor);
            let hops = self.topology.shortest(path.anchor, end).unwrap_or_default();
            let near = hops.iter().map(|&hop| parts.directory.hop(hop));
            let mut hops: Vec<Hop> = path.kept.iter().copied().chain(near).collect();
            let bearer = path.bearer;
            hops.push(Hop::Backhaul(Backhaul::Unattached { bearer }));
            parts.endpoints[path.far.index()].route = parts.routes.over(&hops);
        }
    }

    /// Returns the route of a packet that is about to enter the hop at `position` of `route`.
    #[inline]
    pub(super) fn current_route(&self, mut route: RouteId, position: u8) -> RouteId {
        while let Some(&(at, other)) = self.detours.get(&route)
            && at == position
        {
            route = other;
        }
        route
    }

    /// True if some packets change their route, or have copies on another route.
    #[inline]
    pub(super) fn may_change_routes(&self) -> bool {
        !self.detours.is_empty() || !self.copies.is_empty()
    }

    /// True if copies of some packets take other routes.
    #[inline]
    pub(super) fn has_forks(&self) -> bool {
        !self.copies.is_empty()
    }

    /// True if UEs may change their base stations.
    #[inline]
    pub(super) fn follows_ues(&self) -> bool {
        !self.paths.is_empty()
    }

    /// Returns the route for the copy of a packet that is about to enter the hop at `position` of
    /// `route`. `None` if there is no copy.
    fn copy_route(&self, route: RouteId, position: u8) -> Option<RouteId> {
        let bicast = self.copies.get(&route)?;
        (bicast.position == position).then_some(bicast.route)
    }

    /// Lets packets on `old` continue on `new` where the two routes part. Returns this position.
    fn detour(&mut self, routes: &Routes, old: RouteId, new: RouteId) -> usize {
        let fork = fork_position(routes, old, new);
        self.detours.remove(&new);
        if old != new {
            self.detours.insert(old, (fork as u8, new));
        }
        fork
    }
}

/// Returns the position of the first hop at which two routes differ.
fn fork_position(routes: &Routes, one: RouteId, other: RouteId) -> usize {
    let pairs = routes.hops(one).iter().zip(routes.hops(other));
    pairs.take_while(|(one, other)| one == other).count()
}

/// Returns the base station at which a downlink packet arrives.
pub(super) fn base_of(
    packet: &UnderWay,
    routes: &Routes,
    directory: &Directory,
    endpoints: &Endpoints,
) -> NodeId {
    let before = packet.hop.checked_sub(1);
    match before.and_then(|position| routes.hop_at(packet.route, position)) {
        Some(Hop::Link(link)) => directory.end_of(link),
        // The route has no link, so the flow's other end is at the base station.
        _ => {
            let peer = endpoints[packet.to].peer;
            directory.endpoints()[peer.index()].node
        }
    }
}

impl UePaths {
    /// Changes the routes of flows after their UEs changed cells. Also sends the messages and data
    /// between base stations and the core.
    #[inline]
    pub(super) fn follow_moves<P: Probe>(world: &mut World<P>) {
        let radio = world.radio.as_ref();
        if radio.is_some_and(|radio| radio.access.has_moves()) {
            UePaths::follow_all(world);
        }
    }

    #[inline(never)]
    fn follow_all<P: Probe>(world: &mut World<P>) {
        // Between two base stations on one node, an action may cause further actions at once. The
        // next iteration of the loop handles them.
        let Some(mut paths) = world.paths.take() else {
            return;
        };
        let mut moves = std::mem::take(&mut paths.moves);
        while let Some(radio) = &mut world.radio
            && radio.access.has_moves()
        {
            radio.access.take_moves(&mut moves);
            for one in moves.drain(..) {
                paths.carry_out(world, one);
            }
        }
        paths.moves = moves;
        world.paths = Some(paths);
        // A path switch may schedule radio events before the current wake-up, so the wake-up is
        // scheduled again.
        if let Some(radio) = &mut world.radio {
            radio.arm(&mut world.agenda);
        }
    }

    /// Carries out one action that the radio access asks for.
    pub(super) fn carry_out<P: Probe>(&mut self, world: &mut World<P>, one: Move) {
        match one {
            Move::Uplink { ue, cell } => {
                let base = world.directory.base(cell);
                self.utran.enter(world, (ue, base), &self.paths);
                self.move_uplink(world, ue, base);
            }
            Move::Recall { ue, cell } => {
                let place = (ue, world.directory.base(cell));
                let direction = Direction::Downlink;
                self.utran.move_back(world, (place, direction), &self.paths);
            }
            Move::Left { ue, cell } => {
                let place = (ue, world.directory.base(cell));
                for direction in [Direction::Downlink, Direction::Uplink] {
                    self.utran.move_back(world, (place, direction), &self.paths);
                }
            }
            Move::Path { ue, cell } => {
                let base = world.directory.base(cell);
                self.switch_path(world, ue, base);
            }
            Move::Bicast { ue, cell } => {
                let base = world.directory.base(cell);
                self.start_bicast(world, ue, base);
            }
            Move::BicastEnd { ue } => self.copies.retain(|_, bicast| bicast.ue != ue),
            Move::LinkNotice { ue, info } => {
                for path in self.paths.iter().filter(|path| path.ue == ue) {
                    notify(&mut world.notices, &mut world.agenda, path.flow, info);
                }
            }
            Move::Message {
                ue,
                number,
                from,
                to,
                size,
            } => {
                let route = self.route(world, [from, to], Backhaul::Message { ue });
                let flow = self.first_flow(|path| path.ue == ue);
                world.send_backhaul(route, (flow, number, size));
            }
            Move::Forwarded {
                bearer,
                packet,
                number,
                from,
                to,
            } => {
                if let Some(tunnels) = &mut world.tunnels {
                    tunnels.set_forwarded(packet, number.filter(|_| tunnels.are_alike(from, to)));
                }
                let what = Backhaul::Forwarded {
                    bearer,
                    station: to,
                };
                let route = self.route(world, [from, to].map(NetworkNode::Station), what);
                world.send_forwarded(route, packet);
            }
            Move::ForwardedEnd { bearer, from, to } => {
                let what = Backhaul::ForwardedEnd { bearer };
                let route = self.route(world, [from, to].map(NetworkNode::Station), what);
                let flow = self.first_flow(|path| path.bearer == bearer);
                world.send_backhaul(route, (flow, 0, 0));
            }
            Move::Frame {
                what,
                number,
                size,
                flow,
                from,
                to,
            } => {
                let place = |cell| NetworkNode::Station(world.directory.base(cell).0);
                let ends = [place(from), place(to)];
                let route = self.route(world, ends, what);
                world.send_backhaul(route, (flow, number, size));
            }
        }
    }

    /// Returns the first flow that satisfies `is_such`. Messages count as packets of this flow.
    fn first_flow(&self, is_such: impl Fn(&&UePath) -> bool) -> FlowId {
        let path = self.paths.iter().find(is_such);
        path.map_or_else(FlowId::default, |path| path.flow)
    }

    fn route<P: Probe>(
        &mut self,
        world: &mut World<P>,
        ends: [NetworkNode; 2],
        what: Backhaul,
    ) -> RouteId {
        let places = (&mut self.topology, &*world.directory);
        self.interfaces.route(places, &mut world.routes, ends, what)
    }

    /// Returns the hops between a base station and the far end of a flow, in either direction.
    fn wired_hops(
        &mut self,
        directory: &Directory,
        base: NodeId,
        path: &UePath,
        is_down: bool,
    ) -> Vec<Hop> {
        let hops = match is_down {
            true => self.topology.shortest(path.anchor, base),
            false => self.topology.shortest(base, path.anchor),
        };
        let hops = hops.unwrap_or_default();
        let near = hops.iter().map(|&hop| directory.hop(hop));
        let kept = path.kept.iter();
        match is_down {
            true => kept.copied().chain(near).collect(),
            false => near
                .chain(kept.rev().map(|&hop| directory.reversed(hop)))
                .collect(),
        }
    }

    /// Lets uplink packets of a UE enter the network at its new base station.
    fn move_uplink<P: Probe>(&mut self, world: &mut World<P>, ue: UeId, base: NodeId) {
        for number in 0..self.paths.len() {
            if self.paths[number].ue != ue {
                continue;
            }
            let path = self.paths[number].clone();
            let mut hops = vec![Hop::Bearer {
                bearer: path.bearer,
                direction: Direction::Uplink,
            }];
            hops.extend(self.utran.uplink((ue, base)));
            hops.extend(self.wired_hops(&world.directory, base, &path, false));
            let new = world.routes.over(&hops);
            let old = std::mem::replace(&mut world.endpoints[path.near].route, new);
            self.detour(&world.routes, old, new);
        }
    }

    /// Returns the downlink route of a flow to a base station.
    fn downlink_route<P: Probe>(
        &mut self,
        world: &mut World<P>,
        base: NodeId,
        path: &UePath,
    ) -> RouteId {
        let mut hops = self.wired_hops(&world.directory, base, path, true);
        hops.push(Hop::Bearer {
            bearer: path.bearer,
            direction: Direction::Downlink,
        });
        world.routes.over(&hops)
    }

    /// Starts the bicast of the core to the UE's base station and to `base`. Each packet is copied
    /// where the two routes part.
    fn start_bicast<P: Probe>(&mut self, world: &mut World<P>, ue: UeId, base: NodeId) {
        for number in 0..self.paths.len() {
            if self.paths[number].ue != ue {
                continue;
            }
            let path = self.paths[number].clone();
            let route = self.downlink_route(world, base, &path);
            let old = world.endpoints[path.far].route;
            if old != route {
                let position = fork_position(&world.routes, old, route) as u8;
                let bicast = Bicast {
                    ue,
                    position,
                    route,
                };
                self.copies.insert(old, bicast);
            }
        }
    }

    /// Lets the core send to the UE's new base station, and sends an end marker for each bearer on
    /// each old route.
    fn switch_path<P: Probe>(&mut self, world: &mut World<P>, ue: UeId, base: NodeId) {
        let mut markers = BTreeSet::new();
        self.copies.retain(|_, bicast| bicast.ue != ue);
        for number in 0..self.paths.len() {
            if self.paths[number].ue != ue {
                continue;
            }
            let path = self.paths[number].clone();
            let new = self.downlink_route(world, base, &path);
            let old = std::mem::replace(&mut world.endpoints[path.far].route, new);
            let fork = self.detour(&world.routes, old, new);
            let is_same = old == new;
            let old = world.routes.hops(old);
            let is_first = matches!(old.last(), Some(Hop::Backhaul(_)));
            if !is_same && !is_first && fork + 1 < old.len() {
                let mut marker_hops = old[fork..old.len() - 1].to_vec();
                let bearer = path.bearer;
                marker_hops.push(Hop::Backhaul(Backhaul::EndMarker { bearer }));
                markers.insert((path.bearer, world.routes.over(&marker_hops), path.flow));
            }
        }
        let of_bearer = |bearer| markers.iter().filter(move |(of, ..)| *of == bearer);
        let now = world.agenda.now();
        for bearer in world.directory.bearers_of(ue) {
            let routes: BTreeSet<RouteId> = of_bearer(bearer).map(|&(_, route, _)| route).collect();
            if let Some(radio) = &mut world.radio {
                let count = routes.len() as u32;
                radio.access.on_path_switched(now, bearer, count);
            }
        }
        let mut sent = BTreeSet::new();
        for (bearer, route, flow) in markers {
            if !sent.insert((bearer, route)) {
                continue;
            }
            // An end marker has 36 bytes of IP, UDP and GTP-U. A size of zero makes the smallest
            // packet, 40 bytes.
            world.send_backhaul(route, (flow, 0, 0));
        }
    }
}

impl UePaths {
    /// Sends a copy of a packet on another route if the packet is about to enter the hop where the
    /// two routes part.
    pub(super) fn copy_at_fork<P: Probe>(world: &mut World<P>, id: PacketId) {
        let Some(paths) = &world.paths else {
            return;
        };
        let packet = &world.pool[id];
        if let Some(route) = paths.copy_route(packet.route, packet.hop) {
            let hop = packet.hop;
            let copy_of = world.pool.copy_to(id, route);
            if let Some(hop) = world.routes.hop_at(route, hop) {
                world.enter(hop, copy_of);
            }
        }
    }
}

/// True if links connect each base station of `bases` with the node `far`, in both directions.
pub(crate) fn reaches_all(topology: &mut Topology, bases: &[NodeId], far: NodeId) -> bool {
    bases.iter().all(|&base| {
        let there = topology.shortest(far, base);
        there.is_some_and(|hops| !backward(&hops).is_empty() || far == base)
    })
}
