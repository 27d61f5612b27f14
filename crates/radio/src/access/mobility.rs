//! Mobility management of UEs: their measurements and reports, their link states, and the choice of
//! the procedure that is due. The procedures themselves are in [`handover`](super::handover).

use super::attach::{Attaching, begin_idle};
use super::beam_failure;
use super::carriers;
use super::daps;
use super::link_evaluation::EvaluationSchedule;
use super::ltm;
use super::managed::{CellKind, Managed, record_cell_event};
use super::moves::{Backhaul, Move};
use super::rach_less;
use super::scg::{self, Scg};
use super::secondary::is_report;
use super::service::Service;
use super::stack::Stack;
use super::utra;
use super::{Event, RadioAccess};
use crate::air::beams::BeamView;
use crate::config::{
    AirInterface, BearerConfig, Env, LegId, MobilityConfig, RadioError, Signalling,
};
use crate::rlc::Generation;
use crate::rrc::contention::Contention;
use crate::rrc::filter::Level;
use crate::rrc::mobility::UeMobility;
use crate::rrc::network::Act;
use crate::rrc::policy::{HandoverPolicy, Policy};
use fadeout_core::{
    CellId, Direction, DrbId, Motion, PacketId, PacketPool, PdcpNumber, Probe, RrcEvent, Span,
    Time, UeId,
};
use std::collections::VecDeque;

/// State of mobility management, for all UEs that are under mobility management.
#[derive(Debug)]
pub(super) struct Mobility {
    pub config: MobilityConfig,
    /// Cells that a UE in LTE measures, and cells that a UE in NR measures, each cell with its
    /// kind. The last two entries are for UEs with a managed secondary node.
    groups: [(Vec<CellId>, Vec<CellKind>); 4],
    policy: Policy,
    ues: Vec<Option<Box<UeMobility>>>,
    pub evaluations: EvaluationSchedule,
    /// Number of UEs in each cell.
    pub loads: Vec<u32>,
    /// Number of UEs for which each cell reserves resources before a handover.
    held: Vec<u32>,
    /// Number of the next message.
    next_message: u64,
    moves: Vec<Move>,
    acts: VecDeque<Act>,
    samples: Vec<Level>,
    visited: Vec<usize>,
    least_db: Vec<f64>,
    contention: Contention,
    past: Vec<(Span, f64)>,
}

impl Mobility {
    /// Returns the managed UEs and their states.
    pub(super) fn states(&self) -> impl Iterator<Item = (UeId, &UeMobility)> {
        let ues = (0..).map(UeId).zip(&self.ues);
        ues.filter_map(|(ue, state)| Some((ue, state.as_deref()?)))
    }

    /// Returns all legs that a managed UE has ever had. Returns no leg for a UE that is not
    /// managed.
    pub(super) fn legs_ever(&self, ue: UeId) -> impl Iterator<Item = LegId> + '_ {
        let state = self.ues.get(ue.index()).and_then(Option::as_ref);
        let legs = state.into_iter().flat_map(|state| &state.legs);
        legs.map(|&(_, leg)| leg)
    }

    /// Makes the UE report its data rate to listeners of its link, too. Returns false if the UE is
    /// not under mobility management.
    pub(super) fn report_rates_of(&mut self, ue: UeId) -> bool {
        let state = self.ues.get_mut(ue.index()).and_then(Option::as_mut);
        state.map(|state| state.reported_rate = Some(0.0)).is_some()
    }

    /// Returns true if the UE is under mobility management.
    pub(super) fn is_managed(&self, ue: UeId) -> bool {
        self.ues.get(ue.index()).is_some_and(Option::is_some)
    }

    /// Queues the forwarded packets as [`Move`]s, and schedules the UE's next wake-up for mobility.
    fn finish_step(&mut self, ue: UeId, stack: &mut Stack) {
        stack.send_forwarded(&mut self.moves);
        self.arm(ue, stack);
    }

    /// Schedules the UE's next wake-up for mobility.
    fn arm(&mut self, ue: UeId, stack: &mut Stack) {
        let Some(Some(state)) = self.ues.get_mut(ue.index()) else {
            return;
        };
        self.evaluations.set_next(ue, state.link.next_at());
        let mut at = state.wake_at();
        for bearer in stack.ues[ue.index()].bearers() {
            at = at.min(stack.bearers[bearer.index()].transfers().guard_at());
        }
        if let Some(generation) = state.wake.arm(at) {
            stack.events.schedule(at, Event::Mobility(ue, generation));
        }
    }
}

