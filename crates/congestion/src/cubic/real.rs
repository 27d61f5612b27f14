//! CUBIC in real numbers, by RFC 9438 or by the paper of 2008.
//!
//! With `target = clamp(W(t + SRTT), cwnd, 1.5 cwnd)`, each acknowledged segment adds `(target -
//! cwnd) / cwnd`. The Reno estimate adds `alpha / cwnd` with `alpha = 3 (1 - beta) / (1 + beta)`
//! until it reaches the window before the reduction. From there on the estimate adds `1 / cwnd`.
//! While `W(t)` is below the estimate, the window equals the estimate. Time in which the
//! application limits the sender does not count.
//!
//! The paper differs in six points. The target is computed one smallest round-trip time ahead. It
//! has no 1.5-fold cap. Alpha stays constant. A reduction starts from the window instead of the
//! flight size. The increase at the plateau is `1 / (100 cwnd)` per segment. A timeout discards
//! `W_max`. The cap of 16 segments per 100 ms in the paper's first kernel code is not modelled.
//!
//! Standard: RFC 9438 §4.2 to 4.9.

use super::super::{AckSample, CongestionEvent, CongestionKind, Window};
use super::{Constants, Delay};
use fadeout_core::{Span, Time, math};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Edition {
    Rfc9438,
    Paper2008,
}

#[derive(Debug, Clone)]
pub(super) struct Real {
    constants: Constants,
    edition: Edition,
    state: State,
    /// State before the last reduction, restored if the reduction was spurious.
    saved: State,
    smallest: Span,
    last_ack_at: Time,
}

#[derive(Debug, Clone, Copy)]
struct State {
    /// Window before the last loss. `None` before the first loss and after a timeout. The next
    /// epoch then starts at the plateau.
    w_max: Option<f64>,
    k: f64,
    cwnd_prior: f64,
    w_est: f64,
    epoch_start: Option<Time>,
    /// Window at the plateau of the present epoch.
    origin: f64,
}

impl Real {
    pub(super) fn new(constants: Constants, edition: Edition) -> Self {
        let state = State {
            w_max: None,
            k: 0.0,
            cwnd_prior: f64::INFINITY,
            w_est: 0.0,
            epoch_start: None,
            origin: 0.0,
        };
        Real {
            constants,
            edition,
            state,
            saved: state,
            smallest: Span::MAX,
            last_ack_at: Time::ZERO,
        }
    }

    pub(super) fn on_sample(&mut self, ack: &AckSample) -> Option<Delay> {
        if !ack.is_cwnd_limited {
            // The cubic function must not advance while the sender does not use its window, so this
            // time is subtracted.
            let unused = ack.now.since(self.last_ack_at);
            self.shift_epoch(ack.now, unused);
        }
        self.last_ack_at = ack.now;
        let rtt = ack.rtt?;
        self.smallest = self.smallest.min(rtt);
        Some(Delay {
            rtt_us: rtt.as_micros(),
            smallest_us: self.smallest.as_micros(),
        })
    }

    pub(super) fn grow(&mut self, window: &mut Window, ack: &AckSample, acked: u32) {
        let start = self.epoch_start(window.cwnd, ack.now);
        debug_assert!(start <= ack.now, "an epoch begins in the future");
        debug_assert!(
            self.state.k >= 0.0 && self.state.k.is_finite(),
            "the plateau is reached after {} s",
            self.state.k
        );
        let t = ack.now.since(start).as_secs_f64();
        let acked = f64::from(acked);
        self.state.w_est += self.alpha() * acked / window.cwnd;
        debug_assert!(
            self.state.w_est.is_finite(),
            "Reno's window would be {}",
            self.state.w_est
        );
        if self.constants.is_friendly && self.cubic(t) < self.state.w_est {
            window.cwnd = window.cwnd.max(self.state.w_est);
        } else {
            window.cwnd += self.window_increase(window.cwnd, t + self.look_ahead(ack), acked);
        }
    }

