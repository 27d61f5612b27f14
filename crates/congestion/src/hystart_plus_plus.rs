//! HyStart++: a conservative slow start before congestion avoidance.
//!
//! The smallest round-trip time of a round of at least 8 samples is compared with that of the last
//! round. If it is larger by an eighth (at least 4, at most 16 ms), the window grows at a quarter
//! of slow start's pace. A round with a smaller minimum shows that the rise was noise, and slow
//! start resumes. After five rounds slow start ends (`ssthresh = cwnd`). HyStart++ applies to the
//! first slow start only.
//!
//! Standard: RFC 9406.

use super::{AckSample, Window};
use fadeout_core::Span;

const SAMPLES: u32 = 8;
const THRESHOLD_MIN: Span = Span::from_millis(4);
const THRESHOLD_MAX: Span = Span::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// Largest increase per ACK of a sender that does not pace (L), in segments.
const UNPACED_LIMIT: u32 = 8;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    SlowStart,
    /// Conservative slow start, with the smallest round-trip time that began it and the number of
    /// its rounds, including the first.
    Conservative {
        baseline: Span,
        rounds: u32,
    },
    Done,
}

/// Detector of HyStart++, and the growth that it allows.
#[derive(Debug, Clone)]
pub(super) struct HyStartPlusPlus {
    phase: Phase,
    window_end: u64,
    last_min: Span,
    current_min: Span,
    samples: u32,
}

impl HyStartPlusPlus {
    pub(super) fn new() -> Self {
        HyStartPlusPlus {
            phase: Phase::SlowStart,
            window_end: 0,
            last_min: Span::MAX,
            current_min: Span::MAX,
            samples: 0,
        }
    }

    /// Returns the name of the phase for traces.
    pub(super) fn phase(&self) -> &'static str {
        match self.phase {
            Phase::Conservative { .. } => "conservative-slow-start",
            _ => "",
        }
    }

    /// Grows the window of a sender in slow start.
    pub(super) fn grow(&self, window: &mut Window, ack: &AckSample) {
        let limit = if ack.is_paced {
            u32::MAX
        } else {
            UNPACED_LIMIT
        };
        let increase = f64::from(ack.delivered_now.min(limit));
        window.cwnd += match self.phase {
            Phase::Conservative { .. } => increase / CSS_GROWTH_DIVISOR,
            _ => increase,
        };
    }

    /// Updates rounds and delays. Must be called once for each ACK in slow start, after the window
    /// grew.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        if self.phase == Phase::Done {
            return;
        }
        if ack.snd_una > self.window_end {
            self.start_round(window, ack.snd_nxt);
        }
        if let Some(rtt) = ack.rtt {
            self.current_min = self.current_min.min(rtt);
            self.samples += 1;
        }
        if self.samples < SAMPLES {
            return;
        }
        match self.phase {
            Phase::SlowStart if self.last_min < Span::MAX => {
                let margin = (self.last_min / MIN_RTT_DIVISOR).clamp(THRESHOLD_MIN, THRESHOLD_MAX);
                if self.current_min >= self.last_min + margin {
                    self.phase = Phase::Conservative {
                        baseline: self.current_min,
                        rounds: 0,
                    };
                }
            }
            Phase::Conservative { baseline, .. } if self.current_min < baseline => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }

    fn start_round(&mut self, window: &mut Window, snd_nxt: u64) {
        self.window_end = snd_nxt;
        self.last_min = self.current_min;
        self.current_min = Span::MAX;
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                self.phase = Phase::Done;
                window.ssthresh = window.cwnd;
            }
        }
    }

    /// Ends the detection for good, because congestion ends the first slow start.
    pub(super) fn on_congestion(&mut self) {
        self.phase = Phase::Done;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_with_rtt, at_ms, window};
    use super::*;

    /// Passes the round number `round` to the detector, with `n` samples of `rtt_ms`.
    fn round(control: &mut HyStartPlusPlus, w: &mut Window, round: u64, n: u64, rtt_ms: f64) {
        for k in 0..n {
            let ack = AckSample {
                snd_una: round * 1000 + k + 1,
                snd_nxt: (round + 1) * 1000,
                ..ack_with_rtt(at_ms(round * 100 + k), 1, rtt_ms)
            };
            control.on_ack(w, &ack);
        }
    }

    fn enters(last_ms: f64, current_ms: f64, samples: u64) -> bool {
        let (mut control, mut w) = (HyStartPlusPlus::new(), window(100.0, f64::INFINITY));
        round(&mut control, &mut w, 0, 8, last_ms);
        round(&mut control, &mut w, 1, samples, current_ms);
        matches!(control.phase, Phase::Conservative { .. })
    }

    #[test]
    fn the_threshold_is_an_eighth_between_4_and_16_ms() {
        assert!(enters(40.0, 45.0, 8));
        assert!(!enters(40.0, 44.9, 8));
        assert!(enters(20.0, 24.0, 8));
        assert!(!enters(20.0, 23.9, 8));
        assert!(enters(200.0, 216.0, 8));
        assert!(!enters(40.0, 45.0, 7));
    }

    #[test]
    fn conservative_slow_start_grows_at_a_quarter() {
        let mut control = HyStartPlusPlus::new();
        let mut w = window(100.0, f64::INFINITY);
        let ack = |acked| ack_with_rtt(at_ms(0), acked, 40.0);
        control.grow(&mut w, &ack(12));
        assert_eq!(w.cwnd, 108.0);
        control.phase = Phase::Conservative {
            baseline: Span::from_millis(45),
            rounds: 0,
        };
        w.cwnd = 100.0;
        control.grow(&mut w, &ack(4));
        assert_eq!(w.cwnd, 101.0);
    }

    #[test]
    fn five_rounds_of_it_end_slow_start() {
        let (mut control, mut w) = (HyStartPlusPlus::new(), window(100.0, f64::INFINITY));
        round(&mut control, &mut w, 0, 8, 40.0);
        for n in 1..=5 {
            round(&mut control, &mut w, n, 8, 50.0);
            assert_eq!(w.ssthresh, f64::INFINITY);
        }
        round(&mut control, &mut w, 6, 1, 50.0);
        assert_eq!(w.ssthresh, 100.0);
    }

    #[test]
    fn a_smaller_delay_resumes_slow_start() {
        let (mut control, mut w) = (HyStartPlusPlus::new(), window(100.0, f64::INFINITY));
        round(&mut control, &mut w, 0, 8, 40.0);
        round(&mut control, &mut w, 1, 8, 50.0);
        round(&mut control, &mut w, 2, 8, 41.0);
        assert_eq!(control.phase, Phase::SlowStart);
    }
}
