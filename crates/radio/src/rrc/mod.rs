//! Radio resource control, as far as it is modelled: which cells serve a UE, and what follows when
//! a radio link fails.
//!
//! A UE is connected at once to the cell that it is told of, or to the one that it measures best at the
//! start. Without mobility management it stays there, without messages: when RLC has repeated something as
//! often as it may (radio link failure), the UE is without service for the time that re-establishment takes;
//! so it is when data has waited for T310 and T311 (T310 on a secondary leg) while every look at the downlink found it out of range.
//! With it, [`survey`], [`measure`] and [`filter`] say what a UE reports, [`trail`] where it measured,
//! [`turns`] what in gaps, [`monitor`] when its link has failed, [`policy`] where it is to go, [`network`]
//! what base stations and the core do about it, [`random_access`] and [`granted`] how it comes into a cell, [`attach`] how an idle one gets its bearers there, [`ltm`] when MAC switches it, [`mobility`]
//! where it stands in all that, and [`record`] what is told of it. [`pace`] says how often it measures and
//! looks. [`secondary_node`] is that of dual connectivity. [`states`] are those of a UE whose connection is released when it is quiet.
//!
//! Standard: TS 38.331 §5.3.10.3; TS 36.331 §5.3.11.3.

pub(crate) mod attach;
pub(crate) mod backhaul;
pub(crate) mod beam_failure;
pub(crate) mod candidacy;
pub(crate) mod conditional;
pub(crate) mod contention;
pub(crate) mod daps;
pub(crate) mod filter;
pub(crate) mod gate;
pub(crate) mod granted;
pub(crate) mod ltm;
pub(crate) mod measure;
pub(crate) mod mobility;
pub(crate) mod monitor;
pub(crate) mod network;
pub(crate) mod pace;
pub(crate) mod policy;
pub(crate) mod random_access;
pub(crate) mod record;
pub(crate) mod secondary_node;
pub(crate) mod states;
pub(crate) mod survey;
pub(crate) mod trail;
pub(crate) mod turns;

use crate::config::{Aggregation, LegId, Monitoring, Serving, UeConfig};
use fadeout_core::{CellId, DrbId, Span, Time};
use monitor::{Looks, lost_after};

/// RRC of one UE.
#[derive(Debug)]
pub(crate) struct UeRrc {
    config: UeConfig,
    /// Its legs by their number.
    legs: Vec<LegId>,
    bearers: Vec<DrbId>,
    /// Signalling radio bearer 1, where there is mobility management.
    signalling: Option<DrbId>,
    /// What carries control elements of MAC that are simulated as such: it repeats nothing but by HARQ.
    control: Option<DrbId>,
    failures: u64,
    /// The last looks at the downlink of each leg.
    looks: Vec<Looks>,
    /// Whether the network manages its secondary node.
    pub has_managed_node: bool,
}

/// The first step of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// It connects to these cells, a leg each.
    Connect(CellId, Option<CellId>),
    /// It measures the cells, and selects one.
    Measure,
}

/// The choice of a cell: the one with the highest value so far, of equals the first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct CellSelection {
    best: Option<(CellId, f64)>,
}

impl CellSelection {
    /// A cell was measured.
    pub(crate) fn on_measured(&mut self, cell: CellId, value: f64) {
        let is_better = self
            .best
            .is_none_or(|(best, of_best)| value > of_best || (value >= of_best && cell < best));
        if is_better {
            self.best = Some((cell, value));
        }
    }

    /// The cell that was best; none when none was measured.
    pub(crate) fn selected(&self) -> Option<CellId> {
        self.best.map(|(cell, _)| cell)
    }

    /// The same with its value.
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
            looks: Vec::new(),
            has_managed_node: false,
        }
    }

    pub(crate) fn start(&self) -> Start {
        match self.config.serving {
            Serving::Cell(cell) => Start::Connect(cell, self.config.pscell),
            Serving::Strongest | Serving::StrongestBeside(_) => Start::Measure,
        }
    }

    pub(crate) fn config(&self) -> &UeConfig {
        &self.config
    }

    /// Its secondary cells are others.
    pub(crate) fn set_aggregation(&mut self, aggregation: Aggregation) {
        self.config.aggregation = aggregation;
    }

    /// The number of the next leg.
    pub(crate) fn next_leg(&self) -> u8 {
        self.legs.len().min(u8::MAX.into()) as u8
    }

    /// The UE is connected on a further leg.
    pub(crate) fn on_connected(&mut self, leg: LegId) {
        self.legs.push(leg);
        self.looks.push(Looks::new());
    }

    /// Its first leg is another one from now on.
    pub(crate) fn on_moved(&mut self, leg: LegId) {
        if let Some(first) = self.legs.first_mut() {
            *first = leg;
        }
    }

    /// Its leg to the secondary node.
    pub(crate) fn second_leg(&self) -> Option<LegId> {
        self.legs.get(1).copied()
    }

    /// It has one leg from now on; the other one.
    pub(crate) fn release_second(&mut self) -> Option<LegId> {
        self.looks.truncate(1);
        match self.legs.len() {
            0 | 1 => None,
            _ => self.legs.pop(),
        }
    }

    /// Its signalling radio bearer 1.
    pub(crate) fn signalling(&self) -> Option<DrbId> {
        self.signalling
    }

    /// What carries control elements of MAC.
    pub(crate) fn control(&self) -> Option<DrbId> {
        self.control
    }

    /// The bearer that was set up last carries them.
    pub(crate) fn on_control_bearer(&mut self) {
        self.control = self.bearers.pop();
    }

    /// The bearer that was set up last is signalling radio bearer 1.
    pub(crate) fn on_signalling_bearer(&mut self) {
        self.signalling = self.bearers.pop();
    }

    /// Its data bearers in the order in which they were set up, then those of signalling.
    pub(crate) fn all_bearers(&self) -> impl Iterator<Item = DrbId> + '_ {
        let data = self.bearers.iter().copied();
        data.chain(self.signalling).chain(self.control)
    }

    /// Its legs by their number; none before it is connected.
    pub(crate) fn legs(&self) -> &[LegId] {
        &self.legs
    }

    /// A bearer is set up.
    pub(crate) fn on_bearer(&mut self, bearer: DrbId) {
        self.bearers.push(bearer);
    }

    /// Its bearers, in the order in which they were set up.
    pub(crate) fn bearers(&self) -> &[DrbId] {
        &self.bearers
    }

    /// The radio link of a leg has failed. Until when the leg is without service in a cell where
    /// re-establishment takes `reestablish_after`.
    pub(crate) fn on_link_failure(&mut self, now: Time, reestablish_after: Span) -> Time {
        self.failures += 1;
        now.saturating_add(reestablish_after)
    }

    /// Something waits for a leg, whose downlink is in range.
    #[inline]
    pub(crate) fn on_look_in_range(&mut self, leg: u8) {
        if let Some(looks) = self.looks.get_mut(usize::from(leg)) {
            looks.on_look_in_range();
        }
    }

    /// Something waits for a leg, whose downlink is out of range; while it waits there is a look each
    /// `period`. Whether the link has failed for good.
    pub(crate) fn on_look_out_of_range(&mut self, now: Time, leg: u8, period: Span) -> bool {
        let lost_after = lost_after(leg > 0, &Monitoring::default());
        self.looks
            .get_mut(usize::from(leg))
            .is_some_and(|looks| looks.on_look_out_of_range(now, lost_after, period * 2))
    }

    /// Radio link failures so far.
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
        // Nothing is received at all: any cell is as good as another.
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
