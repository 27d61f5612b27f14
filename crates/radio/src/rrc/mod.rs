//! Radio resource control (RRC): the choice of a UE's serving cells, and the procedures after a
//! radio link failure.
//!
//! At the start a UE is connected to its configured cell, or to the cell with the best measurement.
//!
//! Without mobility management the UE stays in that cell and sends no messages. After a radio link
//! failure the UE has no service for the time of a re-establishment. RLC declares the failure after
//! its last retransmission. The link of a UE with waiting data also fails if its downlink is out of
//! range for T310 plus T311. On a secondary leg, T310 suffices.
//!
//! With mobility management, [`survey`], [`measure`] and [`filter`] determine the UE's reports.
//! [`pace`] gives the times of measurements. [`gap_carriers`] gives the carrier of each measurement
//! gap. [`measurement_places`] stores the positions at which the UE measured. [`level_bounds`]
//! determines which neighbours need no measurement. [`monitor`] detects link failures.
//!
//! [`policy`] chooses the target of a handover, or [`timetable`] gives it. [`network`] contains the
//! procedures of base stations and the core. [`random_access`] and [`granted`] contain the UE's
//! entry into a cell, and [`attach`] the setup of an idle UE's bearers. [`ltm`] contains cell
//! switches by MAC, and [`secondary_node`] contains dual connectivity. [`mobility`] contains the
//! UE's state, and [`record`] the result row of a handover. Procedures return [`effect`]s, which
//! the executor of the radio access carries out.
//!
//! [`states`] contains the RRC states of a UE whose connection is released after a time without
//! data.
//!
//! Standard: TS 38.331 §5.3.10.3; TS 36.331 §5.3.11.3.

mod admission;
pub(crate) mod attach;
pub(crate) mod backhaul;
pub(crate) mod beam_failure;
pub(crate) mod candidacy;
pub(crate) mod candidates;
pub(crate) mod conditional;
pub(crate) mod contention;
pub(crate) mod daps;
pub(crate) mod effect;
pub(crate) mod entry;
pub(crate) mod filter;
pub(crate) mod gap_carriers;
pub(crate) mod granted;
pub(crate) mod level_bounds;
pub(crate) mod ltm;
pub(crate) mod measure;
pub(crate) mod measurement_places;
pub(crate) mod message;
pub(crate) mod mobility;
pub(crate) mod monitor;
pub(crate) mod network;
pub(crate) mod pace;
pub(crate) mod policy;
pub(crate) mod random_access;
pub(crate) mod rates;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod round;
pub(crate) mod secondary_cells;
pub(crate) mod secondary_node;
pub(crate) mod stage;
pub(crate) mod states;
pub(crate) mod survey;
pub(crate) mod timetable;

use crate::config::{Aggregation, LegId, Monitoring, Serving, UeConfig};
use fadeout_core::{CellId, DrbId, Span, Time};
use monitor::{LinkEvaluations, lost_after};

/// RRC state of one UE.
#[derive(Debug)]
pub(crate) struct UeRrc {
    config: UeConfig,
    /// Legs of the UE, by leg number.
    legs: Vec<LegId>,
    bearers: Vec<DrbId>,
    /// Signalling radio bearer 1. `None` without mobility management.
    signalling: Option<DrbId>,
    /// Bearer that models the transmission of MAC control elements. Only HARQ retransmits its data.
    /// `None` if MAC control elements are not simulated.
    control: Option<DrbId>,
    failures: u64,
    /// Results of the latest downlink evaluations, for each leg.
    evaluations: Vec<LinkEvaluations>,
    /// True if the network adds, changes and releases the UE's secondary node during the run.
    pub has_managed_node: bool,
}

/// First action of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Connection to these cells, with one leg in each.
    Connect(CellId, Option<CellId>),
    /// Measurement of the cells, followed by the selection of a cell.
    Measure,
}

