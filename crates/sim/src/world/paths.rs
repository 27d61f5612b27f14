//! The ways of packets to and from UEs that change cells.
//!
//! A route never changes, so at a path switch the ends of a flow take another one. What was sent on the
//! old one and has not yet come to where the two part goes on over the new one, as an anchor in the
//! core sends it; what has passed there goes on to the old base station.

use super::backhaul::Interfaces;
use super::notices::notify;
use super::utran::Utran;
use super::{Endpoints, Parts, World};
use crate::directory::Directory;
use crate::hop::{Hop, Routes};
use crate::routing::{Topology, backward};
use fadeout_core::{
    Direction, DrbId, EndpointId, FlowId, NodeId, Packet, PacketId, Probe, RouteId, UeId, UnderWay,
};
use fadeout_radio::access::{Backhaul, Move, Place};
use std::collections::{BTreeMap, BTreeSet};

/// The ways to UEs under mobility management.
#[derive(Debug)]
pub(crate) struct UePaths {
    topology: Topology,
    ways: Vec<UePath>,
    /// By old route: the position from which on a packet takes another one.
    detours: BTreeMap<RouteId, (u8, RouteId)>,
    /// By route: the position from which on a copy of each packet takes another one, and whose that is.
    copies: BTreeMap<RouteId, Copying>,
    interfaces: Interfaces,
    pub(super) utran: Utran,
    moves: Vec<Move>,
}

/// The core sends to two base stations.
#[derive(Debug, Clone, Copy)]
struct Copying {
    ue: UeId,
    position: u8,
    route: RouteId,
}

/// The way of a flow to a UE.
#[derive(Debug, Clone)]
pub(crate) struct UePath {
    pub(crate) ue: UeId,
    pub(crate) flow: FlowId,
    pub(crate) bearer: DrbId,
    /// The flow's end at the UE.
    pub(crate) near: EndpointId,
    /// Its other end.
    pub(crate) far: EndpointId,
    /// The hops from there that it takes whatever the cell, where a route names them, and the node at which
    /// they end: from there on it takes the fewest links.
    pub(crate) kept: Vec<Hop>,
    pub(crate) anchor: NodeId,
}

impl UePaths {
    pub(crate) fn new(topology: Topology, ways: Vec<UePath>, interfaces: Interfaces) -> UePaths {
        UePaths {
            topology,
            ways,
            detours: BTreeMap::new(),
            copies: BTreeMap::new(),
            interfaces,
            utran: Utran::default(),
            moves: Vec::new(),
        }
    }

    /// Links carry packets of UEs in cells of 3G.
    pub(crate) fn add_utran(&mut self, utran: Utran) {
        self.utran = utran;
    }

    /// The core has no bearers of a UE that is idle at the start: downlink packets end there, or where their way to
    /// base stations begins if it does not pass the core, or that is not known.
    pub(crate) fn hold_back(
        &mut self,
        ue: UeId,
        (core, bases): (Option<NodeId>, &[NodeId]),
        parts: &mut Parts,
    ) {
        for way in self.ways.iter().filter(|way| way.ue == ue) {
            let passes = |core: &NodeId| {
                let mut bases = bases.iter();
                bases.all(|&base| self.topology.passes((way.anchor, base), *core))
            };
            let end = core.filter(passes).unwrap_or(way.anchor);
            let hops = self.topology.shortest(way.anchor, end).unwrap_or_default();
            let near = hops.iter().map(|&hop| parts.directory.hop(hop));
            let mut hops: Vec<Hop> = way.kept.iter().copied().chain(near).collect();
            let bearer = way.bearer;
            hops.push(Hop::Backhaul(Backhaul::Unattached { bearer }));
            parts.endpoints[way.far.index()].route = parts.routes.over(&hops);
        }
    }

    /// The route of a packet that is about to enter the hop at `position` of `route`.
    #[inline]
    pub(super) fn redirected(&self, mut route: RouteId, position: u8) -> RouteId {
        while let Some(&(at, other)) = self.detours.get(&route)
            && at == position
        {
            route = other;
        }
        route
    }

    /// Whether some packets take other ways than they set out on.
    #[inline]
    pub(super) fn changes_ways(&self) -> bool {
        !self.detours.is_empty() || !self.copies.is_empty()
    }

    /// Whether copies of some packets take other ways.
    #[inline]
    pub(super) fn has_forks(&self) -> bool {
        !self.copies.is_empty()
    }

    /// Whether UEs change their base stations.
    #[inline]
    pub(super) fn follows_ues(&self) -> bool {
        !self.ways.is_empty()
    }

    /// The route of the copy of a packet that is about to enter the hop at `position` of `route`, if there
    /// is to be one.
    fn copied(&self, route: RouteId, position: u8) -> Option<RouteId> {
        let copying = self.copies.get(&route)?;
        (copying.position == position).then_some(copying.route)
    }

