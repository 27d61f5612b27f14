//! BIC: binary search for the window at which the last loss happened.
//!
//! Below `W_max` the window covers a quarter of the distance to `W_max` each round trip, by at most
//! 16 segments. Near `W_max` it moves slowly. Beyond `W_max` the window grows slowly at first, then
//! by 16 segments a round trip. A loss reduces the window to 0.8 of its size. If the window had not
//! reached `W_max`, the new `W_max` is set lower (fast convergence).
//!
//! Source: Xu, Harfoush and Rhee, "Binary increase congestion control", INFOCOM 2004, in the
//! integer arithmetic of net/ipv4/tcp_bic.c (Linux 6.12).

use super::linux::{AckCounter, HZ, Jiffies, TimeoutWatch, slow_start, whole};
use super::{AckSample, CongestionControl, CongestionEvent, CongestionKind, RecoveryState, Window};
use fadeout_core::Time;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, flag, integer, number};

/// Divisor of the distance to `W_max`. A round trip covers a quarter of the distance (B in the
/// kernel).
const SHARE: u32 = 4;
/// Denominator of the fixed-point fractions.
const SCALE: u32 = 1024;
/// Fraction bits of the ACK ratio, which is stored in sixteenths.
const RATIO_SHIFT: u32 = 4;
const RATIO_START: u32 = 2 << RATIO_SHIFT;

/// BIC congestion control.
#[derive(Debug, Clone)]
pub struct Bic {
    beta: u32,
    max_increment: u32,
    low_window: u32,
    smooth_part: u32,
    has_fast_convergence: bool,
    jiffies: Jiffies,
    acked: AckCounter,
    per: u32,
    last_max: u32,
    last_cwnd: u32,
    last_update: u64,
    /// Mean segments per ACK, times 16.
    ack_ratio: u32,
    state: RecoveryState,
    timeouts: TimeoutWatch,
}

impl Registered<Stream> for Bic {
    const ENTRY: Entry = Entry {
        name: "bic",
        aliases: &["bictcp"],
        family: "loss-based",
        summary: "BIC: binary search for the window of the last loss.",
        citation: "Xu, Harfoush, Rhee, INFOCOM 2004; Linux 6.12 net/ipv4/tcp_bic.c",
        parameters: &[
            number(
                "beta",
                (0.1, 0.99, ""),
                "0.8",
                "Fraction of the window kept after a loss.",
            ),
            integer(
                "max-increment",
                (1, 1_000, "segments"),
                "16",
                "Largest increase of the window in a round trip (S_max in the paper).",
            ),
            integer(
                "low-window",
                (0, 1_000_000, "segments"),
                "14",
                "Window up to which BIC behaves as Reno.",
            ),
            integer(
                "smooth-part",
                (1, 1_000, ""),
                "20",
                "Four times the number of round trips over which the last step to W_max is spread.",
            ),
            flag(
                "fast-convergence",
                "true",
                "True for fast convergence: after a loss below W_max, BIC takes less than the \
                 window at the loss as the new W_max.",
            ),
            HZ,
        ],
    };

    fn from_settings(settings: &Settings<'_>, _random: Stream) -> Self {
        Bic {
            beta: (settings.number("beta") * f64::from(SCALE)) as u32,
            max_increment: settings.integer("max-increment"),
            low_window: settings.integer("low-window"),
            smooth_part: settings.integer("smooth-part"),
            has_fast_convergence: settings.flag("fast-convergence"),
            jiffies: Jiffies::new(settings.integer("hz")),
            acked: AckCounter::default(),
            per: 0,
            last_max: 0,
            last_cwnd: 0,
            last_update: 0,
            ack_ratio: RATIO_START,
            state: RecoveryState::Open,
            timeouts: TimeoutWatch::default(),
        }
    }
}

