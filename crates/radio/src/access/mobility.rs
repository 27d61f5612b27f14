//! Entry points of mobility management, and arrivals over links at base stations and the core.

use super::RadioAccess;
use super::control::managed::{Managed, record_cell_event};
use super::control::start;
use super::plane::event::Event;
use super::plane::failures::is_report;
use super::plane::moves::{Backhaul, Move};
use super::plane::pass_on::schedule_pass_on;
use crate::air::LinkMonitoring;
use crate::config::{Env, MobilityConfig, RadioError, Signalling};
use crate::rrc::attach::Attach;
use crate::rrc::effect::Step;
use crate::rrc::pace::MOST_EVALUATIONS;
use crate::rrc::policy::Policy;
use crate::rrc::secondary_node::SecondaryNode;
use fadeout_core::{Direction, DrbId, Motion, PacketId, PacketPool, Probe, RrcEvent, Time, UeId};

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
        self.mobility = Some(start::begin(&mut self.service, config, policy)?);
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
        self.service.stack.on_bearer_changed(bearer);
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
        self.service.stack.on_bearer_changed(bearer);
        let timeout = mobility.config.procedure.marker_timeout;
        let drb = &mut self.service.stack.bearers[bearer.index()];
        drb.mobile().on_path_switch(now, markers, timeout);
        let ue = drb.config().ue;
        mobility.arm(ue, &mut self.service.stack);
        let leg = self.service.stack.leg_of(bearer);
        self.service.activate(now, leg, Direction::Downlink, 0);
        schedule_pass_on(&mut self.service.stack, now, bearer);
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
        self.service.stack.on_backhaul_changes(&what);
        match what {
            Backhaul::EndMarker { bearer } => {
                env.pool.free(packet);
                self.on_end_marker(bearer, env);
            }
            Backhaul::Message { ue } => {
                let number = env.pool.remove(packet).segment.seq;
                self.with_managed(ue, |managed| {
                    let node = |node: &mut SecondaryNode, step: &mut Step<'_>| {
                        node.network.on_message(number, step)
                    };
                    let attach =
                        |attach: &mut Attach, step: &mut Step<'_>| attach.on_message(number, step);
                    let is_known = managed.with_node(env, node) == Some(true)
                        || managed.with_attach(env, attach) == Some(true);
                    if !is_known {
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

    /// Runs the link evaluations that are due.
    pub(super) fn on_link_evaluations<M: Motion>(
        &mut self,
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let (service, Some(mobility)) = (&mut self.service, &mut self.mobility) else {
            return;
        };
        if mobility.evaluations.is_regular(env.now) {
            LinkMonitoring(&mut service.stack.air).keep_loads(MOST_EVALUATIONS);
        }
        let mut from = 0;
        while let Some(ue) = mobility.evaluations.due(from, env.now) {
            mobility.with_managed(service, ue, |managed| managed.evaluate(motion, env));
            from = ue.index() + 1;
        }
        mobility.evaluations.advance_grid(env.now);
        let at = mobility.evaluations.wake_at();
        let events = &mut service.stack.events;
        events.schedule(at, Event::LinkEvaluations);
    }

    /// Handles those failures of managed secondary nodes of which the network has learned.
    pub(super) fn on_known_failures(&mut self, env: &mut Env<'_, impl Probe>) {
        let mut known = std::mem::take(&mut self.service.secondary.known);
        for (ue, found_at) in known.drain(..) {
            self.with_managed(ue, |managed| managed.on_node_failed(found_at, env));
        }
        self.service.secondary.known = known;
    }

    /// Applies `action` to a managed UE, then schedules the UE's next wake-up.
    pub(super) fn with_managed(&mut self, ue: UeId, action: impl FnOnce(&mut Managed<'_>)) {
        if let Some(mobility) = &mut self.mobility {
            mobility.with_managed(&mut self.service, ue, action);
        }
    }

    /// Makes the UE report its data rate to listeners of its link, too. Returns false if the UE is
    /// not under mobility management.
    pub fn report_rates_of(&mut self, ue: UeId) -> bool {
        let mobility = self.mobility.as_mut();
        mobility.is_some_and(|mobility| mobility.report_rates_of(ue))
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
                self.service.act_on_failure(number, env);
                continue;
            }
            self.with_managed(ue, |managed| managed.on_arrived(direction, number, env));
        }
        self.service.stack.storage.signalled = arrived;
    }
}
