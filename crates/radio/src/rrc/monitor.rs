//! Radio link monitoring: in-sync and out-of-sync indications, their counters, and T310.
//!
//! Standard: TS 38.331 §5.3.10.1, §5.3.10.2, §5.3.10.3; TS 36.331 §5.3.11; TS 36.133 §7.6.1.

use super::pace::{Evaluation, MOST_EVALUATIONS};
use crate::config::Monitoring;
use fadeout_core::math::from_db;
use fadeout_core::{Span, Time};

const WINDOW: usize = MOST_EVALUATIONS;
/// Tolerance factor that exceeds the rounding error of sums.
const ROUNDED: f64 = 1.0 + 1e-9;
/// Safety factor on the SINR for skipping evaluations. If a link becomes only slightly worse, its
/// skipped evaluations are then not needed. The factor affects the run time only, not the results.
const SPARE: f64 = 4.0;

/// Latest SINRs of a link, from which in-sync and out-of-sync indications follow.
#[derive(Debug, Clone)]
pub(crate) struct Quality {
    /// Linear SINR of the latest evaluations, or a lower bound of the SINR. The latest evaluation
    /// has index `next - 1`.
    latest: [f64; WINDOW],
    /// True for each entry of `latest` that is exact.
    is_found: [bool; WINDOW],
    count: usize,
    next: usize,
    /// Linear thresholds Qout and Qin.
    thresholds: [f64; 2],
}

/// Indication of the physical layer about the quality of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indication {
    /// The quality is below Qout.
    OutOfSync,
    /// The quality is above Qin.
    InSync,
}

impl Quality {
    /// Returns the quality of a link that was not evaluated yet.
    pub(crate) fn new(config: &Monitoring) -> Quality {
        Quality {
            latest: [0.0; WINDOW],
            is_found: [true; WINDOW],
            count: 0,
            next: 0,
            thresholds: [config.q_out, config.q_in].map(|it| from_db(it.0)),
        }
    }

    /// Discards the evaluations, because the UE has another link now.
    fn reset(&mut self) {
        (self.count, self.next) = (0, 0);
    }

    /// Adds an evaluation with this linear SINR, or with this lower bound if `is_found` is false.
    fn push(&mut self, sinr: f64, is_found: bool) {
        debug_assert!(sinr >= 0.0, "an evaluation found a SINR of {sinr}");
        (self.latest[self.next], self.is_found[self.next]) = (sinr, is_found);
        self.next = (self.next + 1) % WINDOW;
        self.count = (self.count + 1).min(WINDOW);
    }

    /// Returns the index of the evaluation that is `back` evaluations before the latest.
    fn place(&self, back: usize) -> usize {
        (self.next + 2 * WINDOW - 1 - back) % WINDOW
    }

    /// Returns the indication after the latest evaluation. All evaluations must be exact. `None` if
    /// the quality is between Qout and Qin.
    ///
    /// Standard: TS 36.133 §7.6.1.
    fn indication(&self, over: Evaluation) -> Option<Indication> {
        let [out, in_sync] = self.thresholds;
        if self.mean(over.out) < out {
            return Some(Indication::OutOfSync);
        }
        (self.mean(over.in_sync) > in_sync).then_some(Indication::InSync)
    }

    /// Returns how many of the latest evaluations suffice for a mean over [`WINDOW`] of at least
    /// `margin` times Qout. All other evaluations may be zero, the lowest linear SINR. `None` if
    /// all evaluations together do not suffice.
    fn suffices(&self, margin: f64) -> Option<usize> {
        let needed = self.needed(margin);
        let mut sum = 0.0;
        (0..self.count).find_map(|back| {
            sum += self.latest[self.place(back)];
            (sum >= needed).then_some(back + 1)
        })
    }

    /// Returns the sum of SINRs whose mean over [`WINDOW`] evaluations is `margin` times Qout.
    fn needed(&self, margin: f64) -> f64 {
        self.thresholds[0] * WINDOW as f64 * margin
    }

    /// Returns the mean SINR of the latest `most` evaluations, or of all evaluations if there are
    /// fewer.
    fn mean(&self, most: usize) -> f64 {
        let count = self.count.min(most);
        let latest = (1..=count).map(|back| self.latest[(self.next + WINDOW - back) % WINDOW]);
        latest.sum::<f64>() / count.max(1) as f64
    }
}

/// Counters and timers T310 and T312 of one link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkMonitor {
    out_of_sync: u32,
    in_sync: u32,
    /// Time at which T310 expires.
    t310_expires_at: Time,
    /// Time at which T312 expires.
    t312_expires_at: Time,
}

impl LinkMonitor {
    pub(crate) fn new() -> LinkMonitor {
        LinkMonitor {
            out_of_sync: 0,
            in_sync: 0,
            t310_expires_at: Time::NEVER,
            t312_expires_at: Time::NEVER,
        }
    }