impl CongestionControl for Bic {
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if self.timeouts.on_ack(ack) {
            self.forget();
        }
        // The ACK ratio is updated only if the state before this ACK was Open, as in the kernel.
        // The ACK that ends a recovery acknowledges a whole window and would distort the ratio.
        if std::mem::replace(&mut self.state, ack.state) == RecoveryState::Open {
            self.ack_ratio = (self.ack_ratio + ack.acked) - (self.ack_ratio >> RATIO_SHIFT);
        }
        if !ack.is_growth_due() {
            return;
        }
        let mut left = ack.delivered_now;
        if window.in_slow_start() {
            left = slow_start(window, left);
            if left == 0 {
                return;
            }
        }
        self.update(whole(window), ack.now);
        self.acked.grow(window, self.per, left);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        let cwnd = whole(window);
        self.acked = AckCounter::default();
        self.last_max = if cwnd < self.last_max && self.has_fast_convergence {
            scaled(cwnd, SCALE + self.beta) / 2
        } else {
            cwnd
        };
        let kept = if cwnd <= self.low_window {
            cwnd >> 1
        } else {
            scaled(cwnd, self.beta)
        };
        window.ssthresh = f64::from(kept.max(2));
        if event.kind == CongestionKind::Rto {
            self.timeouts.on_reported();
            self.forget();
        }
    }
}

impl Bic {
    /// Resets the search after a timeout.
    fn forget(&mut self) {
        self.per = 0;
        self.last_max = 0;
        self.last_cwnd = 0;
        self.last_update = 0;
        self.ack_ratio = RATIO_START;
    }

    fn update(&mut self, cwnd: u32, now: Time) {
        let now = self.jiffies.tick_at(now);
        if self.last_cwnd == cwnd && now - self.last_update <= self.jiffies.hz() / 32 {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_update = now;
        self.per = if cwnd <= self.low_window {
            cwnd
        } else {
            // Delayed ACKs would slow the search down, so the increase is corrected by the ACK
            // ratio.
            ((self.search(cwnd) << RATIO_SHIFT) / self.ack_ratio.max(1)).max(1)
        };
    }

    /// Returns the number of acknowledged segments per segment of increase, before the correction
    /// for delayed ACKs.
    fn search(&self, cwnd: u32) -> u32 {
        let fastest = cwnd / self.max_increment;
        let slowest = cwnd.saturating_mul(self.smooth_part) / SHARE;
        let per = if cwnd < self.last_max {
            match (self.last_max - cwnd) / SHARE {
                step if step > self.max_increment => fastest,
                0 | 1 => slowest,
                step => cwnd / step,
            }
        } else {
            match cwnd - self.last_max {
                beyond if beyond < SHARE => slowest,
                beyond if beyond < self.max_increment * (SHARE - 1) => {
                    cwnd.saturating_mul(SHARE - 1) / beyond
                }
                _ => fastest,
            }
        };
        // Before the first loss no maximum is known. The window then grows by a segment after at
        // most 20 acknowledged segments.
        let per = if self.last_max == 0 { per.min(20) } else { per };
        per.min(u32::MAX >> RATIO_SHIFT)
    }
}

fn scaled(cwnd: u32, fraction: u32) -> u32 {
    (u64::from(cwnd) * u64::from(fraction) / u64::from(SCALE)) as u32
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, build, congestion, lose, window};
    use super::*;

    #[test]
    fn a_loss_keeps_four_fifths_and_remembers_less_below_the_maximum() {
        let mut bic = build::<Bic>(&[]);
        let mut w = window(100.0, f64::INFINITY);
        assert_eq!(
            (lose(&mut bic, &mut w, at_ms(0)), bic.last_max),
            (79.0, 100)
        );
        w.cwnd = 90.0;
        assert_eq!((lose(&mut bic, &mut w, at_ms(1)), bic.last_max), (71.0, 80));
        w.cwnd = 14.0;
        assert_eq!(lose(&mut bic, &mut w, at_ms(2)), 7.0);
    }

