//! Execution of handovers of phones from one link to another.

use super::agenda::Agenda;
use super::links::Links;
use super::{Endpoints, Event, World};
use crate::crossing::{Copies, Crossing, Data, ROW_DELAY, RouteChange, Signal, Stage, Times};
use crate::hop::{Hop, Routes};
use fadeout_core::{
    DropCause, EndpointId, HandoverOutcome, LinkId, PacketId, PacketPool, Probe, RouteId, Time,
};
use std::collections::{BTreeMap, VecDeque};

/// All handovers between links, and the packets that they affect.
#[derive(Debug)]
pub(crate) struct Crossings {
    list: Vec<Crossing>,
    /// Route changes, indexed by route and position of the hop that a packet is about to enter.
    turns: BTreeMap<(RouteId, u8), Turn>,
    /// Downlinks that phones have left, each with its handover.
    left: BTreeMap<LinkId, u16>,
    /// Last arrivals at the endpoints of phones.
    arrivals: BTreeMap<EndpointId, Arrival>,
    taken: Vec<PacketId>,
    copies: Copies,
    /// Packets that are to enter a hop of the radio access. Only the world can do this.
    entering: VecDeque<(Hop, PacketId)>,
}

/// Change of route for packets at the hop where two routes part.
#[derive(Debug, Clone, Copy)]
enum Turn {
    /// Packets continue on another route.
    Detour(RouteId),
    /// Copies of packets take another route. The number is that of the handover.
    Copy(RouteId, u16),
}

/// Times of the packets that have arrived at an endpoint.
#[derive(Debug, Clone, Copy, Default)]
struct Arrival {
    last_at: Time,
    newest_sent_at: Time,
}

fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).as_secs_f64()
}

impl Crossings {
    pub(crate) fn new(list: Vec<Crossing>) -> Crossings {
        let downlinks = list.iter().flat_map(|crossing| &crossing.downlinks);
        let arrivals = downlinks.map(|change| (change.receiver, Arrival::default()));
        Crossings {
            arrivals: arrivals.collect(),
            list,
            turns: BTreeMap::new(),
            left: BTreeMap::new(),
            taken: Vec::new(),
            copies: Copies::default(),
            entering: VecDeque::new(),
        }
    }

    /// Returns the first wake-up of each handover.
    pub(super) fn starts(&mut self) -> Vec<(Time, u32, u32)> {
        let list = self.list.iter_mut().enumerate();
        let armed = list.filter_map(|(index, crossing)| {
            let at = crossing.wake_at();
            let generation = crossing.wake.arm(at)?;
            Some((at, index as u32, generation))
        });
        armed.collect()
    }
}

/// The handovers, and all parts of a world that they act on.
pub(super) struct Crossed<'a, P> {
    crossings: &'a mut Crossings,
    links: &'a mut Links,
    endpoints: &'a mut Endpoints,
    routes: &'a Routes,
    pool: &'a mut PacketPool,
    agenda: &'a mut Agenda,
    probe: &'a mut P,
}

impl<P: Probe> World<P> {
    /// Calls `action` with the handovers between links, if the scenario has any. Packets that
    /// `action` sends to a UE then enter the radio access.
    #[cold]
    pub(super) fn cross(&mut self, action: impl FnOnce(&mut Crossed<'_, P>)) {
        let Some(crossings) = &mut self.crossings else {
            return;
        };
        action(&mut Crossed {
            crossings,
            links: &mut self.links,
            endpoints: &mut self.endpoints,
            routes: &self.routes,
            pool: &mut self.pool,
            agenda: &mut self.agenda,
            probe: &mut self.probe,
        });
        let next = |world: &mut World<P>| world.crossings.as_mut()?.entering.pop_front();
        while let Some((hop, packet)) = next(self) {
            self.enter(hop, packet);
        }
    }
}

impl<P: Probe> Crossed<'_, P> {
    fn crossing(&mut self, index: u16) -> &mut Crossing {
        &mut self.crossings.list[usize::from(index)]
    }

    /// Executes the steps of a handover that are due.
    pub(super) fn wake(&mut self, index: u16, generation: u32) {
        if !self.crossing(index).wake.fire(generation) {
            return;
        }
        let now = self.agenda.now();
        let due = |at: &mut Time| {
            let is_due = *at <= now;
            if is_due {
                *at = Time::NEVER;
            }
            is_due
        };
        if due(&mut self.crossing(index).times.decide) {
            self.decide(index);
        }
        if due(&mut self.crossing(index).times.bicast) {
            self.begin_copies(index);
        }
        if due(&mut self.crossing(index).times.command) {
            self.command(index);
        }
        if due(&mut self.crossing(index).times.switch) {
            self.switch(index);
        }
        if due(&mut self.crossing(index).times.resume) {
            self.resume(index);
        }
        if due(&mut self.crossing(index).times.give_up) {
            self.end(index, HandoverOutcome::Cancelled);
        }
        if due(&mut self.crossing(index).times.row) {
            self.end(index, HandoverOutcome::Success);
        }
        self.arm(index);
    }

