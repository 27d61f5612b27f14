//! HyStart: leaves slow start before it overflows the queue.
//!
//! A round ends when the data outstanding at its start is acknowledged. The next round begins with
//! the next ACK of slow start. Kernels before 6.14 and 6.12.13 started HyStart only at the low
//! window. So its first round began in the middle of a round ("tcp_cubic: fix incorrect HyStart
//! round start detection"). Two signs end slow start at the present window (`ssthresh = cwnd`):
//! - ACK train: ACKs with gaps of at most 2 ms have arrived for longer than a limit. The limit is
//!   the smallest delay (half of it when the sender does not pace), plus an allowance for
//!   aggregation.
//! - delay: after 8 samples, the smallest round-trip time of the round exceeds the connection's
//!   smallest by more than a limit. The limit is an eighth of the smallest, at least 4 and at most
//!   16 ms.
//!
//! Source: Ha and Rhee, "Taming the elephants", Computer Networks 55 (2011), as in
//! net/ipv4/tcp_cubic.c of Linux 6.12.

use super::registry::constant;
use super::{AckSample, Window};
use fadeout_core::Time;
use fadeout_core::registry::{Parameter, Settings, choice, number, span};

const SAMPLES: u32 = 8;
const DELAY_MIN_US: u64 = 4_000;
const DELAY_MAX_US: u64 = 16_000;
/// Largest burst that segmentation offload builds (`sk_gso_max_size`).
const BURST_BYTES: f64 = 65_536.0;

/// Detector of the end of slow start.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HyStart {
    low_window: f64,
    ack_delta_us: u64,
    watches_train: bool,
    watches_delay: bool,
    begins_at_low_window: bool,
    has_found: bool,
    round_end: u64,
    round_start_us: u64,
    last_ack_us: u64,
    round_min_us: u64,
    samples: u32,
}

fadeout_core::choices! {
    /// Signs that may end slow start.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Signs {
        Both = "both",
        Train = "train",
        Delay = "delay",
        None = "none",
    }
}

fadeout_core::choices! {
    /// Start of HyStart's rounds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Rounds {
        FromStart = "from-start",
        FromLowWindow = "from-low-window",
    }
}

/// Parameters of HyStart, for the algorithms that use it.
pub(super) const PARAMETERS: [Parameter; 4] = [
    number(
        "hystart-low-window",
        (0.0, 1e6, "segments"),
        "16",
        "Window from which on HyStart may end slow start.",
    ),
    choice(
        "hystart-detect",
        Signs::NAMES,
        "both",
        "Signs by which HyStart ends slow start: ACK trains, rising delay, or both.",
    ),
    span(
        "hystart-ack-delta",
        "2 ms",
        "Time between two ACKs of one ACK train. ACKs further apart are not in a train.",
    ),
    choice(
        "hystart-rounds",
        Rounds::NAMES,
        "from-start",
        "Beginning of HyStart's rounds. They begin with slow start (Linux 6.12.13, and 6.14 or \
         later), or with the ACK at which the window reaches `hystart-low-window` (earlier \
         kernels). This ACK is in the middle of a round.",
    ),
];

impl Default for HyStart {
    /// Returns the detector with the defaults of [`PARAMETERS`], for an algorithm that does not
    /// offer them.
    fn default() -> Self {
        HyStart {
            low_window: 16.0,
            ack_delta_us: 2_000,
            watches_train: true,
            watches_delay: true,
            begins_at_low_window: false,
            has_found: false,
            round_end: 0,
            round_start_us: 0,
            last_ack_us: 0,
            round_min_us: u64::MAX,
            samples: 0,
        }
    }
}

impl HyStart {
    pub(super) fn from_settings(settings: &Settings<'_>) -> Self {
        let detect: Signs = settings.get("hystart-detect");
        let rounds: Rounds = settings.get("hystart-rounds");
        HyStart {
            low_window: settings.number("hystart-low-window"),
            ack_delta_us: constant(settings, "hystart-ack-delta").as_micros(),
            watches_train: matches!(detect, Signs::Both | Signs::Train),
            watches_delay: matches!(detect, Signs::Both | Signs::Delay),
            begins_at_low_window: rounds == Rounds::FromLowWindow,
            ..HyStart::default()
        }
    }