    #[test]
    fn the_search_slows_near_the_maximum_and_hurries_away_from_it() {
        let mut bic = build::<Bic>(&[]);
        for (cwnd, last_max, per) in [
            (79, 100, 15),
            (300, 400, 18),
            (97, 100, 485),
            (101, 100, 505),
            (110, 100, 33),
            (160, 100, 10),
            (30, 0, 3),
        ] {
            bic.last_max = last_max;
            assert_eq!(bic.search(cwnd), per, "cwnd {cwnd}, W_max {last_max}");
        }
        bic.last_max = 100;
        bic.update(10, at_ms(1_000));
        assert_eq!(bic.per, 10);
    }

    #[test]
    fn the_ack_ratio_follows_the_receiver() {
        let mut bic = build::<Bic>(&[]);
        let mut w = window(30.0, 20.0);
        for _ in 0..200 {
            bic.on_ack(&mut w, &ack(at_ms(0), 1));
        }
        // With one segment per ACK the ratio stays at 31 sixteenths, because the kernel's rounding
        // removes only 31 >> 4 = 1.
        assert_eq!(bic.ack_ratio, 31);
        for _ in 0..200 {
            bic.on_ack(&mut w, &ack(at_ms(0), 4));
        }
        assert!((64..80).contains(&bic.ack_ratio), "{}", bic.ack_ratio);
    }

    #[test]
    fn what_slow_start_leaves_goes_into_the_search() {
        for (ssthresh, cwnd, per, counted) in [(64.0, 12.0, 0, 0), (11.0, 11.0, 11, 1)] {
            let (mut bic, mut w) = (build::<Bic>(&[]), window(10.0, ssthresh));
            bic.on_ack(&mut w, &ack(at_ms(100), 2));
            assert_eq!((w.cwnd, bic.per, bic.acked.0), (cwnd, per, counted));
        }
    }

    #[test]
    fn a_loss_at_the_maximum_remembers_all_of_it() {
        let mut bic = build::<Bic>(&[]);
        bic.last_max = 100;
        lose(&mut bic, &mut window(100.0, 1e9), at_ms(0));
        assert_eq!(bic.last_max, 100);
    }

    #[test]
    fn only_a_timeout_begins_the_search_anew() {
        for (kind, last_max) in [
            (CongestionKind::FastRecovery, 100),
            (CongestionKind::Rto, 0),
        ] {
            let mut bic = build::<Bic>(&[]);
            bic.update(100, at_ms(100));
            bic.ack_ratio = 99;
            bic.on_congestion(&mut window(100.0, 1e9), &congestion(at_ms(200), kind, 100));
            let is_kept = last_max > 0;
            assert_eq!(bic.last_max, last_max);
            assert_eq!(
                (bic.per > 0, bic.last_cwnd > 0, bic.last_update > 0),
                (is_kept, is_kept, is_kept)
            );
            assert_eq!(bic.ack_ratio, if is_kept { 99 } else { RATIO_START });
        }
    }

    #[test]
    fn the_search_is_done_again_after_a_32nd_of_a_second_or_with_another_window() {
        let mut bic = build::<Bic>(&[]);
        bic.ack_ratio = 16;
        bic.last_max = 100;
        let mut searched = |cwnd, ms, last_max| {
            bic.last_max = last_max;
            bic.update(cwnd, at_ms(ms));
            bic.per
        };
        assert_eq!(searched(79, 1_000, 100), 15);
        assert_eq!(searched(79, 1_031, 79), 15);
        assert_eq!(searched(79, 1_032, 79), 395);
        assert_eq!(searched(79, 1_063, 100), 395);
        assert_eq!(searched(300, 1_064, 400), 18);
    }

    #[test]
    fn delayed_acks_do_not_slow_the_search() {
        // Each ACK acknowledges two segments, so the ratio is 32 sixteenths.
        let mut bic = build::<Bic>(&[]);
        (bic.last_max, bic.ack_ratio) = (100, 32);
        bic.update(79, at_ms(1_000));
        assert_eq!(bic.per, 15 * 16 / 32);
    }
}