/// Selection of the cell with the highest value. If several cells share it, the cell with the
/// lowest number is selected.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct CellSelection {
    best: Option<(CellId, f64)>,
}

impl CellSelection {
    /// Adds the measured value of a cell to the selection.
    pub(crate) fn on_measured(&mut self, cell: CellId, value: f64) {
        let is_better = self
            .best
            .is_none_or(|(best, of_best)| value > of_best || (value >= of_best && cell < best));
        if is_better {
            self.best = Some((cell, value));
        }
    }

    /// Returns the best cell. `None` if no cell was measured.
    pub(crate) fn selected(&self) -> Option<CellId> {
        self.best.map(|(cell, _)| cell)
    }

    /// Returns the best cell and its value. `None` if no cell was measured.
    pub(crate) fn best(&self) -> Option<(CellId, f64)> {
        self.best
    }
}

impl UeRrc {
    pub(crate) fn new(config: UeConfig) -> UeRrc {
        UeRrc {
            config,
            legs: Vec::new(),
            bearers: Vec::new(),
            signalling: None,
            control: None,
            failures: 0,
            evaluations: Vec::new(),
            has_managed_node: false,
        }
    }

    pub(crate) fn start(&self) -> Start {
        match self.config.serving {
            Serving::Cell(cell) => Start::Connect(cell, self.config.pscell),
            Serving::Strongest | Serving::StrongestOnCarrier(_) => Start::Measure,
        }
    }

    pub(crate) fn config(&self) -> &UeConfig {
        &self.config
    }

    /// Replaces the UE's secondary cells.
    pub(crate) fn set_aggregation(&mut self, aggregation: Aggregation) {
        self.config.aggregation = aggregation;
    }

    /// Returns the number of the next leg.
    pub(crate) fn next_leg(&self) -> u8 {
        self.legs.len().min(u8::MAX.into()) as u8
    }

    /// Adds a leg after the UE was connected on it.
    pub(crate) fn on_connected(&mut self, leg: LegId) {
        self.legs.push(leg);
        self.evaluations.push(LinkEvaluations::new());
    }

    /// Replaces the UE's first leg.
    pub(crate) fn on_moved(&mut self, leg: LegId) {
        if let Some(first) = self.legs.first_mut() {
            *first = leg;
        }
    }

    /// Returns the leg to the secondary node. `None` if there is none.
    pub(crate) fn second_leg(&self) -> Option<LegId> {
        self.legs.get(1).copied()
    }

    /// Removes the second leg and returns it. `None` if the UE has one leg.
    pub(crate) fn release_second(&mut self) -> Option<LegId> {
        self.evaluations.truncate(1);
        match self.legs.len() {
            0 | 1 => None,
            _ => self.legs.pop(),
        }
    }

    /// Returns signalling radio bearer 1. `None` without mobility management.
    pub(crate) fn signalling(&self) -> Option<DrbId> {
        self.signalling
    }

    /// Returns the bearer that models MAC control elements. `None` if MAC control elements are not
    /// simulated.
    pub(crate) fn control(&self) -> Option<DrbId> {
        self.control
    }

    /// Marks the bearer that was set up last as the bearer of MAC control elements.
    pub(crate) fn on_control_bearer(&mut self) {
        self.control = self.bearers.pop();
    }

    /// Marks the bearer that was set up last as signalling radio bearer 1.
    pub(crate) fn on_signalling_bearer(&mut self) {
        self.signalling = self.bearers.pop();
    }

