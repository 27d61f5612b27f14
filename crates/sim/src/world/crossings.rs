//! Handovers of phones from one link to another.

use super::{Event, World};
use crate::crossing::{Copies, Crossing, Data, ROW_DELAY, Signal, Stage, Times, Way};
use fadeout_core::{
    DropCause, EndpointId, LinkId, Outcome, Packet, PacketId, Probe, RouteId, Segment, Time,
};
use std::collections::BTreeMap;

/// The handovers from link to link, and what they do with packets under way.
#[derive(Debug)]
pub(crate) struct Crossings {
    list: Vec<Crossing>,
    /// By route and position of the hop that a packet is about to enter.
    turns: BTreeMap<(RouteId, u8), Turn>,
    /// Downlinks that were left, and in which handover.
    left: BTreeMap<LinkId, u16>,
    /// What arrived at phones.
    arrivals: BTreeMap<EndpointId, Arrival>,
    taken: Vec<PacketId>,
    copies: Copies,
}

/// What happens where two routes part.
#[derive(Debug, Clone, Copy)]
enum Turn {
    /// Packets take the other one.
    Detour(RouteId),
    /// Their copies do, in this handover.
    Copy(RouteId, u16),
}

/// The packets that have arrived at an endpoint.
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
        let downs = list.iter().flat_map(|crossing| &crossing.downs);
        let arrivals = downs.map(|way| (way.receiver, Arrival::default()));
        Crossings {
            arrivals: arrivals.collect(),
            list,
            turns: BTreeMap::new(),
            left: BTreeMap::new(),
            taken: Vec::new(),
            copies: Copies::default(),
        }
    }

    /// When each is first to be woken.
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

/// A world whose phones change links: what is done there.
#[derive(Debug)]
pub(super) struct Changing<'a, P> {
    world: &'a mut World<P>,
}

impl<'a, P> Changing<'a, P> {
    pub(super) fn of(world: &'a mut World<P>) -> Changing<'a, P> {
        Changing { world }
    }
}

impl<P: Probe> Changing<'_, P> {
    fn crossing(&mut self, index: u16) -> &mut Crossing {
        let crossings = self.world.crossings.as_mut();
        let crossings = crossings.expect("an event of a handover has one");
        &mut crossings.list[usize::from(index)]
    }

    /// A handover is due.
    pub(super) fn wake_crossing(&mut self, index: u16, generation: u32) {
        if !self.crossing(index).wake.fire(generation) {
            return;
        }
        let now = self.world.agenda.now();
        let due = |at: &mut Time| {
            let is_due = *at <= now;
            if is_due {
                *at = Time::NEVER;
            }
            is_due
        };
        if due(&mut self.crossing(index).times.decide) {
            self.decide_crossing(index);
        }
        if due(&mut self.crossing(index).times.bicast) {
            self.begin_copies(index);
        }
        if due(&mut self.crossing(index).times.command) {
            self.command_crossing(index);
        }
        if due(&mut self.crossing(index).times.switch) {
            self.switch_crossing(index);
        }
        if due(&mut self.crossing(index).times.resume) {
            self.resume_crossing(index);
        }
        if due(&mut self.crossing(index).times.give_up) {
            self.end_crossing(index, Outcome::Cancelled);
        }
        if due(&mut self.crossing(index).times.row) {
            self.end_crossing(index, Outcome::Success);
        }
        self.arm_crossing(index);
    }

    fn arm_crossing(&mut self, index: u16) {
        let Some(crossings) = &mut self.world.crossings else {
            return;
        };
        let crossing = &mut crossings.list[usize::from(index)];
        let at = crossing.wake_at();
        self.world
            .agenda
            .arm(&mut crossing.wake, at, |generation| Event::Crossing {
                index: u32::from(index),
                generation,
            });
    }

    /// Whether some flow still goes the way that the handover leaves.
    fn is_there(&mut self, index: u16) -> bool {
        let Some(crossings) = &self.world.crossings else {
            return false;
        };
        let crossing = &crossings.list[usize::from(index)];
        let mut ways = crossing.downs.iter().chain(&crossing.ups);
        ways.any(|way| self.world.endpoints[way.endpoint.index()].route == way.old)
    }