    /// Returns the epoch's start. Begins an epoch if none is running.
    fn epoch_start(&mut self, cwnd: f64, now: Time) -> Time {
        if let Some(start) = self.state.epoch_start {
            return start;
        }
        let state = &mut self.state;
        state.epoch_start = Some(now);
        state.w_est = cwnd;
        match state.w_max {
            Some(w_max) if w_max > cwnd => {
                state.k = math::cbrt((w_max - cwnd) / self.constants.c);
                state.origin = w_max;
            }
            _ => {
                state.k = 0.0;
                state.origin = cwnd;
                // Slow start ended without a loss, so the present window is the prior window.
                if state.w_max.is_none() {
                    state.cwnd_prior = cwnd;
                }
            }
        }
        now
    }

    /// Returns the cubic function's window `t` seconds into the epoch.
    fn cubic(&self, t: f64) -> f64 {
        let x = t - self.state.k;
        self.constants.c * x * x * x + self.state.origin
    }

    /// Returns the increase of the window for `acked` segments. The cubic function is evaluated at
    /// `t`.
    fn window_increase(&self, cwnd: f64, t: f64, acked: f64) -> f64 {
        let target = self.cubic(t);
        match self.edition {
            Edition::Rfc9438 => acked * (target.clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd,
            Edition::Paper2008 if target > cwnd => acked * (target - cwnd).min(cwnd) / cwnd,
            Edition::Paper2008 => acked / (100.0 * cwnd),
        }
    }

    fn look_ahead(&self, ack: &AckSample) -> f64 {
        match self.edition {
            Edition::Rfc9438 => ack.srtt.as_secs_f64(),
            Edition::Paper2008 if self.smallest < Span::MAX => self.smallest.as_secs_f64(),
            Edition::Paper2008 => 0.0,
        }
    }

    /// Returns the slope of the Reno estimate in segments per window.
    fn alpha(&self) -> f64 {
        let beta = self.constants.beta;
        if self.edition == Edition::Rfc9438 && self.state.w_est >= self.state.cwnd_prior {
            1.0
        } else {
            3.0 * (1.0 - beta) / (1.0 + beta)
        }
    }

    pub(super) fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.saved = self.state;
        let Constants {
            beta,
            beta_ecn,
            has_fast_convergence,
            ..
        } = self.constants;
        let cwnd = window.cwnd;
        let is_below = self.state.w_max.is_some_and(|w_max| cwnd < w_max);
        self.state.cwnd_prior = cwnd;
        self.state.epoch_start = None;
        self.state.w_max = Some(if has_fast_convergence && is_below {
            cwnd * (1.0 + beta) / 2.0
        } else {
            cwnd
        });
        let kept = if event.kind == CongestionKind::Ecn {
            beta_ecn
        } else {
            beta
        };
        let from = match self.edition {
            Edition::Rfc9438 => event.flight_within(window),
            Edition::Paper2008 => cwnd,
        };
        window.ssthresh = (from * kept).max(2.0);
    }

    /// Discards `W_max` after a timeout, so that the next epoch starts at the plateau.
    ///
    /// Standard: RFC 9438 §4.8.
    pub(super) fn on_timeout(&mut self) {
        self.state.epoch_start = None;
        self.state.w_max = None;
    }

    pub(super) fn on_spurious(&mut self) {
        self.state = self.saved;
    }

    pub(super) fn on_idle_restart(&mut self, now: Time, idle: Span) {
        self.shift_epoch(now, idle);
        self.last_ack_at = now;
    }

    fn shift_epoch(&mut self, now: Time, by: Span) {
        let start = &mut self.state.epoch_start;
        *start = start.map(|start| start.saturating_add(by).min(now));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{ack, at_ms, congestion, window};
    use super::*;

    fn cubic(edition: Edition, beta: f64) -> Real {
        let constants = Constants {
            c: 0.4,
            beta,
            beta_ecn: beta,
            has_fast_convergence: true,
            is_friendly: true,
        };
        Real::new(constants, edition)
    }

    fn lose(cubic: &mut Real, w: &mut Window) {
        let event = congestion(at_ms(0), CongestionKind::FastRecovery, w.cwnd as u32);
        cubic.on_congestion(w, &event);
        w.cwnd = w.ssthresh;
    }

    /// The reference values are printed with six decimals.
    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!(
            (value - expected).abs() < 1e-6,
            "{value} instead of {expected}"
        );
    }

