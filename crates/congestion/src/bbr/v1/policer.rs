//! Detection of a token-bucket policer: heavy loss at the same average rate in two consecutive
//! intervals.

use super::super::super::AckSample;

/// Minimum number of rounds in an interval. An interval of more than four times this number is
/// discarded.
const INTERVAL_ROUNDS: u32 = 4;
/// Ratio of lost to delivered segments that ends an interval, about a fifth.
const LOSS_RATIO: f64 = 50.0 / 256.0;
/// Two intervals have the same bandwidth if it differs by at most an eighth (`RATIO`), or by at
/// most `DIFFERENCE` bytes per second.
const RATIO: f64 = 1.0 / 8.0;
const DIFFERENCE: f64 = 500.0;
/// Number of rounds for which the detected policer's rate is used.
const USE_ROUNDS: u32 = 48;

/// Inputs of the policer detection besides the counts of delivered and lost segments.
#[derive(Debug, Clone, Copy)]
pub(super) struct PolicerInput {
    pub(super) mss: f64,
    pub(super) is_round_start: bool,
    pub(super) is_probing: bool,
    pub(super) is_limited: bool,
}

/// The long-term bandwidth sampler.
#[derive(Debug, Clone, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    is_used: bool,
    /// Bandwidth of the last interval or of the detected policer, in segments per second.
    bandwidth: f64,
    rounds: u32,
    since: Counts,
    /// Counts at the last ACK. Their time is that of the last ACK that delivered data.
    last: Counts,
}

