//! Mobility management of UEs: what they measure and report, whether their links hold, and which
//! procedure is due. The procedures themselves are in [`handover`](super::handover).

use super::{Event, RadioAccess};
use crate::cell::CellMac;
use crate::config::{
    AirInterface, BearerConfig, DataForwarding, Env, LegId, MobilityConfig, RadioError,
};
use crate::mac::LogicalChannel;
use crate::rrc::mobility::{Message, Preparation, Stage, UeMobility};
use crate::rrc::monitor::Indication;
use fadeout_core::{
    CellId, Direction, DrbId, MeasurementRow, Motion, Packet, PacketId, PacketPool, Probe,
    RrcEvent, RrcRow, Segment, Time, UeId,
};

/// Mobility management of all UEs that have it.
#[derive(Debug)]
pub(super) struct Mobility {
    pub config: MobilityConfig,
    /// The cells that UEs of LTE and of NR measure.
    groups: [Vec<CellId>; 2],
    ues: Vec<Option<Box<UeMobility>>>,
    /// UEs in each cell.
    pub loads: Vec<u32>,
    /// Number of the next message.
    next_message: u64,
    moves: Vec<Move>,
    samples: Vec<f64>,
}

/// What mobility asks of whoever routes packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Uplink packets of a UE leave at this cell from now on.
    Uplink {
        /// UE.
        ue: UeId,
        /// Cell.
        cell: CellId,
    },
    /// The core sends downlink packets of a UE to this cell from now on, and end markers over the old
    /// way: [`RadioAccess::on_path_switched`] says how many.
    Path {
        /// UE.
        ue: UeId,
        /// Cell.
        cell: CellId,
    },
}

/// One UE while something happens to it.
pub(super) struct Managed<'a> {
    pub ue: UeId,
    pub config: &'a MobilityConfig,
    pub cells: &'a [CellId],
    pub state: &'a mut UeMobility,
    pub loads: &'a mut [u32],
    pub next_message: &'a mut u64,
    pub moves: &'a mut Vec<Move>,
}

impl Mobility {
    fn managed(&mut self, ue: UeId, group: usize) -> Option<Managed<'_>> {
        let state = self.ues.get_mut(ue.index())?.as_mut()?;
        Some(Managed {
            ue,
            config: &self.config,
            cells: &self.groups[group],
            state,
            loads: &mut self.loads,
            next_message: &mut self.next_message,
            moves: &mut self.moves,
        })
    }
}

impl RadioAccess {
    /// Puts the UEs under mobility management that have a channel and are connected. They measure the
    /// cells of their generation, and get a signalling radio bearer, whose ids count on from those of
    /// the data bearers.
    ///
    /// # Errors
    /// A UE with two legs, a list of base stations that does not fit the cells, or a channel that
    /// cannot be built.
    pub fn manage_mobility(&mut self, config: MobilityConfig) -> Result<(), RadioError> {
        let is_nr = |cell: &CellMac| matches!(cell.plan.config.air, AirInterface::Nr { .. });
        let cells = (0..self.cells.len() as u32).map(CellId);
        let (nr, lte) = cells.partition(|cell| is_nr(&self.cells[cell.index()]));
        let groups: [Vec<CellId>; 2] = [lte, nr];
        let mut ues = Vec::new();
        let mut loads = vec![0; self.cells.len()];
        for ue in (0..self.stack.ues.len() as u32).map(UeId) {
            let rrc = &self.stack.ues[ue.index()];
            if rrc.config().secondary.is_some() || config.stations.len() != self.cells.len() {
                return Err(RadioError::Ue {
                    ue: ue.index(),
                    what: "mobility management",
                    value: "of a UE with two legs, or without a base station for each cell".into(),
                    expected: "one leg, and as many base stations as cells".into(),
                });
            }
            let first = rrc.legs().first().copied();
            let Some(leg) = first.filter(|_| rrc.config().fixed_sinr.is_none()) else {
                ues.push(None);
                continue;
            };
            let cell = self.stack.legs[leg.index()].config.cell;
            let group = usize::from(is_nr(&self.cells[cell.index()]));
            let cells = &groups[group];
            self.stack.air.watch(ue, cells)?;
            self.add_signalling(ue, group == 1)?;
            let own = (ue, cell, leg);
            let state = UeMobility::new(own, &config, cells.len(), self.seed);
            loads[cell.index()] += 1;
            ues.push(Some(Box::new(state)));
        }
        self.mobility = Some(Box::new(Mobility {
            config,
            groups,
            ues,
            loads,
            next_message: 0,
            moves: Vec::new(),
            samples: Vec::new(),
        }));
        for ue in (0..self.stack.ues.len() as u32).map(UeId) {
            self.arm_mobility(ue);
        }
        Ok(())
    }