    /// Starts T312 if T310 runs, because a measurement report about a neighbour was triggered. T312
    /// ends the link earlier than T310 would.
    ///
    /// Standard: TS 38.331 §5.5.4.1, §7.1.1; TS 36.331 §5.5.4.1, §7.3.
    pub(crate) fn on_report(&mut self, now: Time, config: &Monitoring) {
        if let Some(t312) = config.t312
            && self.is_in_trouble()
            && self.t312_expires_at.is_never()
        {
            self.t312_expires_at = now.saturating_add(t312);
        }
    }

    /// Counts an indication. Must be called only while none of T300, T301, T304 and T311 runs. An
    /// in-sync indication resets the count of out-of-sync indications, and vice versa.
    pub(crate) fn on_indication(&mut self, now: Time, config: &Monitoring, what: Indication) {
        match what {
            Indication::OutOfSync => {
                self.in_sync = 0;
                self.out_of_sync += 1;
                if self.t310_expires_at.is_never() && self.out_of_sync >= config.n310 {
                    self.t310_expires_at = now.saturating_add(config.t310);
                }
            }
            Indication::InSync => {
                self.out_of_sync = 0;
                self.in_sync += 1;
                if self.in_sync >= config.n311 {
                    self.t310_expires_at = Time::NEVER;
                    self.t312_expires_at = Time::NEVER;
                }
            }
        }
        debug_assert!(
            self.in_sync == 0 || self.out_of_sync == 0,
            "a run of indications is of both sorts"
        );
        debug_assert!(
            self.t312_expires_at.is_never() || self.is_in_trouble(),
            "T312 runs without T310"
        );
    }

    /// True if T310 or T312 has expired, so the radio link has failed.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.wake_at() <= now
    }

    /// True if T310 runs.
    pub(crate) fn is_in_trouble(&self) -> bool {
        !self.t310_expires_at.is_never()
    }

    /// True if only an out-of-sync indication would change the state.
    fn is_quiet(&self) -> bool {
        self.out_of_sync == 0 && self.wake_at().is_never()
    }

    /// Returns the time at which T310 or T312 expires, whichever is first.
    pub(crate) fn wake_at(&self) -> Time {
        self.t310_expires_at.min(self.t312_expires_at)
    }
}

/// Radio link monitoring of a UE under mobility management: times and results of the link
/// evaluations.
#[derive(Debug)]
pub(crate) struct LinkWatch {
    quality: Quality,
    monitor: LinkMonitor,
    next_at: Time,
    /// True if the UE is skipping evaluations.
    is_waiting: bool,
}

impl LinkWatch {
    /// Returns the monitoring of a link that the UE evaluates from `first` on.
    pub(crate) fn new(first: Time, config: &Monitoring) -> LinkWatch {
        LinkWatch {
            quality: Quality::new(config),
            monitor: LinkMonitor::new(),
            next_at: first,
            is_waiting: false,
        }
    }

    /// Returns the time of the next evaluation.
    pub(crate) fn next_at(&self) -> Time {
        self.next_at
    }

    /// Begins an evaluation now. The next evaluation follows after the period of `over`.
    pub(crate) fn begin(&mut self, now: Time, over: Evaluation) {
        debug_assert!(!over.period.is_zero(), "a UE evaluations all the time");
        self.next_at = now.saturating_add(over.period);
        self.is_waiting = false;
    }

    /// Records the linear SINR of the evaluation that [`LinkWatch::begin`] began. If `is_found` is
    /// false, `sinr` is a lower bound.
    pub(crate) fn record_sinr(&mut self, sinr: f64, is_found: bool) {
        self.quality.push(sinr, is_found);
    }

    /// Returns the least linear SINR at which a lower bound suffices instead of the exact SINR.
    /// Returns infinity if the exact SINR is needed in any case.
    pub(crate) fn sufficient_sinr(&self) -> f64 {
        match self.monitor.is_quiet() {
            true => self.quality.needed(SPARE),
            false => f64::INFINITY,
        }
    }

    /// True if the known evaluations show that the state does not change now. The link is then not
    /// out of sync, and an in-sync indication would have no effect. If false, the caller must use
    /// [`LinkWatch::count_indication`].
    pub(crate) fn is_settled(&self) -> bool {
        self.monitor.is_quiet() && self.quality.suffices(ROUNDED).is_some()
    }

    /// Returns how many evaluations ago the latest evaluation without an exact SINR was made.
    /// `None` if all evaluations are exact.
    pub(crate) fn latest_inexact(&self) -> Option<usize> {
        let quality = &self.quality;
        (0..quality.count).find(|&back| !quality.is_found[quality.place(back)])
    }

