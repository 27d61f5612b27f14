//! wVegas, weighted Vegas (Cao, Xu, Fu, ICNP 2012; out-of-tree `mptcp_wvegas.c`).
//!
//! Each path keeps about `alpha` segments queued, and `alpha` is the path's share of the total rate
//! times ten, at least two. So all paths converge to the same queueing delay. If the queueing delay
//! has doubled since its minimum, the queue is drained at once. The minimum counts only queues of
//! `alpha` segments. Without the noise of a real network the minimum would else be a microsecond.

use super::{Law, View};
use crate::linux::{AckCounter, half, slow_start, whole};
use crate::{AckSample, CongestionEvent, Window};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Number of segments that all paths together keep queued.
const TOTAL_ALPHA: f64 = 10.0;
/// Minimum number of segments that a path keeps queued.
const LEAST_ALPHA: u64 = 2;
/// Slow start ends if more segments than this are queued.
const GAMMA: u64 = 1;
/// Fraction bits of the factor by which the window is reduced to drain the queue.
const FACTOR_BITS: u32 = 16;

#[derive(Debug, Clone, Default)]
pub(super) struct WVegas {
    base_us: u64,
    sum_us: u64,
    samples: u64,
    /// Sequence number whose acknowledgment ends the round. Zero if no round is running.
    round_ends: u64,
    alpha: u64,
    /// Smallest mean queueing delay since the last drain, µs. Zero if none was measured.
    queue_us: u64,
    /// Rate at the end of the last round: window over mean round-trip time, in segments per second.
    rate: f64,
    acked: AckCounter,
}