    /// The source decides, and asks the target by way of the anchor.
    fn decide_crossing(&mut self, index: u16) {
        let now = self.world.agenda.now();
        if !self.is_there(index) {
            return self.end_crossing(index, Outcome::Cancelled);
        }
        let crossing = self.crossing(index);
        crossing.stage = Stage::Preparing;
        crossing.row.decided_s = seconds(now);
        crossing.times.give_up = now.saturating_add(crossing.preparation_timeout);
        self.signal(index, Signal::Required);
    }

    /// Sends a message.
    fn signal(&mut self, index: u16, signal: Signal) {
        if let Some(route) = self.crossing(index).route_of(signal) {
            self.send_signal(index, signal, route);
        }
    }

    fn send_signal(&mut self, index: u16, signal: Signal, route: RouteId) {
        let headers = Segment::default().wire_len();
        let flow = self.crossing(index).downs.first().map(|way| way.flow);
        let packet = self.world.pool.insert(Packet {
            flow: flow.unwrap_or_default(),
            route,
            sent_at: self.world.agenda.now(),
            segment: Segment {
                len: signal.size().saturating_sub(headers),
                ..Segment::default()
            },
            ..Packet::default()
        });
        self.world.enter(self.world.routes.first(route), packet);
    }

    /// A message has arrived.
    pub(super) fn on_signal(&mut self, index: u16, signal: Signal, packet: PacketId) {
        self.world.pool.free(packet);
        let now = self.world.agenda.now();
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
            (Signal::Order, Stage::Preparing) => self.command_crossing(index),
            (Signal::Complete, Stage::Commanded) => self.switch_crossing(index),
            (Signal::OldPathEnd, _) => self.signal(index, Signal::ForwardingEnd),
            (Signal::ForwardingEnd, Stage::Commanded) => {
                let crossing = self.crossing(index);
                crossing.markers = crossing.markers.saturating_sub(1);
                if crossing.markers == 0 {
                    crossing.row.end_marker_s = seconds(now);
                }
            }
            // It comes after the end.
            _ => {}
        }
        self.arm_crossing(index);
    }

    /// The anchor sends to both from now on; the target keeps what it gets.
    fn begin_copies(&mut self, index: u16) {
        let now = self.world.agenda.now();
        if !self.is_there(index) {
            return;
        }
        self.close_target(index);
        let Some(crossings) = &mut self.world.crossings else {
            return;
        };
        let crossing = &mut crossings.list[usize::from(index)];
        if crossing.stage == Stage::Waiting {
            crossing.stage = Stage::Preparing;
        }
        crossing.row.bicast_s = seconds(now);
        for way in &crossing.downs {
            if self.world.endpoints[way.endpoint.index()].route == way.old {
                let turn = Turn::Copy(way.new, index);
                crossings.turns.insert((way.old, way.parted), turn);
            }
        }
    }

    /// What enters the target waits there.
    fn close_target(&mut self, index: u16) {
        let target = self.crossing(index).target;
        let lost = self.lost_at(target[0]);
        let crossing = self.crossing(index);
        if crossing.row.bicast_s.is_nan() {
            crossing.lost_before = lost;
        }
        for link in target {
            self.world.links.pause(link);
        }
        if let Some(crossings) = &mut self.world.crossings {
            crossings.left.remove(&target[0]);
        }
    }

    /// Packets that a link has lost, but for those that it had when it was left.
    fn lost_at(&self, link: LinkId) -> u64 {
        let stats = self.world.links.get(link).stats();
        stats.dropped_total() - stats.dropped(DropCause::Handover)
    }

    /// The source stops, and the phone leaves it.
    fn command_crossing(&mut self, index: u16) {
        let now = self.world.agenda.now();
        if !self.is_there(index) {
            return self.end_crossing(index, Outcome::Cancelled);
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
        // Nothing of it would ever end if the message of completion is lost.
        crossing.times.row = (now.saturating_add(crossing.interruption))
            .saturating_add(crossing.preparation_timeout)
            .saturating_add(ROW_DELAY);
        let [down, up] = crossing.source;
        let mut taken = self.take_waiting(down);
        if let Some(crossings) = &mut self.world.crossings {
            crossings.left.insert(down, index);
        }
        for packet in taken.drain(..) {
            self.turn_away(index, packet, true);
        }
        let mut taken_up = self.take_waiting(up);
        let ways = self.crossing(index).ups.clone();
        for Way {
            endpoint, old, new, ..
        } in &ways
        {
            let route = &mut self.world.endpoints[endpoint.index()].route;
            if route == old {
                *route = *new;
            }
        }
        for packet in taken_up.drain(..) {
            let route = self.world.pool[packet].route;
            let way = ways.iter().find(|way| way.old == route);
            if let Some(way) = way.filter(|_| self.world.pool[packet].hop == 0) {
                self.world.pool[packet].route = way.new;
                self.world.enter(self.world.routes.first(way.new), packet);
            } else {
                self.world.links.lose(
                    up,
                    packet,
                    true,
                    &self.world.agenda,
                    &mut self.world.pool,
                    &mut self.world.probe,
                );
            }
        }
        self.keep(taken);
    }

    /// Closes a link, and takes out what waits.
    fn take_waiting(&mut self, link: LinkId) -> Vec<PacketId> {
        let crossings = self.world.crossings.as_mut();
        let mut taken = crossings.map_or_else(Vec::new, |it| std::mem::take(&mut it.taken));
        let (pool, probe) = (&mut self.world.pool, &mut self.world.probe);
        self.world
            .links
            .close(link, &mut self.world.agenda, pool, &mut taken, probe);
        taken
    }

    fn keep(&mut self, taken: Vec<PacketId>) {
        if let Some(crossings) = &mut self.world.crossings {
            crossings.taken = taken;
        }
    }

    /// A downlink packet is at a source that has stopped.
    fn turn_away(&mut self, index: u16, id: PacketId, was_waiting: bool) {
        let Some(crossings) = &mut self.world.crossings else {
            return;
        };
        let crossing = &mut crossings.list[usize::from(index)];
        let packet = &mut self.world.pool[id];
        if let Data::Forwarded(route) = crossing.data {
            match was_waiting {
                true => crossing.row.forwarded_waiting += 1,
                false => crossing.row.forwarded_later += 1,
            }
            (packet.route, packet.hop) = (route, 0);
            self.world.enter(self.world.routes.first(route), id);
            return;
        }
        if crossings.copies.on_drop(packet) {
            match was_waiting {
                true => crossing.row.lost_waiting += 1,
                false => crossing.row.lost_later += 1,
            }
        }
        let [down, _] = crossing.source;
        let (pool, probe) = (&mut self.world.pool, &mut self.world.probe);
        self.world
            .links
            .lose(down, id, was_waiting, &self.world.agenda, pool, probe);
    }

    /// Whether a packet that is about to enter a link finds that the phone has left it: it is seen to
    /// then.
    #[cold]
    pub(super) fn finds_nobody(&mut self, link: LinkId, packet: PacketId) -> bool {
        let crossings = self.world.crossings.as_ref();
        let Some(index) = crossings.and_then(|it| it.left.get(&link)).copied() else {
            return false;
        };
        self.turn_away(index, packet, false);
        true
    }

    /// A forwarded packet is at the target.
    pub(super) fn reach_target(&mut self, index: u16, packet: PacketId) {
        let crossing = self.crossing(index);
        crossing.reached += 1;
        let (link, goes_first) = (crossing.target[0], crossing.forwarded_first);
        if self.finds_nobody(link, packet) {
            return;
        }
        let (agenda, pool, probe) = (
            &mut self.world.agenda,
            &mut self.world.pool,
            &mut self.world.probe,
        );
        if goes_first {
            self.world
                .links
                .enter_ahead(link, packet, agenda, pool, probe);
        } else {
            self.world.links.enter(link, packet, agenda, pool, probe);
        }
    }

    /// The target begins to send and to receive.
    fn resume_crossing(&mut self, index: u16) {
        let now = self.world.agenda.now();
        if self.crossing(index).stage != Stage::Commanded {
            return;
        }
        self.crossing(index).row.resumed_s = seconds(now);
        for link in self.crossing(index).target {
            let (pool, probe) = (&mut self.world.pool, &mut self.world.probe);
            self.world
                .links
                .open(link, &mut self.world.agenda, pool, probe);
        }
        self.signal(index, Signal::Complete);
        self.finish_crossing(index);
    }

    /// The anchor sends to the target alone, and end markers over the old paths.
    fn switch_crossing(&mut self, index: u16) {
        let now = self.world.agenda.now();
        if self.crossing(index).stage != Stage::Commanded {
            return;
        }
        let Some(crossings) = &mut self.world.crossings else {
            return;
        };
        let crossing = &mut crossings.list[usize::from(index)];
        crossing.row.switched_s = seconds(now);
        let mut markers = Vec::new();
        for way in &crossing.downs {
            let route = &mut self.world.endpoints[way.endpoint.index()].route;
            if *route != way.old {
                continue;
            }
            *route = way.new;
            crossings.turns.retain(|&(of, _), _| of != way.new);
            let turn = Turn::Detour(way.new);
            crossings.turns.insert((way.old, way.parted), turn);
            if !markers.contains(&way.marker) {
                markers.push(way.marker);
            }
        }
        crossing.markers = markers.len() as u32;
        for route in markers {
            self.send_signal(index, Signal::OldPathEnd, route);
        }
        self.finish_crossing(index);
    }

    /// Once the target sends and the path is switched, only the row is left.
    fn finish_crossing(&mut self, index: u16) {
        let now = self.world.agenda.now();
        let crossing = self.crossing(index);
        if !crossing.row.resumed_s.is_nan() && !crossing.row.switched_s.is_nan() {
            crossing.times.row = now.saturating_add(ROW_DELAY);
        }
    }

    fn end_crossing(&mut self, index: u16, outcome: Outcome) {
        let now = self.world.agenda.now();
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
            self.world.probe.link_handover(row);
        }
    }

    /// The phone stays: the anchor sends to it alone again, and the target drops what it has.
    fn forget_copies(&mut self, index: u16) {
        let target = self.crossing(index).target;
        if let Some(crossings) = &mut self.world.crossings {
            let is_own = |turn: &Turn| matches!(turn, Turn::Copy(_, of) if *of == index);
            crossings.turns.retain(|_, turn| !is_own(turn));
        }
        let mut copies = self.take_waiting(target[0]);
        for packet in copies.drain(..) {
            if let Some(crossings) = &mut self.world.crossings {
                crossings.copies.on_drop(&self.world.pool[packet]);
            }
            let (pool, probe) = (&mut self.world.pool, &mut self.world.probe);
            self.world
                .links
                .lose(target[0], packet, true, &self.world.agenda, pool, probe);
        }
        self.keep(copies);
        for link in target {
            let (pool, probe) = (&mut self.world.pool, &mut self.world.probe);
            self.world
                .links
                .open(link, &mut self.world.agenda, pool, probe);
        }
    }

    /// A packet is about to enter the hop at its position: it may take another route there, or a copy
    /// of it.
    #[cold]
    pub(super) fn turn(&mut self, id: PacketId) {
        let Some(crossings) = &mut self.world.crossings else {
            return;
        };
        loop {
            let packet = &mut self.world.pool[id];
            match crossings.turns.get(&(packet.route, packet.hop)).copied() {
                None => return,
                Some(Turn::Detour(route)) => packet.route = route,
                Some(Turn::Copy(route, index)) => {
                    crossings.list[usize::from(index)].row.bicast += 1;
                    crossings.copies.on_copy(packet, index);
                    let copy = Packet { route, ..*packet };
                    let copy_of = self.world.pool.insert(copy);
                    if let Some(hop) = self.world.routes.at(route, copy.hop) {
                        self.world.enter(hop, copy_of);
                    }
                    return;
                }
            }
        }
    }

    /// A packet has reached its endpoint.
    #[cold]
    pub(super) fn note_arrival(&mut self, id: PacketId) {
        let now = self.world.agenda.now();
        let Some(crossings) = &mut self.world.crossings else {
            return;
        };
        let packet = &self.world.pool[id];
        let Some(arrival) = crossings.arrivals.get_mut(&packet.to) else {
            return;
        };
        let gap = now.since(arrival.last_at);
        let is_late = packet.sent_at < arrival.newest_sent_at;
        arrival.last_at = now;
        arrival.newest_sent_at = arrival.newest_sent_at.max(packet.sent_at);
        let doubled = crossings.copies.on_arrival(packet);
        for (index, crossing) in crossings.list.iter_mut().enumerate() {
            if doubled == Some(index as u16) {
                crossing.row.doubled += 1;
            }
            if crossing.downs.iter().any(|way| way.receiver == packet.to) {
                crossing.on_arrival(gap, is_late && doubled.is_none());
            }
        }
    }
}