impl Stack {
    /// Queues the packets that base stations forward to each other as [`Move`]s.
    pub(super) fn send_forwarded(&mut self, moves: &mut Vec<Move>) {
        for forwarded in self.storage.forwarded.drain(..) {
            let config = self.bearers[forwarded.bearer.index()].config();
            // In unacknowledged mode the target assigns a new PDCP number.
            let count = forwarded.count.filter(|_| config.is_acknowledged());
            let bits = config.pdcp.sn_bits;
            moves.push(Move::Forwarded {
                bearer: forwarded.bearer,
                packet: forwarded.packet,
                number: count.map(|count| PdcpNumber { count, bits }),
                from: forwarded.from,
                to: forwarded.to,
            });
        }
    }
}

impl RadioAccess {
    /// Puts all connected UEs with a channel under mobility management. Each UE measures the cells
    /// of its generation. Each UE gets a signalling radio bearer. The ids of these bearers follow
    /// the ids of the data bearers.
    ///
    /// # Errors
    /// Returns an error for a UE with two legs that may not change cell. Also returns an error if
    /// the list of base stations does not match the cells, or if a channel cannot be built.
    pub fn manage_mobility(
        &mut self,
        config: MobilityConfig,
        policy: Policy,
    ) -> Result<(), RadioError> {
        let events = policy.events(&config.events, config.measurement_period);
        let has_utra = events.iter().any(|event| event.scope.has_utra());
        // With an event B1 or B2, UEs also measure cells of the other generation.
        let is_inter_rat = events.iter().any(|event| event.kind.is_inter_rat());
        let kind = |cell: &CellId| {
            let config = &self.service.cells[cell.index()].plan.config;
            CellKind {
                carrier: config.carrier,
                generation: config.generation(),
                is_utra: config.pilot.is_some(),
            }
        };
        let kinds_of_ues = [false, true].into_iter().flat_map(|has_node| {
            [Generation::Lte, Generation::Nr].map(|generation| (generation, has_node))
        });
        let groups = kinds_of_ues.map(|(generation, has_node)| {
            let cells = (0..self.service.cells.len() as u32).map(CellId);
            let is_meant = |kind: CellKind| match kind.is_utra {
                true => has_utra,
                false => is_inter_rat || has_node || kind.generation == generation,
            };
            let cells: Vec<CellId> = cells.filter(|cell| is_meant(kind(cell))).collect();
            let kinds: Vec<CellKind> = cells.iter().map(kind).collect();
            (cells, kinds)
        });
        let mut groups = groups.collect::<Vec<_>>().into_iter();
        let mut group = || groups.next().unwrap_or_default();
        let groups = [group(), group(), group(), group()];
        carriers::check(&config, &self.service.cells)?;
        daps::check(&config, &self.service.cells)?;
        ltm::check(&config, &self.service.cells)?;
        rach_less::check(&config, &self.service.cells)?;
        let mut ues = Vec::new();
        let mut loads = vec![0; self.service.cells.len()];
        for ue in (0..self.service.stack.ues.len() as u32).map(UeId) {
            let rrc = &self.service.stack.ues[ue.index()];
            if config.stations.len() != self.service.cells.len() {
                return Err(RadioError::Ue {
                    ue: ue.index(),
                    what: "mobility management",
                    value: "without a base station for each cell".into(),
                    expected: "as many base stations as cells".into(),
                });
            }
            scg::check(&self.service, ue, &config)?;
            let first = rrc.legs().first().copied();
            let Some(leg) = first.filter(|&leg| self.service.stack.air.has_level(leg)) else {
                ues.push(None);
                continue;
            };
            let cell = self.service.stack.legs[leg.index()].config.cell;
            let group = usize::from(self.service.cells[cell.index()].plan.config.is_nr());
            let has_node = scg::is_managed(&self.service, ue, &config);
            let (cells, kinds) = &groups[group + 2 * usize::from(has_node)];
            if config.daps {
                daps::check_ue(&self.service, ue)?;
            }
            self.service.stack.air.prepare_measurements(ue, cells)?;
            let signalling = self
                .service
                .establish(BearerConfig::signalling(ue, group == 1), None)?;
            let generation = self.service.cells[cell.index()].plan.config.generation();
            let control = match config.ltm.is_some() {
                true => Some(self.service.establish(BearerConfig::control(ue), None)?),
                false => None,
            };
            self.service
                .stack
                .manage(ue, (signalling, control), generation);
            let own = (ue, cell, leg);
            let mut state =
                UeMobility::new(own, &config, (&events, cells.len()), self.service.seed);
            let legs = self.service.begin_aggregated(leg, &config)?;
            state.legs.extend(legs);
            if let Some(leg) = self.service.stack.ues[ue.index()].second_leg() {
                let cell = self.service.stack.legs[leg.index()].config.cell;
                state.legs.push((cell, leg));
            }
            if has_node {
                let own = (ue, &mut loads[..]);
                scg::begin_management(&mut self.service, (&config, cells.len()), &mut state, own);
            }
            let aggregation = self.service.stack.ues[ue.index()].config().aggregation;
            let ever = state.legs.iter().map(|&(_, leg)| leg);
            state.gap_carriers = self.service.begin_gaps(ever, kinds, config.gaps.as_ref());
            if let Some(watch) = &mut state.beams {
                let period = beam_failure::check_interval(&self.service, cell);
                watch.reset(Time::ZERO, period);
                BeamView(&mut self.service.stack.air).disable_beam_failure_model(ue);
            }
            carriers::set_secondary_cells(&mut state, (cells, kinds), &aggregation);
            loads[cell.index()] += 1;
            ues.push(Some(Box::new(state)));
        }
        let first = ues.iter().map(|state: &Option<Box<UeMobility>>| {
            state.as_ref().map_or(Time::NEVER, |it| it.link.next_at())
        });
        let evaluations = EvaluationSchedule::new(first.collect(), config.monitoring.period);
        if ues.iter().any(Option::is_some) {
            let at = evaluations.wake_at();
            let events = &mut self.service.stack.events;
            events.schedule(at, Event::LinkEvaluations);
        }
        let mut mobility = Box::new(Mobility {
            config,
            evaluations,
            groups,
            policy,
            ues,
            held: vec![0; loads.len()],
            loads,
            next_message: 0,
            moves: Vec::new(),
            acts: VecDeque::new(),
            samples: Vec::new(),
            visited: Vec::new(),
            least_db: Vec::new(),
            contention: Contention::default(),
            past: Vec::new(),
        });
        for ue in (0..self.service.stack.ues.len() as u32).map(UeId) {
            mobility.arm(ue, &mut self.service.stack);
        }
        self.mobility = Some(mobility);
        begin_idle(self);
        Ok(())
    }

