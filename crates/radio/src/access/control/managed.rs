//! State of one UE under mobility management, with references to the shared state that its
//! procedures change. Functions of this module send the UE's reports and RRC messages.

use crate::access::plane::event::Event;
use crate::access::plane::moves::Move;
use crate::access::plane::service::Service;
use crate::config::{Env, LegId, MobilityConfig};
use crate::rlc::Generation;
use crate::rrc::CellSelection;
use crate::rrc::contention::Contention;
use crate::rrc::effect::Effects;
use crate::rrc::filter::Level;
use crate::rrc::message::Message;
use crate::rrc::mobility::UeMobility;
use crate::rrc::policy::Policy;
use crate::rrc::random_access::CellAccess;
use fadeout_core::{
    CellId, Direction, Hertz, LinkInfo, Motion, Packet, Probe, RrcEvent, RrcRow, Span, Time, UeId,
};

/// A UE under mobility management, with references to all state that its procedures read and
/// change.
pub(crate) struct Managed<'a> {
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
    /// Memory for the effects of the next step. Always empty.
    pub effects: &'a mut Effects,
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
    pub(crate) fn access_in(&self, cell: CellId) -> CellAccess<'_> {
        CellAccess {
            config: &self.config.access,
            frame: &self.service.cells[cell.index()].plan.frame,
        }
    }
}

/// Carrier and generation of a cell, as a UE knows them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CellKind {
    pub carrier: Hertz,
    pub generation: Generation,
    /// True if the cell is a 3G cell. The value of `generation` is then meaningless.
    pub is_utra: bool,
}

/// Writes a row of the RRC table about a given cell.
pub(crate) fn record_cell_event(
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
    pub(crate) fn report(&mut self, env: &mut Env<'_, impl Probe>) {
        let serving = self.service.stack.serving_cell(self.ue);
        let here = serving.and_then(|cell| self.cells.binary_search(&cell).ok());
        let Some(here) = here.filter(|_| self.state.is_connected()) else {
            return;
        };
        let is_in_utra = self.is_in_utra();
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
    pub(crate) fn send(
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
        if self.is_in_utra() {
            // No message is lost in a cell of 3G.
            let at = env.now.saturating_add(message.time_in_utra());
            let event = Event::RrcMessage(self.ue, direction, number);
            return self.service.stack.events.schedule(at, event);
        }
        let node = self.state.secondary_node.as_ref();
        let size = message.size() + node.map_or(0, |node| node.extra_bytes(message));
        let packet = env.pool.insert(Packet::message(number, size));
        let entering = (bearer, direction, packet);
        self.service
            .on_packet(env.now, entering, env.pool, env.probe);
    }

    /// Returns the UE's leg in its serving cell, or in its last serving cell. `None` if the UE had
    /// no serving cell yet.
    pub(crate) fn leg(&self) -> Option<LegId> {
        let rrc = &self.service.stack.ues[self.ue.index()];
        rrc.legs().first().copied()
    }

    /// Returns the leg that the UE has or had in a cell. `None` if the UE was never in the cell.
    pub(crate) fn leg_of(&self, cell: CellId) -> Option<LegId> {
        let mut legs = self.state.legs.iter();
        legs.find(|(known, _)| *known == cell).map(|&(_, leg)| leg)
    }

    /// Makes the UE leave a cell that it was about to enter, or that is not its serving cell.
    pub(crate) fn leave_leg(&mut self, cell: CellId) {
        if let Some(leg) = self.leg_of(cell) {
            self.service.leave_leg(leg);
        }
    }

    /// Wakes the UE's cell for downlink messages that wait.
    pub(crate) fn wake_downlink(&mut self, now: Time) {
        let leg = self.leg();
        self.service.activate(now, leg, Direction::Downlink, 0);
    }

    /// Passes `info` to listeners of the UE's link.
    pub(crate) fn notify_listeners(&mut self, info: LinkInfo) {
        let ue = self.ue;
        self.moves.push(Move::LinkNotice { ue, info });
    }

    /// Returns the 3G cell in which the UE is, or which the UE has just left. `None` if the UE's
    /// cell is not a 3G cell.
    pub(crate) fn utra_cell(&self) -> Option<CellId> {
        let serving = self.service.stack.serving_cell(self.ue);
        serving.filter(|&cell| self.config.is_utra(cell))
    }

    /// Returns true if the UE is in a cell of 3G.
    pub(crate) fn is_in_utra(&self) -> bool {
        self.state.is_connected() && self.utra_cell().is_some()
    }

    /// Writes a row of the RRC table about the serving cell.
    pub(crate) fn record_event(&self, event: RrcEvent, env: &mut Env<'_, impl Probe>) {
        if let Some(cell) = self.service.stack.serving_cell(self.ue) {
            record_cell_event((self.ue, cell), event, env);
        }
    }

    /// Measures the cells and returns the best cell with its RSRP in dBm. Among cells with equal
    /// levels, the first is returned. If `is_any` is true, cells of all generations are measured.
    /// Otherwise only cells of the serving cell's generation are measured.
    pub(crate) fn best_cell<M: Motion>(
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
    pub(crate) fn is_busy(&self) -> bool {
        let node = self.state.secondary_node.as_ref();
        is_changing(self) || node.is_some_and(|node| node.network.is_busy())
    }
}

/// Returns true if a change of the UE's cell is under way.
pub(crate) fn is_changing(managed: &Managed<'_>) -> bool {
    let state = &*managed.state;
    let mut bearers = managed.service.stack.ues[managed.ue.index()]
        .bearers()
        .iter();
    state.is_changing_cell()
        || bearers.any(|bearer| {
            let drb = &managed.service.stack.bearers[bearer.index()];
            drb.transfers().is_between_cells() || drb.is_dual
        })
}

/// Disconnects the signalling bearers from the UE's leg.
pub(crate) fn leave_signalling(managed: &mut Managed<'_>, env: &mut Env<'_, impl Probe>) {
    let stack = &mut managed.service.stack;
    let rrc = &stack.ues[managed.ue.index()];
    for bearer in [rrc.signalling(), rrc.control()].into_iter().flatten() {
        let drb = &mut stack.bearers[bearer.index()];
        drb.reestablish((0, env.now), env, &mut stack.storage);
        drb.on_left();
    }
}
