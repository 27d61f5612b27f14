//! Legs of a UE in its secondary cells, and the cells that a primary cell offers. The decisions
//! about a change are in `rrc/secondary_cells.rs`.

use super::managed::{CellKind, Managed, record_cell_event};
use crate::access::plane::service::Service;
use crate::access::plane::stack::Stack;
use crate::air::share_power;
use crate::cell::CellMac;
use crate::config::{Aggregation, Env, LegId, MobilityConfig, RadioError};
use crate::leg::LegConfig;
use crate::rrc::mobility::UeMobility;
use crate::rrc::report::MeasurementReport;
use fadeout_core::{CellId, Direction, Hertz, Probe, RrcEvent, UeId};

/// Checks the cells that may become secondary cells. A secondary cell must have the technology and
/// the DRX configuration of the primary cell, because a UE has one DRX configuration.
pub(crate) fn check(config: &MobilityConfig, cells: &[CellMac]) -> Result<(), RadioError> {
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
pub(crate) fn offered(
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
pub(crate) fn set_secondary_cells(
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

impl Managed<'_> {
    /// Returns the secondary cells of the UE and how the UE uses them.
    fn aggregation(&self) -> Aggregation {
        self.service.stack.ues[self.ue.index()].config().aggregation
    }

    /// Replaces the list of the UE's secondary cells.
    pub(crate) fn set_aggregation(&mut self, aggregation: Aggregation) {
        self.service.stack.set_aggregation(self.ue, aggregation);
        set_secondary_cells(self.state, (self.cells, self.kinds), &aggregation);
    }

    /// Returns the secondary cells that the serving cell offers.
    fn offered(&self) -> Aggregation {
        let own = self.aggregation();
        match self.service.stack.serving_cell(self.ue) {
            Some(cell) => offered(self.config, &self.service.cells, cell, &own),
            None => own.without_cells(),
        }
    }

    /// Releases all secondary cells when the UE leaves its primary cell.
    pub(crate) fn release_secondary_cells(
        &mut self,
        primary: LegId,
        env: &mut Env<'_, impl Probe>,
    ) {
        let before = self.aggregation();
        if before.cells().is_empty() {
            return;
        }
        while let Some(leg) = self.service.stack.scell(primary, 0) {
            let cell = self.service.stack.legs[leg.index()].config.cell;
            record_cell_event((self.ue, cell), RrcEvent::SecondaryReleased, env);
            self.service.stack.end_aggregation(primary, leg);
            self.service.leave_leg(leg);
        }
        self.set_aggregation(before.without_cells());
    }

    /// Adds the secondary cells that the handover command named, after the UE has entered the
    /// target.
    pub(crate) fn add_commanded_cells(&mut self, env: &mut Env<'_, impl Probe>) {
        self.add_secondary_cells(self.offered(), env);
    }

    /// Adds those of the given cells that are not yet secondary cells of the UE.
    pub(crate) fn add_secondary_cells(&mut self, all: Aggregation, env: &mut Env<'_, impl Probe>) {
        let before = self.aggregation();
        let Some(primary) = self.leg() else { return };
        if before.cells() == all.cells() {
            return;
        }
        self.set_aggregation(all);
        for &cell in all.cells() {
            if before.cells().contains(&cell) {
                continue;
            }
            let Some(leg) = self.leg_in(cell) else {
                continue;
            };
            self.service.stack.aggregate(primary, leg);
            record_cell_event((self.ue, cell), RrcEvent::SecondaryAdded, env);
        }
        let downlink = (Some(primary), Direction::Downlink);
        self.service.activate_secondary(downlink, env.now, env.now);
        self.service.on_received_block(primary, env.now);
    }

    /// Offers secondary cells to a UE that entered its cell without a handover command.
    pub(crate) fn offer_secondary_cells(&mut self, env: &mut Env<'_, impl Probe>) {
        let offered = self.offered();
        self.with_effects(env, |state, seen, effects| {
            state.secondary_cell_change.on_offer(offered, seen, effects);
        });
    }

    /// Passes a report of event A6 to the base station.
    pub(crate) fn report_secondary_cells(
        &mut self,
        report: &MeasurementReport,
        env: &mut Env<'_, impl Probe>,
    ) {
        let (cells, kinds) = (self.cells, self.kinds);
        let carrier = |cell: CellId| Some(kinds[cells.binary_search(&cell).ok()?].carrier);
        let is_one = |one: CellId, other: CellId| carrier(one) == carrier(other);
        self.with_effects(env, |state, seen, effects| {
            let change = &mut state.secondary_cell_change;
            change.on_report(report, is_one, seen, effects);
        });
    }

    /// Passes the new list of secondary cells to the UE, if it is connected.
    pub(crate) fn reconfigure_secondary_cells(
        &mut self,
        all: &Aggregation,
        env: &mut Env<'_, impl Probe>,
    ) {
        let primary = self.service.stack.serving_cell(self.ue);
        let Some(primary) = primary.filter(|_| self.state.is_connected()) else {
            return;
        };
        let generation = self.service.cells[primary.index()].plan.config.generation();
        self.with_effects(env, |state, seen, effects| {
            let change = &mut state.secondary_cell_change;
            change.on_reconfiguration(all, generation, seen, effects);
        });
    }

    /// Removes a secondary cell of the UE.
    pub(crate) fn drop_secondary_cell(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        if let Some(primary) = self.leg() {
            self.service.drop_secondary(primary, cell, env);
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
    pub(crate) fn begin_aggregated(
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
    pub(crate) fn set_aggregation(&mut self, ue: UeId, aggregation: Aggregation) {
        self.ues[ue.index()].set_aggregation(aggregation);
        share_power(&mut self.air, ue, aggregation);
    }

    /// Ends carrier aggregation on the leg of one secondary cell.
    fn end_aggregation(&mut self, primary: LegId, leg: LegId) {
        self.legs[primary.index()].carriers.remove(leg);
    }
}
