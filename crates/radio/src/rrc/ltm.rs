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

use super::effect::{Effect, Effects, EntryMethod, EntryStart, ReportEffect, Seen, UeEffect};
use super::message::Message;
use super::record::NewRow;
use crate::config::{EarlySync, LtmConfig};
use fadeout_core::{CellId, Direction, HandoverOutcome, LinkInfo, Procedure, RrcEvent, Span, Time};

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
struct Timing {
    cell: CellId,
    until: Time,
    /// Round trip time that the timing advance compensates.
    round_trip: Span,
}

/// Report of levels that has arrived at the network.
pub(crate) struct LevelReport<'a> {
    pub serving_dbm: f64,
    /// Candidates with their levels in dBm.
    pub candidates: &'a [(CellId, f64)],
    /// True if PDCCH, which carries the order for a preamble, reaches the UE.
    pub is_pdcch_heard: bool,
}

/// Decision of the network about a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
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

    /// Handles a due departure of the UE, or the end of the network's wait for the departure.
    /// Returns true if the UE leaves its cell.
    pub(crate) fn on_due(&mut self, seen: &Seen<'_>, effects: &mut Effects) -> bool {
        let is_due = |(_, at): &mut (CellId, Time)| *at <= seen.now;
        if let Some((target, _)) = self.leaving.take_if(is_due) {
            self.switch_cell(target, seen, effects);
            return true;
        }
        if self.commanded.take_if(is_due).is_some() {
            // A switch command that arrives later must have no effect.
            effects.push_back(Effect::CancelCommand);
            effects.push_back(Effect::Report(ReportEffect::Notify(
                LinkInfo::BlockageEnded,
            )));
            effects.push_back(Effect::Report(ReportEffect::FailRow(
                HandoverOutcome::Cancelled,
            )));
        }
        false
    }

    /// Makes the UE leave its cell for a candidate. With a valid timing advance, the UE enters the
    /// candidate without random access.
    fn switch_cell(&mut self, target: CellId, seen: &Seen<'_>, effects: &mut Effects) {
        let (Some(config), Some(source)) = (seen.config.ltm(), seen.serving) else {
            return;
        };
        self.lacks_candidates = seen.lacks_candidates;
        let timing = self.timing(target, seen.now);
        let timing = timing.filter(|_| config.early == EarlySync::Both);
        let fate = seen.config.fate_between(source, target);
        effects.push_back(Effect::Ue(UeEffect::StopDownlink(fate)));
        effects.push_back(Effect::Ue(UeEffect::Detach(Some(target))));
        effects.push_back(Effect::Ue(UeEffect::StartEntry(EntryStart {
            cell: target,
            procedure: Procedure::Ltm,
            ready_at: seen.after(config.interruption()),
            until: seen.after(seen.config.procedure.t304),
            method: timing.map_or(EntryMethod::Random, |it| EntryMethod::Timed(it.round_trip)),
        })));
    }

    /// Handles a report at the network, which may command a switch or order a preamble.
    pub(crate) fn on_level_report(
        &mut self,
        report: &LevelReport<'_>,
        seen: &Seen<'_>,
        effects: &mut Effects,
    ) {
        let (Some(config), Some(serving)) = (seen.config.ltm(), seen.serving) else {
            return;
        };
        match self.decide(seen.now, report.serving_dbm, report.candidates, config) {
            Decision::Switch(target) => {
                let row = NewRow::triggered(Procedure::Ltm, [serving, target], seen.now);
                effects.push_back(Effect::Report(ReportEffect::BeginRow(NewRow {
                    commanded_at: Some(seen.now),
                    ..row
                })));
                effects.push_back(Effect::Report(ReportEffect::RecordEvent(
                    Some(target),
                    RrcEvent::CommandSent,
                )));
                effects.push_back(Effect::Report(ReportEffect::Notify(
                    LinkInfo::BlockagePredicted {
                        starts_at: seen.now,
                        lasts: config.interruption() + seen.config.access.predicted_duration(),
                    },
                )));
                let command = Message::Switch(target);
                effects.push_back(Effect::SendMessage(Direction::Downlink, command));
            }
            Decision::Order(cell, at) if report.is_pdcch_heard => {
                effects.push_back(Effect::Ue(UeEffect::OrderPreamble(cell, at)));
            }
            Decision::Order(..) | Decision::Stay => {}
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
    fn decide(
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
    fn timing(&self, cell: CellId, now: Time) -> Option<Timing> {
        let mut timings = self.timings.iter();
        timings
            .find(|timing| timing.cell == cell && now < timing.until)
            .copied()
    }

    /// Handles a command at the UE, whose feedback ends at `confirmed_at`.
    pub(crate) fn on_command(&mut self, target: CellId, confirmed_at: Time, effects: &mut Effects) {
        effects.push_back(Effect::Report(ReportEffect::RecordEvent(
            Some(target),
            RrcEvent::CommandReceived,
        )));
        // The UE's feedback confirms the command.
        self.commanded = None;
        self.leaving = Some((target, confirmed_at.saturating_add(LEAVES_AFTER)));
    }

    /// Returns true once, if the UE left its cell before it used the latest list of candidates.
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
mod tests;
