//! Radio link monitoring: in and out of sync, their counters, T310.
//!
//! Standard: TS 38.331 §5.3.10.1, §5.3.10.2, §5.3.10.3; TS 36.331 §5.3.11; TS 36.133 §7.6.1.

use super::pace::{Evaluation, MOST_EVALUATIONS};
use crate::config::Monitoring;
use fadeout_core::math::from_db;
use fadeout_core::{Span, Time};

const WINDOW: usize = MOST_EVALUATIONS;
/// More than sums are rounded by.
const ROUNDED: f64 = 1.0 + 1e-9;
/// By so much what is known is more than enough where looks are left out: a link that gets worse should not
/// soon ask for those as well. It decides what a run costs, not what it finds.
const SPARE: f64 = 4.0;

/// The quality of a link over time, as indications.
#[derive(Debug, Clone)]
pub(crate) struct Quality {
    /// Linear SINR of the latest evaluations, the latest at `next - 1`, or less.
    latest: [f64; WINDOW],
    /// Whether it is that.
    is_found: [bool; WINDOW],
    count: usize,
    next: usize,
    /// Qout and Qin, linear.
    thresholds: [f64; 2],
}

/// Indication of the physical layer about the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indication {
    /// Below Qout.
    OutOfSync,
    /// Above Qin.
    InSync,
}

impl Quality {
    /// Nothing is known yet.
    pub(crate) fn new(config: &Monitoring) -> Quality {
        Quality {
            latest: [0.0; WINDOW],
            is_found: [true; WINDOW],
            count: 0,
            next: 0,
            thresholds: [config.q_out, config.q_in].map(|it| from_db(it.0)),
        }
    }

    /// Forgets the evaluations of another link.
    fn begin_anew(&mut self) {
        (self.count, self.next) = (0, 0);
    }

    /// A further evaluation has this linear SINR, or at least that.
    fn push(&mut self, sinr: f64, is_found: bool) {
        debug_assert!(sinr >= 0.0, "an evaluation found a SINR of {sinr}");
        (self.latest[self.next], self.is_found[self.next]) = (sinr, is_found);
        self.next = (self.next + 1) % WINDOW;
        self.count = (self.count + 1).min(WINDOW);
    }

    /// Where the evaluation so many before the latest stands.
    fn place(&self, back: usize) -> usize {
        (self.next + 2 * WINDOW - 1 - back) % WINDOW
    }

    /// Indication after the latest evaluation, with all of them found. Between Qin and Qout there is none.
    ///
    /// Standard: TS 36.133 §7.6.1.
    fn indication(&self, over: Evaluation) -> Option<Indication> {
        let [out, in_sync] = self.thresholds;
        if self.mean(over.out) < out {
            return Some(Indication::OutOfSync);
        }
        (self.mean(over.in_sync) > in_sync).then_some(Indication::InSync)
    }

    /// How many of the latest evaluations keep the mean of [`WINDOW`] at `margin` times Qout or above, whatever the
    /// others are: no SINR is below zero. None where all of them together do not.
    fn suffices(&self, margin: f64) -> Option<usize> {
        let needed = self.needed(margin);
        let mut sum = 0.0;
        (0..self.count).find_map(|back| {
            sum += self.latest[self.place(back)];
            (sum >= needed).then_some(back + 1)
        })
    }

    /// Sum of evaluations whose mean over [`WINDOW`] is `margin` times Qout.
    fn needed(&self, margin: f64) -> f64 {
        self.thresholds[0] * WINDOW as f64 * margin
    }

    /// The mean of the latest `most`, or of as many as there are.
    fn mean(&self, most: usize) -> f64 {
        let count = self.count.min(most);
        let latest = (1..=count).map(|back| self.latest[(self.next + WINDOW - back) % WINDOW]);
        latest.sum::<f64>() / count.max(1) as f64
    }
}

/// The counters and T310 of one link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkMonitor {
    out_of_sync: u32,
    in_sync: u32,
    /// When T310 expires.
    expires_at: Time,
    /// When T312 expires.
    hurried_at: Time,
}