    /// Returns the data bearers in the order of their setup, then the signalling and control
    /// bearers.
    pub(crate) fn all_bearers(&self) -> impl Iterator<Item = DrbId> + '_ {
        let data = self.bearers.iter().copied();
        data.chain(self.signalling).chain(self.control)
    }

    /// Returns the UE's legs by leg number. The list is empty before the UE is connected.
    pub(crate) fn legs(&self) -> &[LegId] {
        &self.legs
    }

    /// Adds a bearer after its setup.
    pub(crate) fn on_bearer(&mut self, bearer: DrbId) {
        self.bearers.push(bearer);
    }

    /// Returns the UE's data bearers in the order of their setup.
    pub(crate) fn bearers(&self) -> &[DrbId] {
        &self.bearers
    }

    /// Counts a radio link failure of a leg. Returns the time at which service resumes.
    /// `reestablish_after` is the duration of a re-establishment in the cell.
    pub(crate) fn on_link_failure(&mut self, now: Time, reestablish_after: Span) -> Time {
        self.failures += 1;
        now.saturating_add(reestablish_after)
    }

    /// Records that the downlink of a leg with waiting data was in range at an evaluation.
    #[inline]
    pub(crate) fn record_in_range(&mut self, leg: u8) {
        if let Some(evaluations) = self.evaluations.get_mut(usize::from(leg)) {
            evaluations.record_in_range();
        }
    }

    /// Records that the downlink of a leg with waiting data was out of range at an evaluation.
    /// `period` is the time between evaluations while data waits. Returns true if the link has
    /// failed.
    pub(crate) fn record_out_of_range(&mut self, now: Time, leg: u8, period: Span) -> bool {
        let lost_after = lost_after(leg > 0, &Monitoring::default());
        self.evaluations
            .get_mut(usize::from(leg))
            .is_some_and(|evaluations| evaluations.record_out_of_range(now, lost_after, period * 2))
    }

    /// Returns the number of radio link failures.
    pub(crate) fn failures(&self) -> u64 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::NodeId;

    #[test]
    fn the_best_measured_cell_is_selected_and_of_equals_the_first() {
        let select = |measured: &[(u32, f64)]| {
            let mut selection = CellSelection::default();
            for &(cell, value) in measured {
                selection.on_measured(CellId(cell), value);
            }
            selection.selected()
        };
        assert_eq!(select(&[]), None);
        assert_eq!(
            select(&[(0, -90.0), (1, -80.0), (2, -85.0)]),
            Some(CellId(1))
        );
        assert_eq!(
            select(&[(2, -80.0), (1, -80.0), (3, -80.0)]),
            Some(CellId(1))
        );
        // The UE receives no cell, so all cells have the same value and the first cell is selected.
        let nothing = f64::NEG_INFINITY;
        assert_eq!(select(&[(0, nothing), (1, nothing)]), Some(CellId(0)));
    }

    #[test]
    fn a_ue_without_a_named_cell_measures_first() {
        let unnamed = UeConfig::new(NodeId(0));
        assert_eq!(UeRrc::new(unnamed).start(), Start::Measure);
        let named = UeConfig {
            serving: Serving::Cell(CellId(3)),
            pscell: Some(CellId(1)),
            ..unnamed
        };
        let start = Start::Connect(CellId(3), Some(CellId(1)));
        assert_eq!(UeRrc::new(named).start(), start);
    }

    #[test]
    fn legs_are_numbered_in_the_order_in_which_they_are_connected() {
        let mut rrc = UeRrc::new(UeConfig::new(NodeId(0)));
        assert_eq!((rrc.next_leg(), rrc.legs()), (0, &[][..]));
        rrc.on_connected(LegId(7));
        rrc.on_connected(LegId(4));
        assert_eq!((rrc.next_leg(), rrc.legs()), (2, &[LegId(7), LegId(4)][..]));
    }

    #[test]
    fn a_failed_link_is_without_service_for_the_time_of_reestablishment() {
        let mut rrc = UeRrc::new(UeConfig::new(NodeId(0)));
        let now = Time::ZERO + Span::from_millis(30);
        let until = rrc.on_link_failure(now, Span::from_millis(200));
        assert_eq!(until, Time::ZERO + Span::from_millis(230));
        assert_eq!(rrc.failures(), 1);
    }
}