    fn arm(&mut self, index: u16) {
        let crossing = &mut self.crossings.list[usize::from(index)];
        let at = crossing.wake_at();
        self.agenda
            .arm(&mut crossing.wake, at, |generation| Event::Crossing {
                index: u32::from(index),
                generation,
            });
    }

    /// True if at least one flow still uses a route over the handover's source.
    fn is_there(&mut self, index: u16) -> bool {
        let crossing = &self.crossings.list[usize::from(index)];
        let mut changes = crossing.downlinks.iter().chain(&crossing.uplinks);
        changes.any(|change| self.endpoints[change.endpoint].route == change.old)
    }

    /// Lets the source decide on the handover and send Handover Required to the anchor.
    fn decide(&mut self, index: u16) {
        let now = self.agenda.now();
        if !self.is_there(index) {
            return self.end(index, HandoverOutcome::Cancelled);
        }
        let crossing = self.crossing(index);
        crossing.stage = Stage::Preparing;
        crossing.row.decided_s = seconds(now);
        crossing.times.give_up = now.saturating_add(crossing.preparation_timeout);
        self.signal(index, Signal::Required);
    }

    /// Sends a message of the handover, if the handover has a route for it.
    fn signal(&mut self, index: u16, signal: Signal) {
        if let Some(route) = self.crossing(index).route_of(signal) {
            self.send_signal(index, signal, route);
        }
    }

    fn send_signal(&mut self, index: u16, signal: Signal, route: RouteId) {
        let flow = self
            .crossing(index)
            .downlinks
            .first()
            .map(|change| change.flow);
        let flow_and_route = (flow.unwrap_or_default(), route);
        let now = self.agenda.now();
        let id = self
            .pool
            .send_message(flow_and_route, now, (0, signal.size()));
        self.enter(self.routes.first(route), id);
    }

    /// Handles the arrival of a message.
    fn on_signal(&mut self, index: u16, signal: Signal, packet: PacketId) {
        self.pool.free(packet);
        let now = self.agenda.now();
        let stage = self.crossing(index).stage;
        match (signal, stage) {
            (Signal::Required, Stage::Preparing) => self.signal(index, Signal::Request),
            (Signal::Request, Stage::Preparing) => self.signal(index, Signal::Answer),
            (Signal::Answer, Stage::Preparing) => {
                if self.crossing(index).data == Data::Bicast {
                    self.begin_copies(index);
                }
                self.signal(index, Signal::Order);
            }
            (Signal::Order, Stage::Preparing) => self.command(index),
            (Signal::Complete, Stage::Commanded) => self.switch(index),
            (Signal::OldPathEnd, _) => self.signal(index, Signal::ForwardingEnd),
            (Signal::ForwardingEnd, Stage::Commanded) => {
                let crossing = self.crossing(index);
                crossing.markers = crossing.markers.saturating_sub(1);
                if crossing.markers == 0 {
                    crossing.row.end_marker_s = seconds(now);
                }
            }
            // The message arrives after the end of the handover, or at a stage in which no such
            // message is expected. So it has no effect.
            _ => {}
        }
        self.arm(index);
    }

    /// Lets the anchor send copies to the target, which buffers them.
    fn begin_copies(&mut self, index: u16) {
        let now = self.agenda.now();
        if !self.is_there(index) {
            return;
        }
        self.close_target(index);
        let crossing = &mut self.crossings.list[usize::from(index)];
        if crossing.stage == Stage::Waiting {
            crossing.stage = Stage::Preparing;
        }
        crossing.row.bicast_s = seconds(now);
        for change in &crossing.downlinks {
            if self.endpoints[change.endpoint].route == change.old {
                let turn = Turn::Copy(change.new, index);
                self.crossings.turns.insert((change.old, change.fork), turn);
            }
        }
    }

    /// Pauses the links of the target, so that packets wait there.
    fn close_target(&mut self, index: u16) {
        let target = self.crossing(index).target;
        let lost = self.lost_at(target[0]);
        let crossing = self.crossing(index);
        if crossing.row.bicast_s.is_nan() {
            crossing.lost_before = lost;
        }
        for link in target {
            self.links.pause(link);
        }
        self.crossings.left.remove(&target[0]);
    }

    /// Returns the number of packets that a link has lost, except those lost by handovers.
    fn lost_at(&self, link: LinkId) -> u64 {
        let stats = self.links.get(link).stats();
        stats.dropped_total() - stats.dropped(DropCause::Handover)
    }

