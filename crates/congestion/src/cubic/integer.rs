//! The kernel's arithmetic: whole segments, time in jiffies scaled to 1/1024 s.
//!
//! The arithmetic differs from RFC 9438 in five points. The reduction starts from the window
//! instead of the flight size. The target is computed one smallest round-trip time ahead. The
//! 1.5-fold cap on the target is a floor of 2 on the ACKs per increase. The Reno estimate keeps its
//! slope. A timeout forgets `W_max`. The kernel's table-based cube root is off by up to 0.2 %, and
//! here it is exact.

use super::super::linux::{AckCounter, Jiffies, whole};
use super::super::{AckSample, CongestionEvent, CongestionKind, Window};
use super::{Constants, Delay};
use fadeout_core::{Span, Time, math};

/// Denominator of fractions. Time is in units of 2^-10 s.
const SCALE: u32 = 1024;
const TIME_SHIFT: u32 = 10;

#[derive(Debug, Clone)]
pub(super) struct Integer {
    constants: Fixed,
    jiffies: Jiffies,
    acked: AckCounter,
    /// Number of acknowledged segments per segment of increase.
    per: u32,
    last_max: u32,
    last_cwnd: u32,
    last_update: u64,
    origin: u32,
    k: u64,
    smallest_us: u64,
    epoch_start: Option<u64>,
    epoch_acked: u32,
    reno_cwnd: u32,
}

/// Constants of the algorithm in the kernel's fixed-point form.
#[derive(Debug, Clone, Copy)]
struct Fixed {
    /// CUBIC's constant C, in units of 1/1024.
    c: u32,
    beta: u32,
    beta_ecn: u32,
    /// Acknowledged segments per segment of the Reno estimate, as a multiple of the window, times
    /// 8.
    reno_scale: u32,
    has_fast_convergence: bool,
    is_friendly: bool,
}

impl Integer {
    pub(super) fn new(constants: Constants, hz: u32) -> Self {
        let fixed = |fraction: f64| (fraction * f64::from(SCALE) + 0.5) as u32;
        let beta = fixed(constants.beta);
        Integer {
            constants: Fixed {
                c: fixed(constants.c).max(1),
                beta,
                beta_ecn: fixed(constants.beta_ecn),
                reno_scale: 8 * (SCALE + beta) / 3 / (SCALE - beta),
                has_fast_convergence: constants.has_fast_convergence,
                is_friendly: constants.is_friendly,
            },
            jiffies: Jiffies::new(hz),
            acked: AckCounter::default(),
            per: 0,
            last_max: 0,
            last_cwnd: 0,
            last_update: 0,
            origin: 0,
            k: 0,
            smallest_us: 0,
            epoch_start: None,
            epoch_acked: 0,
            reno_cwnd: 0,
        }
    }

    /// Records the round-trip time of the ACK. Samples in the first second of an epoch are ignored,
    /// because recovery distorts them. `None` without a sample.
    pub(super) fn on_sample(&mut self, ack: &AckSample) -> Option<Delay> {
        let rtt_us = ack.rtt?.as_micros().max(1);
        let now = self.jiffies.tick_at(ack.now);
        if self
            .epoch_start
            .is_some_and(|start| now - start < self.jiffies.hz())
        {
            return None;
        }
        if self.smallest_us == 0 || rtt_us < self.smallest_us {
            self.smallest_us = rtt_us;
        }
        Some(Delay {
            rtt_us,
            smallest_us: self.smallest_us,
        })
    }

    pub(super) fn grow(&mut self, window: &mut Window, now: Time, acked: u32) {
        self.update(whole(window), self.jiffies.tick_at(now), acked);
        self.acked.grow(window, self.per, acked);
    }

    /// Recomputes how many segments must be acknowledged per segment of increase.
    fn update(&mut self, cwnd: u32, now: u64, acked: u32) {
        self.epoch_acked = self.epoch_acked.saturating_add(acked);
        if self.last_cwnd == cwnd && now - self.last_update <= self.jiffies.hz() / 32 {
            return;
        }
        // Within one jiffy the cubic function does not change, so only the Reno estimate is
        // updated.
        if self.epoch_start.is_none() || now != self.last_update {
            self.last_cwnd = cwnd;
            self.last_update = now;
            self.follow_the_cubic(cwnd, now, acked);
        }
        if self.constants.is_friendly {
            self.keep_up_with_reno(cwnd);
        }
        self.per = self.per.max(2);
    }

