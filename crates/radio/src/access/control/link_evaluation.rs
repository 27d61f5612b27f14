//! Radio link monitoring of UEs under mobility management. All link evaluations of one instant run
//! together, in the order of the UEs.
//!
//! A UE without DRX would evaluate its link every 10 ms, and the result is almost always "in sync".
//! Qout applies to the mean SINR of up to 20 evaluations, and no linear SINR is negative. A few
//! good values therefore bound the mean from below. After a good evaluation, the UE skips
//! evaluations while that bound stays above Qout. Interferers count with an upper bound of their
//! power where the bound suffices. Evaluations are skipped only while T310 is stopped and no
//! evaluation was out of sync.
//!
//! If a later evaluation does not keep the bound above Qout, the skipped evaluations are computed
//! for the times at which they were due. This is possible for three reasons. Gains depend on
//! positions only, a UE on a straight line has known past positions, and past transmissions of
//! cells are kept.

use super::managed::Managed;
use crate::air::{Air, LinkEvaluation, LinkMonitoring};
use crate::config::{Env, LegId, Monitoring};
use crate::rrc::monitor::{Indication, LinkWatch};
use crate::rrc::pace::{Evaluation, MOST_EVALUATIONS};
use fadeout_core::{Motion, Probe, RrcEvent, Span, Time, UeId};

/// Schedule of the next link evaluations.
#[derive(Debug)]
pub(crate) struct EvaluationSchedule {
    /// Time of the next evaluation, by UE. `Time::NEVER` if the UE has none.
    next_at: Vec<Time>,
    /// Next instant of the common evaluation grid of UEs without DRX.
    regular_at: Time,
    period: Span,
}

impl EvaluationSchedule {
    /// Builds the schedule from the first evaluation time of each UE. UEs without DRX evaluate at
    /// multiples of `period`.
    pub(crate) fn new(next_at: Vec<Time>, period: Span) -> EvaluationSchedule {
        EvaluationSchedule {
            next_at,
            regular_at: Time::ZERO.saturating_add(period),
            period,
        }
    }

    /// Sets the time of a UE's next evaluation.
    #[inline]
    pub(crate) fn set_next(&mut self, ue: UeId, at: Time) {
        self.next_at[ue.index()] = at;
    }

    /// Returns the first UE with an index of at least `from` whose evaluation is due. `None` if no
    /// such evaluation is due.
    pub(crate) fn due(&self, from: usize, now: Time) -> Option<UeId> {
        let candidates = self.next_at.get(from..)?;
        let position = candidates.iter().position(|&at| at <= now)?;
        Some(UeId((from + position) as u32))
    }

    /// Returns true if `now` is an instant of the common grid.
    pub(crate) fn is_regular(&self, now: Time) -> bool {
        self.regular_at <= now
    }

    /// Returns the earliest time at which an evaluation may be due.
    pub(crate) fn wake_at(&self) -> Time {
        let earliest = self.next_at.iter().copied().min();
        earliest.map_or(Time::NEVER, |at| at.min(self.regular_at))
    }

    /// Advances the common grid after all evaluations at `now`.
    pub(crate) fn advance_grid(&mut self, now: Time) {
        if self.is_regular(now) {
            self.regular_at = self.regular_at.saturating_add(self.period);
        }
    }
}

impl Managed<'_> {
    /// Evaluates the UE's link and counts the in-sync or out-of-sync indication.
    pub(crate) fn evaluate<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        if self.state.link.next_at() > env.now {
            return;
        }
        // While T310 runs, the UE evaluates its link as without DRX (TS 36.133 clause 7.6.2.2).
        let is_in_trouble = self.state.link.is_in_trouble();
        let sleep = self.service.sleep(self.ue, env.now);
        let over = Evaluation::new(self.config, sleep.filter(|_| !is_in_trouble));
        self.state.link.begin(env.now, over);
        // Links of 3G cells are not monitored in this model.
        let is_there = self.state.has_link() && !self.is_in_utra();
        let Some(leg) = self.leg().filter(|_| is_there) else {
            return;
        };
        let evaluation = LinkEvaluation {
            at: env.now,
            back: 0,
        };
        // With DRX, fewer evaluations with longer intervals form the mean, so none is skipped.
        let may_wait = self.config.may_skip_evaluations() && !self.service.may_sleep(leg);
        let mut air = LinkMonitoring(&mut self.service.stack.air);
        let link = &mut self.state.link;
        let enough = link.sufficient_sinr();
        let least = may_wait.then(|| air.least_quality(leg, evaluation, enough, motion));
        match least.filter(|&(sinr, is_found)| is_found || sinr >= enough) {
            Some((sinr, is_found)) => link.record_sinr(sinr, is_found),
            None => link.record_sinr(air.quality(leg, evaluation, motion), true),
        }
        let air = &mut self.service.stack.air;
        let monitoring = &self.config.monitoring;
        let mut indication = None;
        if !may_wait || !link.is_settled() {
            compute_skipped((leg, link), (env.now, monitoring), air, motion);
            indication = link.count_indication(env.now, monitoring, over);
        }
        if may_wait {
            let grid = (monitoring.period, MOST_EVALUATIONS);
            let until = LinkMonitoring(air).computable_until(leg, env.now, grid, motion);
            if link.next_at() >= until {
                compute_skipped((leg, link), (env.now, monitoring), air, motion);
            }
            link.skip_evaluations(until, monitoring);
        }
        match indication {
            Some(Indication::OutOfSync) => self.record_event(RrcEvent::OutOfSync, env),
            Some(Indication::InSync) => self.record_event(RrcEvent::InSync, env),
            None => {}
        }
    }
}

/// Computes the skipped evaluations of a link.
fn compute_skipped<M: Motion>(
    (leg, link): (LegId, &mut LinkWatch),
    (now, config): (Time, &Monitoring),
    air: &mut Air,
    motion: &mut M,
) {
    while let Some(back) = link.latest_inexact() {
        let at = now - config.period * back as u64;
        let sinr = LinkMonitoring(air).quality(leg, LinkEvaluation { at, back }, motion);
        link.set_exact_sinr(back, sinr);
    }
}