/// Number of delivered and lost segments up to the time `at_ms`, in whole milliseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    at_ms: u64,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// Returns the rate of the policer. `None` if no policer is detected.
    pub(super) fn rate(&self) -> Option<f64> {
        self.is_used.then_some(self.bandwidth)
    }

    /// Processes an ACK. Returns true when the rate has been used long enough and probing starts
    /// again.
    pub(super) fn on_ack(&mut self, ack: &AckSample, input: PolicerInput) -> bool {
        if ack.delivered_now > 0 {
            self.last.at_ms = ack.now.as_millis();
        }
        (self.last.delivered, self.last.lost) = (ack.delivered, ack.lost);
        self.update_state(input, ack.lost_now > 0)
    }

    fn update_state(&mut self, input: PolicerInput, has_lost: bool) -> bool {
        if self.is_used {
            if input.is_probing && input.is_round_start {
                self.rounds += 1;
                if self.rounds >= USE_ROUNDS {
                    self.forget();
                    return true;
                }
            }
            return false;
        }
        if !self.is_sampling {
            if !has_lost {
                return false;
            }
            self.start_interval();
            self.is_sampling = true;
        }
        if input.is_limited {
            self.forget();
            return false;
        }
        self.rounds += u32::from(input.is_round_start);
        if self.rounds > 4 * INTERVAL_ROUNDS {
            self.forget();
        } else if self.rounds >= INTERVAL_ROUNDS && has_lost {
            self.end_interval(input.mss);
        }
        false
    }

    /// Processes a timeout, which counts as a loss and as the end of a round. Returns true when
    /// probing starts again.
    pub(super) fn on_timeout(&mut self, lost: u64, mss: f64, is_probing: bool) -> bool {
        self.last.lost = lost;
        let input = PolicerInput {
            mss,
            is_round_start: true,
            is_probing,
            is_limited: false,
        };
        self.update_state(input, true)
    }

    fn end_interval(&mut self, mss: f64) {
        let lost = (self.last.lost - self.since.lost) as f64;
        let delivered = (self.last.delivered - self.since.delivered) as f64;
        let elapsed_ms = self.last.at_ms - self.since.at_ms;
        if delivered == 0.0 || lost < LOSS_RATIO * delivered || elapsed_ms == 0 {
            return;
        }
        let bandwidth = delivered / (elapsed_ms as f64 / 1e3);
        if self.bandwidth > 0.0 {
            let difference = (bandwidth - self.bandwidth).abs();
            if difference <= RATIO * self.bandwidth || difference * mss <= DIFFERENCE {
                self.bandwidth = f64::midpoint(bandwidth, self.bandwidth);
                self.is_used = true;
                self.rounds = 0;
                return;
            }
        }
        self.bandwidth = bandwidth;
        self.start_interval();
    }

    fn start_interval(&mut self) {
        self.since = self.last;
        self.rounds = 0;
    }

    /// Discards the detected rate and starts a new interval.
    pub(super) fn forget(&mut self) {
        *self = Policer {
            last: self.last,
            ..Policer::default()
        };
        self.start_interval();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, at_ms};

    const STEP: PolicerInput = PolicerInput {
        mss: 1000.0,
        is_round_start: false,
        is_probing: true,
        is_limited: false,
    };
    const ROUND: PolicerInput = PolicerInput {
        is_round_start: true,
        ..STEP
    };

    /// Returns an ACK at `ms` milliseconds. `delivered` and `lost` are the totals of segments after
    /// this ACK. `is_loss`: true if this ACK reports a loss.
    fn heard(ms: u64, delivered: u64, lost: u64, is_loss: bool) -> AckSample {
        AckSample {
            delivered,
            lost,
            lost_now: is_loss.into(),
            ..ack(at_ms(ms), 1)
        }
    }

    /// Returns a policer detection that began its first interval at one second, with no segment
    /// delivered or lost.
    fn sampling() -> Policer {
        let mut policer = Policer::default();
        assert!(!policer.on_ack(&heard(500, 0, 0, false), ROUND));
        assert!(!policer.is_sampling);
        assert!(!policer.on_ack(&heard(1_000, 0, 0, true), STEP));
        assert!(policer.is_sampling);
        policer
    }

    /// Ends an interval: three rounds without a loss, and a fourth round with a loss at `ms`.
    fn interval(policer: &mut Policer, input: PolicerInput, ms: u64, delivered: u64, lost: u64) {
        let round = PolicerInput {
            is_round_start: true,
            ..input
        };
        for _ in 0..3 {
            policer.on_ack(&heard(ms - 1, delivered, lost, false), round);
        }
        policer.on_ack(&heard(ms, delivered, lost, true), round);
    }

    #[test]
    fn two_intervals_with_like_rates_make_a_policer() {
        // The first interval delivers 400 segments in 400 ms, or 1,000 per second. If the second
        // rate is within an eighth of this rate, a policer with the mean rate is detected.
        for (delivered, rate) in [
            (440, Some(1_050.0)),
            (450, Some(1_062.5)),
            (451, None),
            (350, Some(937.5)),
            (349, None),
        ] {
            let mut policer = sampling();
            interval(&mut policer, STEP, 1_400, 400, 100);
            assert_eq!((policer.bandwidth, policer.rate()), (1_000.0, None));
            interval(&mut policer, STEP, 1_800, 400 + delivered, 300);
            assert_eq!(policer.rate(), rate, "{delivered}");
            if rate.is_none() {
                assert_eq!(policer.bandwidth, delivered as f64 / 0.4);
                assert_eq!((policer.since.at_ms, policer.rounds), (1_800, 0));
            }
        }
    }

    #[test]
    fn slow_rates_are_alike_within_500_bytes_a_second() {
        // The two rates are 1 and 1.5 segments per second. With segments of 1,000 bytes they differ
        // by 500 bytes per second, which counts as equal. With 1,001 bytes they differ by more.
        for (mss, is_like) in [(1_000.0, true), (1_001.0, false)] {
            let input = PolicerInput { mss, ..STEP };
            let mut policer = sampling();
            interval(&mut policer, input, 5_000, 4, 2);
            interval(&mut policer, input, 9_000, 10, 5);
            assert_eq!(policer.rate().is_some(), is_like);
        }
    }

    #[test]
    fn an_interval_ends_with_a_fifth_lost() {
        // An interval ends if the number of lost segments is at least 50/256 of the delivered ones.
        for (delivered, lost, ms, has_ended) in [
            (256, 50, 1_400, true),
            (256, 49, 1_400, false),
            (0, 50, 1_400, false),
            (256, 50, 1_000, false),
        ] {
            let mut policer = sampling();
            interval(&mut policer, STEP, ms, delivered, lost);
            // An interval without elapsed time has no rate, so no bandwidth is recorded.
            let is_late = ms > 1_000;
            assert_eq!(
                policer.bandwidth > 0.0,
                has_ended && is_late,
                "{lost} of {delivered}"
            );
        }
    }

    #[test]
    fn an_interval_takes_four_rounds_and_no_more_than_sixteen() {
        for (rounds, has_ended, is_sampling) in [
            (2, false, true),
            (3, true, true),
            (15, true, true),
            (16, false, false),
        ] {
            let mut policer = sampling();
            for _ in 0..rounds {
                policer.on_ack(&heard(1_399, 400, 100, false), ROUND);
            }
            policer.on_ack(&heard(1_400, 400, 100, true), ROUND);
            let found = (policer.bandwidth > 0.0, policer.is_sampling);
            assert_eq!(found, (has_ended, is_sampling), "{rounds} and one");
        }
        // Sixteen rounds without a loss do not end the interval.
        let mut policer = sampling();
        for _ in 0..16 {
            policer.on_ack(&heard(1_399, 400, 100, false), ROUND);
        }
        assert_eq!((policer.bandwidth, policer.is_sampling), (0.0, true));
    }

    #[test]
    fn a_timeout_is_a_loss_at_the_end_of_a_round() {
        let mut policer = sampling();
        for _ in 0..3 {
            policer.on_ack(&heard(1_400, 400, 0, false), ROUND);
        }
        assert!(!policer.on_timeout(100, 1_000.0, true));
        assert_eq!(policer.bandwidth, 1_000.0);
        let mut limited = sampling();
        limited.on_ack(
            &heard(1_400, 400, 0, false),
            PolicerInput {
                is_limited: true,
                ..STEP
            },
        );
        assert!(!limited.is_sampling);
    }

    #[test]
    fn the_rate_is_used_for_48_rounds_of_probing() {
        let mut policer = sampling();
        interval(&mut policer, STEP, 1_400, 400, 100);
        interval(&mut policer, STEP, 1_800, 800, 200);
        assert_eq!(policer.rate(), Some(1_000.0));
        let other = [
            STEP,
            PolicerInput {
                is_probing: false,
                ..ROUND
            },
        ];
        for round in 1..=48 {
            for input in other {
                assert!(!policer.on_ack(&heard(2_000, 900, 200, true), input));
            }
            assert_eq!(
                policer.on_ack(&heard(2_000, 900, 200, true), ROUND),
                round == 48
            );
        }
        assert_eq!(
            (policer.rate(), policer.is_sampling, policer.bandwidth),
            (None, false, 0.0)
        );
        assert_eq!((policer.since.at_ms, policer.last.delivered), (2_000, 900));
        // While the policer's rate is in use, losses are ignored. A timeout may end the use.
        policer.is_used = true;
        policer.rounds = 47;
        assert!(!policer.on_timeout(300, 1_000.0, false));
        assert!(policer.on_timeout(300, 1_000.0, true));
    }

    #[test]
    fn the_time_is_that_of_the_last_ack_that_delivered() {
        let mut policer = Policer::default();
        policer.on_ack(&heard(500, 5, 0, false), STEP);
        let silent = AckSample {
            delivered_now: 0,
            ..heard(700, 6, 1, false)
        };
        policer.on_ack(&silent, STEP);
        let Counts {
            at_ms,
            delivered,
            lost,
        } = policer.last;
        assert_eq!((at_ms, delivered, lost), (500, 6, 1));
    }
}
