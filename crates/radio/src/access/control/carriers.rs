//! Secondary cells of UEs under mobility management: the cells that a PCell offers, and their
//! change by event A6.
//!
//! ```text
//! handover ─► add_commanded
//! report of A6 ─► on_report ─► send_cells ─► on_cells: the UE leaves the old cell
//! send_confirmation ─► on_confirmation: the base station uses the new cell
//! ```
//!
//! Standard: TS 38.331 §5.3.5.5.8, §5.3.5.5.9, §5.5.4.7; TS 36.331 §5.3.10.3a, §5.3.10.3b,
//! §5.5.4.6a.

use super::managed::{CellKind, Managed, record_cell_event};
use crate::access::plane::service::Service;
use crate::access::plane::stack::Stack;
use crate::air::share_power;
use crate::cell::CellMac;
use crate::config::{Aggregation, Env, LegId, MobilityConfig, RadioError};
use crate::leg::LegConfig;
use crate::rrc::mobility::{MeasurementReport, Message, UeMobility};
use fadeout_core::{CellId, Direction, Hertz, Probe, RrcEvent, UeId};

/// Checks the cells that may become secondary cells. A secondary cell must have the technology and
/// the DRX configuration of the primary cell, because a UE has one DRX configuration.
pub(in crate::access) fn check(
    config: &MobilityConfig,
    cells: &[CellMac],
) -> Result<(), RadioError> {
    for (primary, all) in config.secondaries.iter().enumerate() {
        let own = cells.get(primary).map(|cell| &cell.plan.config);
        for secondary in all {
            let other = cells.get(secondary.index()).map(|cell| &cell.plan.config);
            let expected = match (own, other) {
                (Some(own), Some(other)) if own.is_nr() != other.is_nr() => {
                    "a cell of the primary cell's technology"
                }
                (Some(own), Some(other)) if own.carrier == other.carrier => "a carrier of its own",
                (Some(own), Some(other)) if own.drx != other.drx => {
                    "a cell with the primary cell's DRX: a UE has one"
                }
                (Some(_), Some(_)) => continue,
                _ => "a cell that is there",
            };
            return Err(RadioError::Cell {
                cell: primary,
                what: "secondary cell",
                value: secondary.0.to_string(),
                expected: expected.to_owned(),
            });
        }
    }
    Ok(())
}

/// Returns the secondary cells that a UE gets in a primary cell. These are the first offered cell
/// of each other carrier, up to the UE's maximum.
pub(in crate::access) fn offered(
    config: &MobilityConfig,
    cells: &[CellMac],
    primary: CellId,
    aggregation: &Aggregation,
) -> Aggregation {
    let carrier = |cell: CellId| -> Hertz { cells[cell.index()].plan.config.carrier };
    let mut all = aggregation.without_cells();
    for &cell in config.secondaries_of(primary) {
        let mut taken = all.cells().iter();
        if !taken.any(|&other| carrier(other) == carrier(cell)) {
            all.add(cell);
        }
    }
    all
}

/// Tells the UE's measurement events which of the measured cells are its secondary cells.
pub(in crate::access) fn set_secondary_cells(
    state: &mut UeMobility,
    (cells, kinds): (&[CellId], &[CellKind]),
    aggregation: &Aggregation,
) {
    let places = aggregation.cells().iter();
    let places = places.filter_map(|cell| cells.binary_search(cell).ok());
    state.survey.set_secondaries(|position| {
        let is_there = |place: &usize| kinds[*place] == kinds[position];
        places.clone().find(is_there)
    });
}

/// Mutable access to a UE's state, for changes of its secondary cells.
pub(in crate::access) struct Aggregated<'m, 'a>(pub &'m mut Managed<'a>);

impl Aggregated<'_, '_> {
    /// Returns the secondary cells of the UE and how the UE uses them.
    fn aggregation(&self) -> Aggregation {
        self.0.service.stack.ues[self.0.ue.index()]
            .config()
            .aggregation
    }

    fn set_aggregation(&mut self, aggregation: Aggregation) {
        self.0.service.stack.set_aggregation(self.0.ue, aggregation);
        let group = (self.0.cells, self.0.kinds);
        set_secondary_cells(self.0.state, group, &aggregation);
    }

    /// Returns the secondary cells that the serving cell offers.
    fn offered(&self) -> Aggregation {
        let own = self.aggregation();
        match self.0.service.stack.serving_cell(self.0.ue) {
            Some(cell) => offered(self.0.config, &self.0.service.cells, cell, &own),
            None => own.without_cells(),
        }
    }

