//! Handover policies: the measurement events that the network configures, and the choice of the
//! target cell.
//!
//! A policy only uses information that a base station has: measurement reports, and the number of
//! UEs in each cell. A policy cannot use the radio channel.

use crate::config::{EventKind, MeasurementEvent, Scope};
use fadeout_core::registry::{Entry, Registered, Settings, integer, number, span};
use fadeout_core::{CellId, HandoverRow, Span, Time, UeId};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A cell in a measurement report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportedCell {
    /// Reported cell.
    pub cell: CellId,
    /// Filtered RSRP of the cell in dBm.
    pub rsrp_dbm: f64,
}

/// A measurement report as the base station of the serving cell receives it.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Time of reception.
    pub now: Time,
    /// UE that sent the report.
    pub ue: UeId,
    /// Condition of the reported event.
    pub event: EventKind,
    /// Serving cell with its measurement.
    pub serving: ReportedCell,
    /// Cells that fulfil the event's condition, at most eight, the strongest first. Empty for an
    /// event about the serving cell.
    pub cells: &'a [ReportedCell],
    /// All cells that the UE measures.
    pub measured: &'a [CellId],
    /// Number of UEs in each cell, by cell id.
    pub loads: &'a [u32],
    /// Maximum number of UEs in a cell. `None` if there is no limit.
    pub most_ues: Option<u32>,
}

/// Algorithm that decides about handovers. One instance decides for all UEs of a network.
pub trait HandoverPolicy {
    /// Returns the measurement events that UEs report. `configured` contains the events of the
    /// scenario. `_period` is the time between two measurements of a UE.
    fn events(&self, configured: &[MeasurementEvent], _period: Span) -> Vec<MeasurementEvent> {
        configured.to_vec()
    }

    /// True if [`offset_db`](HandoverPolicy::offset_db) may be other than zero.
    fn has_offsets(&self) -> bool {
        false
    }

    /// Returns the offset of a neighbour for a UE in the serving cell: Ocn of the neighbour minus
    /// Ocp of the serving cell. `loads` is the number of UEs in each cell.
    ///
    /// Standard: TS 38.331 §5.5.4.4.
    fn offset_db(&self, _loads: &[u32], _serving: CellId, _neighbour: CellId) -> f64 {
        0.0
    }

    /// Returns the target cell of the UE that sent the report. `None` if the UE stays in its cell.
    /// The method is called only while no handover of the UE is under way.
    fn choose(&mut self, report: &Report<'_>) -> Option<CellId>;

    /// Handles the end of a handover, successful or not.
    fn on_handover(&mut self, _row: &HandoverRow) {}
}

fadeout_core::registry! {
    /// All policies that a scenario can name.
    pub static HANDOVER_POLICIES;

    /// A handover policy: a built-in one or a user's own.
    #[derive(Debug)]
    pub enum Policy {
        Reported(Reported),
        Strongest(Strongest),
        LoadAware(LoadAware),
        BlockageAware(BlockageAware),
        Scheduled(Scheduled),
    } else {
        /// Policy of the user.
        Custom(CustomPolicy),
    }
    macro dispatch;
}

/// A boxed policy from outside this crate.
pub struct CustomPolicy(pub Box<dyn HandoverPolicy + Send>);

impl Deref for CustomPolicy {
    type Target = dyn HandoverPolicy + Send;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for CustomPolicy {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

impl fmt::Debug for CustomPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomPolicy")
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::Reported(Reported)
    }
}

impl HandoverPolicy for Policy {
    fn events(&self, configured: &[MeasurementEvent], period: Span) -> Vec<MeasurementEvent> {
        dispatch!(self, policy => policy.events(configured, period))
    }
    fn has_offsets(&self) -> bool {
        dispatch!(self, policy => policy.has_offsets())
    }
    fn offset_db(&self, loads: &[u32], serving: CellId, neighbour: CellId) -> f64 {
        dispatch!(self, policy => policy.offset_db(loads, serving, neighbour))
    }
    fn choose(&mut self, report: &Report<'_>) -> Option<CellId> {
        dispatch!(self, policy => policy.choose(report))
    }
    fn on_handover(&mut self, row: &HandoverRow) {
        dispatch!(self, policy => policy.on_handover(row));
    }
}

/// Returns the strongest cell of a report. `None` if the report has no cell.
fn strongest_of(report: &Report<'_>) -> Option<CellId> {
    report.cells.first().map(|reported| reported.cell)
}

/// Policy that chooses the strongest cell of each report, for any event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported;

impl Registered for Reported {
    const ENTRY: Entry = Entry::new(
        "a3",
        "signal",
        "Hands over to the strongest cell in a measurement report. Without `events` the network \
         uses event A3 with the offset, hysteresis and time to trigger of this policy.",
        "3GPP TS 38.331, clause 5.5.4.4",
    )
    .with_aliases(&["reported"]);

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Reported
    }
}