    /// Stops the source, which the phone leaves.
    fn command(&mut self, index: u16) {
        let now = self.agenda.now();
        if !self.is_there(index) {
            return self.end(index, HandoverOutcome::Cancelled);
        }
        self.close_target(index);
        let crossing = self.crossing(index);
        crossing.stage = Stage::Commanded;
        crossing.times.give_up = Time::NEVER;
        crossing.row.commanded_s = seconds(now);
        if crossing.row.decided_s.is_nan() {
            crossing.row.decided_s = seconds(now);
        }
        if crossing.messages.is_some() {
            crossing.times.resume = now.saturating_add(crossing.interruption);
        }
        // A timeout writes the row if the message Relocation Complete is lost.
        crossing.times.row = (now.saturating_add(crossing.interruption))
            .saturating_add(crossing.preparation_timeout)
            .saturating_add(ROW_DELAY);
        let [down, up] = crossing.source;
        let mut taken = self.take_waiting(down);
        self.crossings.left.insert(down, index);
        for packet in taken.drain(..) {
            self.turn_away(index, packet, true);
        }
        let mut taken_up = self.take_waiting(up);
        let changes = self.crossing(index).uplinks.clone();
        for RouteChange {
            endpoint, old, new, ..
        } in &changes
        {
            let route = &mut self.endpoints[*endpoint].route;
            if route == old {
                *route = *new;
            }
        }
        for packet in taken_up.drain(..) {
            let route = self.pool[packet].route;
            let change = changes.iter().find(|change| change.old == route);
            if let Some(change) = change.filter(|_| self.pool[packet].hop == 0) {
                self.pool[packet].route = change.new;
                self.enter(self.routes.first(change.new), packet);
            } else {
                self.links
                    .lose(up, packet, true, self.agenda, self.pool, self.probe);
            }
        }
        self.keep(taken);
    }

    /// Closes a link and returns the packets that wait in it.
    fn take_waiting(&mut self, link: LinkId) -> Vec<PacketId> {
        let mut taken = std::mem::take(&mut self.crossings.taken);
        let (pool, probe) = (&mut *self.pool, &mut *self.probe);
        self.links.close(link, self.agenda, pool, &mut taken, probe);
        taken
    }

    fn keep(&mut self, taken: Vec<PacketId>) {
        self.crossings.taken = taken;
    }

    /// Forwards or drops a downlink packet at a source that has stopped.
    fn turn_away(&mut self, index: u16, id: PacketId, was_waiting: bool) {
        let crossing = &mut self.crossings.list[usize::from(index)];
        if let Data::Forwarded(route) = crossing.data {
            match was_waiting {
                true => crossing.row.forwarded_waiting += 1,
                false => crossing.row.forwarded_later += 1,
            }
            let packet = &mut self.pool[id];
            (packet.route, packet.hop) = (route, 0);
            self.enter(self.routes.first(route), id);
            return;
        }
        if self.crossings.copies.on_drop(&self.pool.packet(id)) {
            match was_waiting {
                true => crossing.row.lost_waiting += 1,
                false => crossing.row.lost_later += 1,
            }
        }
        let [down, _] = crossing.source;
        let (pool, probe) = (&mut *self.pool, &mut *self.probe);
        self.links
            .lose(down, id, was_waiting, self.agenda, pool, probe);
    }

    /// Lets a packet enter a hop.
    pub(super) fn enter(&mut self, hop: Hop, packet: PacketId) {
        match hop {
            Hop::Link(link) => self.enter_link(link, packet, false),
            Hop::Signal { handover, signal } => self.on_signal(handover, signal, packet),
            Hop::Target { handover } => {
                let crossing = self.crossing(handover);
                crossing.reached += 1;
                let (link, goes_first) = (crossing.target[0], crossing.forwarded_first);
                self.enter_link(link, packet, goes_first);
            }
            Hop::Bearer { .. } | Hop::Backhaul(_) => {
                self.crossings.entering.push_back((hop, packet));
            }
        }
    }

    /// Lets a packet enter a link. If the phone has left the link, the packet is forwarded or
    /// dropped.
    fn enter_link(&mut self, link: LinkId, packet: PacketId, goes_first: bool) {
        if let Some(&index) = self.crossings.left.get(&link) {
            return self.turn_away(index, packet, false);
        }
        let (agenda, pool, probe) = (&mut *self.agenda, &mut *self.pool, &mut *self.probe);
        if goes_first {
            self.links.enter_ahead(link, packet, agenda, pool, probe);
        } else {
            self.links.enter(link, packet, agenda, pool, probe);
        }
    }

    /// Starts transmission and reception at the target.
    fn resume(&mut self, index: u16) {
        let now = self.agenda.now();
        if self.crossing(index).stage != Stage::Commanded {
            return;
        }
        self.crossing(index).row.resumed_s = seconds(now);
        for link in self.crossing(index).target {
            let (pool, probe) = (&mut *self.pool, &mut *self.probe);
            self.links.open(link, self.agenda, pool, probe);
        }
        self.signal(index, Signal::Complete);
        self.finish(index);
    }