    fn follow_the_cubic(&mut self, cwnd: u32, now: u64, acked: u32) {
        let start = *self.epoch_start.get_or_insert_with(|| {
            self.epoch_acked = acked;
            self.reno_cwnd = cwnd;
            if self.last_max <= cwnd {
                self.k = 0;
                self.origin = cwnd;
            } else {
                let factor = (1_u64 << (10 + 3 * TIME_SHIFT)) / u64::from(self.constants.c);
                self.k = cube_root(factor.saturating_mul(u64::from(self.last_max - cwnd)));
                self.origin = self.last_max;
            }
            now
        });
        let ahead = self.jiffies.ticks_in(Span::from_micros(self.smallest_us));
        let t = ((now - start + ahead) << TIME_SHIFT) / self.jiffies.hz();
        let distance = u128::from(t.abs_diff(self.k).min(1 << 32));
        let delta = (u128::from(self.constants.c) * distance * distance * distance)
            >> (10 + 3 * TIME_SHIFT);
        let delta = u32::try_from(delta).unwrap_or(u32::MAX);
        let target = if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        self.per = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            cwnd.saturating_mul(100)
        };
        // Before the first loss no `W_max` is known, so the window may grow quickly.
        if self.last_max == 0 {
            self.per = self.per.min(20);
        }
    }

    fn keep_up_with_reno(&mut self, cwnd: u32) {
        let step = (u64::from(cwnd) * u64::from(self.constants.reno_scale)) >> 3;
        let step = u32::try_from(step).unwrap_or(u32::MAX).max(1);
        // The Reno estimate grows by one for each full step of acknowledged segments.
        let steps = self.epoch_acked.saturating_sub(1) / step;
        self.epoch_acked -= steps * step;
        self.reno_cwnd = self.reno_cwnd.saturating_add(steps);
        if self.reno_cwnd > cwnd {
            self.per = self.per.min(cwnd / (self.reno_cwnd - cwnd));
        }
    }

    pub(super) fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        let cwnd = whole(window);
        let Fixed {
            beta,
            beta_ecn,
            has_fast_convergence,
            ..
        } = self.constants;
        let kept = if event.kind == CongestionKind::Ecn {
            beta_ecn
        } else {
            beta
        };
        self.acked = AckCounter::default();
        self.epoch_start = None;
        self.last_max = if has_fast_convergence && cwnd < self.last_max {
            scaled(cwnd, SCALE + beta) / 2
        } else {
            cwnd
        };
        window.ssthresh = f64::from(scaled(cwnd, kept).max(2));
    }

    /// Resets all state after a timeout, including the smallest delay.
    pub(super) fn on_timeout(&mut self) {
        self.epoch_start = None;
        self.per = 0;
        self.last_max = 0;
        self.last_cwnd = 0;
        self.last_update = 0;
        self.origin = 0;
        self.k = 0;
        self.smallest_us = 0;
        self.epoch_acked = 0;
        self.reno_cwnd = 0;
    }

    pub(super) fn on_idle_restart(&mut self, now: Time, idle: Span) {
        let since = self
            .jiffies
            .tick_at(Time::ZERO + now.since(Time::ZERO + idle));
        let now = self.jiffies.tick_at(now);
        self.epoch_start = self.epoch_start.map(|start| (start + now - since).min(now));
    }
}

/// Returns `cwnd * fraction / 1024`.
fn scaled(cwnd: u32, fraction: u32) -> u32 {
    (u64::from(cwnd) * u64::from(fraction) / u64::from(SCALE)) as u32
}