impl HandoverPolicy for Reported {
    fn choose(&mut self, report: &Report<'_>) -> Option<CellId> {
        strongest_of(report)
    }
}

fadeout_core::parameters! {
    /// Policy that always chooses the cell with the highest filtered RSRP.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Strongest {
        /// Filter coefficient k of the layer 3 filter.
        pub filter: u32 = integer((0, 19, ""), "4"),
    }
}

impl Registered for Strongest {
    const ENTRY: Entry = Entry::new(
        "strongest",
        "signal",
        "Hands over at once to the cell that is strongest in a measurement, without offset, \
         hysteresis and time to trigger. Ping-pong handovers are frequent. Events about neighbour \
         cells in `events` are ignored, except a6.",
        "3GPP TS 38.331, clause 5.5.4.4, with all of these at zero",
    )
    .with_parameters(Strongest::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Strongest::read(settings)
    }
}

impl HandoverPolicy for Strongest {
    fn events(&self, configured: &[MeasurementEvent], period: Span) -> Vec<MeasurementEvent> {
        let about_serving = configured
            .iter()
            .filter(|event| !event.kind.has_neighbour() || event.kind.is_about_secondaries());
        let mut events: Vec<_> = about_serving.copied().collect();
        events.push(MeasurementEvent {
            kind: EventKind::A3 { offset: 0.0 },
            hysteresis_db: 0.0,
            time_to_trigger: Span::ZERO,
            filter: self.filter as u8,
            report_interval: period,
            report_amount: None,
            scope: Scope::Any,
        });
        events
    }
    fn choose(&mut self, report: &Report<'_>) -> Option<CellId> {
        strongest_of(report)
    }
}

fadeout_core::parameters! {
    /// Policy that chooses the strongest cell, with offsets by load.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct LoadAware {
        /// Largest cell individual offset. It applies if the serving cell has other UEs and the
        /// neighbour cell has no UEs.
        pub most_offset: f64 = number((0.0, 24.0, "dB"), "6"),
    }
}

impl Registered for LoadAware {
    const ENTRY: Entry = Entry::new(
        "load-aware",
        "load",
        "Load balancing: works as `a3`, with a cell individual offset that grows with the relative \
         load difference. The load of a cell is the number of other UEs in it. The policy avoids \
         full cells.",
        "3GPP TS 36.300, clause 22.4.1: mobility load balancing",
    )
    .with_aliases(&["mlb"])
    .with_parameters(LoadAware::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        LoadAware::read(settings)
    }
}

/// Returns the value of Q-OffsetRange that is nearest to `offset_db`, towards zero.
///
/// Standard: TS 36.331 §6.3.5; TS 38.331 §6.3.2.
fn offset_range(offset_db: f64) -> f64 {
    let size = offset_db.abs().min(24.0);
    let step = if size < 6.0 { 1.0 } else { 2.0 };
    (size / step).floor() * step * offset_db.signum()
}

impl HandoverPolicy for LoadAware {
    fn has_offsets(&self) -> bool {
        self.most_offset > 0.0
    }

    /// The loads exclude the UE itself, so a handover of the UE does not change them. The offset
    /// for the way back has the same size and the opposite sign. The hysteresis therefore stays
    /// effective.
    fn offset_db(&self, loads: &[u32], serving: CellId, neighbour: CellId) -> f64 {
        let here = f64::from(loads[serving.index()].saturating_sub(1));
        let there = f64::from(loads[neighbour.index()]);
        match here + there > 0.0 {
            true => offset_range(self.most_offset * (here - there) / (here + there)),
            false => 0.0,
        }
    }

