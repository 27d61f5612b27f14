//! Change of a UE's secondary cells: the decision of the base station, and the UE's answer.
//!
//! ```text
//! report of A6, or entry ─► reconfiguration ─► the UE leaves old cells
//!                                      └► answer ─► new cells are added
//! ```
//!
//! Standard: TS 38.331 §5.3.5.5.8, §5.3.5.5.9, §5.5.4.7; TS 36.331 §5.3.10.3a, §5.3.10.3b,
//! §5.5.4.6a.

use super::effect::{Effect, Effects, ReportEffect, Seen, UeEffect};
use super::message::Message;
use super::report::MeasurementReport;
use crate::config::Aggregation;
use crate::rlc::Generation;
use fadeout_core::{CellId, Direction, RrcEvent, Span, Time};

/// State of a change of secondary cells.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SecondaryCellChange {
    /// Secondary cells that the base station has sent to the UE. `None` if no answer is awaited.
    sent: Option<Aggregation>,
    /// Time of the UE's answer, after its processing.
    answer_at: Option<Time>,
}

/// Returns the processing time from a reconfiguration with secondary cells to the UE's answer.
///
/// Standard: TS 36.331 §11.2; TS 38.331 §12.
pub(crate) fn secondary_processing(generation: Generation) -> Span {
    match generation {
        Generation::Lte => Span::from_millis(20),
        Generation::Nr => Span::from_millis(16),
    }
}

impl SecondaryCellChange {
    /// Handles the arrival of a UE in a cell that offers these secondary cells.
    pub(crate) fn on_offer(
        &mut self,
        offered: Aggregation,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) {
        if offered.cells() != seen.secondaries.cells() {
            self.send(offered, seen, effects);
        }
    }

    /// Handles a report of event A6 at the base station. On each carrier, the strongest reported
    /// cell that the serving cell offers replaces the current secondary cell. `is_one_carrier`
    /// compares the carriers of two cells.
    pub(crate) fn on_report(
        &mut self,
        report: &MeasurementReport,
        is_one_carrier: impl Fn(CellId, CellId) -> bool,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) {
        let Some(primary) = seen.serving.filter(|_| seen.is_connected) else {
            return;
        };
        if self.sent.is_some() {
            return;
        }
        let (before, mut all) = (&seen.secondaries, seen.secondaries);
        let offered = seen.config.secondaries_of(primary);
        for better in report
            .cells()
            .iter()
            .filter(|it| offered.contains(&it.cell))
        {
            let mut cells = all.cells().iter();
            let old = cells.find(|&&cell| is_one_carrier(cell, better.cell));
            // Reports list the strongest cell first. A cell that this loop has already added stays.
            if let Some(&old) = old.filter(|cell| before.cells().contains(cell)) {
                all.replace(old, better.cell);
            }
        }
        if all.cells() != before.cells() {
            self.send(all, seen, effects);
        }
    }

    fn send(&mut self, all: Aggregation, seen: &Seen<'_>, effects: &mut Effects) {
        let before = seen.secondaries.cells();
        for cell in all.cells().iter().filter(|it| !before.contains(it)) {
            let sent = RrcEvent::ReconfigurationSent;
            effects.push_back(Effect::Report(ReportEffect::RecordEvent(Some(*cell), sent)));
        }
        self.sent = Some(all);
        let message = Message::Secondaries(all);
        effects.push_back(Effect::SendMessage(Direction::Downlink, message));
    }