    /// Releases all secondary cells when the UE leaves its primary cell.
    pub(in crate::access) fn release_all(&mut self, primary: LegId, env: &mut Env<'_, impl Probe>) {
        let before = self.aggregation();
        if before.cells().is_empty() {
            return;
        }
        while let Some(leg) = self.0.service.stack.scell(primary, 0) {
            let cell = self.0.service.stack.legs[leg.index()].config.cell;
            record_cell_event((self.0.ue, cell), RrcEvent::SecondaryReleased, env);
            self.0.service.stack.end_aggregation(primary, leg);
            self.0.service.leave_leg(leg);
        }
        self.set_aggregation(before.without_cells());
    }

    /// Adds the secondary cells that the handover command named, after the UE has entered the
    /// target.
    pub(in crate::access) fn add_commanded(&mut self, env: &mut Env<'_, impl Probe>) {
        let offered = self.offered();
        self.add_cells(offered, env);
    }

    /// Adds those of the given cells that are not yet secondary cells of the UE.
    fn add_cells(&mut self, all: Aggregation, env: &mut Env<'_, impl Probe>) {
        let before = self.aggregation();
        let primary = self.0.service.stack.ues[self.0.ue.index()].legs().first();
        let Some(&primary) = primary else { return };
        if before.cells() == all.cells() {
            return;
        }
        self.set_aggregation(all);
        for cell in all.cells() {
            if before.cells().contains(cell) {
                continue;
            }
            let Some(leg) = self.0.leg_in(*cell) else {
                continue;
            };
            self.0.service.stack.aggregate(primary, leg);
            record_cell_event((self.0.ue, *cell), RrcEvent::SecondaryAdded, env);
        }
        self.0
            .service
            .activate_secondary((Some(primary), Direction::Downlink), env.now, env.now);
        self.0.service.on_received_block(primary, env.now);
    }

    /// Offers secondary cells to a UE that entered its cell without a handover command.
    pub(in crate::access) fn offer_cells(&mut self, env: &mut Env<'_, impl Probe>) {
        let offered = self.offered();
        if offered.cells() != self.aggregation().cells() {
            self.send_cells(offered, env);
        }
    }

    fn send_cells(&mut self, all: Aggregation, env: &mut Env<'_, impl Probe>) {
        let before = self.aggregation();
        let new = all.cells().iter().filter(|it| !before.cells().contains(it));
        for cell in new {
            record_cell_event((self.0.ue, *cell), RrcEvent::ReconfigurationSent, env);
        }
        self.0.state.secondary_cell_change.on_sent(all);
        self.0
            .send(Direction::Downlink, Message::Secondaries(all), env);
    }

    /// Handles a report of event A6 at the base station. On each carrier, the strongest reported
    /// cell that is allowed replaces the current secondary cell.
    pub(in crate::access) fn on_report(
        &mut self,
        report: &MeasurementReport,
        env: &mut Env<'_, impl Probe>,
    ) {
        let Some(primary) = self.0.service.stack.serving_cell(self.0.ue) else {
            return;
        };
        if self.0.state.secondary_cell_change.is_changing() || !self.0.state.is_connected() {
            return;
        }
        let before = self.aggregation();
        let cells = &self.0.service.cells;
        let carrier = |cell: CellId| cells[cell.index()].plan.config.carrier;
        let may_be = self.0.config.secondaries_of(primary);
        let mut all = before;
        for better in report.cells().iter().filter(|it| may_be.contains(&it.cell)) {
            let mut old = all.cells().iter();
            let old = old.find(|&&cell| carrier(cell) == carrier(better.cell));
            // Reports list the strongest cell first. A cell that this loop has already added stays.
            if let Some(&old) = old.filter(|cell| before.cells().contains(cell)) {
                all.replace(old, better.cell);
            }
        }
        if all.cells() != before.cells() {
            self.send_cells(all, env);
        }
    }