    fn choose(&mut self, report: &Report<'_>) -> Option<CellId> {
        let has_room = |cell: CellId| {
            let load = report.loads[cell.index()];
            report.most_ues.is_none_or(|most| load < most)
        };
        let mut best: Option<(f64, CellId)> = None;
        for reported in report.cells.iter().filter(|it| has_room(it.cell)) {
            let offset_db = self.offset_db(report.loads, report.serving.cell, reported.cell);
            let value = reported.rsrp_dbm + offset_db;
            if best.is_none_or(|(of_best, _)| value > of_best) {
                best = Some((value, reported.cell));
            }
        }
        best.map(|(_, cell)| cell)
    }
}

fadeout_core::parameters! {
    /// Policy that chooses a lower band while the higher band is blocked.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct BlockageAware {
        /// RSRP below which the serving cell counts as blocked.
        pub leave_below: f64 = number((-200.0, 50.0, "dBm"), "-110"),
        /// Time for which the serving cell must be blocked before the UE leaves it.
        pub leave_after: Span = span("40 ms"),
        /// Smallest RSRP of a cell of a lower carrier to which the policy hands over.
        pub least: f64 = number((-200.0, 50.0, "dBm"), "-120"),
        /// Margin above `leave-below` by which a cell of a higher carrier must be better before the
        /// UE returns.
        pub return_margin: f64 = number((0.0, 60.0, "dB"), "3"),
        /// Time for which the cell of the higher carrier must be better. It should exceed the time
        /// between blockages.
        pub return_after: Span = span("1 s"),
        /// Filter coefficient k of the layer 3 filter of the conditions for leaving and for
        /// returning.
        pub filter: u32 = integer((0, 19, ""), "0"),
    }
}

impl Registered for BlockageAware {
    const ENTRY: Entry = Entry::new(
        "blockage-aware",
        "band",
        "Hands over to the strongest cell of a lower carrier when the serving cell is blocked. The \
         UE returns when a cell of a higher carrier has been better by a margin for some time. \
         Among cells of one carrier the policy works as `a3`.",
        "M. Polese, M. Giordani, M. Mezzavilla, S. Rangan, M. Zorzi, Improved handover through dual \
         connectivity in 5G mmWave mobile networks, IEEE JSAC 2017, section IV, with a margin and a time \
         against ping-pong",
    )
    .with_aliases(&["band-fallback"])
    .with_parameters(BlockageAware::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        BlockageAware::read(settings)
    }
}

impl HandoverPolicy for BlockageAware {
    fn events(&self, configured: &[MeasurementEvent], period: Span) -> Vec<MeasurementEvent> {
        let within = configured.iter().map(|event| MeasurementEvent {
            scope: Scope::SameCarrier,
            ..*event
        });
        let common = MeasurementEvent {
            kind: EventKind::A5 {
                serving: self.leave_below,
                neighbour: self.least,
            },
            hysteresis_db: 0.0,
            time_to_trigger: self.leave_after,
            filter: self.filter as u8,
            report_interval: period,
            report_amount: None,
            scope: Scope::LowerCarrier,
        };
        let back = MeasurementEvent {
            kind: EventKind::A4 {
                threshold: self.leave_below + self.return_margin,
            },
            time_to_trigger: self.return_after,
            scope: Scope::HigherCarrier,
            ..common
        };
        within.chain([common, back]).collect()
    }
    fn choose(&mut self, report: &Report<'_>) -> Option<CellId> {
        strongest_of(report)
    }
}

/// Policy that ignores measurement reports. The timetable of the scenario commands all handovers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduled;

impl Registered for Scheduled {
    const ENTRY: Entry = Entry::new(
        "timetable",
        "time",
        "Hands over at the times of `timetable`, such as those of a recorded drive. Measurement \
         reports cause no handover.",
        "",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Scheduled
    }
}