    /// Returns true if [`Move`]s wait for the caller to carry them out.
    #[inline]
    pub fn has_moves(&self) -> bool {
        let mobility = self.mobility.as_ref();
        let has_frames = !self.service.stack.storage.frames.is_empty();
        has_frames || mobility.is_some_and(|mobility| !mobility.moves.is_empty())
    }

    /// Appends the pending moves, in order, to `moves`. The caller must carry them out.
    pub fn take_moves(&mut self, moves: &mut Vec<Move>) {
        if let Some(mobility) = &mut self.mobility {
            moves.append(&mut mobility.moves);
        }
        self.service.stack.take_frames(moves);
    }

    /// Handles a downlink packet that arrives at the base station `station`, as
    /// [`RadioAccess::on_packet`] does.
    pub fn on_packet_at(
        &mut self,
        now: Time,
        station: u32,
        bearer: DrbId,
        packet: PacketId,
        pool: &mut PacketPool,
        probe: &mut impl Probe,
    ) {
        let env = &mut Env {
            now,
            pool,
            out: &mut Vec::new(),
            probe,
        };
        self.service.stack.events.advance(now);
        let drb = &mut self.service.stack.bearers[bearer.index()];
        if !drb.transfers().handles_packets_at(station) {
            drb.mobile().record_original(packet, env);
            self.on_packet(now, bearer, Direction::Downlink, packet, pool, probe);
            return;
        }
        let Some(mobility) = &self.mobility else {
            return;
        };
        let timeout = mobility.config.procedure.marker_timeout;
        drb.mobile().on_downlink_packet(
            (station, timeout),
            packet,
            env,
            &mut self.service.stack.storage,
        );
        let ue = drb.config().ue;
        self.service.on_downlink_data(bearer, env);
        if let Some(mobility) = &mut self.mobility {
            mobility.finish_step(ue, &mut self.service.stack);
        }
    }