    /// Packets on `old` take `new` where the two part. Where that is.
    fn detour(&mut self, routes: &Routes, old: RouteId, new: RouteId) -> usize {
        let parted = parting(routes, old, new);
        self.detours.remove(&new);
        if old != new {
            self.detours.insert(old, (parted as u8, new));
        }
        parted
    }
}

/// The position at which two routes part.
fn parting(routes: &Routes, one: RouteId, other: RouteId) -> usize {
    let pairs = routes.hops(one).iter().zip(routes.hops(other));
    pairs.take_while(|(one, other)| one == other).count()
}

/// The base station at which a downlink packet arrives.
pub(super) fn base_of(
    packet: &UnderWay,
    routes: &Routes,
    directory: &Directory,
    endpoints: &Endpoints,
) -> NodeId {
    let before = packet.hop.checked_sub(1);
    match before.and_then(|position| routes.at(packet.route, position)) {
        Some(Hop::Link(link)) => directory.end_of(link),
        // The flow's other end is at the base station.
        _ => {
            let peer = endpoints[packet.to].peer;
            directory.endpoints()[peer.index()].node
        }
    }
}

impl UePaths {
    /// Gives flows the routes that their UEs' changes of cell ask for, and sends what base stations and
    /// the core send each other.
    #[inline]
    pub(super) fn follow_moves<P: Probe>(world: &mut World<P>) {
        let radio = world.radio.as_ref();
        if radio.is_some_and(|radio| radio.access.has_moves()) {
            UePaths::follow_all(world);
        }
    }

    #[inline(never)]
    fn follow_all<P: Probe>(world: &mut World<P>) {
        // What follows at once, between two of one node, is asked for again at the end.
        let Some(mut paths) = world.paths.take() else {
            return;
        };
        let mut moves = std::mem::take(&mut paths.moves);
        while let Some(radio) = &mut world.radio
            && radio.access.has_moves()
        {
            radio.access.take_moves(&mut moves);
            for one in moves.drain(..) {
                paths.follow(world, one);
            }
        }
        paths.moves = moves;
        world.paths = Some(paths);
        // A path switch schedules events of the radio, some before the one it was armed for.
        if let Some(radio) = &mut world.radio {
            radio.arm(&mut world.agenda);
        }
    }

    /// Carries out one of the moves that the radio asks for.
    pub(super) fn follow<P: Probe>(&mut self, world: &mut World<P>, one: Move) {
        match one {
            Move::Uplink { ue, cell } => {
                let base = world.directory.base(cell);
                self.utran.enter(world, (ue, base), &self.ways);
                self.move_uplink(world, ue, base);
            }
            Move::Recall { ue, cell } => {
                let way = (ue, world.directory.base(cell));
                let direction = Direction::Downlink;
                self.utran.give_back(world, (way, direction), &self.ways);
            }
            Move::Left { ue, cell } => {
                let way = (ue, world.directory.base(cell));
                for direction in [Direction::Downlink, Direction::Uplink] {
                    self.utran.give_back(world, (way, direction), &self.ways);
                }
            }
            Move::Path { ue, cell } => {
                let base = world.directory.base(cell);
                self.switch_path(world, ue, base);
            }
            Move::Bicast { ue, cell } => {
                let base = world.directory.base(cell);
                self.begin_copies(world, ue, base);
            }
            Move::BicastEnd { ue } => self.copies.retain(|_, copying| copying.ue != ue),
            Move::Told { ue, info } => {
                for way in self.ways.iter().filter(|way| way.ue == ue) {
                    notify(&mut world.notices, &mut world.agenda, way.flow, info);
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
                let flow = self.first_flow(|way| way.ue == ue);
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
                    tunnels.note_forwarded(packet, number.filter(|_| tunnels.are_alike(from, to)));
                }
                let what = Backhaul::Forwarded {
                    bearer,
                    station: to,
                };
                let route = self.route(world, [from, to].map(Place::Station), what);
                world.send_forwarded(route, packet);
            }
            Move::ForwardedEnd { bearer, from, to } => {
                let what = Backhaul::ForwardedEnd { bearer };
                let route = self.route(world, [from, to].map(Place::Station), what);
                let flow = self.first_flow(|way| way.bearer == bearer);
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
                let place = |cell| Place::Station(world.directory.base(cell).0);
                let ends = [place(from), place(to)];
                let route = self.route(world, ends, what);
                world.send_backhaul(route, (flow, number, size));
            }
        }
    }

    /// The flow whose packets messages count as: the first of such a way.
    fn first_flow(&self, is_such: impl Fn(&&UePath) -> bool) -> FlowId {
        let way = self.ways.iter().find(is_such);
        way.map_or_else(FlowId::default, |way| way.flow)
    }

