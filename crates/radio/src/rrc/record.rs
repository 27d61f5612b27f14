//! Result row of a UE's handover, filled while the handover is under way.

use fadeout_core::{CellId, HandoverOutcome, HandoverRow, Procedure, Span, Time, UeId};

/// Time from the end of a handover until its result row is written. The first packets in the target
/// cell arrive in this time.
const DELAY: Span = Span::from_millis(100);

/// Start of a result row, which tells the steps that happened before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NewRow {
    pub procedure: Procedure,
    /// Source and target.
    pub ends: [CellId; 2],
    /// Time of the trigger. `None` if the procedure has no trigger.
    pub triggered_at: Option<Time>,
    /// Time of the command. `None` if there was no command yet.
    pub commanded_at: Option<Time>,
    /// Time at which the UE left the source. `None` if the UE has not left it yet.
    pub left_at: Option<Time>,
}

impl NewRow {
    /// Returns the start of the row of a procedure that is triggered now.
    pub(crate) fn triggered(procedure: Procedure, ends: [CellId; 2], now: Time) -> NewRow {
        NewRow {
            procedure,
            ends,
            triggered_at: Some(now),
            commanded_at: None,
            left_at: None,
        }
    }
}

/// Returns a time in seconds, the unit of a handover row.
pub(crate) fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).as_secs_f64()
}

/// Returns the result row of a handover of a UE before its next step.
fn row_of(ue: UeId, new: NewRow) -> HandoverRow {
    let seconds_of = |at: Option<Time>| at.map_or(f64::NAN, seconds);
    HandoverRow {
        time_s: Time::ZERO,
        ue,
        source: new.ends[0],
        target: new.ends[1],
        procedure: new.procedure,
        outcome: HandoverOutcome::Success,
        triggered_s: seconds_of(new.triggered_at),
        commanded_s: seconds_of(new.commanded_at),
        left_s: seconds_of(new.left_at),
        entered_s: f64::NAN,
        completed_s: f64::NAN,
        switched_s: f64::NAN,
        downlink_gap_s: f64::NAN,
        uplink_gap_s: f64::NAN,
        preambles: 0,
        forwarded_numbered: 0,
        forwarded_fresh: 0,
        lost_packets: 0,
        bicast_s: f64::NAN,
        bicast_packets: 0,
        doubled_packets: 0,
        early_copies: 0,
        useless_copies: 0,
    }
}

/// Time in a result row that a step of the handover sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowTime {
    Commanded,
    Bicast,
    Left,
    Entered,
    /// Arrival of the complete message. After an entry without random access, the row already
    /// contains the time of the first uplink data, which was earlier and stays.
    Completed,
    Switched,
}

/// Handover that a result row describes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    pub procedure: Procedure,
    pub source: CellId,
    /// True if the last step of the handover is done.
    pub is_done: bool,
}

/// Result row of the handover under way, or of a finished handover until the row is due.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    row: Option<HandoverRow>,
    due_at: Time,
}

impl Record {
    /// Returns a record without a handover.
    pub(crate) fn new() -> Record {
        Record {
            row: None,
            due_at: Time::NEVER,
        }
    }

    /// Starts the row of a handover of a UE.
    pub(crate) fn begin(&mut self, ue: UeId, new: NewRow) {
        self.row = Some(row_of(ue, new));
        self.due_at = Time::NEVER;
    }

    /// Changes the row with `step`, if a handover is under way.
    pub(crate) fn update_row(&mut self, step: impl FnOnce(&mut HandoverRow)) {
        if let Some(row) = &mut self.row {
            step(row);
        }
    }

    /// Sets a time of the row to `now`, if a handover is under way.
    pub(crate) fn stamp(&mut self, what: RowTime, now: Time) {
        let now_s = seconds(now);
        self.update_row(|row| match what {
            RowTime::Commanded => row.commanded_s = now_s,
            RowTime::Bicast => row.bicast_s = now_s,
            RowTime::Left => row.left_s = now_s,
            RowTime::Entered => row.entered_s = now_s,
            RowTime::Completed if !row.completed_s.is_nan() => {}
            RowTime::Completed => row.completed_s = now_s,
            RowTime::Switched => row.switched_s = now_s,
        });
    }

    /// Returns the handover under way or done. `None` if there is none.
    pub(crate) fn change(&self) -> Option<Change> {
        let row = self.row.as_ref()?;
        Some(Change {
            procedure: row.procedure,
            source: row.source,
            is_done: self.is_done(),
        })
    }

    /// Records that the last step of the handover is done. Its row follows after a delay.
    pub(crate) fn on_done(&mut self, now: Time) {
        self.due_at = now.saturating_add(DELAY);
    }

    /// True if the last step of the handover is done.
    pub(crate) fn is_done(&self) -> bool {
        !self.due_at.is_never()
    }

    /// Returns the time at which the row is due.
    pub(crate) fn due_at(&self) -> Time {
        self.due_at
    }

    /// Sets the outcome of a handover that fails, unless its last step is done.
    pub(crate) fn fail(&mut self, outcome: HandoverOutcome) {
        if !self.is_done() {
            self.update_row(|row| row.outcome = outcome);
        }
    }

    /// Removes the row and returns it with the time `now`. `None` if there is no row.
    pub(crate) fn take_row(&mut self, now: Time) -> Option<HandoverRow> {
        self.due_at = Time::NEVER;
        let mut row = self.row.take()?;
        row.time_s = now;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_row_follows_the_last_step_and_a_failure_before_it_shows() {
        let mut record = Record::new();
        record.update_row(|_| panic!("none is under way"));
        assert_eq!(record.take_row(at_ms(0)).map(|row| row.ue), None);
        let new = NewRow::triggered(Procedure::Handover, [CellId(1), CellId(2)], at_ms(3));
        record.begin(UeId(3), new);
        record.update_row(|row| row.preambles += 2);
        record.fail(HandoverOutcome::Refused);
        let row = record.take_row(at_ms(7)).expect("a row");
        assert_eq!((row.time_s, row.preambles), (at_ms(7), 2));
        assert_eq!(row.triggered_s, 0.003);
        assert!(row.commanded_s.is_nan() && row.left_s.is_nan(), "not yet");
        assert_eq!(row.outcome, HandoverOutcome::Refused);
        record.begin(UeId(3), new);
        record.on_done(at_ms(10));
        assert_eq!((record.is_done(), record.due_at()), (true, at_ms(110)));
        record.fail(HandoverOutcome::Failed);
        let row = record.take_row(at_ms(110)).expect("a row");
        assert_eq!(row.outcome, HandoverOutcome::Success, "it was over");
        assert!(!record.is_done());
    }
}