    /// A signalling radio bearer of a UE whose data bearers are there.
    fn add_signalling(&mut self, ue: UeId, is_nr: bool) -> Result<(), RadioError> {
        let bearer = match is_nr {
            true => BearerConfig::nr(ue),
            false => BearerConfig::lte(ue),
        };
        let id = self.establish(BearerConfig {
            channel: LogicalChannel {
                priority: 1,
                ..LogicalChannel::default()
            },
            ..bearer
        })?;
        self.stack.bearers[id.index()].carry_signalling();
        let rrc = &mut self.stack.ues[ue.index()];
        rrc.on_signalling_bearer();
        for bearer in rrc.bearers() {
            self.stack.bearers[bearer.index()].manage();
        }
        Ok(())
    }

    /// What is to be rerouted, in order; empty afterwards.
    pub fn take_moves(&mut self, moves: &mut Vec<Move>) {
        if let Some(mobility) = &mut self.mobility {
            moves.append(&mut mobility.moves);
        }
    }

    /// Whether UEs are under mobility management, so that downlink packets go to
    /// [`RadioAccess::on_packet_at`].
    pub fn has_mobility(&self) -> bool {
        self.mobility.is_some()
    }

    /// As [`RadioAccess::on_packet`] in the downlink, at the base station with this number.
    pub fn on_packet_at(
        &mut self,
        now: Time,
        station: u32,
        bearer: DrbId,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let drb = &mut self.stack.bearers[bearer.index()];
        if !drb.is_travelling() {
            self.on_packet(now, bearer, Direction::Downlink, packet, pool, probe);
            return;
        }
        let Some(mobility) = &self.mobility else {
            return;
        };
        let timeout = mobility.config.procedure.marker_timeout;
        let env = &mut Env {
            now,
            pool,
            out: &mut Vec::new(),
            probe,
        };
        drb.arrive((station, timeout), packet, env, &mut self.stack.storage);
        let ue = drb.config().ue;
        self.flow_on(bearer, env);
        self.arm_mobility(ue);
    }

    /// The core has switched the path of a bearer's UE, and so many end markers are on their way.
    pub fn on_path_switched(&mut self, now: Time, bearer: DrbId, markers: u32) {
        let Some(mobility) = &self.mobility else {
            return;
        };
        let timeout = mobility.config.procedure.marker_timeout;
        let drb = &mut self.stack.bearers[bearer.index()];
        drb.on_path_switch(now, markers, timeout);
        let ue = drb.config().ue;
        self.arm_mobility(ue);
        let leg = self.stack.leg_of(bearer);
        self.activate(now, leg, Direction::Downlink, 0);
    }

    /// An end marker of a bearer has reached the source.
    pub fn on_end_marker(&mut self, now: Time, bearer: DrbId) {
        let Some(mobility) = &self.mobility else {
            return;
        };
        let at = now.saturating_add(mobility.config.procedure.station_delay);
        self.stack.events.schedule(at, Event::Marker(bearer));
    }

