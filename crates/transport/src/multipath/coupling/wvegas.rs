//! wVegas, weighted Vegas (Cao, Xu, Fu, ICNP 2012; out-of-tree `mptcp_wvegas.c`).
//!
//! Each path keeps about `alpha` segments queued, and `alpha` is the path's share of the total
//! rate times ten, at least two. So every path sees the same price, its queueing delay. A queue
//! that has doubled since its smallest is drained at once. Only queues of `alpha` segments count
//! for that: without the noise of a real network the smallest would be a microsecond.

use super::{Law, View};
use crate::congestion::linux::{AckCounter, half, slow_start, whole};
use crate::congestion::{AckSample, CongestionEvent, Window};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Segments that all paths together keep queued.
const TOTAL_ALPHA: f64 = 10.0;
/// Fewest that a path keeps.
const LEAST_ALPHA: u64 = 2;
/// More queued in slow start ends it.
const GAMMA: u64 = 1;
/// Fraction bits of the factor that a queue is drained by.
const FACTOR_BITS: u32 = 16;

#[derive(Debug, Clone, Default)]
pub(super) struct WVegas {
    base_us: u64,
    sum_us: u64,
    samples: u64,
    /// The round ends when this is acknowledged; zero without a round.
    round_ends: u64,
    alpha: u64,
    /// Smallest mean queueing delay since the last drain, µs; zero when unset.
    queue_us: u64,
    /// Window over mean round-trip time at the end of the last round, segments per second.
    rate: f64,
    acked: AckCounter,
}

impl Registered for WVegas {
    const ENTRY: Entry = Entry::new(
        "wvegas",
        "coupling",
        "Weighted Vegas: equal queueing delay price on every path",
        "Cao, Xu, Fu, ICNP 2012",
    );

    fn with(_: &Settings<'_>, (): ()) -> Self {
        WVegas::default()
    }
}

impl Law for WVegas {
    fn round_rate(&self) -> f64 {
        self.rate
    }

    fn on_congestion(&mut self, window: &mut Window, _: &CongestionEvent, _: &View) {
        self.acked = AckCounter::default();
        window.ssthresh = half(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample, view: &View) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_micros().max(1);
            self.base_us = if self.base_us == 0 {
                rtt
            } else {
                self.base_us.min(rtt)
            };
            self.sum_us += rtt;
            self.samples += 1;
        }
        if !ack.may_grow {
            return;
        }
        if self.round_ends == 0 {
            self.acked.reno(window, ack);
            self.begin_round(ack);
        } else if ack.snd_una > self.round_ends {
            if self.samples <= 2 {
                self.acked.reno(window, ack);
            } else {
                self.adjust(window, ack, view);
            }
            self.begin_round(ack);
        } else if window.in_slow_start() {
            slow_start(window, ack.delivered_now);
        }
    }
}

impl WVegas {
    fn begin_round(&mut self, ack: &AckSample) {
        self.round_ends = ack.snd_nxt;
        self.sum_us = 0;
        self.samples = 0;
    }

    fn adjust(&mut self, window: &mut Window, ack: &AckSample, view: &View) {
        let rtt = (self.sum_us / self.samples).max(self.base_us);
        let cwnd = u64::from(whole(window));
        let queued = cwnd * (rtt - self.base_us) / rtt;
        if window.in_slow_start() {
            if queued > GAMMA {
                let carried = cwnd * self.base_us / rtt;
                window.cwnd = cwnd.min(carried + 1) as f64;
                window.ssthresh = window.ssthresh.min(window.cwnd - 1.0).max(2.0);
            } else {
                slow_start(window, ack.delivered_now);
            }
        } else {
            if queued >= self.alpha {
                self.weigh(cwnd, rtt, view);
            }
            let alpha = self.alpha.max(LEAST_ALPHA);
            if queued > alpha {
                window.cwnd = (cwnd - 1) as f64;
            } else if queued < alpha {
                window.cwnd = (cwnd + 1) as f64;
            }
            if queued >= self.alpha {
                self.drain(window, rtt);
            }
        }
        window.cwnd = window.cwnd.max(2.0);
    }

    /// Sets `alpha` by the path's share of the total rate.
    fn weigh(&mut self, cwnd: u64, rtt: u64, view: &View) {
        self.rate = cwnd as f64 / (rtt as f64 / 1e6);
        let paths = view.paths.iter().enumerate();
        let others: f64 = paths
            .filter(|(index, _)| *index != view.on)
            .map(|(_, path)| path.round_rate)
            .sum();
        let weight = self.rate / (self.rate + others);
        self.alpha = ((weight * TOTAL_ALPHA) as u64).max(LEAST_ALPHA);
    }

    /// Empties a queue that has become twice its smallest.
    fn drain(&mut self, window: &mut Window, rtt: u64) {
        let queue = rtt - self.base_us;
        if self.queue_us == 0 || self.queue_us > queue {
            self.queue_us = queue;
        }
        if self.queue_us > 0 && queue >= 2 * self.queue_us {
            let cwnd = u64::from(whole(window));
            // Truncated twice, as the module's fixed-point factor is.
            let factor = (self.base_us << FACTOR_BITS) / (2 * rtt);
            window.cwnd = ((cwnd * factor) >> FACTOR_BITS) as f64;
            self.queue_us = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::view;
    use super::*;
    use crate::congestion::testing::{ack, window};
    use fadeout_core::Time;

    /// The end of a round with this mean round-trip time, over a base of 100 ms.
    fn round(wvegas: &mut WVegas, w: &mut Window, rtt_ms: u64, other_rate: f64) {
        wvegas.base_us = 100_000;
        wvegas.samples = 4;
        wvegas.sum_us = 4_000 * rtt_ms;
        let mut paths = view(0, &[(30.0, 120.0, 0.0), (30.0, 120.0, 0.0)]);
        paths.paths[1].round_rate = other_rate;
        wvegas.adjust(w, &ack(Time::ZERO, 1), &paths);
    }

    #[test]
    fn two_equal_paths_keep_half_of_the_segments_each() {
        // Reference vector WV-1.
        let (mut wvegas, mut w) = (WVegas::default(), window(30.0, 20.0));
        round(&mut wvegas, &mut w, 120, 250.0);
        assert_eq!((wvegas.alpha, w.cwnd, wvegas.queue_us), (5, 30.0, 20_000));
    }

    #[test]
    fn a_queue_that_doubled_is_drained() {
        // Reference vector WV-2.
        let (mut wvegas, mut w) = (WVegas::default(), window(30.0, 20.0));
        wvegas.queue_us = 20_000;
        round(&mut wvegas, &mut w, 145, 250.0);
        assert_eq!((wvegas.alpha, w.cwnd, wvegas.queue_us), (4, 9.0, 0));
    }
}