    /// Handles the UE's new list of secondary cells. The UE leaves secondary cells that are not in
    /// the list. Service in its primary cell continues.
    pub(in crate::access) fn on_cells(&mut self, all: &Aggregation, env: &mut Env<'_, impl Probe>) {
        let before = self.aggregation();
        let primary = self.0.service.stack.ues[self.0.ue.index()].legs().first();
        let Some(&primary) = primary.filter(|_| self.0.state.is_connected()) else {
            return;
        };
        let mut kept = before.without_cells();
        for &cell in before.cells() {
            if all.cells().contains(&cell) {
                kept.add(cell);
                continue;
            }
            record_cell_event((self.0.ue, cell), RrcEvent::SecondaryReleased, env);
            self.0.service.drop_secondary(primary, cell, env);
        }
        self.set_aggregation(kept);
        let cell = self.0.service.stack.legs[primary.index()].config.cell;
        let generation = self.0.service.cells[cell.index()].plan.config.generation();
        self.0
            .state
            .secondary_cell_change
            .on_received(env.now, generation);
    }

    /// Sends the UE's confirmation as soon as its secondary cells are ready.
    pub(in crate::access) fn send_confirmation(&mut self, env: &mut Env<'_, impl Probe>) {
        if self.0.state.is_connected() && self.0.state.secondary_cell_change.is_answer_due(env.now)
        {
            self.0
                .send(Direction::Uplink, Message::SecondariesReady, env);
        }
    }

    /// Adds the new cells after the base station has received the UE's confirmation.
    pub(in crate::access) fn on_confirmation(&mut self, env: &mut Env<'_, impl Probe>) {
        if let Some(all) = self.0.state.secondary_cell_change.on_answer() {
            self.add_cells(all, env);
        }
    }
}

impl Service {
    /// Adds secondary cells to a connected UE that comes under mobility management. They are the
    /// cells of the UE's configuration, or else the cells that its primary cell offers. Returns
    /// their legs by cell.
    ///
    /// # Errors
    /// Returns an error if the channel of a cell cannot be built.
    pub(in crate::access) fn begin_aggregated(
        &mut self,
        primary: LegId,
        config: &MobilityConfig,
    ) -> Result<Vec<(CellId, LegId)>, RadioError> {
        let LegConfig { ue, cell, .. } = self.stack.legs[primary.index()].config;
        let own = self.stack.ues[ue.index()].config().aggregation;
        if own.cells().is_empty() {
            let offered = offered(config, &self.cells, cell, &own);
            self.stack.set_aggregation(ue, offered);
            for (nth, &cell) in (1..).zip(offered.cells()) {
                let leg = self.add_leg(ue, cell, (0, nth))?;
                self.stack.aggregate(primary, leg);
            }
        }
        let legs = self.stack.carriers_of(primary).skip(1);
        let legs = legs.map(|leg| (self.stack.legs[leg.index()].config.cell, leg));
        Ok(legs.collect())
    }

    /// Removes a secondary cell while service in the primary cell continues. Transport blocks under
    /// way in the secondary cell are lost. RLC in acknowledged mode retransmits their data.
    fn drop_secondary(&mut self, primary: LegId, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let carriers = self.stack.carriers_of(primary).skip(1);
        let legs = &self.stack.legs;
        let mut carriers = carriers.filter(|leg| legs[leg.index()].config.cell == cell);
        let Some(leg) = carriers.next() else { return };
        drop(carriers);
        self.cells[cell.index()].forget_grants(leg);
        let stack = &mut self.stack;
        let state = &mut stack.legs[leg.index()];
        let requests = &mut stack.requests[primary.index()];
        let unused = state.half(Direction::Uplink).unused();
        unused.for_each(|bytes| requests.on_void(bytes));
        state.reset(&mut stack.lost);
        stack.end_aggregation(primary, leg);
        stack.air.stop_using(leg);
        stack.lose_content(leg, env);
        let mut position = 0;
        while let Some(bearer) = self.stack.legs[primary.index()].channels.bearer(position) {
            for direction in [Direction::Downlink, Direction::Uplink] {
                self.stack.declare_lost(bearer, direction, env);
            }
            position += 1;
        }
        self.on_uplink_data(Some(primary), env);
    }
}

impl Stack {
    /// Replaces the secondary cells of a UE.
    pub(in crate::access) fn set_aggregation(&mut self, ue: UeId, aggregation: Aggregation) {
        self.ues[ue.index()].set_aggregation(aggregation);
        share_power(&mut self.air, ue, aggregation);
    }

    /// Ends carrier aggregation on the leg of one secondary cell.
    fn end_aggregation(&mut self, primary: LegId, leg: LegId) {
        self.legs[primary.index()].carriers.remove(leg);
    }
}
