//! Links, and the way of a packet from hop to hop.

use super::agenda::Agenda;
use super::{Event, World};
use crate::hop::Hop;
use fadeout_core::{LinkId, PacketId, PacketPool, Probe, Wake};
use fadeout_link::{Link, RadioStates};

/// The directions of links, and what opens those of bearers of 2G and 3G.
#[derive(Debug)]
pub(crate) struct Links {
    hops: Vec<LinkHop>,
    /// Of each bearer that has them, for both directions.
    radio_states: Vec<RadioStates>,
}

/// A direction of a link with its wake-up.
#[derive(Debug)]
struct LinkHop {
    link: Link,
    wake: Wake,
    /// The radio states of a bearer of 2G or 3G, by number.
    states: Option<u32>,
    /// Whether its far end is in another world, so that nothing arrives at it here.
    leads_out: bool,
}

impl Links {
    /// The links in the order of their ids; each radio states with the directions that it opens.
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

    /// The links in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Link> {
        self.hops.iter().map(|hop| &hop.link)
    }

    /// Whether a wake-up of this generation is the armed one.
    #[inline]
    pub(super) fn fire(&mut self, id: LinkId, generation: u32) -> bool {
        self.hops[id.index()].wake.fire(generation)
    }

    /// A packet enters a link.
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

    /// As [`enter`](Self::enter), before all that waits.
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

    /// A link leads into another world.
    pub(super) fn lead_out(&mut self, id: LinkId) {
        self.hops[id.index()].leads_out = true;
    }

    /// A direction of a link, to be changed.
    pub(super) fn get_mut(&mut self, id: LinkId) -> &mut Link {
        &mut self.hops[id.index()].link
    }

    /// A direction of a link.
    pub(crate) fn get(&self, id: LinkId) -> &Link {
        &self.hops[id.index()].link
    }

    /// Keeps what waits in a link there.
    pub(super) fn pause(&mut self, id: LinkId) {
        self.hops[id.index()].link.pause();
    }

    /// Closes a link and takes out what waits.
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

    /// Drops a packet at a link that is closed; whether it waited in it before.
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

    /// Takes out of a link what has arrived at its end.
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

    /// Lets a link be woken when it next has something to do.
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
    /// A packet left a hop: onto the next, or to its endpoint.
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
        if let Some(paths) = &self.paths
            && paths.changes_ways()
        {
            packet.route = paths.redirected(packet.route, packet.hop);
            if paths.has_forks() {
                super::UePaths::copy_at_fork(self, id);
            }
        }
        if self.crossings.is_some() {
            self.cross(|it| it.turn(id));
        }
        let packet = &self.pool[id];
        match self.routes.at(packet.route, packet.hop) {
            Some(hop) => self.enter(hop, id),
            None => self.receive(id),
        }
    }

    /// A packet enters a hop.
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

    pub(super) fn wake_link(&mut self, id: LinkId) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let (pool, probe) = (&mut self.pool, &mut self.probe);
        self.links
            .take_arrivals(id, &self.agenda, pool, &mut arrivals, probe);
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
