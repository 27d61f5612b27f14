//! L1/L2-triggered mobility (LTM) of one UE: reports of L1-RSRP, the network's decisions, and early
//! synchronisation.
//!
//! ```text
//! candidates ─► L1 reports ─► offset exceeded repeatedly: command ─► on_command ─► departure
//!                    │
//!                    └► order of a preamble ─► preamble received: timing advance is known
//! ```
//!
//! [`Ltm`] receives reports and times. The radio channel, the clock and signalling are outside this
//! module. [`Candidacy`](super::candidacy::Candidacy) stores the prepared candidates.
//!
//! Standard: TS 38.300 §9.2.3.5; TS 38.321 §5.18.35.

use crate::config::{EarlySync, LtmConfig};
use fadeout_core::{CellId, Span, Time};

/// Time from the feedback of a command to the UE's departure.
///
/// Standard: TS 38.133 §6.3.1.2.
const LEAVES_AFTER: Span = Span::from_millis(3);

/// Time for which the network waits for the UE's departure before it assumes that the command is
/// lost. The time is longer than feedback and HARQ retransmissions take. No standard gives a value.
const COMMAND_LASTS: Span = Span::from_millis(60);

/// Margin in dB for early synchronisation. The network requests the timing advance of a candidate
/// whose level is less than this margin below the offset. No standard gives a value.
const EARLY_DB: f64 = 6.0;

/// Validity of a timing advance, one of the values of timeAlignmentTimer.
///
/// Standard: TS 38.331 §6.3.2.
const TIMING_HOLDS: Span = Span::from_millis(1280);

/// Time from the order to send a preamble to the first occasion that the UE may use.
const ORDER_TAKES: Span = Span::from_millis(4);

/// State of a UE with L1/L2-triggered mobility.
#[derive(Debug)]
pub(crate) struct Ltm {
    report_at: Time,
    /// Candidates that exceeded the offset in the latest report, each with the number of
    /// consecutive reports in which the candidate exceeded the offset.
    ahead: Vec<(CellId, u32)>,
    /// Target of the switch command, and the time until which the network waits for the UE's
    /// departure.
    commanded: Option<(CellId, Time)>,
    /// Target of a command that the UE has received, and the time of its departure.
    leaving: Option<(CellId, Time)>,
    /// Cell in which the UE was ordered to send a preamble, and the time of the preamble.
    ordered: Option<(CellId, Time)>,
    timings: Vec<Timing>,
    /// True if the UE left its cell before it received the latest list of candidates.
    lacks_candidates: bool,
}

/// Timing advance of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Timing {
    cell: CellId,
    until: Time,
    /// Round trip time that the timing advance compensates.
    pub round_trip: Span,
}

/// Decision of the network about a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The UE stays in its cell.
    Stay,
    /// The UE is commanded to this cell.
    Switch(CellId),
    /// The UE is ordered to send a preamble in this cell, at the first occasion from this time on.
    Order(CellId, Time),
}

impl Ltm {
    pub(crate) fn new() -> Ltm {
        Ltm {
            report_at: Time::ZERO,
            ahead: Vec::new(),
            commanded: None,
            leaving: None,
            ordered: None,
            timings: Vec::new(),
            lacks_candidates: false,
        }
    }

    /// Returns the time of the next action of a connected UE. Reports are due only if there are
    /// candidates.
    pub(crate) fn wake_at(&self, has_candidates: bool) -> Time {
        let report_at = match has_candidates {
            true => self.report_at,
            false => Time::NEVER,
        };
        let parts = [self.commanded, self.leaving, self.ordered];
        let first = parts.into_iter().flatten().map(|(_, at)| at).min();
        report_at.min(first.unwrap_or(Time::NEVER))
    }

    /// True if a command is under way.
    pub(crate) fn is_switching(&self) -> bool {
        self.commanded.is_some() || self.leaving.is_some()
    }

    /// True if the UE reports now. Reports are due at multiples of `period`, which is not zero.
    ///
    /// Standard: TS 38.214 §5.2.1.4.
    pub(crate) fn is_report_due(&mut self, now: Time, period: Span) -> bool {
        if now < self.report_at {
            return false;
        }
        let (now, period) = (now.as_nanos(), period.as_nanos());
        let passed = now / period;
        self.report_at = Time::from_nanos((passed + 1).saturating_mul(period));
        passed * period == now
    }