impl LinkMonitor {
    pub(crate) fn new() -> LinkMonitor {
        LinkMonitor {
            out_of_sync: 0,
            in_sync: 0,
            expires_at: Time::NEVER,
            hurried_at: Time::NEVER,
        }
    }

    /// A report about a neighbour was triggered: while T310 runs it starts T312, which does not wait as long.
    ///
    /// Standard: TS 38.331 §5.5.4.1, §7.1.1; TS 36.331 §5.5.4.1, §7.3.
    pub(crate) fn on_report(&mut self, now: Time, config: &Monitoring) {
        if let Some(t312) = config.t312
            && self.is_in_trouble()
            && self.hurried_at.is_never()
        {
            self.hurried_at = now.saturating_add(t312);
        }
    }

    /// An indication while none of T300, T301, T304 and T311 runs. One of the other sort breaks a run.
    pub(crate) fn on_indication(&mut self, now: Time, config: &Monitoring, what: Indication) {
        match what {
            Indication::OutOfSync => {
                self.in_sync = 0;
                self.out_of_sync += 1;
                if self.expires_at.is_never() && self.out_of_sync >= config.n310 {
                    self.expires_at = now.saturating_add(config.t310);
                }
            }
            Indication::InSync => {
                self.out_of_sync = 0;
                self.in_sync += 1;
                if self.in_sync >= config.n311 {
                    self.expires_at = Time::NEVER;
                    self.hurried_at = Time::NEVER;
                }
            }
        }
        debug_assert!(
            self.in_sync == 0 || self.out_of_sync == 0,
            "a run of indications is of both sorts"
        );
        debug_assert!(
            self.hurried_at.is_never() || self.is_in_trouble(),
            "T312 runs without T310"
        );
    }

    /// Whether T310 or T312 has expired: the radio link has failed.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.wake_at() <= now
    }

    /// Whether T310 runs.
    pub(crate) fn is_in_trouble(&self) -> bool {
        !self.expires_at.is_never()
    }

    /// Whether only evaluations that are out of sync would change anything.
    fn is_quiet(&self) -> bool {
        self.out_of_sync == 0 && self.wake_at().is_never()
    }

    /// When T310 expires, or T312 before it.
    pub(crate) fn wake_at(&self) -> Time {
        self.expires_at.min(self.hurried_at)
    }
}

/// The link of a UE under mobility management: when the UE looks at it, and what it makes of that.
#[derive(Debug)]
pub(crate) struct LinkWatch {
    quality: Quality,
    monitor: LinkMonitor,
    next_at: Time,
    /// Whether the UE does not look each time.
    is_waiting: bool,
}

impl LinkWatch {
    /// A link that the UE looks at from `first` on.
    pub(crate) fn new(first: Time, config: &Monitoring) -> LinkWatch {
        LinkWatch {
            quality: Quality::new(config),
            monitor: LinkMonitor::new(),
            next_at: first,
            is_waiting: false,
        }
    }

    /// When the UE looks next.
    pub(crate) fn next_at(&self) -> Time {
        self.next_at
    }

    /// The UE looks now, and next as `over` has it.
    pub(crate) fn begin(&mut self, now: Time, over: Evaluation) {
        debug_assert!(!over.period.is_zero(), "a UE looks all the time");
        self.next_at = now.saturating_add(over.period);
        self.is_waiting = false;
    }

    /// The link has this linear SINR at the time of [`LinkWatch::begin`], or at least that where it is not found.
    pub(crate) fn note(&mut self, sinr: f64, is_found: bool) {
        self.quality.push(sinr, is_found);
    }

    /// Linear SINR of a link that need not be looked at again soon.
    pub(crate) fn enough(&self) -> f64 {
        match self.monitor.is_quiet() {
            true => self.quality.needed(SPARE),
            false => f64::INFINITY,
        }
    }

