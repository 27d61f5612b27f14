//! Links, and the transfer of packets from hop to hop.

use super::agenda::Agenda;
use super::{Event, World};
use crate::hop::Hop;
use fadeout_core::{LinkId, PacketId, PacketPool, Probe, RouteId, Wake, prefetch};
use fadeout_link::{Link, RadioStates};

/// All directions of links, and the radio states of 2G and 3G bearers, which open and close their
/// directions.
#[derive(Debug)]
pub(crate) struct Links {
    hops: Vec<LinkHop>,
    /// Radio states of the 2G and 3G bearers that have them. Both directions of a bearer share one
    /// entry.
    radio_states: Vec<RadioStates>,
}

/// Number of packets between the arriving one and the one whose memory is requested. The endpoint
/// of a packet is known once the packet is in the cache, and likewise the endpoint's connection.
const PACKET_AHEAD: u64 = 6;
const ENDPOINT_AHEAD: u64 = 4;
const CONNECTION_AHEAD: u64 = 2;

/// A direction of a link with its wake-up.
#[derive(Debug)]
struct LinkHop {
    link: Link,
    wake: Wake,
    /// Index of the radio states of a 2G or 3G bearer. `None` for other links.
    states: Option<u32>,
    /// True if the receiving end is in another world, so that no packet arrives in this one.
    leads_out: bool,
}

impl Links {
    /// Creates the links in the order of their ids. Each entry of `radio_states` has the two
    /// directions that it opens.
    pub(super) fn new(links: Vec<Link>, radio_states: Vec<([LinkId; 2], RadioStates)>) -> Links {
        let hop = |link| LinkHop {
            link,
            wake: Wake::default(),
            states: None,
            leads_out: false,
        };
        let mut hops: Vec<LinkHop> = links.into_iter().map(hop).collect();
        for (index, (directions, _)) in radio_states.iter().enumerate() {
            for direction in directions {
                hops[direction.index()].states = Some(index as u32);
            }
        }
        let radio_states = radio_states.into_iter().map(|(_, states)| states);
        Links {
            hops,
            radio_states: radio_states.collect(),
        }
    }

    /// Returns the links in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Link> {
        self.hops.iter().map(|hop| &hop.link)
    }

    /// True if a wake-up is the scheduled one. `generation` is its number, and older wake-ups are
    /// ignored.
    #[inline]
    pub(super) fn fire(&mut self, id: LinkId, generation: u32) -> bool {
        self.hops[id.index()].wake.fire(generation)
    }

    /// Lets a packet enter a link.
    #[inline(always)]
    pub(super) fn enter(
        &mut self,
        id: LinkId,
        packet: PacketId,
        agenda: &mut Agenda,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let now = agenda.now();
        let hop = &mut self.hops[id.index()];
        let states = hop.states;
        if let Some(states) = states {
            let states = &mut self.radio_states[states as usize];
            hop.link.open_at(states.on_packet(now));
        }
        hop.link.on_packet(now, packet, pool, probe);
        if let Some(states) = states {
            self.radio_states[states as usize].on_activity(hop.link.busy_until());
        }
        hop.arm(id, agenda);
    }

    /// Lets a packet enter a link ahead of all packets that wait in it.
    pub(super) fn enter_ahead(
        &mut self,
        id: LinkId,
        packet: PacketId,
        agenda: &mut Agenda,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let hop = &mut self.hops[id.index()];
        hop.link.on_packet_ahead(agenda.now(), packet, pool, probe);
        hop.arm(id, agenda);
    }

    /// Records that the receiving end of a link is in another world.
    pub(super) fn lead_out(&mut self, id: LinkId) {
        self.hops[id.index()].leads_out = true;
    }

    /// Returns a direction of a link, for changes.
    pub(super) fn get_mut(&mut self, id: LinkId) -> &mut Link {
        &mut self.hops[id.index()].link
    }

    /// Returns a direction of a link.
    pub(crate) fn get(&self, id: LinkId) -> &Link {
        &self.hops[id.index()].link
    }

    /// Stops a link from sending. Packets that wait in it stay.
    pub(super) fn pause(&mut self, id: LinkId) {
        self.hops[id.index()].link.pause();
    }

    /// Closes a link and removes the packets that wait in it.
    pub(super) fn close(
        &mut self,
        id: LinkId,
        agenda: &mut Agenda,
        pool: &mut PacketPool,
        taken: &mut Vec<PacketId>,
        probe: &mut impl Probe,
    ) {
        let hop = &mut self.hops[id.index()];
        hop.link.close(agenda.now(), pool, taken, probe);
        hop.arm(id, agenda);
    }

    /// Lets a link send again.
    pub(super) fn open(
        &mut self,
        id: LinkId,
        agenda: &mut Agenda,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let hop = &mut self.hops[id.index()];
        hop.link.open(agenda.now(), pool, probe);
        hop.arm(id, agenda);
    }

    /// Drops a packet at a closed link. `was_waiting` is true if the packet waited in this link.
    pub(super) fn lose(
        &mut self,
        id: LinkId,
        packet: PacketId,
        was_inside: bool,
        agenda: &Agenda,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let link = &mut self.hops[id.index()].link;
        link.lose(agenda.now(), packet, was_inside, pool, probe);
    }

    /// Removes from a link the packets that have arrived at its end.
    #[inline]
    pub(super) fn take_arrivals(
        &mut self,
        id: LinkId,
        agenda: &Agenda,
        pool: &mut PacketPool,
        arrivals: &mut Vec<PacketId>,
        probe: &mut impl Probe,
    ) {
        let link = &mut self.hops[id.index()].link;
        link.on_wake(agenda.now(), pool, arrivals, probe);
    }

    /// Schedules the next wake-up of a link.
    #[inline]
    pub(super) fn arm(&mut self, id: LinkId, agenda: &mut Agenda) {
        self.hops[id.index()].arm(id, agenda);
    }
}