    /// Handles the new list of secondary cells at the UE, in a cell of this generation. The UE
    /// leaves secondary cells that are not in the list. Its answer follows after the processing
    /// time.
    pub(crate) fn on_reconfiguration(
        &mut self,
        all: &Aggregation,
        generation: Generation,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) {
        let mut kept = seen.secondaries.without_cells();
        for &cell in seen.secondaries.cells() {
            if all.cells().contains(&cell) {
                kept.add(cell);
                continue;
            }
            let released = RrcEvent::SecondaryReleased;
            effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                Some(cell),
                released,
            )));
            effects.push_back(Effect::Ue(UeEffect::DropSecondaryCell(cell)));
        }
        effects.push_back(Effect::Ue(UeEffect::SetSecondaryCells(kept)));
        self.answer_at = Some(seen.now.saturating_add(secondary_processing(generation)));
    }

    /// Sends the UE's answer once, when it is due and the UE is connected.
    pub(crate) fn on_due(&mut self, seen: &Seen<'_>, effects: &mut Effects) {
        let is_due = |at: &mut Time| seen.is_connected && *at <= seen.now;
        if self.answer_at.take_if(is_due).is_some() {
            let answer = Message::SecondariesReady;
            effects.push_back(Effect::SendMessage(Direction::Uplink, answer));
        }
    }

    /// Handles the UE's answer at the base station, which now uses the new cells.
    pub(crate) fn on_answer(&mut self, effects: &mut Effects) {
        if let Some(all) = self.sent.take() {
            effects.push_back(Effect::Ue(UeEffect::AddSecondaryCells(all)));
        }
    }

    /// Returns the time of the UE's answer.
    pub(crate) fn answer_at(&self) -> Time {
        self.answer_at.unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MobilityConfig;
    use crate::rrc::policy::ReportedCell;

    /// Secondary cells that cell 0 offers. Even cells are on one carrier, odd cells on another.
    const OFFERED: [CellId; 4] = [CellId(2), CellId(3), CellId(4), CellId(5)];

    fn time_at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn cells<const N: usize>(cells: [u32; N]) -> Aggregation {
        Aggregation::new(&cells.map(CellId)).expect("few enough")
    }

    fn config() -> MobilityConfig {
        MobilityConfig {
            secondaries: vec![OFFERED.to_vec()],
            ..MobilityConfig::bare()
        }
    }

    /// Runs `action` for a connected UE with these secondary cells. Returns the effects.
    fn run(
        change: &mut SecondaryCellChange,
        secondaries: Aggregation,
        ms: u64,
        action: impl FnOnce(&mut SecondaryCellChange, &Seen<'_>, &mut Effects),
    ) -> Vec<Effect> {
        let (config, mut effects) = (config(), Effects::new());
        let seen = Seen {
            secondaries,
            ..Seen::connected(&config, time_at_ms(ms))
        };
        action(change, &seen, &mut effects);
        effects.into()
    }

    /// Returns the effects of a report of these cells, the strongest first.
    fn report<const N: usize>(
        change: &mut SecondaryCellChange,
        before: Aggregation,
        reported: [u32; N],
    ) -> Vec<Effect> {
        let cell = |cell| ReportedCell {
            cell: CellId(cell),
            rsrp_dbm: -80.0 - f64::from(cell),
        };
        let mut report = MeasurementReport::new(0, cell(0));
        reported.iter().for_each(|&it| report.add(cell(it)));
        let is_one = |one: CellId, other: CellId| one.0 % 2 == other.0 % 2;
        run(change, before, 0, |change, seen, effects| {
            change.on_report(&report, is_one, seen, effects);
        })
    }

    fn sent(all: Aggregation) -> Effect {
        Effect::SendMessage(Direction::Downlink, Message::Secondaries(all))
    }

    fn row(cell: u32, event: RrcEvent) -> Effect {
        Effect::Report(ReportEffect::RecordEvent(Some(CellId(cell)), event))
    }

    const NOTHING: [Effect; 0] = [];
    const NEW: RrcEvent = RrcEvent::ReconfigurationSent;

    #[test]
    fn offered_cells_are_sent_with_a_row_for_each_new_one() {
        let mut change = SecondaryCellChange::default();
        let effects = run(&mut change, cells([2]), 0, |change, seen, effects| {
            change.on_offer(cells([2, 3]), seen, effects);
        });
        assert_eq!(effects, [row(3, NEW), sent(cells([2, 3]))]);
    }

    #[test]
    fn an_offer_that_changes_nothing_is_not_sent() {
        let mut change = SecondaryCellChange::default();
        let effects = run(&mut change, cells([2, 3]), 0, |change, seen, effects| {
            change.on_offer(cells([2, 3]), seen, effects);
        });
        assert_eq!(effects, NOTHING);
    }

    #[test]
    fn a_better_cell_replaces_the_cell_of_its_carrier() {
        let mut change = SecondaryCellChange::default();
        let effects = report(&mut change, cells([2, 3]), [5]);
        assert_eq!(effects, [row(5, NEW), sent(cells([2, 5]))]);
    }

    #[test]
    fn of_two_better_cells_on_a_carrier_the_stronger_is_taken() {
        let mut change = SecondaryCellChange::default();
        let offered = report(&mut change, cells([6]), [2, 4]);
        assert_eq!(offered, [row(2, NEW), sent(cells([2]))]);
    }

    #[test]
    fn a_reported_cell_that_is_not_offered_changes_nothing() {
        let mut change = SecondaryCellChange::default();
        assert_eq!(report(&mut change, cells([2, 3]), [8]), NOTHING);
    }

    #[test]
    fn a_reported_cell_on_a_carrier_without_a_secondary_cell_changes_nothing() {
        let mut change = SecondaryCellChange::default();
        assert_eq!(report(&mut change, cells([2]), [3]), NOTHING);
    }

    #[test]
    fn during_a_change_a_report_has_no_effect() {
        let mut change = SecondaryCellChange::default();
        assert_eq!(report(&mut change, cells([2]), [4]).len(), 2);
        assert_eq!(report(&mut change, cells([2]), [4]), NOTHING);
        let mut effects = Effects::new();
        change.on_answer(&mut effects);
        assert_eq!(report(&mut change, cells([2]), [4]).len(), 2, "over");
    }

    #[test]
    fn a_report_of_a_ue_without_a_connection_has_no_effect() {
        let (config, mut effects) = (config(), Effects::new());
        let seen = Seen {
            is_connected: false,
            secondaries: cells([2]),
            ..Seen::connected(&config, Time::ZERO)
        };
        let four = ReportedCell {
            cell: CellId(4),
            rsrp_dbm: -80.0,
        };
        let mut report = MeasurementReport::new(0, four);
        report.add(four);
        let mut change = SecondaryCellChange::default();
        change.on_report(&report, |_, _| true, &seen, &mut effects);
        assert!(effects.is_empty());
    }

    #[test]
    fn the_ue_leaves_old_cells_and_keeps_the_others() {
        let mut change = SecondaryCellChange::default();
        let effects = run(&mut change, cells([2, 3]), 0, |change, seen, effects| {
            change.on_reconfiguration(&cells([4, 3]), Generation::Nr, seen, effects);
        });
        let mut kept = cells([2, 3]).without_cells();
        kept.add(CellId(3));
        let expected = [
            row(2, RrcEvent::SecondaryReleased),
            Effect::Ue(UeEffect::DropSecondaryCell(CellId(2))),
            Effect::Ue(UeEffect::SetSecondaryCells(kept)),
        ];
        assert_eq!(effects, expected);
    }

    #[test]
    fn a_ue_answers_once_after_the_processing_of_its_generation() {
        let answer = Effect::SendMessage(Direction::Uplink, Message::SecondariesReady);
        for (generation, ms) in [(Generation::Lte, 20), (Generation::Nr, 16)] {
            let mut change = SecondaryCellChange::default();
            let due = |change: &mut SecondaryCellChange, ms| {
                run(change, Aggregation::NONE, ms, |change, seen, effects| {
                    change.on_due(seen, effects);
                })
            };
            assert_eq!(due(&mut change, 1000), NOTHING);
            assert!(change.answer_at().is_never());
            run(&mut change, cells([2]), 100, |change, seen, effects| {
                change.on_reconfiguration(&cells([4]), generation, seen, effects);
            });
            assert_eq!(change.answer_at(), time_at_ms(100 + ms));
            assert_eq!(due(&mut change, 99 + ms), NOTHING);
            assert_eq!(due(&mut change, 100 + ms), [answer]);
            assert_eq!(due(&mut change, 500), NOTHING);
        }
    }

    #[test]
    fn a_ue_that_is_not_connected_answers_later() {
        let (config, mut effects) = (config(), Effects::new());
        let mut change = SecondaryCellChange {
            sent: None,
            answer_at: Some(time_at_ms(5)),
        };
        let seen = Seen {
            is_connected: false,
            ..Seen::connected(&config, time_at_ms(9))
        };
        change.on_due(&seen, &mut effects);
        assert!(effects.is_empty() && change.answer_at() == time_at_ms(5));
    }

    #[test]
    fn the_answer_adds_the_sent_cells_once() {
        let (mut change, mut effects) = (SecondaryCellChange::default(), Effects::new());
        change.on_answer(&mut effects);
        assert_eq!(effects, NOTHING, "none was sent");
        report(&mut change, cells([2]), [4]);
        change.on_answer(&mut effects);
        change.on_answer(&mut effects);
        assert_eq!(
            effects,
            [Effect::Ue(UeEffect::AddSecondaryCells(cells([4])))]
        );
    }
}