    /// Sets the exact linear SINR of the evaluation that is `back` evaluations before the latest.
    pub(crate) fn set_exact_sinr(&mut self, back: usize, sinr: f64) {
        let place = self.quality.place(back);
        (self.quality.latest[place], self.quality.is_found[place]) = (sinr, true);
    }

    /// Counts the indication that follows from the evaluations, which must all be exact. Returns
    /// the indication if it starts or stops T310. In that case the following evaluations are not
    /// skipped.
    pub(crate) fn count_indication(
        &mut self,
        now: Time,
        config: &Monitoring,
        over: Evaluation,
    ) -> Option<Indication> {
        let what = self.quality.indication(over)?;
        let was_in_trouble = self.is_in_trouble();
        self.monitor.on_indication(now, config, what);
        if was_in_trouble == self.is_in_trouble() {
            return None;
        }
        let soon = now.saturating_add(config.period);
        self.next_at = self.next_at.min(soon);
        Some(what)
    }

    /// Skips evaluations as long as [`LinkWatch::is_settled`] is certain to be true. Evaluations
    /// before `until` may be skipped, because they can be made later with the same result.
    pub(crate) fn skip_evaluations(&mut self, until: Time, config: &Monitoring) {
        if !self.monitor.is_quiet() {
            return;
        }
        let Some(needed) = self.quality.suffices(SPARE) else {
            return;
        };
        let mut next_at = self.next_at;
        for _ in needed..=WINDOW - 1 {
            let later = next_at.saturating_add(config.period);
            if later >= until {
                break;
            }
            self.quality.push(0.0, false);
            next_at = later;
        }
        self.is_waiting = next_at > self.next_at;
        self.next_at = next_at;
    }

    /// Handles a triggered measurement report. See [`LinkMonitor::on_report`].
    pub(crate) fn on_report(&mut self, now: Time, config: &Monitoring) {
        self.monitor.on_report(now, config);
    }

    /// Resets the monitoring for a new link. No evaluation is skipped at first.
    pub(crate) fn reset(&mut self, now: Time, config: &Monitoring) {
        self.quality.reset();
        self.monitor = LinkMonitor::new();
        if self.is_waiting {
            let evaluations = now.as_nanos() / config.period.as_nanos();
            self.next_at = Time::ZERO.saturating_add(config.period * (evaluations + 1));
            self.is_waiting = false;
        }
    }

    /// True if T310 runs.
    pub(crate) fn is_in_trouble(&self) -> bool {
        self.monitor.is_in_trouble()
    }

    /// True if the link has failed.
    pub(crate) fn has_failed(&self, now: Time) -> bool {
        self.monitor.has_expired(now)
    }

    /// Returns the time at which the link fails unless it recovers.
    pub(crate) fn fails_at(&self) -> Time {
        self.monitor.wake_at()
    }
}

/// Returns how long a link without radio link monitoring must be out of range before the link
/// counts as lost. For the only cell, or the master node's cell, the time is T310 plus T311. The
/// link fails after T310, and the UE finds no cell within T311. For the secondary node the time is
/// T310, because the UE only reports the failure to the master node.
///
/// Standard: TS 38.331 §5.3.10.3, §5.3.7.6, §5.7.3.2; TS 36.331 §5.3.11.3, §5.3.7.
pub(crate) fn lost_after(is_secondary: bool, config: &Monitoring) -> Span {
    match is_secondary {
        false => config.t310 + config.t311,
        true => config.t310,
    }
}

/// Evaluations of a link without radio link monitoring. The link is evaluated only while data waits
/// to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkEvaluations {
    /// Time since which all evaluations have been out of range. [`Time::NEVER`] if the last
    /// evaluation was in range.
    out_since: Time,
    /// Time of the latest evaluation that was out of range.
    latest_at: Time,
}

impl LinkEvaluations {
    pub(crate) const fn new() -> LinkEvaluations {
        LinkEvaluations {
            out_since: Time::NEVER,
            latest_at: Time::ZERO,
        }
    }

    /// Records an evaluation that was in range.
    #[inline]
    pub(crate) fn record_in_range(&mut self) {
        self.out_since = Time::NEVER;
    }

    /// Records an evaluation that was out of range. If two such evaluations are less than `apart`
    /// from each other, the link counts as out of range between them. Returns true if this
    /// evaluation makes the link [lost](lost_after). The time out of range then starts anew.
    ///
    /// Standard: TS 38.331 §5.3.10.1, §5.3.10.3; TS 36.331 §5.3.11.
    pub(crate) fn record_out_of_range(&mut self, now: Time, lost_after: Span, apart: Span) -> bool {
        let is_stale = now.since(self.latest_at) > apart;
        self.latest_at = now;
        if self.out_since.is_never() || is_stale {
            self.out_since = now;
        }
        let is_lost = now.since(self.out_since) >= lost_after;
        if is_lost {
            self.out_since = Time::NEVER;
        }
        is_lost
    }
}

#[cfg(test)]
mod tests;