impl LinkHop {
    #[inline]
    fn arm(&mut self, link: LinkId, agenda: &mut Agenda) {
        let at = match self.leads_out {
            false => self.link.wake_at(),
            true => self.link.serve_at(),
        };
        agenda.arm(&mut self.wake, at, |generation| Event::Link {
            link,
            generation,
        });
    }
}

impl<P: Probe> World<P> {
    /// Moves a packet from the end of a hop to its next hop, or to its endpoint.
    pub(super) fn forward(&mut self, id: PacketId) {
        let packet = &mut self.pool[id];
        debug_assert!(
            packet.sent_at <= self.agenda.now(),
            "a packet is on its way that is still to be sent"
        );
        debug_assert!(
            usize::from(packet.hop) < self.routes.hops(packet.route).len(),
            "a packet leaves hop {} of a route that has fewer",
            packet.hop
        );
        packet.hop += 1;
        let mut place = (packet.route, packet.hop);
        if self.paths.is_some() || self.crossings.is_some() {
            place = self.turn(id);
        }
        match self.routes.hop_at(place.0, place.1) {
            Some(hop) => self.enter(hop, id),
            None => self.receive(id),
        }
    }

    /// Changes the route of a packet that a handover or another world concerns. Returns its route,
    /// and its position there.
    #[inline(never)]
    fn turn(&mut self, id: PacketId) -> (RouteId, u8) {
        if let Some(paths) = &self.paths
            && paths.may_change_routes()
        {
            let packet = &mut self.pool[id];
            packet.route = paths.current_route(packet.route, packet.hop);
            if paths.has_forks() {
                super::UePaths::copy_at_fork(self, id);
            }
        }
        if self.crossings.is_some() {
            self.cross(|it| it.turn(id));
        }
        let packet = &self.pool[id];
        (packet.route, packet.hop)
    }

    /// Lets a packet enter a hop.
    #[inline]
    pub(super) fn enter(&mut self, hop: Hop, packet: PacketId) {
        match hop {
            Hop::Link(link) if self.crossings.is_none() => {
                let (agenda, pool) = (&mut self.agenda, &mut self.pool);
                self.links
                    .enter(link, packet, agenda, pool, &mut self.probe);
            }
            Hop::Link(_) | Hop::Signal { .. } | Hop::Target { .. } => {
                self.cross(|it| it.enter(hop, packet));
            }
            Hop::Bearer { bearer, direction } => self.enter_bearer(bearer, direction, packet),
            Hop::Backhaul(what) => self.enter_backhaul(what, packet),
        }
    }

    /// Asks the processor for the memory of the packets that leave a link next. The packet, its
    /// endpoint and the endpoint's connection are requested one after the other.
    #[inline]
    fn prefetch_upcoming(&self, id: LinkId) {
        let link = self.links.get(id);
        if let Some(packet) = link.upcoming(PACKET_AHEAD) {
            prefetch(&self.pool[packet]);
        }
        if let Some(packet) = link.upcoming(ENDPOINT_AHEAD) {
            self.endpoints.prefetch(self.pool[packet].to);
        }
        if let Some(packet) = link.upcoming(CONNECTION_AHEAD) {
            self.endpoints.prefetch_connection(self.pool[packet].to);
        }
    }

    pub(super) fn wake_link(&mut self, id: LinkId) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let (pool, probe) = (&mut self.pool, &mut self.probe);
        self.links
            .take_arrivals(id, &self.agenda, pool, &mut arrivals, probe);
        if self.endpoints.exceed_caches() {
            self.prefetch_upcoming(id);
        }
        if self.tunnels.is_some() {
            super::tunnels::show_crossed(self, id, &arrivals);
        }
        for &packet in &arrivals {
            self.forward(packet);
        }
        arrivals.clear();
        self.arrivals = arrivals;
        self.links.arm(id, &mut self.agenda);
    }
}
