//! Secondary cells of UEs under mobility management: those that a cell offers, and their change by event A6.
//!
//! ```text
//! handover ─► enter
//! report of A6 ─► on_report ─► tell ─► on_told: the UE leaves the old one ─► answer ─► on_ready: the new one
//! ```
//!
//! Standard: TS 38.331 §5.3.5.5.8, §5.3.5.5.9, §5.5.4.7; TS 36.331 §5.3.10.3a, §5.3.10.3b, §5.5.4.6a.

use super::managed::{CellKind, Managed, note_cell};
use super::service::Service;
use super::stack::Stack;
use crate::air::share_power;
use crate::cell::CellMac;
use crate::config::{Aggregation, Env, LegId, MobilityConfig, RadioError};
use crate::leg::LegConfig;
use crate::rrc::mobility::{Measured, Message, UeMobility};
use fadeout_core::{CellId, Direction, Hertz, Probe, RrcEvent, UeId};

/// Checks the cells that may be secondary ones: a UE has one DRX, and all its cells are of one technology.
pub(super) fn check(config: &MobilityConfig, cells: &[CellMac]) -> Result<(), RadioError> {
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

/// The secondary cells that a UE is given in a cell: of each other carrier the first that the cell offers, as
/// many as the UE takes.
pub(super) fn offered(
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

/// The UE's events compare with its secondary cells, of those that it measures.
pub(super) fn note_secondaries(
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

/// The secondary cells of a UE, and all that they bear on.
pub(super) struct Aggregated<'m, 'a>(pub &'m mut Managed<'a>);

impl Aggregated<'_, '_> {
    /// The UE's secondary cells, and what it makes of them.
    fn aggregation(&self) -> Aggregation {
        self.0.service.stack.ues[self.0.ue.index()]
            .config()
            .aggregation
    }

    fn set_aggregation(&mut self, aggregation: Aggregation) {
        self.0.service.stack.set_aggregation(self.0.ue, aggregation);
        let group = (self.0.cells, self.0.kinds);
        note_secondaries(self.0.state, group, &aggregation);
    }

    /// The secondary cells that the serving one offers.
    fn offered(&self) -> Aggregation {
        let own = self.aggregation();
        match self.0.service.stack.serving_cell(self.0.ue) {
            Some(cell) => offered(self.0.config, &self.0.service.cells, cell, &own),
            None => own.without_cells(),
        }
    }

    /// The UE leaves its cell, and its secondary ones with it.
    pub(super) fn release(&mut self, primary: LegId, env: &mut Env<'_, impl Probe>) {
        let before = self.aggregation();
        if before.cells().is_empty() {
            return;
        }
        while let Some(leg) = self.0.service.stack.scell(primary, 0) {
            let cell = self.0.service.stack.legs[leg.index()].config.cell;
            note_cell((self.0.ue, cell), RrcEvent::SecondaryReleased, env);
            self.0.service.stack.separate(primary, leg);
            self.0.service.leave_leg(leg);
        }
        self.set_aggregation(before.without_cells());
    }

    /// The UE is in the target of a handover, whose command has named the secondary cells there.
    pub(super) fn enter(&mut self, env: &mut Env<'_, impl Probe>) {
        let offered = self.offered();
        self.add(offered, env);
    }

    /// The cells are secondary ones from now on, those that are not yet.
    fn add(&mut self, all: Aggregation, env: &mut Env<'_, impl Probe>) {
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
            let Some(leg) = self.0.join(*cell) else {
                continue;
            };
            self.0.service.stack.aggregate(primary, leg);
            note_cell((self.0.ue, *cell), RrcEvent::SecondaryAdded, env);
        }
        self.0
            .service
            .activate_secondary((Some(primary), Direction::Downlink), env.now, env.now);
        self.0.service.on_known(primary, env.now);
    }

    /// The UE is in a cell by itself, after a failure: it is told of the secondary cells there.
    pub(super) fn offer(&mut self, env: &mut Env<'_, impl Probe>) {
        let offered = self.offered();
        if offered.cells() != self.aggregation().cells() {
            self.tell(offered, env);
        }
    }

    fn tell(&mut self, all: Aggregation, env: &mut Env<'_, impl Probe>) {
        let before = self.aggregation();
        let new = all.cells().iter().filter(|it| !before.cells().contains(it));
        for cell in new {
            note_cell((self.0.ue, *cell), RrcEvent::ReconfigurationSent, env);
        }
        self.0.state.secondaries.tell(all);
        self.0
            .send(Direction::Downlink, Message::Secondaries(all), env);
    }

    /// The base station hears that neighbours are better than secondary cells: of each carrier the best that may
    /// takes the place of the one there.
    pub(super) fn on_report(&mut self, report: &Measured, env: &mut Env<'_, impl Probe>) {
        let Some(primary) = self.0.service.stack.serving_cell(self.0.ue) else {
            return;
        };
        if self.0.state.secondaries.is_changing() || !self.0.state.is_connected() {
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
            // One that took a place a moment ago is stronger.
            if let Some(&old) = old.filter(|cell| before.cells().contains(cell)) {
                all.replace(old, better.cell);
            }
        }
        if all.cells() != before.cells() {
            self.tell(all, env);
        }
    }

    /// The UE hears of other secondary cells: it leaves those that are none any more. The primary one goes on.
    pub(super) fn on_told(&mut self, all: &Aggregation, env: &mut Env<'_, impl Probe>) {
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
            note_cell((self.0.ue, cell), RrcEvent::SecondaryReleased, env);
            self.0.service.drop_secondary(primary, cell, env);
        }
        self.set_aggregation(kept);
        let cell = self.0.service.stack.legs[primary.index()].config.cell;
        let generation = self.0.service.cells[cell.index()].plan.config.generation();
        self.0.state.secondaries.on_heard(env.now, generation);
    }

    /// The UE has made ready for its secondary cells, and says so.
    pub(super) fn answer(&mut self, env: &mut Env<'_, impl Probe>) {
        if self.0.state.is_connected() && self.0.state.secondaries.answers(env.now) {
            self.0
                .send(Direction::Uplink, Message::SecondariesReady, env);
        }
    }

    /// The base station has the answer: it uses the new cells.
    pub(super) fn on_ready(&mut self, env: &mut Env<'_, impl Probe>) {
        if let Some(all) = self.0.state.secondaries.on_answer() {
            self.add(all, env);
        }
    }
}

impl Service {
    /// A UE that is connected comes under mobility management: it has the secondary cells that it names, or those that
    /// its cell offers. Their legs, by cell.
    ///
    /// # Errors
    /// The channel of a cell cannot be built.
    pub(super) fn begin_aggregated(
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

    /// A secondary cell carries nothing any more while the primary one goes on: what was on its way over it is lost to
    /// HARQ, and RLC repeats it where it does.
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
        stack.separate(primary, leg);
        stack.air.leave(leg);
        stack.lose_content(leg, env);
        let mut position = 0;
        while let Some(bearer) = self.stack.legs[primary.index()].channels.bearer(position) {
            for direction in [Direction::Downlink, Direction::Uplink] {
                self.stack.close_books(bearer, direction, env);
            }
            position += 1;
        }
        self.on_uplink_data(Some(primary), env);
    }
}

impl Stack {
    /// The secondary cells of a UE are others.
    pub(super) fn set_aggregation(&mut self, ue: UeId, aggregation: Aggregation) {
        self.ues[ue.index()].set_aggregation(aggregation);
        share_power(&mut self.air, ue, aggregation);
    }

    /// A leg in a secondary cell carries no more what the primary one does.
    fn separate(&mut self, primary: LegId, leg: LegId) {
        self.legs[primary.index()].carriers.remove(leg);
    }
}