    /// Switches the path: the anchor sends only to the target, and sends end markers on the old
    /// paths.
    fn switch(&mut self, index: u16) {
        let now = self.agenda.now();
        if self.crossing(index).stage != Stage::Commanded {
            return;
        }
        let crossing = &mut self.crossings.list[usize::from(index)];
        crossing.row.switched_s = seconds(now);
        let mut markers = Vec::new();
        for change in &crossing.downlinks {
            let route = &mut self.endpoints[change.endpoint].route;
            if *route != change.old {
                continue;
            }
            *route = change.new;
            self.crossings.turns.retain(|&(of, _), _| of != change.new);
            let turn = Turn::Detour(change.new);
            self.crossings.turns.insert((change.old, change.fork), turn);
            if !markers.contains(&change.marker) {
                markers.push(change.marker);
            }
        }
        crossing.markers = markers.len() as u32;
        for route in markers {
            self.send_signal(index, Signal::OldPathEnd, route);
        }
        self.finish(index);
    }

    /// Schedules the row once the target sends and the path is switched.
    fn finish(&mut self, index: u16) {
        let now = self.agenda.now();
        let crossing = self.crossing(index);
        if !crossing.row.resumed_s.is_nan() && !crossing.row.switched_s.is_nan() {
            crossing.times.row = now.saturating_add(ROW_DELAY);
        }
    }

    fn end(&mut self, index: u16, outcome: HandoverOutcome) {
        let now = self.agenda.now();
        let target = self.crossing(index).target;
        let has_copies = !self.crossing(index).row.bicast_s.is_nan();
        if self.crossing(index).stage == Stage::Preparing && has_copies {
            self.forget_copies(index);
        }
        let lost = self.lost_at(target[0]);
        let crossing = self.crossing(index);
        crossing.times = Times::NONE;
        if crossing.stage != Stage::Ended {
            let row = crossing.end(now, outcome, lost);
            self.probe.link_handover(row);
        }
    }

    /// Cancels a bicast when the phone stays at the source. The anchor sends only to the source
    /// again, and the target drops the copies.
    fn forget_copies(&mut self, index: u16) {
        let target = self.crossing(index).target;
        let is_own = |turn: &Turn| matches!(turn, Turn::Copy(_, of) if *of == index);
        self.crossings.turns.retain(|_, turn| !is_own(turn));
        let mut copies = self.take_waiting(target[0]);
        for packet in copies.drain(..) {
            self.crossings.copies.on_drop(&self.pool.packet(packet));
            let (pool, probe) = (&mut *self.pool, &mut *self.probe);
            self.links
                .lose(target[0], packet, true, self.agenda, pool, probe);
        }
        self.keep(copies);
        for link in target {
            let (pool, probe) = (&mut *self.pool, &mut *self.probe);
            self.links.open(link, self.agenda, pool, probe);
        }
    }

    /// Changes the route of a packet that is about to enter a hop, or sends a copy of it, if a
    /// handover requires this.
    pub(super) fn turn(&mut self, id: PacketId) {
        loop {
            let packet = &mut self.pool[id];
            match self
                .crossings
                .turns
                .get(&(packet.route, packet.hop))
                .copied()
            {
                None => return,
                Some(Turn::Detour(route)) => packet.route = route,
                Some(Turn::Copy(route, index)) => {
                    self.crossings.list[usize::from(index)].row.bicast += 1;
                    let packet = self.pool.packet(id);
                    self.crossings.copies.on_copy(&packet, index);
                    let copy_of = self.pool.copy_to(id, route);
                    if let Some(hop) = self.routes.hop_at(route, packet.hop) {
                        self.enter(hop, copy_of);
                    }
                    return;
                }
            }
        }
    }

    /// Records that a packet has reached its endpoint.
    pub(super) fn note_arrival(&mut self, id: PacketId) {
        let now = self.agenda.now();
        let packet = &self.pool.packet(id);
        let Some(arrival) = self.crossings.arrivals.get_mut(&packet.to) else {
            return;
        };
        let gap = now.since(arrival.last_at);
        let is_late = packet.sent_at < arrival.newest_sent_at;
        arrival.last_at = now;
        arrival.newest_sent_at = arrival.newest_sent_at.max(packet.sent_at);
        let doubled = self.crossings.copies.on_arrival(packet);
        for (index, crossing) in self.crossings.list.iter_mut().enumerate() {
            if doubled == Some(index as u16) {
                crossing.row.doubled += 1;
            }
            if crossing
                .downlinks
                .iter()
                .any(|change| change.receiver == packet.to)
            {
                crossing.on_arrival(gap, is_late && doubled.is_none());
            }
        }
    }
}