    /// Handles a report of the serving cell and of candidates in dBm. Returns the network's
    /// decision.
    pub(crate) fn on_report(
        &mut self,
        now: Time,
        serving_dbm: f64,
        candidates: &[(CellId, f64)],
        config: &LtmConfig,
    ) -> Decision {
        let is_listed = |cell: CellId| candidates.iter().any(|&(listed, _)| listed == cell);
        self.ahead.retain(|&(cell, _)| is_listed(cell));
        let mut best: Option<(CellId, f64)> = None;
        let mut near: Option<(CellId, f64)> = None;
        for &(cell, level) in candidates {
            let margin_db = level - serving_dbm - config.offset.0;
            let place = self.ahead.iter().position(|&(other, _)| other == cell);
            if margin_db <= 0.0 {
                if let Some(place) = place {
                    self.ahead.swap_remove(place);
                }
            } else {
                let place = place.unwrap_or_else(|| {
                    self.ahead.push((cell, 0));
                    self.ahead.len() - 1
                });
                let count = &mut self.ahead[place].1;
                *count = count.saturating_add(1);
                let is_ready = *count >= config.reports;
                if is_ready && best.is_none_or(|(_, of_best)| level > of_best) {
                    best = Some((cell, level));
                }
            }
            let is_near = margin_db > -EARLY_DB && self.timing(cell, now).is_none();
            if is_near && near.is_none_or(|(_, of_near)| level > of_near) {
                near = Some((cell, level));
            }
        }
        if self.is_switching() {
            return Decision::Stay;
        }
        match (best, near) {
            (Some((cell, _)), _) => {
                self.commanded = Some((cell, now.saturating_add(COMMAND_LASTS)));
                Decision::Switch(cell)
            }
            (None, Some((cell, _)))
                if config.early == EarlySync::Both && self.ordered.is_none() =>
            {
                Decision::Order(cell, now.saturating_add(ORDER_TAKES))
            }
            _ => Decision::Stay,
        }
    }

    /// Records that the UE was ordered to send a preamble in `cell`, at `occasion`.
    pub(crate) fn record_order(&mut self, cell: CellId, occasion: Time) {
        self.ordered = Some((cell, occasion));
    }

    /// Returns the cell of an ordered preamble once, when the preamble is due. `None` at other
    /// times.
    pub(crate) fn take_due_preamble(&mut self, now: Time) -> Option<CellId> {
        let ordered = self.ordered.take_if(|(_, at)| *at <= now);
        ordered.map(|(cell, _)| cell)
    }

    /// Records the round trip time that a candidate measured with an ordered preamble.
    pub(crate) fn on_preamble(&mut self, now: Time, cell: CellId, round_trip: Span) {
        self.timings.retain(|timing| timing.cell != cell);
        self.timings.push(Timing {
            cell,
            until: now.saturating_add(TIMING_HOLDS),
            round_trip,
        });
    }

    /// Returns the valid timing advance of a cell. `None` if there is none.
    pub(crate) fn timing(&self, cell: CellId, now: Time) -> Option<Timing> {
        let mut timings = self.timings.iter();
        timings
            .find(|timing| timing.cell == cell && now < timing.until)
            .copied()
    }

    /// Returns the target of a command once, when the network stops waiting for the UE's departure.
    /// `None` at other times.
    pub(crate) fn take_expired(&mut self, now: Time) -> Option<CellId> {
        let is_over = |(_, until): &mut (CellId, Time)| *until <= now;
        let expired = self.commanded.take_if(is_over);
        expired.map(|(cell, _)| cell)
    }

    /// Records that the UE has received a command whose feedback ends at `confirmed_at`.
    pub(crate) fn on_command(&mut self, target: CellId, confirmed_at: Time) {
        // The UE's feedback confirms the command.
        self.commanded = None;
        self.leaving = Some((target, confirmed_at.saturating_add(LEAVES_AFTER)));
    }

    /// Returns the target of a command once, when the UE's departure is due. `None` at other times.
    pub(crate) fn take_leaving(&mut self, now: Time) -> Option<CellId> {
        let leaving = self.leaving.take_if(|(_, at)| *at <= now);
        leaving.map(|(cell, _)| cell)
    }

    /// Records whether the UE leaves its cell without having received the latest list of
    /// candidates.
    pub(crate) fn set_lacks_candidates(&mut self, lacks_candidates: bool) {
        self.lacks_candidates = lacks_candidates;
    }

    /// Returns once the value of the last [`Ltm::set_lacks_candidates`], then false.
    pub(crate) fn take_lacks_candidates(&mut self) -> bool {
        std::mem::take(&mut self.lacks_candidates)
    }