    /// Processes one round-trip time of slow start. Sets `ssthresh` when slow start must end.
    pub(crate) fn on_sample(
        &mut self,
        window: &mut Window,
        ack: &AckSample,
        rtt_us: u64,
        smallest_us: u64,
    ) {
        if self.has_found {
            return;
        }
        let is_low = window.cwnd < self.low_window;
        if ack.snd_una > self.round_end && !(is_low && self.begins_at_low_window) {
            self.start_round(ack.now, ack.snd_nxt);
        }
        if is_low {
            return;
        }
        if self.watches_train && self.is_train_long(ack, smallest_us) {
            self.has_found = true;
        }
        if self.watches_delay {
            self.round_min_us = self.round_min_us.min(rtt_us);
            if self.samples < SAMPLES {
                self.samples += 1;
            } else {
                let margin = (smallest_us >> 3).clamp(DELAY_MIN_US, DELAY_MAX_US);
                self.has_found |= self.round_min_us > smallest_us + margin;
            }
        }
        if self.has_found {
            window.ssthresh = window.cwnd;
        }
    }

    fn is_train_long(&mut self, ack: &AckSample, smallest_us: u64) -> bool {
        let now_us = ack.now.as_micros();
        if now_us - self.last_ack_us > self.ack_delta_us {
            return false;
        }
        self.last_ack_us = now_us;
        let mut longest_us = smallest_us + aggregation_us(ack);
        if !ack.is_paced {
            longest_us >>= 1;
        }
        now_us - self.round_start_us > longest_us
    }

    fn start_round(&mut self, now: Time, snd_nxt: u64) {
        self.round_start_us = now.as_micros();
        self.last_ack_us = now.as_micros();
        self.round_end = snd_nxt;
        self.round_min_us = u64::MAX;
        self.samples = 0;
    }

    /// Restarts the detector after a timeout, which begins a new slow start.
    pub(crate) fn on_timeout(&mut self, now: Time, snd_nxt: u64) {
        self.has_found = false;
        self.start_round(now, snd_nxt);
    }
}