/// Returns the largest integer whose cube does not exceed `n`.
fn cube_root(n: u64) -> u64 {
    let cubed = |root: u64| u128::from(root) * u128::from(root) * u128::from(root);
    let mut root = math::cbrt(n as f64) as u64;
    while cubed(root) > u128::from(n) {
        root -= 1;
    }
    while cubed(root + 1) <= u128::from(n) {
        root += 1;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{ack, at_ms, congestion, window};
    use super::*;

    fn kernel() -> Integer {
        let constants = Constants {
            c: 0.4,
            beta: 0.7,
            beta_ecn: 0.7,
            has_fast_convergence: true,
            is_friendly: true,
        };
        Integer::new(constants, 1000)
    }

    fn lose(cubic: &mut Integer, cwnd: f64) -> f64 {
        let mut w = window(cwnd, f64::INFINITY);
        cubic.on_congestion(
            &mut w,
            &congestion(at_ms(0), CongestionKind::FastRecovery, 1),
        );
        w.ssthresh
    }

    #[test]
    fn the_constants_are_the_kernels() {
        let Fixed {
            c,
            beta,
            reno_scale,
            ..
        } = kernel().constants;
        assert_eq!((c, beta, reno_scale), (410, 717, 15));
    }

    #[test]
    fn a_loss_below_the_last_maximum_remembers_less() {
        let mut cubic = kernel();
        assert_eq!((lose(&mut cubic, 100.0), cubic.last_max), (70.0, 100));
        assert_eq!((lose(&mut cubic, 90.0), cubic.last_max), (63.0, 76));
    }

    #[test]
    fn the_window_follows_the_cubic() {
        let mut cubic = kernel();
        cubic.constants.is_friendly = false;
        lose(&mut cubic, 100.0);
        cubic.smallest_us = 100_000;
        let start = 10_000;
        cubic.update(70, start, 1);
        assert_eq!((cubic.k, cubic.origin, cubic.per), (4316, 100, 23));
        for (after_ms, per) in [(900, 4), (1900, 2), (4200, 2)] {
            cubic.last_cwnd = 0;
            cubic.update(70, start + after_ms, 1);
            assert_eq!(cubic.per, per, "{after_ms} ms into the epoch");
        }
    }

    #[test]
    fn the_reno_estimate_grows_by_one_per_scaled_window() {
        let mut cubic = kernel();
        cubic.epoch_acked = 131;
        cubic.keep_up_with_reno(70);
        assert_eq!(cubic.reno_cwnd, 0);
        cubic.epoch_acked = 132;
        cubic.keep_up_with_reno(70);
        assert_eq!((cubic.reno_cwnd, cubic.epoch_acked), (1, 1));
    }

    #[test]
    fn before_any_loss_at_most_20_acks_make_a_segment() {
        let mut cubic = kernel();
        cubic.follow_the_cubic(100, 10_000, 1);
        assert_eq!(cubic.per, 20);
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut cubic = kernel();
        assert_eq!(lose(&mut cubic, 100.0), 70.0);
        cubic.on_timeout();
        assert_eq!((cubic.last_max, cubic.epoch_start), (0, None));
    }

    #[test]
    fn idle_time_is_no_time_of_the_epoch() {
        let mut cubic = kernel();
        cubic.epoch_start = Some(1_000);
        cubic.on_idle_restart(at_ms(9_000), Span::from_secs(5));
        assert_eq!(cubic.epoch_start, Some(6_000));
        cubic.on_idle_restart(at_ms(9_000), Span::from_secs(5));
        assert_eq!(cubic.epoch_start, Some(9_000));
    }

    #[test]
    fn samples_right_after_a_recovery_do_not_count() {
        let mut cubic = kernel();
        cubic.epoch_start = Some(1_000);
        let sample = |ms| AckSample {
            rtt: Some(Span::from_millis(40)),
            ..ack(at_ms(ms), 1)
        };
        assert_eq!(cubic.on_sample(&sample(1_999)), None);
        let delay = Delay {
            rtt_us: 40_000,
            smallest_us: 40_000,
        };
        assert_eq!(cubic.on_sample(&sample(2_000)), Some(delay));
    }

    #[test]
    fn cube_roots_are_exact() {
        assert_eq!([0, 1, 7, 8, 26, 27].map(cube_root), [0, 1, 1, 2, 2, 3]);
        assert_eq!(cube_root(2_681_735_677 * 30), 4316);
        assert_eq!(cube_root(u64::MAX), 2_642_245);
    }
}