    /// An end marker of a bearer is at the target.
    pub(super) fn on_marker(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        let drb = &mut self.stack.bearers[bearer.index()];
        let ue = drb.config().ue;
        drb.on_end_marker(env.now);
        self.note(ue, RrcEvent::EndMarker, env);
        self.flow_on(bearer, env);
        self.stack.close_books(bearer, Direction::Downlink, env);
    }

    /// What a base station has of a bearer may have grown.
    pub(super) fn flow_on(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        let Some(leg) = self.stack.leg_of(bearer) else {
            return;
        };
        self.stack.drain_inlet(bearer, env);
        if self.stack.downlink_waiting(env.now, leg) != (0, None) {
            self.activate(env.now, Some(leg), Direction::Downlink, 0);
        }
    }

    /// Lets the UE be woken for its mobility.
    pub(super) fn arm_mobility(&mut self, ue: UeId) {
        let Some(mobility) = &mut self.mobility else {
            return;
        };
        let Some(Some(state)) = mobility.ues.get_mut(ue.index()) else {
            return;
        };
        let mut at = state.wake_at();
        for bearer in self.stack.ues[ue.index()].bearers() {
            at = at.min(self.stack.bearers[bearer.index()].guard_at());
        }
        if let Some(generation) = state.wake.arm(at) {
            self.stack
                .events
                .schedule(at, Event::Mobility(ue, generation));
        }
    }

    /// Whether the UE is under mobility management.
    pub(super) fn is_managed(&self, ue: UeId) -> bool {
        let mobility = self.mobility.as_ref();
        mobility.is_some_and(|it| it.ues.get(ue.index()).is_some_and(Option::is_some))
    }

