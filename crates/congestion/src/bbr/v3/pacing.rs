//! Pacing rate.

use fadeout_core::{Rate, Span};

const QUANTUM_SECS: f64 = 1e-3;
const QUANTUM_BYTES: f64 = 65_536.0;

/// Pacing rate in bytes of payload per second. Zero before the connection is established.
///
/// Source: draft-ietf-ccwg-bbr sections 5.6.2 and 5.6.3.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PacingRate {
    rate: f64,
    has_seen_rtt: bool,
}

impl PacingRate {
    /// Starts pacing at `gain` times a window of `cwnd` segments of `mss` bytes per round-trip
    /// time. An unknown round-trip time counts as 1 ms.
    pub(super) fn start(&mut self, gain: f64, (cwnd, mss): (f64, f64), srtt: Option<Span>) {
        self.has_seen_rtt = srtt.is_some();
        let rtt = srtt
            .unwrap_or(Span::from_millis(1))
            .max(Span::from_micros(1));
        self.rate = gain * cwnd * mss / rtt.as_secs_f64();
    }

    /// Returns true if no round-trip time has been measured yet.
    pub(super) fn waits_for_rtt(&self) -> bool {
        !self.has_seen_rtt
    }

    /// Sets the pacing rate. Until the pipe is full the rate can only increase.
    pub(super) fn set(&mut self, rate: f64, is_pipe_full: bool) {
        if is_pipe_full || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Returns the number of segments that are sent in one burst.
    pub(super) fn send_quantum(&self, mss: f64) -> f64 {
        let most = (QUANTUM_BYTES / mss).max(2.0);
        (self.rate * QUANTUM_SECS / mss).clamp(2.0, most)
    }

    /// Returns the pacing rate. `None` before it is known.
    pub(super) fn rate(&self) -> Option<Rate> {
        (self.rate > 0.0).then(|| Rate::from_bits_per_sec((self.rate * 8.0) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_without_a_round_trip_time_is_paced_over_a_millisecond() {
        let mut pacing = PacingRate::default();
        assert_eq!(pacing.rate(), None);
        pacing.start(2.0, (10.0, 100.0), None);
        assert!(pacing.waits_for_rtt());
        assert_eq!(pacing.rate(), Some(Rate::from_bits_per_sec(16_000_000)));
        pacing.start(2.0, (10.0, 100.0), Some(Span::from_millis(100)));
        assert!(!pacing.waits_for_rtt());
        assert_eq!(pacing.rate(), Some(Rate::from_bits_per_sec(160_000)));
    }

    #[test]
    fn the_rate_falls_only_when_the_pipe_is_full() {
        let mut pacing = PacingRate::default();
        for (rate, is_full, expected) in [
            (50.0, false, 400),
            (40.0, false, 400),
            (60.0, false, 480),
            (40.0, true, 320),
        ] {
            pacing.set(rate, is_full);
            assert_eq!(pacing.rate(), Some(Rate::from_bits_per_sec(expected)));
        }
    }

    #[test]
    fn a_quantum_is_a_millisecond_of_the_rate_between_two_segments_and_64_kib() {
        for (rate, expected) in [(1e3, 2.0), (5e6, 5.0), (1e9, 65.536)] {
            let mut pacing = PacingRate::default();
            pacing.set(rate, true);
            assert_eq!(pacing.send_quantum(1000.0), expected);
        }
    }
}