    /// Handles the path switch of a bearer's UE in the core. `markers` is the number of end markers
    /// that the core sends.
    pub fn on_path_switched(&mut self, now: Time, bearer: DrbId, markers: u32) {
        let Some(mobility) = &mut self.mobility else {
            return;
        };
        self.service.stack.events.advance(now);
        let timeout = mobility.config.procedure.marker_timeout;
        let drb = &mut self.service.stack.bearers[bearer.index()];
        drb.mobile().on_path_switch(now, markers, timeout);
        let ue = drb.config().ue;
        mobility.arm(ue, &mut self.service.stack);
        let leg = self.service.stack.leg_of(bearer);
        self.service.activate(now, leg, Direction::Downlink, 0);
        utra::schedule_pass_on(&mut self.service.stack, now, bearer);
    }

    /// Handles an arrival over links at a base station or the core. Packets that leave a bearer as
    /// a result go to `out`.
    pub fn on_backhaul(
        &mut self,
        now: Time,
        (what, packet): (Backhaul, PacketId),
        (pool, out): (&mut PacketPool, &mut Vec<PacketId>),
        probe: &mut impl Probe,
    ) {
        let env = &mut Env {
            now,
            pool,
            out,
            probe,
        };
        self.service.stack.events.advance(now);
        match what {
            Backhaul::EndMarker { bearer } => {
                env.pool.free(packet);
                self.on_end_marker(bearer, env);
            }
            Backhaul::Message { ue } => {
                let number = env.pool.remove(packet).segment.seq;
                self.with_managed(ue, |managed| {
                    if !Scg(managed).on_wired(number, env)
                        && !Attaching(managed).on_wired(number, env)
                    {
                        managed.with_network(env, |network, step| network.on_message(number, step));
                    }
                });
            }
            Backhaul::Unattached { bearer } => {
                let drb = &mut self.service.stack.bearers[bearer.index()];
                drb.mobile().refuse(packet, env);
            }
            Backhaul::Forwarded { bearer, station } => {
                let drb = &mut self.service.stack.bearers[bearer.index()];
                let ue = drb.config().ue;
                drb.mobile()
                    .on_forwarded(station, packet, env, &mut self.service.stack.storage);
                self.with_managed(ue, |_| {});
                self.service.on_downlink_data(bearer, env);
            }
            Backhaul::ForwardedEnd { bearer } => {
                env.pool.free(packet);
                self.on_marker(bearer, env);
            }
            Backhaul::DownlinkPdu { .. }
            | Backhaul::Copy { .. }
            | Backhaul::Poll { .. }
            | Backhaul::Discard { .. }
            | Backhaul::LegFailure { .. }
            | Backhaul::DeliveryStatus { .. }
            | Backhaul::UplinkPdu { .. } => {
                let number = env.pool.segment(packet).seq;
                env.pool.free(packet);
                self.service.on_frame((what, number), env);
                if self.service.secondary.are_known() {
                    self.on_known_failures(env);
                }
            }
        }
    }

