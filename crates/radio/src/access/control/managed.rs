//! State of one UE under mobility management, with references to the shared state that its
//! procedures change. Functions of this module send the UE's reports and RRC messages. The
//! procedures are in [`handover`](super::handover) and [`failure`](super::failure).

use super::attach::Attaching;
use super::carriers::Aggregated;
use super::conditional::Conditional;
use super::daps::DapsHandover;
use super::ltm::Switched;
use super::scg::Scg;
use super::utra::Utran;
use crate::access::plane::moves::Move;
use crate::access::plane::service::Service;
use crate::config::{Env, MobilityConfig};
use crate::rlc::Generation;
use crate::rrc::CellSelection;
use crate::rrc::contention::Contention;
use crate::rrc::filter::Level;
use crate::rrc::mobility::{MeasurementReport, Message, Stage, UeMobility};
use crate::rrc::network::Act;
use crate::rrc::policy::{HandoverPolicy, Policy, Report};
use crate::rrc::random_access::CellAccess;
use fadeout_core::{
    CellId, Direction, Hertz, Motion, Packet, Probe, RrcEvent, RrcRow, Span, Time, UeId,
};
use std::collections::VecDeque;

/// A UE under mobility management, with references to all state that its procedures read and
/// change.
pub(in crate::access) struct Managed<'a> {
    pub service: &'a mut Service,
    pub ue: UeId,
    pub config: &'a MobilityConfig,
    /// Cells that the UE measures, in the order of their ids.
    pub cells: &'a [CellId],
    pub state: &'a mut UeMobility,
    /// Number of UEs in each cell.
    pub loads: &'a mut [u32],
    /// Number of UEs for which each cell reserves resources before a handover.
    pub held: &'a mut [u32],
    /// Number of the next message.
    pub next_message: &'a mut u64,
    pub moves: &'a mut Vec<Move>,
    /// Network decisions to carry out. Empty between two steps.
    pub acts: &'a mut VecDeque<Act>,
    /// Scratch space for the levels of the cells, valid during one measurement.
    pub samples: &'a mut Vec<Level>,
    /// Scratch space for the positions of the evaluated cells, valid during one measurement.
    pub visited: &'a mut Vec<usize>,
    /// Scratch space for a cell's levels at earlier positions of the UE, valid during one
    /// measurement.
    pub past: &'a mut Vec<(Span, f64)>,
    /// Scratch space for lowest levels, by site. If a cell is below the lowest level of its site,
    /// the cell cannot meet any event's entering condition. Valid during one measurement.
    pub least_db: &'a mut Vec<f64>,
    /// Preambles that UEs have drawn for contention-based random access.
    pub contention: &'a mut Contention,
    /// Carrier and generation of each cell in `cells`.
    pub kinds: &'a [CellKind],
    pub policy: &'a mut Policy,
}

impl Managed<'_> {
    /// Returns the random access configuration and the frame structure of a cell.
    pub(in crate::access) fn access_in(&self, cell: CellId) -> CellAccess<'_> {
        CellAccess {
            config: &self.config.access,
            frame: &self.service.cells[cell.index()].plan.frame,
        }
    }
}

/// Carrier and generation of a cell, as a UE knows them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::access) struct CellKind {
    pub carrier: Hertz,
    pub generation: Generation,
    /// True if the cell is a 3G cell. The value of `generation` is then meaningless.
    pub is_utra: bool,
}