    /// Whether it follows from what is known that nothing changes now: the link is not out of sync, and whether it
    /// is in sync counts for nothing. Otherwise [`LinkWatch::judge`] tells.
    pub(crate) fn is_settled(&self) -> bool {
        self.monitor.is_quiet() && self.quality.suffices(ROUNDED).is_some()
    }

    /// How many looks ago the latest one was whose SINR is to be found yet.
    pub(crate) fn unknown(&self) -> Option<usize> {
        let quality = &self.quality;
        (0..quality.count).find(|&back| !quality.is_found[quality.place(back)])
    }

    /// Linear SINR at the time of the latest look or an earlier one.
    pub(crate) fn fill(&mut self, back: usize, sinr: f64) {
        let place = self.quality.place(back);
        (self.quality.latest[place], self.quality.is_found[place]) = (sinr, true);
    }

    /// What the looks say, all of which are found. The indication, if T310 starts or stops with it: what counts
    /// then is looked at without delay.
    pub(crate) fn judge(
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

    /// The UE has looked, and the looks before `until` can be made later with the same outcome. Lets it wait for as
    /// long as [`LinkWatch::is_settled`] surely holds.
    pub(crate) fn wait(&mut self, until: Time, config: &Monitoring) {
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

    /// As [`LinkMonitor::on_report`].
    pub(crate) fn on_report(&mut self, now: Time, config: &Monitoring) {
        self.monitor.on_report(now, config);
    }

    /// The link is left: nothing is known of the next one, which is looked at each time.
    pub(crate) fn begin_anew(&mut self, now: Time, config: &Monitoring) {
        self.quality.begin_anew();
        self.monitor = LinkMonitor::new();
        if self.is_waiting {
            let looks = now.as_nanos() / config.period.as_nanos();
            self.next_at = Time::ZERO.saturating_add(config.period * (looks + 1));
            self.is_waiting = false;
        }
    }

    /// Whether T310 runs.
    pub(crate) fn is_in_trouble(&self) -> bool {
        self.monitor.is_in_trouble()
    }

    /// Whether the link has failed.
    pub(crate) fn has_failed(&self, now: Time) -> bool {
        self.monitor.has_expired(now)
    }

    /// When it has failed unless it recovers.
    pub(crate) fn fails_at(&self) -> Time {
        self.monitor.wake_at()
    }
}

/// For how long every look at a link that nobody monitors has to find it out of range before it is lost. The only one, or
/// that of the master's cell: N310 and T310 say that it has failed, and for the whole of T311 no cell was found. That of
/// the secondary node, as T310 expires: the UE says so over the other one and looks for no cell.
///
/// Standard: TS 38.331 §5.3.10.3, §5.3.7.6, §5.7.3.2; TS 36.331 §5.3.11.3, §5.3.7.
pub(crate) fn lost_after(is_secondary: bool, config: &Monitoring) -> Span {
    match is_secondary {
        false => config.t310 + config.t311,
        true => config.t310,
    }
}

/// Looks at a link that nobody monitors: one whenever something waits to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks {
    /// Since when every look found it out of range; never when the last one did not.
    out_since: Time,
    /// The latest look that found it out of range.
    latest_at: Time,
}

impl Looks {
    pub(crate) const fn new() -> Looks {
        Looks {
            out_since: Time::NEVER,
            latest_at: Time::ZERO,
        }
    }

    /// A look that found the link in range.
    #[inline]
    pub(crate) fn on_look_in_range(&mut self) {
        self.out_since = Time::NEVER;
    }

    /// A look that found the link out of range; looks less than `apart` from each other are taken for all
    /// that happened between them. Whether the link is [lost](lost_after) with this one. It begins anew then.
    ///
    /// Standard: TS 38.331 §5.3.10.1, §5.3.10.3; TS 36.331 §5.3.11.
    pub(crate) fn on_look_out_of_range(
        &mut self,
        now: Time,
        lost_after: Span,
        apart: Span,
    ) -> bool {
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