    fn route<P: Probe>(
        &mut self,
        world: &mut World<P>,
        ends: [Place; 2],
        what: Backhaul,
    ) -> RouteId {
        let places = (&mut self.topology, &*world.directory);
        self.interfaces.route(places, &mut world.routes, ends, what)
    }

    /// The hops between a base station and the far end of a way, in either direction.
    fn wired(
        &mut self,
        directory: &Directory,
        base: NodeId,
        way: &UePath,
        is_down: bool,
    ) -> Vec<Hop> {
        let hops = match is_down {
            true => self.topology.shortest(way.anchor, base),
            false => self.topology.shortest(base, way.anchor),
        };
        let hops = hops.unwrap_or_default();
        let near = hops.iter().map(|&hop| directory.hop(hop));
        let kept = way.kept.iter();
        match is_down {
            true => kept.copied().chain(near).collect(),
            false => near
                .chain(kept.rev().map(|&hop| directory.reversed(hop)))
                .collect(),
        }
    }

    /// Uplink packets leave at the UE's new base station.
    fn move_uplink<P: Probe>(&mut self, world: &mut World<P>, ue: UeId, base: NodeId) {
        for number in 0..self.ways.len() {
            if self.ways[number].ue != ue {
                continue;
            }
            let way = self.ways[number].clone();
            let mut hops = vec![Hop::Bearer {
                bearer: way.bearer,
                direction: Direction::Uplink,
            }];
            hops.extend(self.utran.uplink((ue, base)));
            hops.extend(self.wired(&world.directory, base, &way, false));
            let new = world.routes.over(&hops);
            let old = std::mem::replace(&mut world.endpoints[way.near].route, new);
            self.detour(&world.routes, old, new);
        }
    }

    /// The route of downlink packets of a way to a base station.
    fn down<P: Probe>(&mut self, world: &mut World<P>, base: NodeId, way: &UePath) -> RouteId {
        let mut hops = self.wired(&world.directory, base, way, true);
        hops.push(Hop::Bearer {
            bearer: way.bearer,
            direction: Direction::Downlink,
        });
        world.routes.over(&hops)
    }

    /// The core sends to the UE's base station and to another one: each packet that comes to where the two
    /// ways part goes both.
    fn begin_copies<P: Probe>(&mut self, world: &mut World<P>, ue: UeId, base: NodeId) {
        for number in 0..self.ways.len() {
            if self.ways[number].ue != ue {
                continue;
            }
            let way = self.ways[number].clone();
            let route = self.down(world, base, &way);
            let old = world.endpoints[way.far].route;
            if old != route {
                let position = parting(&world.routes, old, route) as u8;
                let copying = Copying {
                    ue,
                    position,
                    route,
                };
                self.copies.insert(old, copying);
            }
        }
    }

    /// The core sends to the UE's new base station, and an end marker for each bearer over each old way.
    fn switch_path<P: Probe>(&mut self, world: &mut World<P>, ue: UeId, base: NodeId) {
        let mut markers = BTreeSet::new();
        self.copies.retain(|_, copying| copying.ue != ue);
        for number in 0..self.ways.len() {
            if self.ways[number].ue != ue {
                continue;
            }
            let way = self.ways[number].clone();
            let new = self.down(world, base, &way);
            let old = std::mem::replace(&mut world.endpoints[way.far].route, new);
            let parted = self.detour(&world.routes, old, new);
            let is_same = old == new;
            let old = world.routes.hops(old);
            let is_first = matches!(old.last(), Some(Hop::Backhaul(_)));
            if !is_same && !is_first && parted + 1 < old.len() {
                let mut rest = old[parted..old.len() - 1].to_vec();
                let bearer = way.bearer;
                rest.push(Hop::Backhaul(Backhaul::EndMarker { bearer }));
                markers.insert((way.bearer, world.routes.over(&rest), way.flow));
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
            // 36 bytes of IP, UDP and GTP-U, as a packet here has at least 40.
            world.send_backhaul(route, (flow, 0, 0));
        }
    }
}

impl UePaths {
    /// A packet is about to enter the hop at its position: a copy of it may go another way.
    pub(super) fn copy_at_fork<P: Probe>(world: &mut World<P>, id: PacketId) {
        let Some(paths) = &world.paths else {
            return;
        };
        let packet = &world.pool[id];
        if let Some(route) = paths.copied(packet.route, packet.hop) {
            let hop = packet.hop;
            let copy = Packet {
                route,
                ..world.pool.packet(id)
            };
            let copy_of = world.pool.insert(copy);
            if let Some(hop) = world.routes.at(route, hop) {
                world.enter(hop, copy_of);
            }
        }
    }
}

/// Whether each base station of `bases` is connected with a node, in both directions.
pub(crate) fn reaches_all(topology: &mut Topology, bases: &[NodeId], far: NodeId) -> bool {
    bases.iter().all(|&base| {
        let there = topology.shortest(far, base);
        there.is_some_and(|hops| !backward(&hops).is_empty() || far == base)
    })
}