    /// Does something with a managed UE, and lets it be woken for what follows.
    pub(super) fn with_managed(
        &mut self,
        ue: UeId,
        action: impl FnOnce(&mut RadioAccess, &mut Managed<'_>),
    ) {
        let Some(mut mobility) = self.mobility.take() else {
            return;
        };
        let group = usize::from(self.is_nr(ue));
        if let Some(mut managed) = mobility.managed(ue, group) {
            action(self, &mut managed);
        }
        self.mobility = Some(mobility);
        self.arm_mobility(ue);
    }

    fn is_nr(&self, ue: UeId) -> bool {
        let cell = self.serving_cell(ue);
        let plan = cell.map(|cell| &self.cells[cell.index()].plan);
        plan.is_some_and(|plan| matches!(plan.config.air, AirInterface::Nr { .. }))
    }

    /// The UE's mobility is due.
    pub(super) fn on_mobility<M: Motion>(
        &mut self,
        (ue, generation): (UeId, u32),
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Some(mobility) = &mut self.mobility else {
            return;
        };
        let mut samples = std::mem::take(&mut mobility.samples);
        let state = mobility.ues[ue.index()].as_mut();
        if state.is_some_and(|state| state.wake.fire(generation)) {
            self.with_managed(ue, |access, managed| {
                access.measure(managed, &mut samples, motion, env);
                access.evaluate(managed, motion, env);
                access.report(managed, env);
                access.proceed(managed, motion, env);
            });
        }
        if let Some(mobility) = &mut self.mobility {
            mobility.samples = samples;
        }
    }

    /// The UE measures its cells.
    fn measure<M: Motion>(
        &mut self,
        managed: &mut Managed<'_>,
        samples: &mut Vec<f64>,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Managed {
            ue,
            config,
            cells,
            state,
            ..
        } = managed;
        if state.next_sample_at > env.now {
            return;
        }
        state.next_sample_at = env.now.saturating_add(config.measurement_period);
        let Some(cell) = self.serving_cell(*ue) else {
            return;
        };
        samples.clear();
        samples.resize(cells.len(), f64::NEG_INFINITY);
        let air = &mut self.stack.air;
        air.measure_levels(*ue, env.now, motion, |cell, level_dbm| {
            if let Ok(position) = cells.binary_search(&cell) {
                samples[position] = level_dbm;
            }
        });
        if config.measurement_error_db > 0.0 {
            for sample in samples.iter_mut() {
                *sample += config.measurement_error_db * state.draws.normal();
            }
        }
        let Ok(serving) = cells.binary_search(&cell) else {
            return;
        };
        for event in &mut state.events {
            event.on_samples(env.now, serving, samples);
        }
        if !env.probe.wants_measurements(*ue) {
            return;
        }
        for (position, (&cell, &rsrp_dbm)) in cells.iter().zip(samples.iter()).enumerate() {
            let filtered = state.events.first().and_then(|it| it.filtered(position));
            env.probe.measurement(MeasurementRow {
                time_s: env.now,
                ue: *ue,
                cell,
                is_serving: position == serving,
                rsrp_dbm,
                filtered_dbm: filtered.unwrap_or(rsrp_dbm),
            });
        }
    }

    /// The UE looks whether its link is in sync.
    fn evaluate<M: Motion>(
        &mut self,
        managed: &mut Managed<'_>,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let (ue, config) = (managed.ue, &managed.config.monitoring);
        let state = &mut *managed.state;
        if state.next_evaluation_at > env.now {
            return;
        }
        state.next_evaluation_at = env.now.saturating_add(config.period);
        let leg = self.stack.ues[ue.index()].legs().first().copied();
        let Some(leg) = leg.filter(|_| state.is_connected()) else {
            return;
        };
        self.stack.air.refresh(leg, env.now, motion);
        let sinr = self.stack.air.downlink_quality(leg, env.now);
        let Some(what) = state.quality.on_sinr(config, sinr) else {
            return;
        };
        let before = state.monitor.is_in_trouble();
        state.monitor.on_indication(env.now, config, what);
        let after = state.monitor.is_in_trouble();
        if before != after {
            let event = match what {
                Indication::OutOfSync => RrcEvent::OutOfSync,
                Indication::InSync => RrcEvent::InSync,
            };
            self.note(ue, event, env);
        }
    }

    /// The UE reports the events that are due.
    fn report(&mut self, managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
        if !managed.state.is_connected() {
            return;
        }
        for number in 0..managed.state.events.len() {
            let cells = managed.cells;
            let event = &mut managed.state.events[number];
            if event.wake_at() > env.now {
                continue;
            }
            let mut best: Option<(f64, CellId)> = None;
            let mut due = Vec::new();
            event.on_wake(env.now, |position| due.push(position));
            for position in due {
                let value = event.filtered(position).unwrap_or(f64::NEG_INFINITY);
                if best.is_none_or(|(of_best, _)| value > of_best) {
                    best = Some((value, cells[position]));
                }
            }
            if let Some((_, cell)) = best {
                self.note_cell((managed.ue, cell), RrcEvent::ReportSent, env);
                let message = Message::Report(number as u16, cell);
                self.send(managed, Direction::Uplink, message, env);
            }
        }
    }

    /// Sends a message over the signalling radio bearer. It may be lost with the link.
    pub(super) fn send(
        &mut self,
        managed: &mut Managed<'_>,
        direction: Direction,
        message: Message,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Some(bearer) = self.stack.ues[managed.ue.index()].signalling() else {
            return;
        };
        let number = *managed.next_message;
        *managed.next_message += 1;
        managed.state.messages.push((number, message));
        let headers = Segment::default().wire_len();
        let packet = env.pool.insert(Packet {
            segment: Segment {
                seq: number,
                len: message.size().saturating_sub(headers),
                ..Segment::default()
            },
            ..Packet::default()
        });
        self.on_packet(env.now, bearer, direction, packet, env.pool, env.probe);
    }

    /// Messages have arrived.
    pub(super) fn on_signalling(&mut self, env: &mut Env<'_, impl Probe>) {
        let mut arrived = std::mem::take(&mut self.stack.storage.signalled);
        for (bearer, direction, packet) in arrived.drain(..) {
            let number = env.pool.take(packet).segment.seq;
            let ue = self.stack.bearers[bearer.index()].config().ue;
            self.with_managed(ue, |access, managed| {
                let messages = &mut managed.state.messages;
                let Some(place) = messages.iter().position(|&(known, _)| known == number) else {
                    return;
                };
                let (_, message) = messages.remove(place);
                access.on_message(managed, direction, message, env);
            });
        }
        self.stack.storage.signalled = arrived;
    }

    fn on_message(
        &mut self,
        managed: &mut Managed<'_>,
        direction: Direction,
        message: Message,
        env: &mut Env<'_, impl Probe>,
    ) {
        match (direction, message) {
            (Direction::Uplink, Message::Report(event, cell)) => {
                self.note_cell((managed.ue, cell), RrcEvent::ReportReceived, env);
                let config = managed.config.events.get(usize::from(event));
                if config.is_some_and(|event| event.kind.has_neighbour()) {
                    self.prepare(managed, cell, env);
                }
            }
            (Direction::Downlink, Message::Command(target)) => {
                self.on_command(managed, target, env);
            }
            (Direction::Uplink, Message::Complete) => self.on_complete(managed, env),
            _ => debug_assert!(false, "{message:?} does not go {}", direction.name()),
        }
    }

    /// A row of a step that is about the serving cell.
    pub(super) fn note(&self, ue: UeId, event: RrcEvent, env: &mut Env<'_, impl Probe>) {
        if let Some(cell) = self.serving_cell(ue) {
            self.note_cell((ue, cell), event, env);
        }
    }

    /// A row of a step that is about a cell.
    pub(super) fn note_cell(
        &self,
        (ue, cell): (UeId, CellId),
        event: RrcEvent,
        env: &mut Env<'_, impl Probe>,
    ) {
        env.probe.rrc(RrcRow {
            time_s: env.now,
            ue,
            cell,
            event,
        });
    }

    /// Whether downlink data that the source has not sent is forwarded.
    pub(super) fn forwards(managed: &Managed<'_>) -> bool {
        managed.config.data == DataForwarding::Forwarded
    }

    /// The best cell that the UE measures now, of equals the first.
    pub(super) fn best_cell<M: Motion>(
        &mut self,
        managed: &Managed<'_>,
        motion: &mut M,
        now: Time,
    ) -> Option<CellId> {
        let mut selection = crate::rrc::CellSelection::default();
        let air = &mut self.stack.air;
        air.measure_levels(managed.ue, now, motion, |cell, level_dbm| {
            if managed.cells.binary_search(&cell).is_ok() {
                selection.on_measured(cell, level_dbm);
            }
        });
        selection.selected()
    }

    /// Whether both directions of a leg are good enough to be heard now.
    pub(super) fn is_heard<M: Motion>(
        &mut self,
        leg: LegId,
        least_db: f64,
        motion: &mut M,
        now: Time,
    ) -> [bool; 2] {
        self.stack.air.refresh(leg, now, motion);
        let quality_db = self.stack.air.quality_db(leg, now);
        quality_db.map(|sinr_db| sinr_db >= least_db)
    }

    /// Whether a change of cell of the UE is under way.
    pub(super) fn is_busy(&self, managed: &Managed<'_>) -> bool {
        let state = &*managed.state;
        let mut bearers = self.stack.ues[managed.ue.index()].bearers().iter();
        !matches!(state.stage, Stage::Connected)
            || !matches!(state.preparation, Preparation::Idle)
            || !state.switch_at.is_never()
            || bearers.any(|bearer| self.stack.bearers[bearer.index()].is_travelling())
    }

    /// All legs that a managed UE ever had; none of others.
    pub(super) fn legs_ever(&self, ue: UeId) -> impl Iterator<Item = LegId> + '_ {
        let mobility = self.mobility.as_ref();
        let state = mobility.and_then(|it| it.ues.get(ue.index())?.as_ref());
        let legs = state.into_iter().flat_map(|state| &state.legs);
        legs.map(|&(_, leg)| leg)
    }
}