impl HandoverPolicy for Scheduled {
    fn choose(&mut self, _: &Report<'_>) -> Option<CellId> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Parameters;

    fn report<'a>(cells: &'a [ReportedCell], loads: &'a [u32], most: Option<u32>) -> Report<'a> {
        Report {
            now: Time::ZERO,
            ue: UeId(0),
            event: EventKind::A3 { offset: 3.0 },
            serving: ReportedCell {
                cell: CellId(0),
                rsrp_dbm: -90.0,
            },
            cells,
            measured: &[],
            loads,
            most_ues: most,
        }
    }

    fn cells(levels: &[(u32, f64)]) -> Vec<ReportedCell> {
        let levels = levels.iter();
        let cells = levels.map(|&(cell, rsrp_dbm)| ReportedCell {
            cell: CellId(cell),
            rsrp_dbm,
        });
        cells.collect()
    }

    #[test]
    fn every_policy_goes_to_the_only_cell_of_a_report_and_stays_without_one() {
        let there = cells(&[(1, -80.0)]);
        let follows_reports = |entry: &&Entry| entry.name != "timetable";
        for entry in HANDOVER_POLICIES.iter().filter(follows_reports) {
            let mut policy = Policy::new(entry.name, Parameters::NONE).expect(entry.name);
            let target = policy.choose(&report(&there, &[5, 5], None));
            assert_eq!(target, Some(CellId(1)), "{}", entry.name);
            assert_eq!(policy.choose(&report(&[], &[5, 5], None)), None);
        }
    }

    #[test]
    fn a_load_makes_an_offset_that_the_way_back_has_with_the_other_sign() {
        let policy = LoadAware { most_offset: 6.0 };
        let offset = |loads: [u32; 2]| {
            let [zero, one] = [CellId(0), CellId(1)];
            let moved = [loads[0] - 1, loads[1] + 1];
            let there = policy.offset_db(&loads, zero, one);
            assert_eq!(policy.offset_db(&moved, one, zero), -there, "{loads:?}");
            there
        };
        assert_eq!(offset([1, 0]), 0.0);
        assert_eq!(offset([11, 10]), 0.0);
        assert_eq!(offset([31, 10]), 3.0);
        assert_eq!(offset([11, 0]), 6.0);
        assert_eq!(offset([1, 7]), -6.0);
        assert_eq!(offset([12, 10]), 0.0, "2/7 dB is no value of the range");
    }

    #[test]
    fn offsets_are_those_of_the_range() {
        for (offset_db, value) in [
            (0.9, 0.0),
            (5.9, 5.0),
            (-5.2, -5.0),
            (7.9, 6.0),
            (-30.0, -24.0),
        ] {
            assert_eq!(offset_range(offset_db), value, "{offset_db}");
        }
    }

    #[test]
    fn load_decides_between_cells_and_passes_over_full_ones() {
        let mut policy = LoadAware { most_offset: 6.0 };
        let two = cells(&[(1, -80.0), (2, -83.0)]);
        let mut choose = |loads: &[u32], most| policy.choose(&report(&two, loads, most));
        assert_eq!(choose(&[10, 10, 10], None), Some(CellId(1)));
        assert_eq!(choose(&[10, 10, 1], None), Some(CellId(2)));
        assert_eq!(choose(&[10, 10, 10], Some(10)), None);
        assert_eq!(choose(&[10, 9, 10], Some(10)), Some(CellId(1)));
    }

    #[test]
    fn a_blocked_cell_is_left_soon_and_returned_to_late() {
        let policy = BlockageAware::default();
        let events = policy.events(&[], Span::from_millis(40));
        let [leave, back] = events[..] else {
            panic!("two of its own");
        };
        assert!(leave.kind.enters(-111.0, -119.0, 0.0) && !leave.kind.enters(-110.0, -80.0, 0.0));
        assert!(back.kind.enters(-80.0, -106.9, 0.0) && !back.kind.enters(-80.0, -107.0, 0.0));
        assert!(leave.time_to_trigger < back.time_to_trigger);
        assert_eq!(
            (leave.scope, back.scope),
            (Scope::LowerCarrier, Scope::HigherCarrier)
        );
    }
}
