//! Timetable of a UE's handovers, as of a recorded drive.

use fadeout_core::{CellId, Span, Time, UeId};
use std::collections::VecDeque;

/// Time until a handover is tried again while another change of the UE's cell is under way.
const RETRY: Span = Span::from_millis(10);

/// A handover that the network commands at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimetableEntry {
    /// Time at which the serving cell prepares the handover.
    pub at: Time,
    /// UE that is handed over.
    pub ue: UeId,
    /// Target cell.
    pub target: CellId,
}

/// Handovers of one UE that are still to come, in the order of their times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timetable {
    entries: VecDeque<TimetableEntry>,
    /// Time at which a handover that is due is tried again. Zero before the first attempt.
    tries_at: Time,
}

impl Timetable {
    /// Returns the timetable of a UE. The times in `all` increase for each UE.
    pub(crate) fn of(ue: UeId, all: &[TimetableEntry]) -> Timetable {
        Timetable {
            entries: all.iter().copied().filter(|it| it.ue == ue).collect(),
            tries_at: Time::ZERO,
        }
    }

    /// Returns the targets in order.
    pub(crate) fn targets(&self) -> impl Iterator<Item = CellId> {
        self.entries.iter().map(|it| it.target)
    }

    /// Returns the time of the next attempt. `Time::NEVER` if no handover is left.
    pub(crate) fn wake_at(&self) -> Time {
        let at = self.entries.front().map_or(Time::NEVER, |next| next.at);
        at.max(self.tries_at)
    }

    /// Returns the target of the handover that is due. A later handover that is due replaces
    /// earlier ones.
    pub(crate) fn due(&mut self, now: Time) -> Option<CellId> {
        while self.entries.get(1).is_some_and(|second| second.at <= now) {
            self.entries.pop_front();
        }
        let is_due = self.wake_at() <= now;
        self.entries
            .front()
            .filter(|_| is_due)
            .map(|next| next.target)
    }

    /// Delays the due handover until the next attempt.
    pub(crate) fn postpone(&mut self, now: Time) {
        self.tries_at = now.saturating_add(RETRY);
    }

    /// Removes the handover that is due.
    pub(crate) fn finish(&mut self) {
        self.entries.pop_front();
        self.tries_at = Time::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO.saturating_add(Span::from_millis(ms))
    }

    fn entry(ue: u32, ms: u64, cell: u32) -> TimetableEntry {
        TimetableEntry {
            at: at(ms),
            ue: UeId(ue),
            target: CellId(cell),
        }
    }

    #[test]
    fn a_handover_is_due_from_its_time_on_until_it_is_finished() {
        let all = [entry(0, 100, 1), entry(1, 50, 7), entry(0, 200, 2)];
        let mut own = Timetable::of(UeId(0), &all);
        assert_eq!(own.wake_at(), at(100));
        assert_eq!(own.due(at(99)), None);
        assert_eq!(own.due(at(100)), Some(CellId(1)));
        own.postpone(at(100));
        assert_eq!((own.wake_at(), own.due(at(105))), (at(110), None));
        assert_eq!(own.due(at(110)), Some(CellId(1)));
        own.finish();
        assert_eq!(own.due(at(199)), None);
        assert_eq!(own.due(at(200)), Some(CellId(2)));
        own.finish();
        assert_eq!((own.wake_at(), own.due(Time::NEVER)), (Time::NEVER, None));
    }

    #[test]
    fn a_later_handover_replaces_one_that_could_not_begin() {
        let mut own = Timetable::of(UeId(0), &[entry(0, 100, 1), entry(0, 120, 2)]);
        assert_eq!(own.due(at(100)), Some(CellId(1)));
        own.postpone(at(115));
        assert_eq!(own.due(at(125)), Some(CellId(2)));
    }
}