    /// Cancels commands and orders, because the UE has left or lost its cell.
    pub(crate) fn on_left(&mut self) {
        self.ahead.clear();
        (self.commanded, self.leaving, self.ordered) = (None, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Decibel;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    const A: CellId = CellId(1);
    const B: CellId = CellId(2);

    fn config(early: EarlySync) -> LtmConfig {
        LtmConfig {
            offset: Decibel(3.0),
            reports: 3,
            early,
            ..LtmConfig::default()
        }
    }

    #[test]
    fn the_network_commands_after_so_many_reports_in_a_row() {
        let config = config(EarlySync::None);
        let mut ltm = Ltm::new();
        let decide = |ltm: &mut Ltm, ms, levels: &[(CellId, f64)]| {
            ltm.on_report(at_ms(ms), -90.0, levels, &config)
        };
        assert_eq!(
            decide(&mut ltm, 0, &[(A, -86.9), (B, -80.0)]),
            Decision::Stay
        );
        assert_eq!(
            decide(&mut ltm, 20, &[(A, -86.9), (B, -80.0)]),
            Decision::Stay
        );
        // In the third report B reaches the offset exactly but does not exceed it, so the count of
        // B starts anew. The UE is switched to A.
        let third = decide(&mut ltm, 40, &[(A, -86.9), (B, -87.0)]);
        assert_eq!(third, Decision::Switch(A));
        assert!(ltm.is_switching());
        assert_eq!(ltm.wake_at(false), at_ms(100));
        for ms in [60, 80, 99] {
            assert_eq!(
                decide(&mut ltm, ms, &[(A, -80.0)]),
                Decision::Stay,
                "one at a time"
            );
        }
        assert_eq!(ltm.take_expired(at_ms(99)), None);
        assert_eq!(
            ltm.take_expired(at_ms(100)),
            Some(A),
            "the command was lost"
        );
        assert_eq!(
            decide(&mut ltm, 100, &[(A, -80.0)]),
            Decision::Switch(A),
            "again"
        );
    }

    #[test]
    fn of_several_the_strongest_is_commanded_and_a_cell_that_is_no_candidate_counts_anew() {
        let config = config(EarlySync::None);
        let mut ltm = Ltm::new();
        let both = [(A, -80.0), (B, -79.0)];
        for ms in [0, 20] {
            assert_eq!(
                ltm.on_report(at_ms(ms), -90.0, &both, &config),
                Decision::Stay
            );
        }
        // B is missing in the third report, so the count of B starts anew. The UE is switched to A.
        let only = ltm.on_report(at_ms(40), -90.0, &both[..1], &config);
        assert_eq!(only, Decision::Switch(A));
        ltm.on_left();
        assert!(!ltm.is_switching() && ltm.wake_at(false).is_never());
        for ms in [60, 80] {
            assert_eq!(
                ltm.on_report(at_ms(ms), -90.0, &both, &config),
                Decision::Stay
            );
        }
        let strongest = ltm.on_report(at_ms(100), -90.0, &both, &config);
        assert_eq!(strongest, Decision::Switch(B));
    }

    #[test]
    fn the_ue_leaves_three_milliseconds_behind_its_feedback() {
        let mut ltm = Ltm::new();
        ltm.on_command(A, at_ms(54));
        assert_eq!(ltm.wake_at(false), at_ms(57));
        assert_eq!(ltm.take_leaving(at_ms(56)), None);
        assert_eq!(ltm.take_leaving(at_ms(57)), Some(A));
        assert_eq!(ltm.take_leaving(at_ms(58)), None);
    }

    #[test]
    fn a_timing_advance_is_ordered_when_a_candidate_comes_near_and_holds_for_its_time() {
        let config = config(EarlySync::Both);
        let mut ltm = Ltm::new();
        let far = ltm.on_report(at_ms(0), -90.0, &[(A, -93.0)], &config);
        assert_eq!(far, Decision::Stay, "exactly 6 dB below");
        let near = ltm.on_report(at_ms(20), -90.0, &[(A, -92.0)], &config);
        assert_eq!(near, Decision::Order(A, at_ms(24)));
        ltm.record_order(A, at_ms(30));
        assert_eq!(ltm.wake_at(false), at_ms(30));
        let again = ltm.on_report(at_ms(28), -90.0, &[(A, -92.0)], &config);
        assert_eq!(again, Decision::Stay, "one is under way");
        assert_eq!(ltm.take_due_preamble(at_ms(30)), Some(A));
        ltm.on_preamble(at_ms(30), A, Span::from_nanos(700));
        let known = |ltm: &Ltm, ms| ltm.timing(A, at_ms(ms)).map(|it| it.round_trip.as_nanos());
        assert_eq!(known(&ltm, 31), Some(700));
        assert_eq!(known(&ltm, 1309), Some(700));
        assert_eq!(known(&ltm, 1310), None);
        let late = ltm.on_report(at_ms(1310), -90.0, &[(A, -92.0)], &config);
        assert_eq!(late, Decision::Order(A, at_ms(1314)));
    }

    #[test]
    fn reports_follow_each_other_by_the_period_while_there_are_candidates() {
        let mut ltm = Ltm::new();
        let period = Span::from_millis(20);
        assert!(ltm.wake_at(false).is_never());
        // The first candidates exist at 43 ms, so the first report is due at 60 ms.
        assert!(!ltm.is_report_due(at_ms(43), period));
        assert_eq!(ltm.wake_at(true), at_ms(60));
        assert!(!ltm.is_report_due(at_ms(59), period) && ltm.is_report_due(at_ms(60), period));
        assert_eq!(ltm.wake_at(true), at_ms(80));
    }
}