    /// Handles an end marker that the source of a handover receives from the core.
    fn on_end_marker(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        let Some(mobility) = &mut self.mobility else {
            return;
        };
        let drb = &mut self.service.stack.bearers[bearer.index()];
        if mobility.config.notifies_source() && drb.mobile().keep_marker() {
            return;
        }
        let stations = drb.transfers().stations();
        match (&mobility.config.signalling, stations) {
            (Signalling::FixedDelays, _) => {
                let config = &mobility.config;
                let delay = config.procedure.between_stations(config.interface);
                let at = env.now.saturating_add(delay);
                self.service
                    .stack
                    .events
                    .schedule(at, Event::EndMarker(bearer));
            }
            (_, Some((from, to))) if from != to => {
                mobility.moves.push(Move::ForwardedEnd { bearer, from, to });
            }
            // Without data forwarding, no base station needs to forward the end marker.
            _ => self.on_marker(bearer, env),
        }
    }

    /// Handles an end marker at the target of a handover.
    pub(super) fn on_marker(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
        let drb = &mut self.service.stack.bearers[bearer.index()];
        let ue = drb.config().ue;
        drb.mobile().on_end_marker(env.now);
        if let Some(cell) = self.service.stack.serving_cell(ue) {
            record_cell_event((ue, cell), RrcEvent::EndMarker, env);
        }
        self.service.on_downlink_data(bearer, env);
        self.service
            .stack
            .declare_lost(bearer, Direction::Downlink, env);
    }

    /// Returns true if a UE is under mobility management.
    pub(super) fn is_managed(&self, ue: UeId) -> bool {
        let mobility = self.mobility.as_ref();
        mobility.is_some_and(|it| it.is_managed(ue))
    }

    /// Applies `action` to a managed UE, then schedules the UE's next wake-up.
    pub(super) fn with_managed(&mut self, ue: UeId, action: impl FnOnce(&mut Managed<'_>)) {
        let Some(mobility) = &mut self.mobility else {
            return;
        };
        let Service { cells, stack, .. } = &self.service;
        let cell = stack.serving_cell(ue);
        let air = cell.map(|cell| cells[cell.index()].plan.config.air);
        let group = usize::from(matches!(air, Some(AirInterface::Nr { .. })));
        let Mobility {
            config,
            groups,
            policy,
            ues,
            loads,
            held,
            next_message,
            moves,
            acts,
            samples,
            visited,
            least_db,
            contention,
            past,
            evaluations: _,
        } = &mut **mobility;
        let has_node = self.service.stack.ues[ue.index()].has_managed_node;
        let (cells, kinds) = &groups[group + 2 * usize::from(has_node)];
        if let Some(Some(state)) = ues.get_mut(ue.index()) {
            action(&mut Managed {
                service: &mut self.service,
                ue,
                config,
                cells,
                kinds,
                policy,
                state,
                loads,
                held,
                next_message,
                moves,
                acts,
                samples,
                visited,
                least_db,
                contention,
                past,
            });
        }
        mobility.finish_step(ue, &mut self.service.stack);
    }

    /// Handles a UE's wake-up for mobility.
    pub(super) fn on_mobility<M: Motion>(
        &mut self,
        (ue, generation): (UeId, u32),
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Some(mobility) = &mut self.mobility else {
            return;
        };
        let state = mobility.ues[ue.index()].as_mut();
        if state.is_some_and(|state| state.wake.fire(generation)) {
            self.with_managed(ue, |managed| {
                managed.measure(motion, env);
                managed.report(env);
                managed.proceed(motion, env);
            });
        }
    }

    /// Handles the RRC messages that have arrived.
    pub(super) fn on_signalling(&mut self, env: &mut Env<'_, impl Probe>) {
        let mut arrived = std::mem::take(&mut self.service.stack.storage.signalled);
        for (bearer, direction, packet) in arrived.drain(..) {
            let number = env.pool.remove(packet).segment.seq;
            let ue = self.service.stack.bearers[bearer.index()].config().ue;
            if is_report(number) {
                self.on_report(number, env);
                continue;
            }
            self.with_managed(ue, |managed| {
                if let Some(message) = managed.state.messages.take_arrived(number) {
                    managed.on_message(direction, message, env);
                }
            });
        }
        self.service.stack.storage.signalled = arrived;
    }
}