/// Returns the time that four of the largest bursts take at the pacing rate, at most 1 ms.
fn aggregation_us(ack: &AckSample) -> u64 {
    let rate = ack.pacing_rate.as_bytes_per_sec_f64();
    if rate > 0.0 {
        (4.0 * BURST_BYTES * 1e6 / rate).min(1_000.0) as u64
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, at_ms, window};
    use super::*;
    use crate::CONGESTION_CONTROLS;
    use fadeout_core::registry::{Parameters, Value, find};

    fn hystart() -> HyStart {
        let entry = find(CONGESTION_CONTROLS, "cubic").expect("cubic is registered");
        HyStart::from_settings(&Settings::new(entry, &Parameters::default()))
    }

    #[test]
    fn the_default_is_what_cubic_registers() {
        assert_eq!(HyStart::default(), hystart());
    }

    /// Passes nine samples to the detector, too far apart to form an ACK train. Returns `ssthresh`.
    fn after_nine(rtt_us: u64, cwnd: f64) -> f64 {
        let (mut hystart, mut w) = (hystart(), window(cwnd, f64::INFINITY));
        for n in 0..9 {
            let ack = AckSample {
                snd_una: 1,
                snd_nxt: 100,
                ..ack(at_ms(10 * n), 1)
            };
            hystart.on_sample(&mut w, &ack, rtt_us, 40_000);
        }
        w.ssthresh
    }

    #[test]
    fn a_delay_beyond_an_eighth_ends_slow_start() {
        assert_eq!(after_nine(45_001, 64.0), 64.0);
        assert_eq!(after_nine(45_000, 64.0), f64::INFINITY);
    }

    #[test]
    fn a_small_window_is_left_alone() {
        assert_eq!(after_nine(90_000, 15.0), f64::INFINITY);
    }

    #[test]
    fn rounds_begin_with_slow_start_or_as_in_older_kernels_at_the_low_window() {
        for (rounds, train_starts_ms) in [("from-start", 0), ("from-low-window", 12)] {
            let entry = find(CONGESTION_CONTROLS, "cubic").expect("cubic is registered");
            let choice = Value::Choice(rounds.to_string());
            let given = Parameters(vec![("hystart-rounds".to_string(), choice)]);
            let mut hystart = HyStart::from_settings(&Settings::new(entry, &given));
            let mut w = window(10.0, f64::INFINITY);
            // An ACK for two segments arrives every 4 ms. At the fourth ACK, at 12 ms, the window
            // reaches 16, the low window.
            for n in 0..4 {
                let ack = AckSample {
                    snd_una: 1 + 2 * n,
                    snd_nxt: 11 + 4 * n,
                    ..ack(at_ms(4 * n), 2)
                };
                hystart.on_sample(&mut w, &ack, 40_000, 40_000);
                w.cwnd += 2.0;
            }
            assert_eq!(hystart.round_start_us, 1_000 * train_starts_ms, "{rounds}");
        }
    }

    #[test]
    fn a_train_of_half_the_delay_ends_slow_start_of_an_unpaced_sender() {
        for (is_paced, expected_ms) in [(false, 21), (true, 42)] {
            let (mut hystart, mut w) = (hystart(), window(64.0, f64::INFINITY));
            let exit = (0..100).find(|&ms| {
                let ack = AckSample {
                    snd_una: 1,
                    snd_nxt: 100,
                    is_paced,
                    ..ack(at_ms(ms), 1)
                };
                hystart.on_sample(&mut w, &ack, 40_000, 40_000);
                w.ssthresh < f64::INFINITY
            });
            // Slow start ends after (40 ms + 1 ms allowance) / 2 without pacing, and after 41 ms
            // with pacing. The train must last longer, so the next ACK ends it.
            assert_eq!(exit, Some(expected_ms));
        }
    }

    #[test]
    fn only_the_signs_that_are_named_are_heeded() {
        for (detect, train, delay) in [
            ("both", true, true),
            ("train", true, false),
            ("delay", false, true),
            ("none", false, false),
        ] {
            let entry = find(CONGESTION_CONTROLS, "cubic").expect("cubic is registered");
            let given = Parameters(vec![(
                "hystart-detect".to_string(),
                Value::Choice(detect.to_string()),
            )]);
            let hystart = HyStart::from_settings(&Settings::new(entry, &given));
            assert_eq!(
                (hystart.watches_train, hystart.watches_delay),
                (train, delay)
            );
        }
    }

    #[test]
    fn eight_samples_of_a_round_are_taken_before_the_ninth_decides() {
        let (mut hystart, mut w) = (hystart(), window(64.0, f64::INFINITY));
        let mut ends_with = |una, rtt_us| {
            let ack = AckSample {
                snd_una: una,
                snd_nxt: 100,
                ..ack(at_ms(10 * una), 1)
            };
            hystart.on_sample(&mut w, &ack, rtt_us, 40_000);
            (w.ssthresh < f64::INFINITY, hystart.samples)
        };
        for n in 1..=8 {
            assert_eq!(ends_with(n, 50_000), (false, n as u32));
        }
        // Number 100 was sent before the round started and belongs to it. Number 101 was sent later
        // and begins the next round.
        assert_eq!(ends_with(100, 44_000), (false, 8));
        assert_eq!(ends_with(101, 50_000), (false, 1));
    }

    #[test]
    fn four_bursts_at_the_pacing_rate_are_allowed_for_up_to_a_millisecond() {
        for (megabits, us) in [
            (0, 0),
            (100, 1_000),
            (2_000, 1_000),
            (2_500, 838),
            (10_000, 209),
        ] {
            let ack = AckSample {
                pacing_rate: fadeout_core::Rate::from_bits_per_sec(megabits * 1_000_000),
                ..ack(at_ms(0), 1)
            };
            assert_eq!(aggregation_us(&ack), us, "{megabits} Mbit/s");
        }
    }

    #[test]
    fn acks_up_to_the_given_distance_apart_are_a_train() {
        for (apart_us, is_train) in [(2_000, true), (2_001, false)] {
            let (mut hystart, mut w) = (hystart(), window(64.0, f64::INFINITY));
            for n in 0..30 {
                let ack = AckSample {
                    snd_una: 1,
                    snd_nxt: 100,
                    ..ack(Time::from_nanos(n * apart_us * 1_000), 1)
                };
                hystart.on_sample(&mut w, &ack, 40_000, 40_000);
            }
            assert_eq!(w.ssthresh < f64::INFINITY, is_train, "{apart_us}");
        }
    }
}