/// Writes a row of the RRC table about a given cell.
pub(in crate::access) fn record_cell_event(
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

impl Managed<'_> {
    /// Sends the measurement reports that are due.
    pub(in crate::access) fn report(&mut self, env: &mut Env<'_, impl Probe>) {
        let serving = self.service.stack.serving_cell(self.ue);
        let here = serving.and_then(|cell| self.cells.binary_search(&cell).ok());
        let Some(here) = here.filter(|_| self.state.is_connected()) else {
            return;
        };
        let is_in_utra = Utran(self).is_in_utra();
        for number in 0..self.state.survey.events() {
            if !self.state.survey.fits(number, is_in_utra) {
                continue;
            }
            let cells = (self.cells, here);
            let Some(report) = self.state.survey.report(number, env.now, cells) else {
                continue;
            };
            let best = report.cells().first().unwrap_or(&report.serving).cell;
            record_cell_event((self.ue, best), RrcEvent::ReportSent, env);
            let event = self.state.survey.kind(report.event);
            let is_about_secondaries = event.is_some_and(|it| it.is_about_secondaries());
            if !report.cells().is_empty() && !is_about_secondaries {
                let monitoring = &self.config.monitoring;
                self.state.link.on_report(env.now, monitoring);
            }
            self.send(Direction::Uplink, Message::Report(report), env);
        }
    }

    /// Sends a message over the signalling radio bearer. The message may be lost with the link.
    pub(in crate::access) fn send(
        &mut self,
        direction: Direction,
        message: Message,
        env: &mut Env<'_, impl Probe>,
    ) {
        let rrc = &self.service.stack.ues[self.ue.index()];
        let bearer = match message {
            Message::Switch(_) => rrc.control(),
            _ => rrc.signalling(),
        };
        let Some(bearer) = bearer else {
            return;
        };
        let number = *self.next_message;
        *self.next_message += 1;
        self.state.messages.add(number, message);
        if Utran(self).is_in_utra() {
            return Utran(self).send((direction, number), message, env.now);
        }
        let size = message.size() + Scg(self).extra_bytes(message);
        let packet = env.pool.insert(Packet::message(number, size));
        let entering = (bearer, direction, packet);
        self.service
            .on_packet(env.now, entering, env.pool, env.probe);
    }

    pub(in crate::access) fn on_message(
        &mut self,
        direction: Direction,
        message: Message,
        env: &mut Env<'_, impl Probe>,
    ) {
        match (direction, message) {
            (Direction::Uplink, Message::Report(report)) => self.on_report(&report, env),
            (Direction::Downlink, Message::Command(target)) => {
                self.on_command(target, env);
            }
            (Direction::Uplink, Message::Complete) => self.on_complete(env),
            (Direction::Downlink, Message::Secondaries(all)) => {
                Aggregated(self).on_cells(&all, env);
            }
            (Direction::Uplink, Message::SecondariesReady) => Aggregated(self).on_confirmation(env),
            (Direction::Downlink, Message::Candidates(all)) => {
                Conditional(self).on_candidates(all, env);
            }
            (Direction::Uplink, Message::CandidatesReady) => {}
            (Direction::Uplink, Message::AccessFailed) => DapsHandover(self).on_fallen_back(env),
            (Direction::Downlink, Message::ReleaseSource) => DapsHandover(self).release_source(env),
            (_, Message::Node(message)) => Scg(self).on_message(message, env),
            (Direction::Downlink, Message::Switch(target)) => {
                Switched(self).on_command(target, env);
            }
            (Direction::Downlink, Message::Question(round)) => {
                Attaching(self).on_request(round, env);
            }
            (Direction::Uplink, Message::Answer(round)) => Attaching(self).on_answer(round, env),
            _ => debug_assert!(false, "{message:?} does not go {}", direction.name()),
        }
    }

    /// Handles a measurement report at the source: the policy chooses the target.
    fn on_report(&mut self, report: &MeasurementReport, env: &mut Env<'_, impl Probe>) {
        let best = report.cells().first().unwrap_or(&report.serving).cell;
        record_cell_event((self.ue, best), RrcEvent::ReportReceived, env);
        let serving = self.service.stack.serving_cell(self.ue);
        let event = self.state.survey.kind(report.event);
        // The reported serving cell is no longer the UE's serving cell, so the report is obsolete.
        let Some(event) = event.filter(|_| serving == Some(report.serving.cell)) else {
            return;
        };
        if self.is_busy() {
            return;
        }
        if event.is_about_secondaries() {
            return Aggregated(self).on_report(report, env);
        }
        let prepares = (self.config.conditional.as_ref())
            .is_some_and(|config| !config.commanding.contains(&report.event));
        if prepares {
            return Conditional(self).on_report((event, report), env);
        }
        let target = self.policy.choose(&Report {
            now: env.now,
            ue: self.ue,
            event,
            serving: report.serving,
            cells: report.cells(),
            measured: self.cells,
            loads: self.loads,
            most_ues: self.config.most_ues,
        });
        if let Some(target) = target.filter(|target| self.cells.binary_search(target).is_ok()) {
            self.prepare_handover(target, env);
        }
    }

    /// Writes a row of the RRC table about the serving cell.
    pub(in crate::access) fn record_event(&self, event: RrcEvent, env: &mut Env<'_, impl Probe>) {
        if let Some(cell) = self.service.stack.serving_cell(self.ue) {
            record_cell_event((self.ue, cell), event, env);
        }
    }

    /// Measures the cells and returns the best cell with its RSRP in dBm. Among cells with equal
    /// levels, the first is returned. If `is_any` is true, cells of all generations are measured.
    /// Otherwise only cells of the serving cell's generation are measured.
    pub(in crate::access) fn best_cell<M: Motion>(
        &mut self,
        is_any: bool,
        motion: &mut M,
        now: Time,
    ) -> Option<(CellId, f64)> {
        let mut selection = CellSelection::default();
        let kind = |cell| {
            let kind = &self.kinds[self.cells.binary_search(&cell).ok()?];
            Some((kind.generation, kind.is_utra))
        };
        let own = self.service.stack.serving_cell(self.ue).and_then(kind);
        let own = own.map(|(generation, _)| generation);
        // PDCP of a split bearer cannot change its generation, so only cells of that generation
        // count.
        let is_any = is_any && self.state.secondary_node.is_none();
        let air = &mut self.service.stack.air;
        air.measure_levels(self.ue, now, motion, |cell, level_dbm| {
            if kind(cell).is_some_and(|(kind, is_utra)| !is_utra && (is_any || Some(kind) == own)) {
                selection.on_measured(cell, level_dbm);
            }
        });
        selection.best()
    }

    /// Returns true if a change of the UE's cell or of its secondary node is under way.
    pub(in crate::access) fn is_busy(&self) -> bool {
        let node = self.state.secondary_node.as_ref();
        is_changing(self) || node.is_some_and(|node| node.network.is_busy())
    }
}

/// Returns true if a change of the UE's cell is under way.
pub(in crate::access) fn is_changing(managed: &Managed<'_>) -> bool {
    let state = &*managed.state;
    let mut bearers = managed.service.stack.ues[managed.ue.index()]
        .bearers()
        .iter();
    !matches!(state.stage, Stage::Connected)
        || state.network.is_busy()
        || state.daps.is_some()
        || state.ltm.as_ref().is_some_and(|ltm| ltm.is_switching())
        || bearers.any(|bearer| {
            let drb = &managed.service.stack.bearers[bearer.index()];
            drb.transfers().is_between_cells() || drb.is_dual
        })
}