    #[test]
    fn a_loss_at_100_sets_the_curve() {
        let (mut cubic, mut w) = (cubic(Edition::Rfc9438, 0.7), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        assert_near(w.cwnd, 70.0);
        assert_eq!(
            (cubic.state.w_max, cubic.state.cwnd_prior),
            (Some(100.0), 100.0)
        );
        cubic.epoch_start(w.cwnd, at_ms(0));
        assert_near(cubic.state.k, 4.217_163);
        for (t, expected) in [
            (0.0, 70.0),
            (0.1, 72.083_930),
            (1.0, 86.680_764),
            (2.0, 95.640_336),
            (cubic.state.k, 100.0),
            (6.0, 102.266_703),
        ] {
            assert_near(cubic.cubic(t), expected);
        }
    }

    #[test]
    fn an_ack_moves_the_window_toward_the_target() {
        let (mut cubic, mut w) = (cubic(Edition::Rfc9438, 0.7), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        cubic.epoch_start(w.cwnd, at_ms(0));
        assert_near(cubic.window_increase(70.0, 0.1, 1.0), 0.029_770);
        cubic.state.w_est += cubic.alpha() / 70.0;
        assert_near(cubic.state.w_est, 70.007_563);
        cubic.state.w_est += 9.0 * cubic.alpha() / 70.0;
        assert_near(cubic.state.w_est, 70.075_630);
    }

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let (mut cubic, mut w) = (cubic(Edition::Rfc9438, 0.7), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        w.cwnd = 90.0;
        lose(&mut cubic, &mut w);
        assert_near(w.cwnd, 63.0);
        assert_near(cubic.state.w_max.unwrap_or(0.0), 76.5);
        cubic.epoch_start(w.cwnd, at_ms(0));
        assert_near(cubic.state.k, 3.231_652);
    }

    #[test]
    fn the_target_is_at_most_one_and_a_half_windows() {
        let mut cubic = cubic(Edition::Rfc9438, 0.7);
        cubic.state.origin = 40.0;
        assert_near(cubic.window_increase(10.0, 0.0, 1.0), 0.5);
    }

    #[test]
    fn the_paper_keeps_four_fifths() {
        let (mut cubic, mut w) = (cubic(Edition::Paper2008, 0.8), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        assert_near(w.cwnd, 80.0);
        cubic.epoch_start(w.cwnd, at_ms(0));
        assert_near(cubic.state.k, 3.684_031);
        assert_near(cubic.alpha(), 1.0 / 3.0);
    }

    #[test]
    fn the_reno_estimate_takes_reno_slope_past_the_prior_window() {
        let mut cubic = cubic(Edition::Rfc9438, 0.7);
        cubic.state.cwnd_prior = 100.0;
        cubic.state.w_est = 99.0;
        assert_near(cubic.alpha(), 9.0 / 17.0);
        cubic.state.w_est = 100.0;
        assert_near(cubic.alpha(), 1.0);
    }

    #[test]
    fn time_without_a_full_window_does_not_count() {
        let mut cubic = cubic(Edition::Rfc9438, 0.7);
        cubic.state.epoch_start = Some(at_ms(0));
        cubic.on_sample(&ack(at_ms(1_000), 1));
        cubic.on_sample(&AckSample {
            is_cwnd_limited: false,
            ..ack(at_ms(3_000), 1)
        });
        assert_eq!(cubic.state.epoch_start, Some(at_ms(2_000)));
    }

    #[test]
    fn a_spurious_reduction_restores_the_curve() {
        let (mut cubic, mut w) = (cubic(Edition::Rfc9438, 0.7), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        cubic.epoch_start(w.cwnd, at_ms(5));
        lose(&mut cubic, &mut w);
        cubic.on_spurious();
        assert_eq!(cubic.state.epoch_start, Some(at_ms(5)));
        assert_eq!(cubic.state.w_max, Some(100.0));
    }

    #[test]
    fn the_paper_grows_by_the_distance_to_the_curve_and_by_a_hundredth_beyond() {
        let (mut cubic, mut w) = (cubic(Edition::Paper2008, 0.8), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        cubic.epoch_start(w.cwnd, at_ms(0));
        // K is the cube root of 20 / 0.4.
        assert_near(cubic.state.k, 3.684_031_5);
        // The window is 80 segments. At K the cubic function is 100, so each acknowledged segment
        // adds a quarter of a segment. At the start the function equals the window, and a segment
        // adds only 1 / (100 cwnd). Far beyond K, each acknowledged segment adds a whole segment.
        assert_near(cubic.window_increase(80.0, cubic.state.k, 2.0), 0.5);
        assert_near(cubic.window_increase(80.0, 0.0, 3.0), 3.0 / 8_000.0);
        assert_near(cubic.window_increase(80.0, 100.0, 3.0), 3.0);
        assert_near(
            cubic.window_increase(110.0, cubic.state.k, 3.0),
            3.0 / 11_000.0,
        );
    }

    #[test]
    fn the_curve_is_looked_up_a_round_trip_ahead() {
        let sample = ack(at_ms(0), 1);
        let rfc = cubic(Edition::Rfc9438, 0.7);
        assert_near(rfc.look_ahead(&sample), 0.1);
        // The 2008 paper uses the smallest round-trip time, once one was measured.
        let mut paper = cubic(Edition::Paper2008, 0.8);
        assert_near(paper.look_ahead(&sample), 0.0);
        paper.smallest = Span::from_millis(40);
        assert_near(paper.look_ahead(&sample), 0.04);
        // The window goes from 70 towards C (1 + 0.1 - K)^3 + 100.
        let (mut cubic, mut w) = (cubic(Edition::Rfc9438, 0.7), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        cubic.epoch_start(w.cwnd, at_ms(0));
        cubic.grow(&mut w, &ack(at_ms(1_000), 1), 1);
        let x = 1.1 - 4.217_163_326_5;
        let curve = 100.0 + 0.4 * x * x * x;
        assert_near(w.cwnd, 70.0 + (curve - 70.0) / 70.0);
    }

    #[test]
    fn a_window_at_the_plateau_has_none_to_come() {
        let (mut cubic, mut w) = (cubic(Edition::Rfc9438, 0.7), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        cubic.epoch_start(100.0, at_ms(0));
        assert_eq!((cubic.state.k, cubic.state.origin), (0.0, 100.0));
        // A loss at the plateau does not trigger fast convergence, so `w_max` stays at the window.
        lose(&mut cubic, &mut window(100.0, f64::INFINITY));
        assert_eq!(cubic.state.w_max, Some(100.0));
    }

    #[test]
    fn a_timeout_forgets_the_curve_and_a_pause_moves_it() {
        let (mut cubic, mut w) = (cubic(Edition::Rfc9438, 0.7), window(100.0, f64::INFINITY));
        lose(&mut cubic, &mut w);
        cubic.epoch_start(w.cwnd, at_ms(1_000));
        cubic.on_idle_restart(at_ms(5_000), Span::from_millis(500));
        assert_eq!(cubic.state.epoch_start, Some(at_ms(1_500)));
        assert_eq!(cubic.last_ack_at, at_ms(5_000));
        cubic.on_timeout();
        assert_eq!((cubic.state.epoch_start, cubic.state.w_max), (None, None));
    }

    #[test]
    fn where_renos_estimate_is_above_the_curve_the_window_is_renos() {
        // At K the cubic function is 100. RFC 9438 section 4.3: the estimate grows by 9 / 17 of a
        // segment per window below the prior window, and by a whole segment above. 35 acknowledged
        // segments are half a window of 70.
        for (w_est, is_friendly, expected) in [
            (99.9, true, 99.9 + 9.0 / 34.0),
            (100.0, true, 100.5),
            (110.0, true, 110.5),
            (99.0, true, 70.0 + 35.0 * 30.0 / 70.0),
            (110.0, false, 70.0 + 35.0 * 30.0 / 70.0),
        ] {
            let (mut cubic, mut w) = (cubic(Edition::Rfc9438, 0.7), window(100.0, f64::INFINITY));
            lose(&mut cubic, &mut w);
            cubic.epoch_start(w.cwnd, at_ms(0));
            cubic.state.w_est = w_est;
            cubic.constants.is_friendly = is_friendly;
            let at_k = AckSample {
                srtt: Span::ZERO,
                ..ack(Time::ZERO + Span::from_secs_f64(cubic.state.k), 35)
            };
            cubic.grow(&mut w, &at_k, 35);
            assert_near(w.cwnd, expected);
        }
    }
}