impl Registered for WVegas {
    const ENTRY: Entry = Entry::new(
        "wvegas",
        "coupling",
        "Weighted Vegas: the same price of queueing delay on every path.",
        "Cao, Xu, Fu, ICNP 2012",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
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

    /// Sets `alpha` to the path's share of the total rate, times ten.
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

    /// Drains the queue if the queueing delay is at least twice its minimum.
    fn drain(&mut self, window: &mut Window, rtt: u64) {
        let queue = rtt - self.base_us;
        if self.queue_us == 0 || self.queue_us > queue {
            self.queue_us = queue;
        }
        if self.queue_us > 0 && queue >= 2 * self.queue_us {
            let cwnd = u64::from(whole(window));
            // The factor is truncated twice, as in the module's fixed-point arithmetic.
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
    use crate::CongestionKind;
    use crate::testing::{ack, congestion, window};
    use fadeout_core::{Span, Time};

    /// Ends a round with this mean round-trip time and a base of 100 ms. The other path has the
    /// rate `other_rate`.
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
        // Reference vector WV-1: the path has alpha segments queued, so the window stays.
        let (mut wvegas, mut w) = (WVegas::default(), window(30.0, 20.0));
        round(&mut wvegas, &mut w, 120, 250.0);
        assert_eq!((wvegas.alpha, w.cwnd, wvegas.queue_us), (5, 30.0, 20_000));
    }

    #[test]
    fn a_queue_that_doubled_is_drained() {
        // Reference vector WV-2: the queueing delay has doubled, so the window is reduced to drain
        // the queue.
        let (mut wvegas, mut w) = (WVegas::default(), window(30.0, 20.0));
        wvegas.queue_us = 20_000;
        round(&mut wvegas, &mut w, 145, 250.0);
        assert_eq!((wvegas.alpha, w.cwnd, wvegas.queue_us), (4, 9.0, 0));
    }

    /// Returns an ACK up to `una` when `nxt` is the next sequence number to send, with a sample of
    /// the round-trip time.
    fn heard(una: u64, nxt: u64, rtt_ms: u64) -> AckSample {
        AckSample {
            snd_una: una,
            snd_nxt: nxt,
            rtt: Some(Span::from_millis(rtt_ms)),
            ..ack(Time::ZERO, 1)
        }
    }

    #[test]
    fn a_round_ends_behind_what_was_sent_when_it_began_and_needs_three_samples() {
        for (samples, grown) in [(2, 10.0), (3, 11.0)] {
            let (mut wvegas, mut w) = (WVegas::default(), window(10.0, 5.0));
            let none = view(0, &[]);
            wvegas.on_ack(&mut w, &heard(1, 100, 110), &none);
            let began = (wvegas.round_ends, wvegas.sum_us, wvegas.samples);
            assert_eq!((began, wvegas.base_us), ((100, 0, 0), 110_000));
            for _ in 1..samples {
                wvegas.on_ack(&mut w, &heard(100, 200, 100), &none);
            }
            let counted = (wvegas.sum_us, wvegas.samples, wvegas.base_us);
            assert_eq!(counted, (100_000 * (samples - 1), samples - 1, 100_000));
            // A round with only two samples grows the window as in Reno. Reno needs more than one
            // acknowledged segment to add a segment.
            wvegas.on_ack(&mut w, &heard(101, 200, 100), &none);
            assert_eq!(w.cwnd, grown, "{samples} samples");
            assert_eq!(
                (wvegas.round_ends, wvegas.sum_us, wvegas.samples),
                (200, 0, 0)
            );
            assert_eq!(wvegas.acked.0, if samples == 2 { 2 } else { 1 });
        }
    }

    #[test]
    fn within_a_round_only_slow_start_grows_and_only_where_it_may() {
        let none = view(0, &[]);
        for (ssthresh, may_grow, grown) in [(64.0, true, 9.0), (64.0, false, 8.0), (8.0, true, 8.0)]
        {
            let (mut wvegas, mut w) = (WVegas::default(), window(8.0, ssthresh));
            wvegas.round_ends = 100;
            let ack = AckSample {
                may_grow,
                ..heard(50, 200, 100)
            };
            wvegas.on_ack(&mut w, &ack, &none);
            assert_eq!(w.cwnd, grown);
            // The sample is recorded although the window may not grow.
            assert_eq!((wvegas.samples, wvegas.base_us), (1, 100_000));
        }
    }

    #[test]
    fn a_loss_halves_and_forgets_what_was_counted() {
        let (mut wvegas, mut w) = (WVegas::default(), window(30.0, 20.0));
        wvegas.acked.0 = 7;
        Law::on_congestion(
            &mut wvegas,
            &mut w,
            &congestion(Time::ZERO, CongestionKind::FastRecovery, 30),
            &view(0, &[]),
        );
        assert_eq!((w.ssthresh, wvegas.acked.0), (15.0, 0));
    }

    #[test]
    fn slow_start_ends_with_more_than_one_segment_queued() {
        // Each row has the window and the round-trip time in ms, then the new window and threshold.
        // If more than one segment is queued, cwnd (rtt - base) / rtt, slow start ends. The new
        // window is cwnd base / rtt plus one.
        for (cwnd, rtt_ms, after, ssthresh) in [
            (20.0, 120, 17.0, 16.0),
            (10.0, 120, 11.0, 64.0),
            (10.0, 125, 9.0, 8.0),
            (3.0, 300, 2.0, 2.0),
        ] {
            let (mut wvegas, mut w) = (WVegas::default(), window(cwnd, 64.0));
            round(&mut wvegas, &mut w, rtt_ms, 0.0);
            assert_eq!(
                (w.cwnd, w.ssthresh),
                (after, ssthresh),
                "{cwnd} at {rtt_ms} ms"
            );
        }
        // A threshold of 20.5, just above the window, is lowered to 16 as well.
        let (mut wvegas, mut w) = (WVegas::default(), window(20.0, 21.0));
        w.ssthresh = 20.5;
        round(&mut wvegas, &mut w, 120, 0.0);
        assert_eq!((w.cwnd, w.ssthresh), (17.0, 16.0));
    }

    #[test]
    fn the_window_goes_towards_alpha_segments_queued() {
        // A window of 30 at 120 ms with a base of 100 ms has 5 segments queued and a rate of 250
        // segments per second. If the queue has reached alpha, alpha is set to ten times the share
        // of the total rate, at least two.
        for (alpha, other_rate, after, weighed, queue_us) in [
            // The window has not reached alpha, so alpha does not change and the queue is not
            // drained.
            (8, 250.0, 31.0, 8, 0),
            (5, 0.0, 31.0, 10, 0),
            (5, 250.0, 30.0, 5, 20_000),
            (5, 500.0, 29.0, 3, 20_000),
            (5, 100_000.0, 29.0, 2, 20_000),
        ] {
            let (mut wvegas, mut w) = (WVegas::default(), window(30.0, 20.0));
            wvegas.alpha = alpha;
            round(&mut wvegas, &mut w, 120, other_rate);
            assert_eq!(
                (w.cwnd, wvegas.alpha, wvegas.queue_us),
                (after, weighed, queue_us)
            );
            assert_eq!(wvegas.round_rate(), if alpha == 8 { 0.0 } else { 250.0 });
        }
        // The path's own recorded rate must not count as another path's rate, at any index of the
        // path.
        let mut paths = view(1, &[(30.0, 120.0, 0.0), (30.0, 120.0, 0.0)]);
        paths.paths[0].round_rate = 250.0;
        paths.paths[1].round_rate = 9_000.0;
        let mut wvegas = WVegas::default();
        wvegas.weigh(30, 120_000, &paths);
        assert_eq!(wvegas.alpha, 5);
    }

    #[test]
    fn a_queue_twice_its_smallest_is_drained_and_no_sooner() {
        // At 140 ms the queueing delay has doubled, and the window falls from 29 to 29 * 100 / 280
        // = 10. Other paths are fast, so alpha is 2.
        for (rtt_ms, smallest_us, after, left_us) in [
            (139, 20_000, 29.0, 20_000),
            (140, 20_000, 10.0, 0),
            (120, 30_000, 29.0, 20_000),
        ] {
            let (mut wvegas, mut w) = (WVegas::default(), window(30.0, 20.0));
            wvegas.queue_us = smallest_us;
            round(&mut wvegas, &mut w, rtt_ms, 100_000.0);
            assert_eq!((w.cwnd, wvegas.queue_us), (after, left_us), "{rtt_ms} ms");
        }
        // The drain leaves a window of at least two segments.
        let (mut wvegas, mut w) = (WVegas::default(), window(4.0, 3.0));
        wvegas.queue_us = 100_000;
        round(&mut wvegas, &mut w, 400, 100_000.0);
        assert_eq!(w.cwnd, 2.0);
        // Without a queue the queueing delay and its minimum are zero. The window is not reduced,
        // although zero is twice zero.
        let (mut wvegas, mut w) = (WVegas::default(), window(30.0, 20.0));
        wvegas.base_us = 100_000;
        wvegas.drain(&mut w, 100_000);
        assert_eq!(w.cwnd, 30.0);
    }
}
